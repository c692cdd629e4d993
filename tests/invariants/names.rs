//! A name has one meaning in the whole crate: no two types or traits share a name.

use std::collections::BTreeSet;

use crate::arrows::Crate;

/// Returns the names of types that are defined in more than one file, with the files. Definitions in one file, for different features or
/// systems, are variants of one type.
pub(crate) fn repeated(parsed: &Crate) -> Vec<String> {
    let repeated = parsed.types.iter().filter(|(_, files)| files.len() > 1);
    let files = |files: &BTreeSet<usize>| {
        let mut files: Vec<&str> = files.iter().map(|file| parsed.files[*file].as_str()).collect();
        files.sort_unstable();
        files.join(", ")
    };
    repeated.map(|(name, found)| format!("`{name}` is a type in {}", files(found))).collect()
}
