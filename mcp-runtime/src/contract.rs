//! Manifest of a server, which the crate `mcp-runtime-contract` compares with a lock file.

use mcp_runtime_contract::{ItemKind, JsonObject, Manifest};
#[cfg(feature = "contract")]
use mcp_runtime_contract::{
    ItemPlace, Published, SourcePlace, SourcePlaces, collect::collect_by_insert,
};
use serde_json::json;

#[cfg(feature = "contract")]
use crate::item::ArgDef;
use crate::{
    catalog::{Entry, Snapshot},
    model::ListKind,
    protocol,
    server::Identity,
};

/// Returns the manifest of a server.
#[cfg_attr(
    not(any(feature = "stdio", feature = "contract")),
    allow(dead_code, reason = "the command `schema` and the comparison need it")
)]
pub(crate) fn manifest(identity: &Identity, snapshot: &Snapshot) -> Manifest {
    let mut manifest = Manifest::new(server(identity));
    for kind in ItemKind::ALL {
        for entry in snapshot.list(list_kind(kind)) {
            manifest.add(kind, entry.key(), item(entry));
        }
    }
    manifest
}

/// Returns the manifest of a server, and the source locations of its items.
#[cfg(feature = "contract")]
pub(crate) fn published(identity: &Identity, snapshot: &Snapshot) -> Published {
    let mut places = SourcePlaces::default();
    for kind in ItemKind::ALL {
        for entry in snapshot.list(list_kind(kind)) {
            places.add(kind, entry.key(), place(entry));
        }
    }
    Published { manifest: manifest(identity, snapshot), places }
}

fn list_kind(kind: ItemKind) -> ListKind {
    match kind {
        ItemKind::Tool => ListKind::Tools,
        ItemKind::Resource => ListKind::Resources,
        ItemKind::Template => ListKind::Templates,
        ItemKind::Prompt => ListKind::Prompts,
    }
}

fn server(identity: &Identity) -> JsonObject {
    let mut server = object(&protocol::presented(identity));
    if let Some(instructions) = &identity.instructions {
        server.insert("instructions".to_owned(), instructions.as_str().into());
    }
    server
}

/// Returns an entry as the newest revision lists it, with additional members for properties that the lists of the protocol do not contain.
fn item(entry: &Entry) -> JsonObject {
    let mut item = object(&protocol::listed(entry));
    if let Some(task) = entry.task() {
        let support = if task.required { "required" } else { "optional" };
        item.insert("execution".to_owned(), json!({ "taskSupport": support }));
    }
    let asks: Vec<&str> = entry.asks.names().collect();
    let completes = entry.arguments().iter().filter(|argument| argument.can_complete());
    let completes: Vec<&str> = completes.map(|argument| &*argument.name).collect();
    let scopes: Vec<&str> = entry.scopes().collect();
    for (member, mut names) in [("asks", asks), ("completes", completes), ("scopes", scopes)] {
        if !names.is_empty() {
            names.sort_unstable();
            item.insert(member.to_owned(), names.into());
        }
    }
    if entry.resource().is_some_and(|resource| resource.subscribe) {
        item.insert("subscribe".to_owned(), true.into());
    }
    item
}

fn object(text: &[u8]) -> JsonObject {
    // This crate generated the text, so the text is valid JSON.
    serde_json::from_slice(text).unwrap_or_default()
}

/// Returns the source locations of an item and of its arguments.
#[cfg(feature = "contract")]
fn place(entry: &Entry) -> ItemPlace {
    let place = match entry.origin {
        Some(origin) => SourcePlace::Line(origin.file, origin.line),
        None => SourcePlace::Nowhere,
    };
    // The parameters of generated functions have no source line.
    let known = entry.parameters.iter().copied().filter(|parameter| parameter.line > 0);
    let (own, spread): (Vec<&'static ArgDef>, Vec<&'static ArgDef>) =
        known.partition(|parameter| entry.names.own.iter().any(|name| name == parameter.name));
    let others = match spread.as_slice() {
        [one] => Some(one.line),
        _ => None,
    };
    let arguments = own.into_iter().map(|parameter| (parameter.name, parameter.line));
    ItemPlace { place, arguments: collect_by_insert(arguments), others }
}

#[cfg(all(test, feature = "contract"))]
mod tests {
    use mcp_macros::tool;
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::{
        call::extract::{Args, ItemParams},
        registry::{self, ItemDef},
        schema::SchemaProfile,
    };

    #[cfg(feature = "auth")]
    #[test]
    fn the_manifest_publishes_the_scopes_that_an_item_requires() {
        use crate::{
            call::context::Context,
            catalog::{Item as _, Tool},
        };

        let tool = || Tool::new("write").handler(async |_: Context| "");
        let published =
            |tool: Tool| item(&tool.into_entry(SchemaProfile::default()).expect("a good tool").0);
        let scopes = published(tool().scopes(["notes:write", "notes:read"]));
        assert_eq!(scopes["scopes"], json!(["notes:read", "notes:write"]));
        assert!(published(tool().auth(|_, _| true)).get("scopes").is_none());
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its names count")]
    struct Trip {
        from: String,
    }

    #[tool(crate = crate, group = "places")]
    fn go(times: u8, trip: Args<Trip>) -> u8 {
        drop(trip);
        times
    }

    fn def() -> &'static ItemDef {
        registry::all().find(|def| def.group == Some("places")).expect("the tool")
    }

    /// Checks which source lines are reported for the arguments `times`, `from` and `gone` of the tool `go`. `lines` are the lines of the
    /// two parameters of `go`, 0 if unknown.
    fn check(lines: [u32; 2], times: u32, from: u32, gone: u32) {
        let mut params = ItemParams::default();
        (def().params)(&mut params);
        let mut entry = Entry::of(def(), params, SchemaProfile::default(), &mut Vec::new());
        let moved = entry.parameters.iter().zip(lines).map(|(parameter, line)| {
            let def: &'static ArgDef = Box::leak(Box::new(ArgDef::new(parameter.name).line(line)));
            def
        });
        entry.parameters = moved.collect();
        let mut places = SourcePlaces::default();
        places.add(ItemKind::Tool, "go", place(&entry));
        let file = def().origin.file;
        for (name, line) in [("times", times), ("from", from), ("gone", gone)] {
            let place = places.argument(ItemKind::Tool, "go", name);
            assert_eq!(place, SourcePlace::Line(file, line), "{name}");
        }
    }

    #[test]
    fn an_argument_is_where_its_parameter_is() {
        let item = def().origin.line;
        check([0, 0], item, item, item);
        check([70, 0], 70, item, item);
        // An argument without a parameter may have been a field of the spread struct, so it gets the line of that parameter.
        check([70, 71], 70, 71, 71);
    }
}
