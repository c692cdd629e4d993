//! Tools whose arguments have types of every form, for the test of published schemas. The tools do nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mcp_runtime::{Builder, prelude::*};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

pub fn server() -> Builder {
    mcp_runtime::server!(name = "fixture", version = "1.2.3", group = "types")
}

fn whole(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 0 })
}

// ---- options with schemas of their own, as servers for rmcp have them

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Search {
    query: String,
    #[schemars(schema_with = "whole")]
    max_depth: Option<u32>,
    inner: Option<Vec<Inner>>,
    near: Near,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Inner {
    #[schemars(schema_with = "whole")]
    own: Option<u32>,
    maybe: Maybe,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Maybe(Option<u8>);

#[data]
struct Near {
    #[schemars(schema_with = "whole")]
    distance: Option<u32>,
    place: String,
}

#[tool(group = "types")]
fn search(_search: Args<Search>) {}

#[tool(group = "types")]
fn nested(_search: Search, _near: Option<Near>, _inner: Inner) {}

/// A struct of `#[data]` with a field that only schemars describes.
#[data]
struct Mixed {
    inner: Inner,
    maybe: Maybe,
    count: u8,
}

#[tool(group = "types")]
fn mixed(_mixed: Args<Mixed>) {}

// ---- values of any type

#[tool(group = "types")]
fn any(_value: Value, _list: Vec<Value>, _map: Map<String, Value>) {}

#[data]
struct Anything {
    value: Value,
    maybe: Option<Value>,
    by_name: HashMap<String, Value>,
    pairs: Vec<(String, Value)>,
}

#[tool(group = "types")]
fn anything(_value: Anything, _maybe: Option<Anything>) {}

// ---- types that contain themselves

#[data]
struct Tree(Vec<Tree>);

#[data]
struct Named(BTreeMap<String, Named>);

#[data]
struct Comment {
    text: String,
    answers: Comments,
    parent: Option<Box<Comment>>,
}

#[data]
struct Comments(Vec<Comment>);

#[data]
#[serde(untagged)]
enum Json {
    Text(String),
    Number(f64),
    Object(BTreeMap<String, Json>),
}

#[tool(group = "types")]
fn recursive(_tree: Tree, _named: Named, _comment: Comment, _json: Json) {}

// ---- options inside of other types

#[data]
struct Options {
    list: Vec<Option<u8>>,
    map: BTreeMap<String, Option<String>>,
    pair: (Option<u8>, String),
    nested: Option<Option<u8>>,
    boxed: Option<Box<Unit>>,
    #[serde(default)]
    defaulted: Option<u8>,
}

#[data]
struct Unit;

#[tool(group = "types")]
fn options(_options: Args<Options>) {}

#[tool(group = "types")]
fn lists(
    _list: Vec<Option<Unit>>,
    _map: HashMap<String, Option<bool>>,
    _deep: Vec<Vec<Option<String>>>,
) {
}

// ---- enums in all forms

#[data]
enum External {
    Plain,
    One(Option<u8>),
    Two(u8, Option<String>),
    Fields { a: u8, b: Option<String> },
}

#[data]
#[serde(tag = "kind")]
enum Internal {
    Plain,
    Struct(Pair),
    Fields { a: u8, b: Option<String> },
}

#[data]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Plain,
    One(Option<u8>),
    Fields { a: u8, b: Option<String> },
}

#[data]
#[serde(untagged)]
enum Untagged {
    Number(u8),
    Pair(Pair),
    Nothing,
}

#[data]
struct Pair {
    left: u8,
    right: Option<Box<Internal>>,
}

#[tool(group = "types")]
fn choices(_a: External, _b: Internal, _c: Adjacent, _d: Untagged, _e: Option<Adjacent>) {}

#[tool(group = "types")]
fn many(_a: Vec<External>, _b: BTreeMap<String, Internal>, _c: VecDeque<Untagged>) {}

// ---- flattened structs, defaults and skipped fields

#[data]
struct Flat {
    name: String,
    #[serde(flatten)]
    pair: Pair,
    #[serde(flatten)]
    others: BTreeMap<String, u8>,
}

#[data]
struct Defaults {
    #[serde(default = "seven")]
    count: u8,
    #[serde(default)]
    list: Vec<String>,
    #[serde(rename = "Name", alias = "name")]
    name: String,
    #[serde(skip)]
    #[expect(dead_code, reason = "only left out")]
    skipped: u8,
    unit: (),
    nothing: Unit,
}

fn seven() -> u8 {
    7
}

#[tool(group = "types")]
fn flat(_flat: Flat, _defaults: Defaults) {}

#[tool(group = "types")]
fn defaults(_defaults: Args<Defaults>) {}

#[tool(group = "types")]
fn numbers(#[arg(range(1..=9))] _a: u8, _b: i128, _c: std::num::NonZeroI16, _d: f32) {}

#[tool(group = "types")]
fn sizes(
    #[arg(len(1..3))] _a: Vec<u8>,
    #[arg(default = 3)] _b: u64,
    _c: [u8; 2],
    _d: (u8, bool, Option<char>),
) {
}
