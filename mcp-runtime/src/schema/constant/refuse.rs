//! Compile errors in our own words.

use super::Out;

/// Joins the parts and panics, because `panic!` in constants takes only a text that is finished.
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

/// Returns the dot before a name; empty if there is no name.
pub(crate) const fn dot_before(name: &str) -> &'static str {
    if name.is_empty() { "" } else { "." }
}
