//! Threads for streams that support only blocking I/O.
//!
//! The first use of a stream starts its thread. A thread that waits for input cannot be interrupted, so the server does not join it. The
//! thread ends with the process, or after its next read.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::ReadBuf;
use tokio::sync::mpsc;

use crate::transport::runtime::start_thread;

/// Maximum size of an atomic write to a pipe, in bytes. Outside of Linux, this is the minimum that POSIX guarantees.
#[cfg(unix)]
pub(super) const PIPE_BUF: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 4096 } else { 512 };

/// Size of one read, in bytes: the capacity of a pipe on Linux.
pub(super) const CHUNK: usize = 64 * 1024;

/// Maximum number of chunks that are read ahead of the current one.
const READ_AHEAD: usize = 4;

/// Number of queued bytes at which further writes wait for the thread. A single write may exceed this number.
const BACKLOG: usize = 256 * 1024;

/// Asynchronous reader of a file, which reads on a thread of its own.
#[derive(Debug)]
pub(super) struct BlockingReader {
    /// File to read. `None` once the thread has started, which then owns the file.
    file: Option<File>,
    chunks: Option<mpsc::Receiver<io::Result<Vec<u8>>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl BlockingReader {
    pub(super) fn new(file: File) -> Self {
        BlockingReader { file: Some(file), chunks: None, chunk: Vec::new(), taken: 0 }
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(file) = self.file.take() {
            let (sender, receiver) = mpsc::channel(READ_AHEAD);
            start_thread("stdin", Box::new(move || read_all(file, &sender)))?;
            self.chunks = Some(receiver);
        }
        if self.taken == self.chunk.len() {
            let Some(chunks) = &mut self.chunks else { return Poll::Ready(Ok(())) };
            match ready!(chunks.poll_recv(cx)) {
                Some(chunk) => (self.chunk, self.taken) = (chunk?, 0),
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = &self.chunk[self.taken..];
        let count = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

fn read_all(mut file: File, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match file.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => Ok(chunk[..count].to_vec()),
            Err(error) => match wait_after(error, &file, Direction::Read) {
                Ok(()) => continue,
                Err(error) => Err(error),
            },
        };
        let failed = read.is_err();
        if chunks.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

/// Asynchronous writer of a file, which writes whole lines on a thread of its own.
#[derive(Debug)]
pub(super) struct BlockingWriter {
    /// File to write. `None` once the thread has started, which then owns the file.
    file: Option<File>,
    /// Maximum number of bytes in one write, unless a single line is longer.
    piece: usize,
    queue: Arc<WriteQueue>,
}

#[derive(Debug, Default)]
struct WriteQueue {
    state: Mutex<WriteState>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct WriteState {
    bytes: Vec<u8>,
    /// Whether the thread is writing bytes that it has taken from the queue.
    busy: bool,
    closed: bool,
    failed: Option<io::Error>,
    waiting: Option<Waker>,
}

impl BlockingWriter {
    pub(super) fn new(file: File, piece: usize) -> Self {
        BlockingWriter { file: Some(file), piece, queue: Arc::default() }
    }

    /// Queues either all of `bytes` or no bytes, so that lines stay whole.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(file) = self.file.take() {
            let (queue, piece) = (self.queue.clone(), self.piece);
            start_thread("stdout", Box::new(move || queue.write_all(&file, piece)))?;
        }
        let mut state = self.queue.lock();
        if let Some(error) = &state.failed {
            return Poll::Ready(Err(again(error)));
        }
        if state.bytes.len() >= BACKLOG {
            state.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.bytes.extend_from_slice(bytes);
        drop(state);
        self.queue.filled.notify_one();
        Poll::Ready(Ok(bytes.len()))
    }

    /// Waits until all queued bytes have been written.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.queue.lock();
        if let Some(error) = &state.failed {
            return Poll::Ready(Err(again(error)));
        }
        if state.busy || !state.bytes.is_empty() {
            state.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for BlockingWriter {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_one();
    }
}

impl WriteQueue {
    fn lock(&self) -> MutexGuard<'_, WriteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes queued bytes until the writer is dropped and the queue is empty, or until a write fails.
    fn write_all(&self, file: &File, piece: usize) {
        let mut taken = Vec::new();
        let mut state = self.lock();
        loop {
            while state.bytes.is_empty() {
                if state.closed {
                    return;
                }
                state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            std::mem::swap(&mut taken, &mut state.bytes);
            state.busy = true;
            let waiting = state.waiting.take();
            drop(state);
            // Wakes a task that waits for space in the queue. A task that waits for a flush is woken too early, and waits again.
            if let Some(waker) = waiting {
                waker.wake();
            }

            let written = write_pieces(file, &taken, piece);
            taken.clear();
            taken.shrink_to(BACKLOG);

            state = self.lock();
            state.busy = false;
            let waiting = state.waiting.take();
            let failed = written.is_err();
            state.failed = written.err();
            if let Some(waker) = waiting {
                waker.wake();
            }
            if failed {
                return;
            }
        }
    }
}

fn write_pieces(file: &File, mut bytes: &[u8], piece: usize) -> io::Result<()> {
    while !bytes.is_empty() {
        let (now, later) = bytes.split_at(end_of_piece(bytes, piece));
        write_piece(file, now)?;
        bytes = later;
    }
    Ok(())
}

/// Writes all bytes, and waits as long as the file takes none.
pub(super) fn write_piece(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) => wait_after(error, file, Direction::Write)?,
        }
    }
    Ok(())
}

/// Returns the end of the last line that fits in `piece` bytes, or else the end of the first line.
///
/// A write of at most [`PIPE_BUF`] bytes to a pipe is atomic. A longer write may be split, and another process may write in between.
pub(super) fn end_of_piece(bytes: &[u8], piece: usize) -> usize {
    if bytes.len() <= piece {
        return bytes.len();
    }
    let last = memchr::memrchr(b'\n', &bytes[..piece]);
    let end = last.or_else(|| memchr::memchr(b'\n', &bytes[piece..]).map(|at| piece + at));
    end.map_or(bytes.len(), |newline| newline + 1)
}

#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

/// Waits until an operation can be retried, or returns its error.
///
/// The open file description may be non-blocking, because a different process that shares it may have changed its flags. The thread then
/// has to wait here before it retries.
fn wait_after(error: io::Error, file: &File, direction: Direction) -> io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock => wait(file, direction),
        _ => Err(error),
    }
}

#[cfg(unix)]
fn wait(file: &File, direction: Direction) -> io::Result<()> {
    use super::system_calls::{Readiness, wait};

    wait(
        file,
        match direction {
            Direction::Read => Readiness::Read,
            Direction::Write => Readiness::Write,
        },
    )
}

#[cfg(windows)]
fn wait(_: &File, _: Direction) -> io::Result<()> {
    std::thread::sleep(std::time::Duration::from_millis(1));
    Ok(())
}

/// Copies the error from a failed write, which every later call returns too. `io::Error` does not implement `Clone`.
fn again(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &str, piece: usize, expected: &[&str]) {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(end_of_piece(rest.as_bytes(), piece));
            pieces.push(now);
            rest = later;
        }
        assert_eq!(pieces, expected, "{bytes:?}");
    }

    #[test]
    fn pieces_end_with_a_line() {
        check("ab\ncd\nef\n", 9, &["ab\ncd\nef\n"]);
        check("ab\ncd\nef\n", 8, &["ab\ncd\n", "ef\n"]);
        check("ab\ncd\nef\n", 3, &["ab\n", "cd\n", "ef\n"]);
        check("abcdef\ng\nhi", 3, &["abcdef\n", "g\n", "hi"]);
        check("ab\ncdefgh", 3, &["ab\n", "cdefgh"]);
    }
}
