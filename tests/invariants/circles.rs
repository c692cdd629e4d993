//! No cycles: the files that a file uses must not lead back to it, neither inside a room (top-level module) nor between rooms.

use crate::{
    arrows::{Arrow, Graph},
    sources::Text,
};

/// Returns the arrows that are part of a cycle, each with the path back.
pub(crate) fn arrows_back(graph: &Graph) -> Vec<String> {
    let components = graph.components();
    let mut found = Vec::new();
    for ((from, to), arrow) in &graph.arrows {
        let is_in_a_circle = components[*from] == components[*to];
        if is_in_a_circle {
            let back = graph.way(*to, *from).expect("a circle has a way back");
            let back: Vec<&str> = back.iter().map(|file| graph.files[*file].as_str()).collect();
            let (Arrow { file, line, name }, back) = (arrow, back.join(" -> "));
            found.push(format!("{file}:{line}: uses `{name}`, which leads back: {back}"));
        }
    }
    found
}

/// The graph of the rooms below `folder`.
pub(crate) fn rooms(texts: &[Text], folder: &str) -> Graph {
    let room = |file: &str| {
        let inside = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
        let first = inside.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first).to_owned()
    };
    Graph::of(texts, folder).merged(room)
}
