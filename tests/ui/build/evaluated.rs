//! Code of users that runs while a server is built: defaults, schemas, and the code of their types. If this code panics, `build()` reports
//! the panic together with all other mistakes.

use std::{borrow::Cow, fmt};

use mcp_runtime::prelude::*;
use mcp_runtime::testing::assert_builds;
use mcp_runtime::{Builder, extract::Requirements, server};
use schemars::{Schema, SchemaGenerator};
use serde::{Deserializer, de::Visitor};

use super::{Store, placed};

const MOST: u32 = 20;

fn no_default() -> String {
    panic!("there is no default city")
}

/// Goes somewhere.
#[tool(group = "panicking default")]
fn go(fast: bool, #[arg(default = no_default())] city: String) -> bool {
    fast && city.is_empty()
}

/// Counts.
#[tool(group = "default beyond its range")]
fn count(#[arg(default = MOST, range(1..=10))] most: u32) -> u32 {
    most
}

/// Names.
#[prompt(group = "default against its pattern")]
fn name(#[arg(default = "A".to_lowercase(), pattern = "^[A-Z]$")] letter: String) -> String {
    letter
}

/// Finds.
#[tool(group = "panicking schema", input_schema = unwritten())]
fn find(what: &str) -> bool {
    what.is_empty()
}

fn unwritten() -> String {
    let lines: Vec<&str> = Vec::new();
    lines[0].to_owned()
}

/// Finds.
#[tool(group = "schema that is no JSON", input_schema = "{")]
fn find_more(what: &str) -> bool {
    what.is_empty()
}

/// Finds.
#[tool(group = "panicking schema of a result", output_schema = unwritten())]
fn find_all(what: &str) -> Json<String> {
    Json(what.to_owned())
}

/// Finds.
#[tool(group = "schema of a result that is no schema", output_schema = "[]")]
fn find_some(what: &str) -> Json<String> {
    Json(what.to_owned())
}

/// Finds.
#[tool(group = "schema of a result that is text", output_schema = serde_json::json!({}))]
fn find_text(what: &str) -> String {
    what.to_owned()
}

/// Finds.
#[tool(group = "schema of a list", input_schema = serde_json::json!({ "type": "array" }))]
fn find_most(what: &str) -> bool {
    what.is_empty()
}

/// Type whose schema panics.
struct Odd;

impl JsonSchema for Odd {
    fn schema_name() -> Cow<'static, str> {
        "Odd".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        panic!("later")
    }
}

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Odd)
    }
}

impl Serialize for Odd {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

/// Takes a value whose schema cannot be made, and a count.
#[tool(group = "type whose schema panics")]
fn take(odd: Odd, #[arg(range(1..))] count: u8) -> bool {
    let _ = odd;
    count > 1
}

/// Takes a value whose schema cannot be made.
#[tool(group = "schemas that panic", order = 1)]
fn take_odd(odd: Odd) {
    let _ = odd;
}

/// Returns a value whose schema cannot be made.
#[tool(group = "schemas that panic", order = 2)]
fn give() -> Json<Odd> {
    Json(Odd)
}

fn city_of_the_environment() -> String {
    std::env::var("CITY_THAT_NO_ENVIRONMENT_HAS").expect("the variable is set")
}

/// Where to go, unless the environment says it.
#[data]
struct Target {
    /// Its name
    #[serde(default = "city_of_the_environment")]
    city: String,
}

/// Goes to a city.
#[tool(group = "schemas that panic", order = 3)]
fn go_to(target: Target) -> String {
    target.city
}

/// Goes to a city, and says it.
#[tool(group = "schemas that panic", order = 4)]
fn go_and_say() -> Json<Target> {
    Json(Target { city: String::new() })
}

/// Where something is, with a header that clients would drop the tool for.
#[data]
struct Zone {
    /// Its name
    #[schemars(extend("x-mcp-header" = "Half the Name"))]
    name: String,
}

/// Looks.
#[tool(group = "header without a valid name")]
fn look(zone: Zone) -> bool {
    zone.name.is_empty()
}

/// Type that panics when it is asked for its values.
struct Choosy;

impl<'de> Deserialize<'de> for Choosy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nobody;
        impl Visitor<'_> for Nobody {
            type Value = Choosy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("nothing")
            }
        }
        if std::any::type_name::<D>().contains("NameCollector") {
            panic!("nobody asks me");
        }
        deserializer.deserialize_str(Nobody)
    }
}

/// Chooses.
#[prompt(group = "panicking values")]
fn choose(which: Choosy) -> String {
    let _ = which;
    String::new()
}

/// Parameter that panics when it is asked for its needs.
struct Unsure;

impl<'a> FromCall<'a> for Unsure {
    fn from_call(_: &'a Context) -> Result<Self> {
        Ok(Unsure)
    }

    fn needs(_: &mut Requirements) {
        panic!("who knows");
    }
}

/// Does.
#[tool(group = "panicking needs")]
fn act(unsure: Unsure) {
    let _ = unsure;
}

#[track_caller]
fn check(server: Builder, expected: &str) {
    let error = server.build().expect_err("a mistake");
    assert_eq!(error.to_string(), at(expected));
}

fn at(expected: &str) -> String {
    placed(expected, include_str!("evaluated.rs"), file!())
}

#[support::test]
fn defaults() {
    check(
        server!(group = "panicking default"),
        "`go` at ⟨\"panicking default\"⟩: the default of `city` panicked: there is no default city",
    );
    check(
        server!(group = "default beyond its range"),
        "`count` at ⟨\"default beyond its range\"⟩: the default of `most` does not satisfy its own constraints: 20 is not in 1..=10",
    );
    check(
        server!(group = "default against its pattern"),
        "`name` at ⟨\"default against its pattern\"⟩: the default of `letter` does not satisfy its own constraints: \"a\" does not match ^[A-Z]$",
    );
}

#[support::test]
fn schemas() {
    check(
        server!(group = "panicking schema"),
        "`find` at ⟨\"panicking schema\"⟩: its `input_schema` panicked: index out of bounds: the len is 0 but the index is 0",
    );
    check(
        server!(group = "schema that is no JSON"),
        "`find_more` at ⟨\"schema that is no JSON\"⟩: `input_schema` is not usable: EOF while parsing an object at line 1 column 1",
    );
    check(
        server!(group = "schema of a list"),
        "`find_most` at ⟨\"schema of a list\"⟩: `input_schema` is not usable: its root must have `\"type\": \"object\"`",
    );
    check(
        server!(group = "panicking schema of a result"),
        "`find_all` at ⟨\"panicking schema of a result\"⟩: its `output_schema` panicked: index out of bounds: the len is 0 but the index is 0",
    );
    check(
        server!(group = "schema of a result that is no schema"),
        "`find_some` at ⟨\"schema of a result that is no schema\"⟩: `output_schema` is not usable: it is not a JSON object",
    );
    check(
        server!(group = "schema of a result that is text"),
        "`find_text` at ⟨\"schema of a result that is text\"⟩: `output_schema` describes a structured result, and the function returns none: return `Json<…>`, or remove the key",
    );
    check(
        server!(group = "type whose schema panics"),
        "`take` at ⟨\"type whose schema panics\"⟩: the schema of its parameters panicked: later",
    );
    check(
        server!(group = "header without a valid name"),
        "`look` at ⟨\"header without a valid name\"⟩: the header of the argument `zone.name` is not a valid name: use a string of letters, digits and !#$%&'*+-.^_`|~ without spaces",
    );
    check(
        server!(group = "schemas that panic"),
        "the server cannot start, for 4 reasons:\n\
        - `take_odd` at ⟨order = 1⟩: the schema of its parameters panicked: later\n\
        - `give` at ⟨order = 2⟩: the schema of its result panicked: later\n\
        - `go_to` at ⟨order = 3⟩: the schema of its parameters panicked: the variable is set: NotPresent\n\
        - `go_and_say` at ⟨order = 4⟩: the schema of its result panicked: the variable is set: NotPresent",
    );
}

#[support::test]
fn panics_in_the_descriptions_of_types() {
    check(
        server!(group = "panicking values"),
        "`choose` at ⟨\"panicking values\"⟩: listing the values that its arguments allow panicked: nobody asks me",
    );
    check(
        server!(group = "panicking needs"),
        "`act` at ⟨\"panicking needs\"⟩: `FromCall::needs` of a parameter panicked: who knows",
    );
}

/// Returns the text that a failing `assert_builds!` panics with.
fn said(fails: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(fails).expect_err("it fails");
    *payload.downcast::<String>().expect("a text")
}

/// `assert_builds!` runs neither `setup` nor `on_shutdown`.
#[support::test]
fn a_test_makes_no_state() {
    let server =
        server!(group = "stateless methods").setup(async || -> Result<Store> { panic!("made") });
    assert_builds!(server.on_shutdown(async |_| panic!("over")));
    let missing = said(|| assert_builds!(server!(group = "stateless methods")));
    assert!(missing.contains("need shared state of type `ui::build::Store`"), "{missing}");
}

/// `assert_builds!()` checks every group of the package, except for mistakes that depend on the builder of a server.
#[support::test]
fn a_test_looks_at_the_whole_package() {
    let text = said(|| assert_builds!());
    for part in [
        "- there are two tools `hello`: ",
        "- there are two resources `hello://world`: ",
        "`repeat` at ui/build.rs:",
        "`go` at ui/build/evaluated.rs:",
        "`look` at ui/build/evaluated.rs:",
        // No server can have state of this type, so this mistake is found without a builder too.
        "`ask` at ui/build.rs:",
    ] {
        assert!(text.replace("tests/ui/", "ui/").contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("Store"), "{text}");
    assert!(!text.contains("server!"), "{text}");
    assert_eq!(text.matches("a completion cannot ask the client").count(), 1, "{text}");
}
