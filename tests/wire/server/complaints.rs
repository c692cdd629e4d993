//! Tools of the kinds that clients have been reported to drop, written as their authors would write them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::Ipv4Addr,
    num::NonZeroI32,
};

use mcp_runtime::{Builder, prelude::*};
use serde_json::{Map, Value};

pub fn server() -> Builder {
    mcp_runtime::server!(name = "fixture", version = "1.2.3", group = "complaints")
}

/// Takes integers of every size.
#[tool(group = "complaints")]
fn numbers(
    byte: u8,
    port: u16,
    count: u32,
    size: u64,
    index: usize,
    offset: i64,
    share: f32,
) -> String {
    format!("{byte} {port} {count} {size} {index} {offset} {share}")
}

/// Where to look.
#[data]
struct Place {
    /// Degrees
    latitude: f64,
    longitude: f64,
    name: Option<String>,
}

/// Takes only optional arguments.
#[tool(group = "complaints")]
fn optional(
    text: Option<String>,
    number: Option<u32>,
    place: Option<Place>,
    list: Option<Vec<String>>,
) -> bool {
    text.is_some()
        || number.is_some()
        || list.is_some()
        || place.is_some_and(|place| place.name.is_some())
}

/// Takes a tuple.
#[tool(group = "complaints")]
fn pair(pair: (u8, String)) -> String {
    format!("{} {}", pair.0, pair.1)
}

/// Takes arguments whose schemas have keywords that not every client knows.
#[tool(group = "complaints")]
fn keywords(
    #[arg(example = "eu")] region: &str,
    tags: BTreeSet<String>,
    address: Option<Ipv4Addr>,
    spans: Vec<(u8, String)>,
    numbered: BTreeMap<u32, String>,
    offset: NonZeroI32,
) -> String {
    format!("{region} {tags:?} {address:?} {spans:?} {numbered:?} {offset}")
}

/// Takes several arguments of the same type.
#[tool(group = "complaints")]
fn nested(from: Place, to: Place, via: &[Place]) -> Json<Vec<Place>> {
    let mut all = vec![from, to];
    all.extend(via.iter().map(|place| Place { name: None, ..*place }));
    Json(all)
}

/// Takes values of any kind.
#[tool(group = "complaints")]
fn any(
    value: Value,
    optional: Option<Value>,
    list: Vec<Value>,
    object: Map<String, Value>,
    named: HashMap<String, Value>,
) -> Json<Anything> {
    Json(Anything { value, optional, list, object, named: named.into_iter().collect() })
}

#[data]
struct Anything {
    value: Value,
    optional: Option<Value>,
    list: Vec<Value>,
    object: Map<String, Value>,
    named: BTreeMap<String, Value>,
}

/// Returns a value of any kind.
#[tool(group = "complaints")]
fn any_result(value: Value) -> Json<Value> {
    Json(value)
}

/// A folder and what is in it.
#[data]
struct Folder {
    name: String,
    folders: Vec<Folder>,
}

/// Takes and returns a type that contains itself.
#[tool(group = "complaints")]
fn tree(root: Folder) -> Json<Folder> {
    Json(root)
}

/// Returns a result that is not an object.
#[tool(group = "complaints")]
fn list_result() -> Json<Vec<u32>> {
    Json(vec![1, 2])
}

/// How loud.
#[data]
enum Loudness {
    /// Hardly to be heard
    Low,
    High,
}

/// Takes a choice.
#[tool(group = "complaints")]
fn choice(loudness: Loudness) -> &'static str {
    match loudness {
        Loudness::Low => "low",
        Loudness::High => "high",
    }
}

/// Takes lists and objects, which some clients send as text.
#[tool(group = "complaints")]
fn lists(tags: Vec<String>, place: Place, text: String) -> String {
    format!("{} {} {text}", tags.len(), place.latitude)
}

/// Takes nothing.
#[tool(group = "complaints")]
fn nothing() -> &'static str {
    "nothing"
}
