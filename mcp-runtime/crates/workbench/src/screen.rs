//! Terminal of the person at the command line: its width, its colours, and texts that fit into it.

use std::io::IsTerminal;
#[cfg(unix)]
use std::os::fd::AsFd as AsHandle;
#[cfg(windows)]
use std::os::windows::io::AsHandle;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Width that is assumed for a terminal whose width is unknown, in columns.
const USUAL_WIDTH: usize = 80;

/// Least number of columns for a text beside others.
const LEAST_ROOM: usize = 20;

// Styles for the parts of a text.
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const ASIDE: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();

/// Destination of a command's output: a terminal with a width, or a pipe or a file, which gets each text unchanged.
///
/// A terminal has colours unless `NO_COLOR` is set, `CLICOLOR` is `0`, or `TERM` is `dumb`. `CLICOLOR_FORCE` turns colours on in a pipe, too.
/// `NO_COLOR` takes precedence over `CLICOLOR_FORCE` (<https://no-color.org>, <https://bixense.com/clicolors>).
///
/// ```
/// use mcp_runtime_workbench::Screen;
///
/// let pipe = Screen::new(None, false);
/// assert_eq!(pipe.remark("note: no icon\n".to_owned()), "note: no icon\n");
/// let terminal = Screen::new(Some(80), true);
/// let note = terminal.remark("note: no icon\n".to_owned());
/// assert_eq!(note, "\x1b[1m\x1b[36mnote:\x1b[0m no icon\n");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    width: Option<usize>,
    has_colours: bool,
}

impl Screen {
    /// Creates a terminal of this width, in columns. `None` stands for a pipe or a file.
    pub const fn new(width: Option<usize>, has_colours: bool) -> Self {
        Self { width, has_colours }
    }

    /// Returns the destination of a stream, such as stdout or stderr.
    ///
    /// ```
    /// let screen = mcp_runtime_workbench::Screen::of(&std::io::stderr());
    /// eprint!("{}", screen.remark("note: listening\n".to_owned()));
    /// ```
    pub fn of(stream: &(impl IsTerminal + AsHandle)) -> Self {
        let width = || match terminal_size::terminal_size_of(stream) {
            Some((width, _)) => width.0.into(),
            None => USUAL_WIDTH,
        };
        let is_terminal = stream.is_terminal();
        Self { width: is_terminal.then(width), has_colours: shows_colours(is_terminal) }
    }

    /// Whether texts differ from those for a pipe or a file.
    pub fn is_styled(&self) -> bool {
        self.width.is_some() || self.has_colours
    }

    /// Returns the number of columns. A pipe or a file has no limit, so its number is `usize::MAX`.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(usize::MAX)
    }

    /// Breaks a text into lines that fit into the columns after the first `gap` columns. Each line but the first begins with the gap.
    ///
    /// ```
    /// let screen = mcp_runtime_workbench::Screen::new(Some(24), false);
    /// let text = screen.wrap("lists all tools and prompts", 4);
    /// assert_eq!(text, "lists all tools and\n    prompts");
    /// ```
    pub fn wrap(&self, text: &str, gap: usize) -> String {
        let room = self.width().saturating_sub(gap).max(LEAST_ROOM);
        if columns(text) <= room {
            return text.to_owned();
        }
        wrapped(text, room).join(&format!("\n{:gap$}", ""))
    }

    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        match self.has_colours && !text.is_empty() {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

/// Whether the environment and the terminal allow colours. The variables take precedence in the same order as in the crate `anstream`.
fn shows_colours(is_terminal: bool) -> bool {
    if anstyle_query::no_color() {
        return false;
    }
    if anstyle_query::clicolor_force() {
        return true;
    }
    let is_off = anstyle_query::clicolor() == Some(false);
    is_terminal
        && !is_off
        && anstyle_query::term_supports_color()
        // Older consoles of Windows show colours only after a program has enabled them.
        && anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Returns the number of columns of a text without styles.
///
/// ```
/// assert_eq!(mcp_runtime_workbench::columns("天気"), 4);
/// ```
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a text to a number of columns. A text that was cut ends in `…`.
///
/// ```
/// assert_eq!(mcp_runtime_workbench::cut("天気予報", 7), "天気予…");
/// ```
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fitting = text.chars().take_while(|c| {
        let columns = c.width().unwrap_or_default();
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    });
    let mut fitting: String = fitting.collect();
    fitting.truncate(fitting.trim_end().len());
    fitting.push('…');
    fitting
}

/// Breaks a text into lines at its spaces. A word that is longer than `width` gets a separate line, and is not broken.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line).saturating_add(1 + columns(word)) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_columns_of_the_terminal() {
        let check = |text, width, expected| assert_eq!(cut(text, width), expected);
        check("Repeats a word.", 15, "Repeats a word.");
        check("Repeats a word.", 14, "Repeats a wor…");
        check("Repeats a word.", 11, "Repeats a…");
        // Each of these characters takes two columns.
        check("天気予報", 8, "天気予報");
        check("天気予報", 7, "天気予…");
        check("天気予報", 6, "天気…");
    }

    #[test]
    fn a_text_is_wrapped_at_spaces() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("abcdef gh", 3), ["abcdef", "gh"]);
        assert_eq!(wrapped("a b", usize::MAX), ["a b"]);
        assert!(wrapped("", 3).is_empty());
    }
}
