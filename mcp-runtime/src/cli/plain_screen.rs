//! Stand-in for the screen of `mcp-runtime-workbench` in a build without the feature: texts have no colours and no limit of their width.

use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Destination of a command's output. It leaves every text unchanged.
pub(super) struct Screen;

#[expect(clippy::unused_self, reason = "the screen of the feature has colours and a width")]
impl Screen {
    pub(super) fn of<T>(_: &T) -> Self {
        Self
    }

    pub(super) fn width(&self) -> usize {
        usize::MAX
    }

    pub(super) fn wrap(&self, text: &str, _: usize) -> String {
        text.to_owned()
    }

    pub(super) fn title(&self, text: &str) -> String {
        text.to_owned()
    }

    pub(super) fn name(&self, text: &str) -> String {
        text.to_owned()
    }

    pub(super) fn remark(&self, text: String) -> String {
        text
    }

    pub(super) fn findings(&self, text: String) -> String {
        text
    }
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Returns the most columns that a character takes. This build does not know the widths of characters outside of ASCII.
fn most_columns(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Cuts a text so that it takes at most this number of columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    let mut left = width;
    for (at, c) in text.char_indices() {
        match left.checked_sub(most_columns(c)) {
            Some(rest) => left = rest,
            None => return text[..at].to_owned(),
        }
    }
    text.to_owned()
}

/// Returns no bar, because only the feature has bars.
pub(super) fn bar(_: f64, _: f64) -> String {
    String::new()
}

/// Last line of the terminal behind stderr, which a new text replaces in place.
pub(super) struct StatusText;

/// Most columns that the text in the terminal takes.
static SHOWN: AtomicUsize = AtomicUsize::new(0);

impl StatusText {
    pub(super) fn show(text: &str) {
        Self::hide();
        write(text);
        SHOWN.store(text.chars().map(most_columns).sum(), Ordering::Relaxed);
    }

    /// Removes the text. Returns whether a text was shown.
    pub(super) fn hide() -> bool {
        let shown = SHOWN.swap(0, Ordering::Relaxed);
        if shown > 0 {
            write(&format!("\r{:shown$}\r", ""));
        }
        shown > 0
    }
}

/// Writes to stderr. Errors are ignored, because a lost status does not change the result.
fn write(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_as_if_each_character_outside_of_ascii_were_wide() {
        let check = |text, width, expected| assert_eq!(cut(text, width), expected);
        check("1 of 2", 6, "1 of 2");
        check("1 of 2", 5, "1 of ");
        check("天気予報", 7, "天気予");
        check("été", 4, "ét");
    }
}
