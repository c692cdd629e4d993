use crate::sources::Source;

/// The rooms (top-level modules) of the runtime, from the innermost layer to the outermost, as on the map in ARCHITECTURE.md.
const LAYERS: [&[&str]; 17] = [
    &["error"],
    &["random", "unavailable", "unwind"],
    &["model"],
    &["schema", "storage"],
    &["item"],
    &["call"],
    &["registry", "config", "limits", "node"],
    &["authorization"],
    &["catalog"],
    &["dispatch", "ask"],
    &["task"],
    &["server"],
    &["protocol"],
    &["transport", "sqlite", "issuer", "contract"],
    &["builder", "observe"],
    &["testing"],
    &["cli", "bench", "guide"],
];

fn layer(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

fn room(source: &Source) -> Option<&str> {
    let inside = source.path.strip_prefix("mcp-runtime/src/")?;
    let first = inside.split('/').next()?;
    Some(first.strip_suffix(".rs").unwrap_or(first)).filter(|room| *room != "lib")
}

pub(crate) fn unknown_rooms(sources: &[Source]) -> Vec<String> {
    let rooms = sources.iter().filter_map(room);
    rooms.filter(|room| layer(room).is_none()).map(str::to_owned).collect()
}

/// Returns every use of another room in the same layer or in a layer further out.
pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let Some(own) = room(source) else { continue };
        for (used, at) in used_rooms(source) {
            if used != own && layer(&used).is_some_and(|of_used| Some(of_used) >= layer(own)) {
                found.push(format!("{}:{at}: uses `{used}`, which is not further in", source.path));
            }
        }
    }
    found
}

/// Returns each room that a file names, with the line. Finds `crate::room`, and the rooms in a `use crate::{room::…, room::…}` over several
/// lines.
fn used_rooms(source: &Source) -> Vec<(String, usize)> {
    let word = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let mut used = Vec::new();
    let mut depth = 0_i32;
    for (at, line) in source.lines.iter().enumerate() {
        if depth == 1 {
            used.push((word(line.trim_start()), at + 1));
        }
        if depth > 0 {
            depth += braces(line);
            continue;
        }
        for (from, _) in line.match_indices("crate::") {
            // `$crate::` in a macro belongs to generated code, so it does not name a room.
            if line[..from].ends_with('$') {
                continue;
            }
            let rest = &line[from + "crate::".len()..];
            if let Some(list) = rest.strip_prefix('{') {
                depth = braces(rest);
                used.extend(split_top(list).map(|part| (word(part.trim_start()), at + 1)));
            } else {
                used.push((word(rest), at + 1));
            }
        }
    }
    used
}

fn braces(line: &str) -> i32 {
    line.chars().map(|letter| i32::from(letter == '{') - i32::from(letter == '}')).sum()
}

/// Returns the parts of `a::{b, c}, d` between top-level commas.
fn split_top(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    })
}
