//! Reads lock files, which people and tools may have edited.

use std::collections::BTreeMap;

use serde_json::Value;

use super::manifest::{Kind, List, Manifest};
use crate::schema::Map;

/// Version of the lock format. It changes when older locks can no longer be read as before.
pub(super) const FORMAT: u64 = 1;

impl Manifest {
    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// Returns the problem with the text, in words for the user.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err("it is UTF-16, as `>` writes it in Windows PowerShell; a lock is UTF-8: \
                        write it with `cmd`, or with `MCP_LOCK=update`"
                .to_owned());
        }
        let text = str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        if let Some(line) = conflict(text) {
            return Err(format!("a merge left its marks in line {line}; no need to merge it"));
        }
        let all: Value = serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => format!("it ends in the middle, in line {}", error.line()),
            false => format!("it is no JSON: {error}"),
        })?;
        let Value::Object(all) = all else {
            return Err("it is no manifest: a lock is a JSON object".to_owned());
        };
        manifest(all)
    }
}

/// Returns the number of the first line with a conflict marker of a merge. No line of a lock begins with such a marker.
fn conflict(text: &str) -> Option<usize> {
    let marks = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
    let at = text.lines().position(|line| marks.iter().any(|it| line.starts_with(it)))?;
    Some(at + 1)
}

fn manifest(mut all: Map) -> Result<Manifest, String> {
    match all.remove("format") {
        Some(format) if format == FORMAT => {}
        Some(format) if format.as_u64().is_some_and(|it| it > FORMAT) => {
            return Err(format!(
                "a newer mcp-runtime has written it: it is of format {format}, and this one reads {FORMAT}"
            ));
        }
        Some(format) => return Err(format!("it is of format {format}, and not {FORMAT}")),
        None if all.contains_key("tools") => {
            return Err(
                "it is a manifest, but none that `schema` prints: it has no `format`".to_owned()
            );
        }
        None => return Err("it is no manifest: it has no `format`".to_owned()),
    }
    let server = match all.remove("server") {
        Some(Value::Object(server)) if server.get("name").is_some_and(Value::is_string) => server,
        _ => return Err("it does not say whose it is: `server` has no `name`".to_owned()),
    };
    let mut lists = BTreeMap::new();
    for kind in Kind::ALL {
        let Some(Value::Array(items)) = all.remove(kind.list()) else {
            return Err(format!("it has no list `{}`", kind.list()));
        };
        let mut list = List::new();
        for item in items {
            let Value::Object(item) = item else {
                return Err(format!(
                    "in `{}` there is {item}, which is no {}",
                    kind.list(),
                    kind.noun()
                ));
            };
            let Some(key) = item.get(kind.key()).and_then(Value::as_str).map(str::to_owned) else {
                return Err(format!("a {} has no `{}`", kind.noun(), kind.key()));
            };
            if list.insert(key.clone(), item).is_some() {
                return Err(format!(
                    "it has two {}s `{key}`, as when it is merged by hand",
                    kind.noun()
                ));
            }
        }
        lists.insert(kind, list);
    }
    match all.keys().next() {
        Some(other) => Err(format!("it has a member `{other}`, which is in no lock")),
        None => Ok(Manifest { server, lists }),
    }
}
