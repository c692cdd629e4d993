//! Splits a stream of bytes into lines, one JSON-RPC message each (rule STDIO-01).
//!
//! [`Lines`] does no I/O: the caller adds bytes and removes lines. Each byte is searched for a newline once, even if a line arrives in
//! small pieces. The buffer holds at most one unfinished line and the bytes of one read.

use mcp_runtime_wire::BYTE_ORDER_MARK;
use memchr::memchr;

/// Usual space for one read, in bytes: the capacity of a pipe on Linux, so that one read can empty the pipe.
const ROOM: usize = 64 * 1024;

/// Initial size of the buffer, in bytes. A read that fills the buffer makes it grow, but most clients never send so much at once.
const FIRST_ROOM: usize = 4 * 1024;

/// A line, or the reason why there is no complete one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line without its `\n` or `\r\n`.
    Complete(&'a [u8]),
    /// A line longer than the limit. It is reported once, as soon as its length is known to exceed the limit, and its rest is dropped.
    TooLong,
    /// Bytes after the last newline when the stream ended.
    Unterminated(&'a [u8]),
}

/// Buffer that is filled by reads, and emptied line by line.
///
/// Call [`Lines::next`] until it returns `None` before each read.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Fully initialised memory, of which only `start..end` holds data.
    buffer: Vec<u8>,
    start: usize,
    /// End of the bytes that have been searched: `start..searched` contains no newline.
    searched: usize,
    end: usize,
    limit: usize,
    /// Whether the rest of a line that was too long is being dropped.
    skipping: bool,
}

impl Lines {
    /// Creates a buffer for lines of at most `limit` bytes, not counting the line ending.
    pub(crate) fn new(limit: usize) -> Self {
        Lines { buffer: Vec::new(), start: 0, searched: 0, end: 0, limit, skipping: false }
    }

    /// Returns the free space for the next read, which is never empty. After the read, call [`Lines::filled`] with the number of bytes.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.searched, self.end) = (0, 0, 0);
            if self.buffer.len() > 4 * ROOM {
                // Frees the memory of a long line, which would otherwise stay allocated for the rest of the connection.
                self.buffer = Vec::new();
            }
        }
        if self.buffer.len() - self.end <= self.buffer.len().min(ROOM) / 4 {
            // The move is cheap, because it copies fewer bytes than have already been taken from the front.
            if self.start > self.buffer.len() / 2 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.searched -= self.start;
                self.end -= self.start;
                self.start = 0;
            } else {
                let grown = match self.buffer.len() {
                    0 => FIRST_ROOM,
                    length => (length * 2).max(ROOM),
                };
                self.buffer.resize(grown, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// Marks the first `count` bytes of [`Lines::room`] as data.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = self.buffer.len().min(self.end + count);
        if self.end == self.buffer.len() && self.end < ROOM {
            self.buffer.resize(ROOM, 0);
        }
    }

    /// Copies `bytes` into the buffer.
    #[cfg(test)]
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            let (head, tail) = bytes.split_at(count);
            room[..count].copy_from_slice(head);
            self.filled(count);
            bytes = tail;
        }
    }

    /// Returns the next line that is not blank, or `None` if more bytes are needed.
    #[allow(
        clippy::should_implement_trait,
        reason = "the line borrows from the buffer, which no `Iterator` allows"
    )]
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(found) = memchr(b'\n', &self.buffer[self.searched..self.end]) else {
                self.searched = self.end;
                return self.overflows().then_some(Line::TooLong);
            };
            let newline = self.searched + found;
            let line = self.start..newline;
            self.start = newline + 1;
            self.searched = self.start;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let length = without_return(&self.buffer[line.clone()]).len();
            let line = line.start..line.start + length;
            if length > self.limit {
                return Some(Line::TooLong);
            }
            if !is_blank(&self.buffer[line.clone()]) {
                return Some(Line::Complete(&self.buffer[line]));
            }
        }
    }

    /// Empties the buffer, and returns the bytes after the last newline. Call it at the end of the stream, when [`Lines::next`] returns
    /// `None`.
    pub(crate) fn finish(&mut self) -> Option<Line<'_>> {
        let rest = without_return(&self.buffer[self.start..self.end]);
        self.start = self.end;
        self.searched = self.end;
        if std::mem::take(&mut self.skipping) || is_blank(rest) {
            None
        } else if rest.len() > self.limit {
            Some(Line::TooLong)
        } else {
            Some(Line::Unterminated(rest))
        }
    }

    /// Drops the bytes of an unfinished line that exceeds the limit. Returns true once for each such line.
    fn overflows(&mut self) -> bool {
        // A line of the maximum length may be followed by `\r`, which does not count toward the limit.
        let pending = &self.buffer[self.start..self.end];
        if !self.skipping && without_return(pending).len() <= self.limit {
            return false;
        }
        self.start = self.end;
        !std::mem::replace(&mut self.skipping, true)
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_blank(line: &[u8]) -> bool {
    let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns all lines of a stream that arrives in `chunks`. A line that begins with `?` is unterminated, and `!` stands for a line that
    /// is too long.
    fn read<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        fn take(read: &mut Vec<String>, line: Line<'_>) {
            read.push(match line {
                Line::Complete(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "!".to_owned(),
                Line::Unterminated(line) => format!("?{}", String::from_utf8_lossy(line)),
            });
        }
        let mut lines = Lines::new(limit);
        let mut read = Vec::new();
        for chunk in chunks {
            lines.feed(chunk);
            while let Some(line) = lines.next() {
                take(&mut read, line);
            }
        }
        if let Some(line) = lines.finish() {
            take(&mut read, line);
        }
        assert_eq!(lines.finish(), None);
        read
    }

    fn check(stream: &str, expected: &[&str]) {
        assert_eq!(read(4, [stream.as_bytes()]), expected, "{stream:?}");
        assert_eq!(read(4, stream.as_bytes().chunks(1)), expected, "{stream:?} byte by byte");
    }

    #[test]
    fn lines_end_with_a_newline_and_blank_lines_are_skipped() {
        check("", &[]);
        check("a\nbc\r\n\n \t\r\n\r\nd\n", &["a", "bc", "d"]);
        check("a\rb\n", &["a\rb"]);
    }

    #[test]
    fn a_line_too_long_is_reported_once_and_its_rest_dropped() {
        check("abcd\nabcd\r\nabcde\nf\n", &["abcd", "abcd", "!", "f"]);
        check("abcde\r\nabcd\r\r\nx\n", &["!", "!", "x"]);
        check("abcdefghijklmnop\nx\nabcdefghijk\n\ny\n", &["!", "x", "!", "y"]);
        check("        \na\n", &["!", "a"]);
        check("abcdefghijk", &["!"]);
    }

    #[test]
    fn a_line_of_a_byte_order_mark_is_blank() {
        check("\u{feff}\n\u{feff}\r\n\u{feff}a\n\u{feff}", &["\u{feff}a"]);
    }

    #[test]
    fn the_end_of_the_stream_leaves_a_fragment() {
        check("a\nbc", &["a", "?bc"]);
        check("a\nbcde\r", &["a", "?bcde"]);
        check("a\n \r", &["a"]);
        check("a\nbcdef", &["a", "!"]);
    }

    #[test]
    fn the_dropped_rest_of_a_long_line_is_not_buffered() {
        let mut lines = Lines::new(1000);
        for n in 0..10_000 {
            lines.feed(&[b'x'; 1000]);
            assert_eq!(lines.next(), (n == 1).then_some(Line::TooLong), "{n}");
        }
        assert!(lines.buffer.len() <= 2 * ROOM, "{}", lines.buffer.len());
        lines.feed(b"\nok\n");
        assert_eq!(lines.next(), Some(Line::Complete(b"ok")));
    }

    #[test]
    fn a_long_line_is_let_go_of() {
        let mut lines = Lines::new(usize::MAX);
        lines.feed(&vec![b'x'; 20 * ROOM]);
        lines.feed(b"\n");
        assert!(matches!(lines.next(), Some(Line::Complete(line)) if line.len() == 20 * ROOM));
        lines.room();
        assert_eq!(lines.buffer.len(), FIRST_ROOM);
    }

    #[test]
    fn a_client_that_sends_much_at_once_is_read_in_large_pieces() {
        let mut lines = Lines::new(usize::MAX);
        assert_eq!(lines.room().len(), FIRST_ROOM);
        let many = b"0123456\n".repeat(FIRST_ROOM / 8);
        for room in [FIRST_ROOM, ROOM, ROOM] {
            assert_eq!(lines.room().len(), room);
            lines.feed(&many);
            while lines.next().is_some() {}
        }
    }

    #[test]
    fn a_line_arriving_byte_by_byte_is_searched_once() {
        let mut lines = Lines::new(usize::MAX);
        for n in 1..=10_000 {
            lines.feed(b"x");
            assert_eq!(lines.next(), None);
            assert_eq!((lines.searched, lines.end), (n, n));
        }
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            stream in prop::collection::vec(prop::sample::select(b"\n\n\r xyz".as_slice()), 0..200),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            limit in 0..12usize,
        ) {
            let expected = read(limit, [stream.as_slice()]);
            let mut cuts = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect::<Vec<_>>();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            prop_assert_eq!(&read(limit, cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]])), &expected);
            prop_assert_eq!(&read(limit, stream.chunks(1)), &expected);

            let mut model = Vec::new();
            let text = String::from_utf8(stream).unwrap();
            let (whole, rest) = text.rsplit_once('\n').map_or((None, &*text), |(whole, rest)| (Some(whole), rest));
            let strip = |line: &str| line.strip_suffix('\r').unwrap_or(line).to_owned();
            for line in whole.into_iter().flat_map(|whole| whole.split('\n')).map(strip) {
                if line.len() > limit {
                    model.push("!".to_owned());
                } else if !line.trim_matches([' ', '\r']).is_empty() {
                    model.push(line);
                }
            }
            let rest = strip(rest);
            if rest.len() > limit {
                model.push("!".to_owned());
            } else if !rest.trim_matches([' ', '\r']).is_empty() {
                model.push(format!("?{rest}"));
            }
            prop_assert_eq!(expected, model);
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn long_lines_survive_growing_and_compacting(lengths in prop::collection::vec(1..200_000usize, 1..12), chunk in 1..100_000usize) {
            let stream = lengths.iter().flat_map(|n| [vec![b'a' + (n % 26) as u8; *n], b"\n".to_vec()].concat()).collect::<Vec<_>>();
            let lines = read(usize::MAX, stream.chunks(chunk));
            prop_assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), lengths);
            prop_assert!(lines.iter().all(|line| line.bytes().all(|b| b == line.as_bytes()[0])));
        }
    }
}
