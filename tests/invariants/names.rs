//! A name has one meaning in the whole crate: no two types or traits share a name.

use std::collections::BTreeMap;

use syn::Item;

use crate::{
    arrows::{is_test, name_of},
    sources::Text,
};

/// Returns the names of types that are defined more than once, with the files.
pub(crate) fn repeated(texts: &[Text], folder: &str) -> Vec<String> {
    let repeated = places(texts, folder).into_iter();
    repeated.map(|(name, files)| format!("`{name}` is a type in {}", files.join(", "))).collect()
}

fn places(texts: &[Text], folder: &str) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in texts {
        let is_source = text.path.starts_with(folder) && text.path.ends_with(".rs");
        if is_source && !text.path.contains("/tests/") {
            let file = syn::parse_file(&text.text);
            let file = file.unwrap_or_else(|error| panic!("{}: {error}", text.path));
            let mut names = Vec::new();
            types_in(&file.items, &mut names);
            for name in names {
                places.entry(name).or_default().push(text.path.clone());
            }
        }
    }
    // Definitions in one file, for different features or systems, are variants of one type.
    places.retain(|_, files| {
        files.sort();
        files.dedup();
        files.len() > 1
    });
    places
}

fn types_in(items: &[Item], names: &mut Vec<String>) {
    for item in items.iter().filter(|item| !is_test(item)) {
        match item {
            Item::Mod(module) => {
                let inner = module.content.as_ref().map_or(&[][..], |content| &content.1);
                types_in(inner, names);
            }
            Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) | Item::Union(_) => {
                names.extend(name_of(item));
            }
            _ => {}
        }
    }
}
