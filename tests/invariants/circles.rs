//! A crate has no cycles between its files: no file may depend on itself through other files, inside a room (top-level module) or between
//! rooms.

use std::collections::BTreeSet;

use crate::arrows::{Arrow, Graph};

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

/// Returns all folders that hold files of the graph, from `root` down.
pub(crate) fn folders(graph: &Graph, root: &str) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for file in &graph.files {
        let ends = file.match_indices('/').map(|(end, _)| &file[..end]);
        folders.extend(ends.filter(|folder| folder.starts_with(root)).map(str::to_owned));
    }
    folders
}

/// Returns the graph of the rooms in `folder`: its files and folders, with the arrows between them.
pub(crate) fn rooms(graph: &Graph, folder: &str) -> Graph {
    let room = |file: &str| {
        let inside = file.strip_prefix(folder)?.strip_prefix('/')?;
        let first = inside.split('/').next().unwrap_or_default();
        Some(first.strip_suffix(".rs").unwrap_or(first).to_owned())
    };
    let is_inside = |file: usize| room(&graph.files[file]).is_some();
    let arrows = graph.arrows.iter().filter(|((from, to), _)| is_inside(*from) && is_inside(*to));
    let arrows = arrows.map(|(ends, arrow)| (*ends, arrow.clone())).collect();
    let inside = Graph { files: graph.files.clone(), arrows };
    inside.merged(|file| room(file).unwrap_or_else(|| file.to_owned()))
}
