//! Relay of stderr, for a client that starts the server and does not read what it writes to stderr.
//!
//! A write to a full pipe blocks its thread, and holds the lock of stderr meanwhile. After 64 KiB that no process reads, a log, `eprintln!` or
//! the message of a panic would therefore block all threads of the server, and its end. If stderr is a pipe or a socket, [`relay`] makes fd 2
//! a pipe of its own. One thread reads this pipe without delay, and another writes the text to the client. When too much text waits for the
//! client, further lines are dropped and counted. A terminal or a file stays as it is.

use std::{
    fs::File,
    io::{self, Read as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileTypeExt as _,
    },
    process,
    sync::{
        Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    blocking::{CHUNK, PIPE_BUF, end_of_piece, write_piece},
    system_calls::{
        Readiness, StandardStream, at_exit, before_abort, duplicate, unread_bytes, wait,
    },
};
use crate::transport::runtime::start_thread;

/// Maximum number of bytes that wait to be written. As many may wait in the write that the client holds up, so 1 MiB waits in all.
const MOST: usize = 512 << 10;

/// Maximum time for which the end of the process waits for the client.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Maximum time for which the end of the process waits while the client takes nothing.
const LAST_WORDS_UNREAD: Duration = Duration::from_secs(1);

/// Pause of a thread that waits for a state without an event.
const STEP: Duration = Duration::from_millis(5);

static RELAY: OnceLock<StderrRelay> = OnceLock::new();

struct StderrRelay {
    /// Process that runs the threads of the relay. A fork of it does not.
    process: u32,
    /// Pipe whose other end is fd 2.
    source: File,
    /// The stderr that the process began with.
    client: File,
    unread: Mutex<UnreadText>,
    filled: Condvar,
    /// Number of bytes that have left the pipe, and are neither written nor dropped. While the pipe is being read, the number is higher.
    unwritten: AtomicUsize,
    /// Number of writes to the client.
    writes: AtomicUsize,
}

/// Relays stderr from now on until the process ends, if stderr is a pipe or a socket. Further calls do nothing. If the system has no pipe or
/// no thread left, stderr stays as it is.
pub(crate) fn relay() {
    static CALLED: Once = Once::new();
    CALLED.call_once(|| {
        let _ = start();
    });
}

fn start() -> io::Result<()> {
    let client = File::from(StandardStream::Error.duplicate()?);
    let kind = client.metadata()?.file_type();
    if !kind.is_fifo() && !kind.is_socket() {
        return Ok(());
    }
    let (source, sink) = io::pipe()?;
    // If a standard stream is closed, the pipe may have its number.
    let (source, sink) = (duplicate(source.as_fd())?, duplicate(sink.as_fd())?);
    let relay = RELAY.get_or_init(|| StderrRelay::new(source, client));
    start_thread("mcp-stderr", Box::new(|| relay.write_all()))?;
    start_thread("mcp-stderr-pipe", Box::new(|| relay.read_all()))?;
    StandardStream::Error.redirect_to(&sink)?;
    at_exit(exit);
    before_abort(finish);
    Ok(())
}

extern "C" fn exit() {
    finish();
}

/// Waits until all text is in the pipe of the client. The wait has a limit, and a shorter one while the client takes nothing. Takes no lock and
/// allocates no memory, because it also runs in a signal handler.
fn finish() {
    let Some(relay) = RELAY.get().filter(|relay| relay.process == process::id()) else { return };
    let begun = Instant::now();
    let (mut writes, mut written_at) = (relay.writes.load(SeqCst), begun);
    while begun.elapsed() < LAST_WORDS && written_at.elapsed() < LAST_WORDS_UNREAD {
        // The pipe comes first, because bytes are counted before they leave it.
        if unread_bytes(&relay.source).unwrap_or(0) == 0 && relay.unwritten.load(SeqCst) == 0 {
            return;
        }
        thread::sleep(STEP);
        let now = relay.writes.load(SeqCst);
        if now != writes {
            (writes, written_at) = (now, Instant::now());
        }
    }
}

impl StderrRelay {
    fn new(source: OwnedFd, client: File) -> Self {
        let (unwritten, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (unread, filled) = (Mutex::default(), Condvar::new());
        let process = process::id();
        Self { process, source: source.into(), client, unread, filled, unwritten, writes }
    }

    fn unread(&self) -> MutexGuard<'_, UnreadText> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the pipe until its other end is closed, which happens if the program itself redirects stderr.
    fn read_all(&self) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let ready = wait(&self.source, Readiness::Read);
            // Counts the bytes before they leave the pipe, so that `finish` never misses them.
            self.unwritten.fetch_add(CHUNK, SeqCst);
            let read = ready.and_then(|()| (&self.source).read(&mut chunk));
            let mut unread = self.unread();
            let before = unread.left();
            unread.push(&chunk[..read.as_ref().map_or(0, |count| *count)]);
            self.unwritten.fetch_add(unread.left(), SeqCst);
            self.unwritten.fetch_sub(before + CHUNK, SeqCst);
            drop(unread);
            self.filled.notify_one();
            match read {
                Ok(0) => return,
                Ok(_) => {}
                Err(_) => thread::sleep(STEP),
            }
        }
    }

    /// Writes the text in pieces that the system does not mix with the writes of another process. A piece ends with a line, unless the line is
    /// too long. After a write that failed, the client has closed its end, and the text is dropped.
    fn write_all(&self) {
        let mut text = Vec::new();
        loop {
            let mut unread = self.unread();
            while unread.left() == 0 {
                unread = self.filled.wait(unread).unwrap_or_else(PoisonError::into_inner);
            }
            let before = unread.left();
            unread.take(&mut text);
            self.unwritten.fetch_add(text.len(), SeqCst);
            self.unwritten.fetch_sub(before, SeqCst);
            drop(unread);
            let mut rest = &text[..];
            while !rest.is_empty() {
                let (piece, later) = rest.split_at(end_of_piece(rest, PIPE_BUF).min(PIPE_BUF));
                let _ = write_piece(&self.client, piece);
                self.writes.fetch_add(1, SeqCst);
                self.unwritten.fetch_sub(piece.len(), SeqCst);
                rest = later;
            }
            text.clear();
            text.shrink_to(CHUNK);
        }
    }
}

/// Text that waits for the client. As soon as a line does not fit, all lines are dropped until the text is taken.
#[derive(Default)]
struct UnreadText {
    text: Vec<u8>,
    /// Number of dropped lines since the text was last taken.
    missing: usize,
    line: OpenLine,
}

/// Last line, of which the end has not arrived yet.
#[derive(Clone, Copy, Default, PartialEq)]
enum OpenLine {
    /// There is no such line.
    #[default]
    None,
    /// The line begins at this position of the text.
    At(usize),
    /// The beginning of the line has been taken.
    Taken,
    /// The line is dropped.
    Dropped,
}

impl UnreadText {
    /// Returns the number of bytes that wait, plus 1 if a note waits.
    fn left(&self) -> usize {
        self.text.len() + usize::from(self.missing > 0)
    }

    /// Adds bytes that follow the earlier ones.
    fn push(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let has_room = self.missing == 0 && self.text.len() + line.len() <= MOST;
            let open = match self.line {
                OpenLine::Dropped => OpenLine::Dropped,
                known if has_room => {
                    let begun = OpenLine::At(self.text.len());
                    self.text.extend_from_slice(line);
                    if known == OpenLine::None { begun } else { known }
                }
                known => {
                    match known {
                        OpenLine::At(begun) => self.text.truncate(begun),
                        OpenLine::Taken => self.text.push(b'\n'),
                        OpenLine::None | OpenLine::Dropped => {}
                    }
                    self.missing += 1;
                    OpenLine::Dropped
                }
            };
            self.line = if line.ends_with(b"\n") { OpenLine::None } else { open };
        }
    }

    /// Moves the text into `taken`, which is empty, and adds a note about dropped lines.
    fn take(&mut self, taken: &mut Vec<u8>) {
        std::mem::swap(taken, &mut self.text);
        if let OpenLine::At(_) = self.line {
            self.line = OpenLine::Taken;
        }
        if self.missing > 0 {
            let lines = if self.missing == 1 { "line is" } else { "lines are" };
            let note = format!(
                "note: {} {lines} missing here, because stderr was not read in time\n",
                self.missing
            );
            taken.extend_from_slice(note.as_bytes());
            self.missing = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(unread: &mut UnreadText) -> String {
        let mut taken = Vec::new();
        unread.take(&mut taken);
        String::from_utf8(taken).unwrap()
    }

    fn filled() -> UnreadText {
        let mut unread = UnreadText::default();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        (0..MOST / line.len()).for_each(|_| unread.push(&line));
        assert_eq!(unread.text.len(), MOST);
        unread
    }

    #[test]
    fn whole_lines_are_dropped_and_counted_until_the_text_is_taken() {
        let mut unread = filled();
        unread.push(b"one\ntwo\nthr");
        let note = "note: 3 lines are missing here, because stderr was not read in time\n";
        assert_eq!(take(&mut unread)[MOST - 2..], format!("x\n{note}"));
        unread.push(b"ee");
        assert_eq!(unread.left(), 0);
        unread.push(b"\nfour\n");
        assert_eq!(take(&mut unread), "four\n");
    }

    #[test]
    fn the_beginning_of_a_dropped_line_is_dropped_unless_it_was_taken() {
        const NOTE: &str = "note: 1 line is missing here, because stderr was not read in time\n";
        let mut unread = UnreadText::default();
        unread.push(b"first\nsec");
        unread.push(&[b'x'; MOST]);
        assert_eq!(take(&mut unread), format!("first\n{NOTE}"));
        unread.push(b"\nthird");
        assert_eq!(take(&mut unread), "third");
        unread.push(b" is");
        unread.push(&[b'x'; MOST]);
        unread.push(b"\nfourth\n");
        assert_eq!(take(&mut unread), format!(" is\n{}", NOTE.replace("1 line is", "2 lines are")));
    }
}
