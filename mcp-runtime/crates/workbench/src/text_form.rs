//! Byte order mark and line ends of a text, which the libraries that edit it do not keep.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Mark at the beginning of a file, which some editors on Windows write.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Changes a text without its byte order mark and with the line ends of Unix. Every line that stays keeps its own end, and new lines
/// get the end that most lines of the text have.
pub(crate) fn with_plain_form<E>(
    text: &str,
    change: impl FnOnce(&str) -> Result<Option<String>, E>,
) -> Result<Option<String>, E> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (&text[..BYTE_ORDER_MARK.len_utf8()], rest),
        None => ("", text),
    };
    let changed = match text.contains("\r\n") {
        true => change(&text.replace("\r\n", "\n"))?.map(|new| with_line_ends_of(text, &new)),
        false => change(text)?,
    };
    Ok(changed.map(|new| format!("{mark}{new}")))
}

/// Returns the lines of `new`, which end as in `old`.
fn with_line_ends_of(old: &str, new: &str) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let plain = old.replace("\r\n", "\n");
    let plain: Vec<&str> = plain.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let is_windows = |line: &&&str| line.ends_with("\r\n");
    let end =
        if lines.iter().filter(is_windows).count() * 2 >= lines.len() { "\r\n" } else { "\n" };
    let mut text = String::new();
    for change in capture_diff_slices(Algorithm::Myers, &plain, &new) {
        let (tag, kept, written) = change.as_tag_tuple();
        match tag {
            DiffTag::Equal => text.extend(lines[kept].iter().copied()),
            _ => text.extend(new[written].iter().map(|line| line.replace('\n', end))),
        }
    }
    text
}
