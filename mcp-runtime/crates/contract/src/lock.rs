//! Reading of a manifest from a lock file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::manifest::{FORMAT, ItemKind, ItemList, JsonObject, Manifest};

impl ItemKind {
    /// Returns the name of the JSON member that identifies an item of this kind.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }
}

impl Manifest {
    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// Returns a message for the user that describes the problem with the text.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(
                "it is UTF-16, as `>` writes it in Windows PowerShell, but a lock is UTF-8: \
                        write it with `cmd`, or with `MCP_LOCK=update`"
                    .to_owned(),
            );
        }
        let text = str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        if let Some(line) = line_of_conflict(text) {
            return Err(format!(
                "a merge left conflict markers in line {line}; do not merge a lock by hand"
            ));
        }
        let all: Value = serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => format!("it is cut off in line {}", error.line()),
            false => format!("it is not JSON: {error}"),
        })?;
        let Value::Object(all) = all else {
            return Err("it is not a manifest: a lock is a JSON object".to_owned());
        };
        parse(all)
    }

    pub(crate) fn name(&self) -> &str {
        self.server.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns the number of the first line with a merge conflict marker. No line of a lock begins with such a marker.
fn line_of_conflict(text: &str) -> Option<usize> {
    let marks = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
    let at = text.lines().position(|line| marks.iter().any(|mark| line.starts_with(mark)))?;
    Some(at + 1)
}

fn parse(mut all: JsonObject) -> Result<Manifest, String> {
    match all.remove("format") {
        Some(format) if format == FORMAT => {}
        Some(format) if format.as_u64().is_some_and(|format| format > FORMAT) => {
            return Err(format!(
                "a newer mcp-runtime has written it: it has format {format}, and this version reads format {FORMAT}"
            ));
        }
        Some(format) => return Err(format!("it has format {format}, not {FORMAT}")),
        None if all.contains_key("tools") => {
            return Err(
                "it is a manifest, but not one that `schema` prints: it has no `format`".to_owned()
            );
        }
        None => return Err("it is not a manifest: it has no `format`".to_owned()),
    }
    let server = match all.remove("server") {
        Some(Value::Object(server)) if server.get("name").is_some_and(Value::is_string) => server,
        _ => return Err("it does not name its server: `server` has no `name`".to_owned()),
    };
    let mut lists = BTreeMap::new();
    for kind in ItemKind::ALL {
        let Some(Value::Array(items)) = all.remove(kind.list()) else {
            return Err(format!("it has no list `{}`", kind.list()));
        };
        let mut list = ItemList::new();
        for item in items {
            let Value::Object(item) = item else {
                return Err(format!(
                    "`{}` contains {item}, which is not a {}",
                    kind.list(),
                    kind.noun()
                ));
            };
            let Some(key) = item.get(kind.key()).and_then(Value::as_str).map(str::to_owned) else {
                return Err(format!("a {} has no `{}`", kind.noun(), kind.key()));
            };
            if list.insert(key.clone(), item).is_some() {
                return Err(format!(
                    "it has two {}s `{key}`, as after a merge by hand",
                    kind.noun()
                ));
            }
        }
        lists.insert(kind, list);
    }
    match all.keys().next() {
        Some(other) => Err(format!("it has a member `{other}`, which no lock has")),
        None => Ok(Manifest { server, lists }),
    }
}
