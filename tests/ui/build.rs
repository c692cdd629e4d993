//! What `build()` says of mistakes that no compiler can see. Each is in a group of its own.

use mcp_runtime::prelude::*;
use mcp_runtime::{Builder, server};

/// State that no server here has.
struct Db;

mod one {
    use mcp_runtime::prelude::*;

    /// Says hello.
    #[tool(group = "twins", order = 1)]
    fn hello() -> &'static str {
        "hello"
    }

    /// A greeting.
    #[resource("hello://world", group = "twin resources", order = 1)]
    fn greeting() -> &'static str {
        "hello"
    }
}

/// Says hello too.
#[tool(group = "twins", order = 2)]
fn hello() -> &'static str {
    "hello"
}

/// The same greeting.
#[resource("hello://world", group = "twin resources", order = 2)]
fn greeting() -> &'static str {
    "hello"
}

/// Counts.
#[tool(group = "stateless")]
fn count(db: State<Db>) -> bool {
    let _ = db;
    true
}

/// Counts.
#[tool(group = "borrowed text")]
#[allow(clippy::ptr_arg)]
fn greet(name: &String) -> String {
    name.clone()
}

/// Counts.
#[tool(group = "borrowed list")]
#[allow(clippy::ptr_arg)]
fn sum(numbers: &Vec<i64>) -> i64 {
    numbers.iter().sum()
}

/// Has no attribute.
fn plain(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

/// Paints.
#[prompt(group = "completed")]
fn paint(#[complete(plain)] color: &str) -> String {
    color.to_owned()
}

/// What only schemars knows the schema of. Of other types the compiler says what is wrong.
#[data]
#[schemars(inline)]
struct Told<T>(T);

/// Repeats.
#[tool(group = "constrained")]
fn repeat(
    #[arg(range(1..=9))] text: Told<String>,
    #[arg(len(..=5))] times: Told<usize>,
    #[arg(pattern = "^a$")] yes: Told<bool>,
) -> String {
    if yes.0 { text.0.repeat(times.0) } else { String::new() }
}

/// Where to go.
#[data]
struct Trip {
    /// From where
    from: String,
}

/// Goes.
#[tool(group = "spread twice")]
fn go(from: &str, trip: Args<Trip>) -> String {
    format!("{from}{}", trip.from)
}

/// Goes.
#[tool(group = "spread list")]
fn go_on(trip: Args<Told<Vec<String>>>) -> String {
    trip.0.0.join("")
}

/// Pays.
#[tool(group = "meta", meta("a b/c" = 1))]
fn pay() {}

/// Weighs.
#[tool(group = "headers")]
fn weigh(
    #[arg(header = "Weight")] weight: Told<f64>,
    #[arg(header = "Parts")] parts: Told<Vec<u8>>,
    place: Args<Place>,
    #[arg(header = "Region")] region: &str,
) -> bool {
    place.zone.is_empty() && parts.0.is_empty() && weight.0 > 0.0 && region.is_empty()
}

/// Where something is.
#[data]
struct Place {
    /// In which region
    #[schemars(extend("x-mcp-header" = "region"))]
    zone: String,
    /// And there
    #[schemars(extend("x-mcp-header" = "Half the Street"))]
    street: String,
}

/// Sends.
#[tool(group = "header of several")]
fn send(#[arg(header = "Place")] place: Args<Place>) -> bool {
    place.zone == place.street
}

/// Moves.
#[tool(group = "headers in a given schema", input_schema = moves())]
fn move_all(all: Args<Place>) -> bool {
    all.zone == all.street
}

fn moves() -> &'static str {
    r#"{"type":"object","properties":{"all":{"type":"array","items":{"type":"string","x-mcp-header":"Zone"}}}}"#
}

/// Asks.
#[tool(group = "borrowed question")]
fn ask(user: &Elicit) -> bool {
    user.client_can()
}

/// Completes what it cannot.
#[completion]
fn cities(typed: &str, model: Sample) -> Vec<String> {
    let _ = model;
    vec![typed.to_owned()]
}

/// Travels.
#[prompt(group = "asked while completing")]
fn travel(#[complete(cities)] city: &str) -> String {
    city.to_owned()
}

/// Keeps what has been written.
struct Store;

#[server(group = "stateless methods")]
impl Store {
    /// Reads it.
    #[tool]
    fn load(&self) {}

    /// Writes it.
    #[tool]
    fn save(&self, again: &Store) {
        let _ = again;
    }
}

/// `⟨text⟩` in `expected` stands for this file and the number of the first line that has the text.
#[track_caller]
fn check(server: Builder, expected: &str) {
    let error = server.build().expect_err("a mistake");
    let mut text = String::new();
    for (index, part) in expected.split(['⟨', '⟩']).enumerate() {
        if index % 2 == 0 {
            text.push_str(part);
        } else {
            let line = include_str!("build.rs").lines().position(|it| it.contains(part));
            let line = line.unwrap_or_else(|| panic!("no line has {part}")) + 1;
            text.push_str(&format!("{}:{line}", file!()));
        }
    }
    assert_eq!(error.to_string(), text);
}

/// A server without items, which is no mistake when it was asked for.
fn nothing() -> Builder {
    server!().items(items![])
}

#[test]
fn two_of_one_name() {
    check(
        server!(group = "twins"),
        "there are two tools `hello`: `hello` at ⟨\"twins\", order = 1⟩ and `hello` at ⟨\"twins\", order = 2⟩: rename one, or give it `name = \"…\"`",
    );
    check(
        server!(group = "twin resources"),
        "there are two resources `hello://world`: `greeting` at ⟨\"twin resources\", order = 1⟩ and `greeting` at ⟨\"twin resources\", order = 2⟩: give one of them another URI",
    );
}

#[test]
fn state_that_nobody_gave() {
    check(
        server!(group = "stateless"),
        "`count` at ⟨group = \"stateless\"⟩ needs shared state of type `ui::build::Db`, and there is none: add `.state(…)` with a `Db`, or make it in `.setup(async || …)`; if it is an argument, take it by value",
    );
    check(
        server!(group = "stateless methods"),
        "`Store::load` at ⟨fn load⟩, `Store::save` at ⟨fn save⟩ need shared state of type `ui::build::Store`, and there is none: add `.state(…)` with a `Store`, or make it in `.setup(async || …)`; if it is an argument, take it by value",
    );
}

#[test]
fn references_to_what_was_meant_as_an_argument() {
    check(
        server!(group = "borrowed text"),
        "`greet` at ⟨group = \"borrowed text\"⟩ needs shared state of type `alloc::string::String`, and there is none: for a text from the client write `&str` or `String`",
    );
    check(
        server!(group = "borrowed list"),
        "`sum` at ⟨group = \"borrowed list\"⟩ needs shared state of type `alloc::vec::Vec<i64>`, and there is none: for a list from the client write `&[i64]` or `Vec<i64>`",
    );
}

#[test]
fn a_function_without_attribute() {
    check(
        server!().items(items![plain]),
        "`plain` is in `items![…]`, but it has no `#[tool]`, `#[resource]` or `#[prompt]`",
    );
    check(
        server!(group = "completed"),
        "`paint` at ⟨group = \"completed\"⟩: the function that completes `color` has no `#[completion]`: put it on that function",
    );
}

#[test]
fn nothing_to_serve() {
    check(
        server!(group = "nobody"),
        "there is nothing to serve: package `mcp-tests` has no item in the group \"nobody\"; its groups: asked while completing, borrowed list, borrowed question, borrowed text, completed, constrained, header of several, headers, headers in a given schema, meta, spread list, spread twice, stateless, stateless methods, twin resources, twins",
    );
    check(
        server!(group = "nobody").with(&["no_such_tools"]),
        "`with = [no_such_tools]`: the crate `no_such_tools` has no items; crates with items in this program: ui",
    );
}

#[test]
fn constraints_that_do_not_fit_their_type() {
    check(
        server!(group = "constrained"),
        "the server cannot start, for 3 reasons:\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `text` is a string, but a range bounds numbers: remove `range`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `times` is an integer, but a length bounds text, lists and maps: remove `len`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `yes` is a boolean, but a pattern describes text: remove `pattern`",
    );
}

#[test]
fn structs_that_cannot_be_spread() {
    check(
        server!(group = "spread twice"),
        "`go` at ⟨group = \"spread twice\"⟩: the argument `from` is declared twice: by its own parameter and by the struct of `trip`",
    );
    check(
        server!(group = "spread list"),
        "`go_on` at ⟨group = \"spread list\"⟩: `trip` cannot be spread: only a struct with named fields can, and not one that flattens an enum; take it as an argument of its own",
    );
}

#[test]
fn headers_that_clients_drop_a_tool_for() {
    check(
        server!(group = "headers"),
        "the server cannot start, for 4 reasons:\n\
         - `weigh` at ⟨group = \"headers\"⟩: the argument `weight` has a header, but only strings, integers and booleans can have one\n\
         - `weigh` at ⟨group = \"headers\"⟩: the argument `parts` has a header, but only strings, integers and booleans can have one\n\
         - `weigh` at ⟨group = \"headers\"⟩: the argument `street` has a header that is no name: letters, digits and !#$%&'*+-.^_`|~ without spaces, as text\n\
         - `weigh` at ⟨group = \"headers\"⟩: the arguments `zone` and `region` have the same header `Region`",
    );
    check(
        server!(group = "header of several"),
        "`send` at ⟨group = \"header of several\"⟩: `place` is spread over several arguments: say which one has the header, with `#[schemars(extend(\"x-mcp-header\" = \"Place\"))]` on the field",
    );
    check(
        server!(group = "headers in a given schema"),
        "`move_all` at ⟨group = \"headers in a given schema\"⟩: `x-mcp-header` is at `all`, but only an argument, or a member of an object that is one, can have a header: not what is in a list, a choice, a map or a `$ref`",
    );
}

#[test]
fn questions_that_cannot_be_asked() {
    check(
        server!(group = "borrowed question"),
        "`ask` at ⟨group = \"borrowed question\"⟩ needs shared state of type `mcp_runtime::extract::ask::Elicit`, and there is none: it is made for each call: take it by value",
    );
    check(
        server!(group = "asked while completing"),
        "`cities` at ⟨#[completion]⟩: a completion cannot ask the client, and a parameter of it declares `sampling`: remove that one",
    );
}

#[test]
fn keys_of_meta() {
    check(
        server!(group = "meta"),
        "`pay` at ⟨group = \"meta\"⟩: `a b/c` cannot be a key of `meta`: its prefix must be dotted labels such as `example.com`",
    );
}

#[test]
fn settings_of_the_server() {
    check(
        nothing().state(1u8).state(2u8),
        "there are two states of type `u8`: handlers could not tell them apart",
    );
    check(
        nothing().max_result("1 meg"),
        "`1 meg` is no size: write it as `64KB`, `1MiB` or a number of bytes",
    );
    check(
        nothing()
            .around(async |call, next| next.run(call).await)
            .around(async |call, next| next.run(call).await),
        "`around` was said twice: put both into one",
    );
}
