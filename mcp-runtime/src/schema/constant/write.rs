//! Writer of JSON text in constants. The text is written twice, first to learn its length.

/// Greatest length of a schema in a constant, in bytes. Each byte costs compile time, and in the end the compiler refuses, so a longer
/// schema is made at run time.
pub(crate) const MOST: usize = 64 * 1024;

/// Writes text into a buffer, or only counts its bytes if the buffer is empty.
#[derive(Debug)]
pub(crate) struct Out<'a> {
    buffer: &'a mut [u8],
    capacity: usize,
    len: usize,
    /// Length after which nothing is counted or written any more.
    most: usize,
}

impl<'a> Out<'a> {
    pub(crate) const fn new(buffer: &'a mut [u8]) -> Self {
        let capacity = buffer.len();
        Self { buffer, capacity, len: 0, most: usize::MAX }
    }

    /// Creates a writer that only counts, until the length exceeds [`MOST`].
    pub(crate) const fn counting() -> Self {
        Self { most: MOST, ..Self::new(&mut []) }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn push(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Copies byte by byte. In a constant, a call costs the compiler more than a dozen turns of a loop, and copying a slice takes ten
    /// calls.
    const fn bytes(&mut self, mut bytes: &[u8]) {
        if self.len > self.most {
            return;
        }
        while let [byte, after @ ..] = bytes {
            if self.len < self.capacity {
                self.buffer[self.len] = *byte;
            }
            self.len += 1;
            bytes = after;
        }
    }

    /// Writes a JSON string, escaped as by serde_json.
    pub(crate) const fn string(&mut self, text: &str) {
        self.push("\"");
        self.escaped(text);
        self.push("\"");
    }

    /// Writes the content of a JSON string, without the quotes.
    pub(crate) const fn escaped(&mut self, text: &str) {
        let mut bytes = text.as_bytes();
        if self.len > self.most {
            return;
        }
        while let [byte, after @ ..] = bytes {
            match *byte {
                b'"' | b'\\' | ..0x20 => self.escape(*byte),
                byte => {
                    if self.len < self.capacity {
                        self.buffer[self.len] = byte;
                    }
                    self.len += 1;
                }
            }
            bytes = after;
        }
    }

    const fn escape(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        match byte {
            b'"' => self.push("\\\""),
            b'\\' => self.push("\\\\"),
            b'\n' => self.push("\\n"),
            b'\r' => self.push("\\r"),
            b'\t' => self.push("\\t"),
            0x08 => self.push("\\b"),
            0x0c => self.push("\\f"),
            _ => {
                self.push("\\u00");
                self.bytes(&[HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]]);
            }
        }
    }

    pub(crate) const fn integer(&mut self, number: i128) {
        let mut digits = [0; 40];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            // The remainder is below 10, so it fits into a byte.
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        let (_, digits) = digits.split_at(at);
        self.bytes(digits);
    }

    /// Writes a comma before every member but the first.
    pub(crate) const fn comma(&mut self, first: &mut bool) {
        if !*first {
            self.push(",");
        }
        *first = false;
    }
}
