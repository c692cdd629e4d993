//! Text functions that can run in const code. They compare strings, write JSON and compose compile errors. JSON is written in two passes:
//! the first pass only counts the bytes.

/// Maximum length of a schema in a constant, in bytes. A longer schema is generated at run time, because each byte costs compile time and
/// the compiler rejects constants that take too long to evaluate.
pub(crate) const MOST: usize = 64 * 1024;

/// Writer of text into a buffer. If the buffer is empty, the writer only counts the bytes.
#[derive(Debug)]
pub(crate) struct Out<'a> {
    buffer: &'a mut [u8],
    capacity: usize,
    len: usize,
    /// Length above which further text is neither counted nor written.
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

    /// Copies byte by byte. When the compiler evaluates a constant, a call costs more than a dozen iterations of a loop, and copying a
    /// slice takes ten calls.
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

/// Writer of a schema's keywords, in the order of the calls.
pub(super) struct KeywordWriter {
    first: bool,
}

impl KeywordWriter {
    pub(super) const fn new() -> Self {
        Self { first: true }
    }

    pub(super) const fn key(&mut self, out: &mut Out<'_>, key: &str) {
        out.comma(&mut self.first);
        out.push("\"");
        out.push(key);
        out.push("\":");
    }

    pub(super) const fn raw(&mut self, out: &mut Out<'_>, key: &str, json: &str) {
        self.key(out, key);
        out.push(json);
    }

    pub(super) const fn text(&mut self, out: &mut Out<'_>, key: &str, text: &str) {
        self.key(out, key);
        out.string(text);
    }

    pub(super) const fn number(&mut self, out: &mut Out<'_>, key: &str, number: Option<usize>) {
        if let Some(number) = number {
            self.key(out, key);
            out.integer(number as i128);
        }
    }
}

/// Compares two strings like `==`, which is not available in const code.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}

/// Compares two strings like `<`, which is not available in const code.
pub(super) const fn is_before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

/// Panics with the joined parts as the message. In const code, `panic!` cannot format a message.
#[track_caller]
pub(crate) const fn panic_with(parts: &[&str]) -> ! {
    let mut text = [b' '; 512];
    let mut out = Out::new(&mut text);
    let mut i = 0;
    while i < parts.len() {
        if out.len() + parts[i].len() <= 512 {
            out.push(parts[i]);
        }
        i += 1;
    }
    let len = out.len();
    let (text, _) = text.split_at(len);
    match std::str::from_utf8(text) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("an attribute contradicts the type of its argument"),
    }
}

/// Returns the dot that separates `name` from the text before it, or an empty text if `name` is empty.
pub(crate) const fn dot_before(name: &str) -> &'static str {
    if name.is_empty() { "" } else { "." }
}
