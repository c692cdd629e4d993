/// Checks the name of a tool (rule TOOLS-02).
///
/// # Errors
/// Returns what is wrong with the name, in words for its author.
pub(crate) fn tool_name(name: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && name.bytes().all(fits) {
        Ok(())
    } else {
        Err(format!("`{name}` is no name for a tool: 1 to 128 letters, digits, `_`, `-` and `.`"))
    }
}
