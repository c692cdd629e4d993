//! How the compiler says in our words what it refuses.

use super::Out;

/// `panic!` in constants takes one text that is there already.
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

/// Before a name that may be missing.
pub(crate) const fn dot_before(name: &str) -> &'static str {
    if name.is_empty() { "" } else { "." }
}
