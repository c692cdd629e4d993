//! Errors of `build()` about mistakes that the compiler cannot see. Each mistake is in a group of its own.

use mcp_runtime::prelude::*;
mod evaluated;

use std::time::Duration;

use mcp_runtime::{Builder, limits::Limits, server};

/// State that no server here has.
struct Db;

mod one {
    use mcp_runtime::prelude::*;

    /// Says hello.
    #[tool(group = "twins", order = 1)]
    pub(super) fn hello() -> &'static str {
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

type Shelf = std::sync::Mutex<std::collections::HashMap<String, Db>>;

/// Looks into a shelf.
#[tool(group = "generic state in an arc")]
fn shelved(shelf: &Shelf) -> bool {
    shelf.lock().is_ok()
}

/// Counts.
#[tool(group = "state in an arc")]
fn counted(db: &Db) -> bool {
    let _ = db;
    true
}

/// One of two templates of the same shape.
#[resource("HOST://A/{x}{?q,r}", group = "one shape", order = 1)]
fn by_x(x: &str, q: Option<&str>, r: Option<&str>) -> String {
    format!("{x}{q:?}{r:?}")
}

/// The other template of the same shape.
#[resource("host://a/{y}{?r,q}", group = "one shape", order = 2)]
fn by_y(y: &str, q: Option<&str>, r: Option<&str>) -> String {
    format!("{y}{q:?}{r:?}")
}

/// Matches only numbers, so the other templates match the rest.
#[resource("host://a/{z}{?q,r}", group = "one shape", order = 0)]
fn by_number(z: u32, q: Option<&str>, r: Option<&str>) -> String {
    format!("{z}{q:?}{r:?}")
}

/// A template of another shape.
#[resource("host://a/{+y}", group = "one shape", order = 3)]
fn anywhere(y: &str) -> String {
    y.to_owned()
}

/// A template with another query.
#[resource("host://a/{y}{?s}", group = "one shape", order = 4)]
fn queried(y: &str, s: Option<&str>) -> String {
    format!("{y}{s:?}")
}

/// Greets.
#[tool(group = "borrowed text")]
#[allow(clippy::ptr_arg)]
fn greet(name: &String) -> String {
    name.clone()
}

/// Adds numbers.
#[tool(group = "borrowed list")]
#[allow(clippy::ptr_arg)]
fn sum(numbers: &Vec<i64>) -> i64 {
    numbers.iter().sum()
}

/// Has no attribute.
fn plain(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

/// Only schemars knows the schema of this type, so `build()` reports a mistake about it. For types whose schema is known at compile time,
/// the compiler does.
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

/// A completion that asks the model, which no completion can do.
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

/// State whose methods are items.
struct Store;

#[handlers(group = "stateless methods")]
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

/// Checks the error of `build()`. `⟨text⟩` in `expected` stands for this file and the number of the first line that has the text.
#[track_caller]
fn check(server: Builder, expected: &str) {
    let error = server.build().expect_err("a mistake");
    assert_eq!(error.to_string(), placed(expected, include_str!("build.rs"), file!()));
}

/// Replaces each `⟨text⟩` in `expected` with the file and the number of the first line of `source` that has the text.
#[track_caller]
fn placed(expected: &str, source: &str, file: &str) -> String {
    let mut text = String::new();
    for (index, part) in expected.split(['⟨', '⟩']).enumerate() {
        if index % 2 == 0 {
            text.push_str(part);
        } else {
            let line = source.lines().position(|line| line.contains(part));
            let line = line.unwrap_or_else(|| panic!("no line has {part}")) + 1;
            text.push_str(&format!("{file}:{line}"));
        }
    }
    text
}

/// Returns a server without items. An explicitly empty list is not a mistake.
fn nothing() -> Builder {
    server!().items(items![])
}

#[support::test]
fn two_items_with_one_name() {
    check(
        server!(group = "twins"),
        "there are two tools `hello`: `hello` at ⟨\"twins\", order = 1⟩ and `hello` at ⟨\"twins\", order = 2⟩: rename one, or give it `name = \"…\"`",
    );
    check(
        server!(group = "twin resources"),
        "there are two resources `hello://world`: `greeting` at ⟨\"twin resources\", order = 1⟩ and `greeting` at ⟨\"twin resources\", order = 2⟩: give one of them another URI",
    );
}

#[support::test]
fn missing_shared_state() {
    check(
        server!(group = "stateless"),
        "`count` at ⟨group = \"stateless\"⟩ needs shared state of type `ui::build::Db`, and there is none: add `.state(…)` with a `Db`, or make it in `.setup(async || …)`; if it is an argument, take it by value",
    );
    check(
        server!(group = "stateless methods"),
        "`Store::load` at ⟨fn load⟩, `Store::save` at ⟨fn save⟩ need shared state of type `ui::build::Store`, and there is none: add `.state(…)` with a `Store`, or make it in `.setup(async || …)`; if it is an argument, take it by value",
    );
}

#[support::test]
fn two_templates_with_one_shape() {
    check(
        server!(group = "one shape"),
        "the templates `HOST://A/{x}{?q,r}` and `host://a/{y}{?r,q}` match the same URIs, so only one of them would be read: \
         `by_x` at ⟨\"one shape\", order = 1⟩ and `by_y` at ⟨\"one shape\", order = 2⟩: give one of them another URI",
    );
}

#[support::test]
fn state_in_an_arc_that_is_needed_without() {
    check(
        server!(group = "state in an arc").state(std::sync::Arc::new(Db)), // shared twice
        "`counted` at ⟨group = \"state in an arc\"⟩ needs shared state of type `ui::build::Db`, and there is none: \
         the state at ⟨// shared twice⟩ is an `Arc<Db>`; give the `Db` itself, since all calls share it already, or take `&Arc<Db>`",
    );
}

#[support::test]
fn state_with_type_arguments_keeps_them_in_its_short_name() {
    let shelf: std::sync::Arc<Shelf> = std::sync::Arc::default();
    check(
        server!(group = "generic state in an arc").state(shelf), // shared shelf
        "`shelved` at ⟨group = \"generic state in an arc\"⟩ needs shared state of type `std::sync::poison::mutex::Mutex<std::collections::hash::map::HashMap<alloc::string::String, ui::build::Db>>`, and there is none: \
         the state at ⟨// shared shelf⟩ is an `Arc<Mutex<HashMap<String, Db>>>`; give the `Mutex<HashMap<String, Db>>` itself, since all calls share it already, or take `&Arc<Mutex<HashMap<String, Db>>>`",
    );
    check(
        server!(group = "generic state in an arc"),
        "`shelved` at ⟨group = \"generic state in an arc\"⟩ needs shared state of type `std::sync::poison::mutex::Mutex<std::collections::hash::map::HashMap<alloc::string::String, ui::build::Db>>`, and there is none: \
         add `.state(…)` with a `Mutex<HashMap<String, Db>>`, or make it in `.setup(async || …)`; if it is an argument, take it by value",
    );
}

#[support::test]
fn references_that_were_meant_as_arguments() {
    check(
        server!(group = "borrowed text"),
        "`greet` at ⟨group = \"borrowed text\"⟩ needs shared state of type `alloc::string::String`, and there is none: for a text from the client write `&str` or `String`",
    );
    check(
        server!(group = "borrowed list"),
        "`sum` at ⟨group = \"borrowed list\"⟩ needs shared state of type `alloc::vec::Vec<i64>`, and there is none: for a list from the client write `&[i64]` or `Vec<i64>`",
    );
}

#[support::test]
fn a_function_without_attribute() {
    check(
        server!().items(items![plain]), // unmarked
        "`items![…]` at ⟨// unmarked⟩: `plain` has no `#[tool]`, `#[resource]` or `#[prompt]`",
    );
    check(
        server!().items(items![one::hello, hello, one::hello]), // again
        "the server cannot start, for 2 reasons:\n\
         - `items![…]` at ⟨// again⟩: `hello` is listed twice: remove one\n\
         - there are two tools `hello`: `hello` at ⟨\"twins\", order = 1⟩ and `hello` at ⟨\"twins\", order = 2⟩: rename one, or give it `name = \"…\"`",
    );
}

#[support::test]
fn a_server_without_items() {
    let error = server!(group = "nobody").build().expect_err("nothing"); // no such group
    let expected = "`server!` at ⟨// no such group⟩: there is nothing to serve: package `mcp-tests` has no item in the group \"nobody\"; its groups: asked while completing, borrowed list, ";
    let expected = placed(expected, include_str!("build.rs"), file!());
    assert!(error.to_string().starts_with(&expected), "{error}");
    check(
        server!(group = "nobody").with(&["no_such_tools"]), // no such crate
        "`with = [no_such_tools]` at ⟨// no such crate⟩: the crate `no_such_tools` has no items; crates with items in this program: ui",
    );
}

#[support::test]
fn constraints_that_do_not_fit_their_type() {
    check(
        server!(group = "constrained"),
        "the server cannot start, for 3 reasons:\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `text` is a string, but a range applies only to numbers: remove `range`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `times` is an integer, but a length applies only to text, lists and maps: remove `len`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `yes` is a boolean, but a pattern applies only to text: remove `pattern`",
    );
}

#[support::test]
fn structs_that_cannot_be_spread() {
    check(
        server!(group = "spread twice"),
        "`go` at ⟨group = \"spread twice\"⟩: the argument `from` is declared twice: by its own parameter and by the struct of `trip`",
    );
    check(
        server!(group = "spread list"),
        "`go_on` at ⟨group = \"spread list\"⟩: `trip` cannot be spread: only a struct with named fields that flattens no enum can, or a map such as `Map<String, Value>`; take it as an argument of its own",
    );
}

#[support::test]
fn headers_that_clients_drop_a_tool_for() {
    check(
        server!(group = "headers"),
        "the server cannot start, for 4 reasons:\n\
         - `weigh` at ⟨group = \"headers\"⟩: the argument `weight` has a header, but only strings, integers and booleans can have one\n\
         - `weigh` at ⟨group = \"headers\"⟩: the argument `parts` has a header, but only strings, integers and booleans can have one\n\
         - `weigh` at ⟨group = \"headers\"⟩: the header of the argument `street` is not a valid name: use a string of letters, digits and !#$%&'*+-.^_`|~ without spaces\n\
         - `weigh` at ⟨group = \"headers\"⟩: the arguments `zone` and `region` have the same header `Region`",
    );
    check(
        server!(group = "header of several"),
        "`send` at ⟨group = \"header of several\"⟩: `place` is spread over several arguments: set the header on one of them, with `#[schemars(extend(\"x-mcp-header\" = \"Place\"))]` on the field",
    );
    check(
        server!(group = "headers in a given schema"),
        "`move_all` at ⟨group = \"headers in a given schema\"⟩: `x-mcp-header` is at `all`, but only an argument, or a member of an object argument, can have a header: not a part of a list, a choice, a map or a `$ref`",
    );
}

#[support::test]
fn questions_that_cannot_be_asked() {
    check(
        server!(group = "borrowed question"),
        "`ask` at ⟨group = \"borrowed question\"⟩ needs shared state of type `mcp_runtime::call::extract::from_call::Elicit`, and there is none: it is made for each call: take it by value",
    );
    check(
        server!(group = "asked while completing"),
        "`cities` at ⟨#[completion]⟩: a completion cannot ask the client, but one of its parameters declares `sampling`: remove that parameter",
    );
}

#[support::test]
fn invalid_keys_of_meta() {
    check(
        server!(group = "meta"),
        "`pay` at ⟨group = \"meta\"⟩: `a b/c` cannot be a key of `meta`: its prefix must be dotted labels such as `example.com`",
    );
}

#[support::test]
fn invalid_settings_of_the_server() {
    check(
        nothing().state(1u8).state(2u8), // twice
        "`.state(…)` at ⟨// twice⟩: there are two states of type `u8`, the other at ⟨// twice⟩: handlers could not tell them apart",
    );
    check(
        nothing().max_result("1 meg"), // size
        "`.max_result(…)` at ⟨// size⟩: `1 meg` is not a size: write it as `64KB`, `1MiB` or a number of bytes",
    );
    check(
        nothing().name(" "),
        "`server!` at ⟨server!().items(items![])⟩: the name of the server is empty: set one with `.name(\"…\")`, or leave the call out",
    );
    check(
        nothing().timeout(Duration::ZERO), // hasty
        "`.timeout(…)` at ⟨// hasty⟩: a timeout of zero fails every call: remove this line for no timeout",
    );
    check(
        nothing().state_lifetime(Duration::ZERO), // forgetful
        "`.state_lifetime(…)` at ⟨// forgetful⟩: the lifetime is zero, so no user could answer in time: set a longer one",
    );
    check(
        nothing().limits(Limits::new().calls(0).body_time(Duration::ZERO)), // closed
        "the server cannot start, for 2 reasons:\n\
         - `.limits(…)` at ⟨// closed⟩: with `calls` set to 0, nothing would be answered\n\
         - `.limits(…)` at ⟨// closed⟩: with `body_time` set to 0, nothing would be answered",
    );
    check(
        nothing()
            .around(async |call, next| next.run(call).await) // first
            .around(async |call, next| next.run(call).await), // second
        "`.around(…)` at ⟨// second⟩: it is already set at ⟨// first⟩: combine both closures into one",
    );
}

#[support::test]
fn invalid_settings_of_the_endpoint() {
    let path = |path: &str, problem: &str| {
        let server = nothing().path(path); // path
        check(server, &format!("`.path(…)` at ⟨// path⟩: {problem}"));
    };
    path("mcp", "`mcp` does not begin with `/`");
    path("", "`` does not begin with `/`");
    path("/a b", "`/a b` is not a URL path: use only ASCII, without spaces, `?` and `#`");
    path("/mcp?x=1", "`/mcp?x=1` is not a URL path: use only ASCII, without spaces, `?` and `#`");
    let host = |host: &str, problem: &str| {
        let server = nothing().allow_host(host); // host
        check(server, &format!("`.allow_host(…)` at ⟨// host⟩: {problem}"));
    };
    host(
        "https://api.example.com/mcp",
        "`https://api.example.com/mcp` is a URL, not a host name: write `api.example.com`",
    );
    host("*.example.com", "`*.example.com` stands for many hosts: name each of them");
    host("my host", "`my host` is not a host name, such as `api.example.com`");
    let origin = |origin: &str, problem: &str| {
        let server = nothing().allow_origin(origin); // origin
        check(server, &format!("`.allow_origin(…)` at ⟨// origin⟩: {problem}"));
    };
    origin(
        "app.example.com",
        "`app.example.com` is not an origin, because it has no scheme: write `https://app.example.com`",
    );
    origin(
        "https://app.example.com/start",
        "`https://app.example.com/start` has a path, and an origin has none: write `https://app.example.com`",
    );
    origin(
        "https://*.example.com",
        "`https://*.example.com` stands for many origins: name each of them, or allow all with `*`",
    );
    origin("https://", "`https://` is not an origin, such as `https://app.example.com`");
    let proxy = |network: &str, problem: &str| {
        let server = nothing().trust_proxy(network); // proxy
        check(server, &format!("`.trust_proxy(…)` at ⟨// proxy⟩: {problem}"));
    };
    let no_network = "is not an address or a network, such as `10.0.0.7` or `10.0.0.0/8`; host names are not looked up";
    for text in ["", "nginx", "*", "10.0.0", "http://10.0.0.7", "/8", "10.0.0.*"] {
        proxy(text, &format!("`{text}` {no_network}"));
    }
    proxy("10.0.0.7:8080", "`10.0.0.7:8080` is more than an address: write `10.0.0.7`");
    proxy("[::1]", "`[::1]` is more than an address: write `::1`");
    for text in ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/255.0.0.0"] {
        let up_to = "is not a network: the `/` must be followed by a number up to 32";
        proxy(text, &format!("`{text}` {up_to}"));
    }
    proxy("::1/129", "`::1/129` is not a network: the `/` must be followed by a number up to 128");
    proxy(
        "10.1.2.3/8",
        "`10.1.2.3/8` is an address in a network: write `10.1.2.3` or `10.0.0.0/8`",
    );
    proxy(
        "2001:db8::1/32",
        "`2001:db8::1/32` is an address in a network: write `2001:db8::1` or `2001:db8::/32`",
    );
    for text in ["0.0.0.0/0", "10.0.0.1/0", "::/0", "::1/0", "::ffff:0:0/96", "::/1"] {
        let everybody = "covers all addresses, so any client could forge its address: name the proxies, such as `10.0.0.0/8`";
        proxy(text, &format!("`{text}` {everybody}"));
    }
    let fine = nothing()
        .path("/tools/mcp")
        .trust_proxy("127.0.0.1")
        .trust_proxy("10.0.0.0/8")
        .trust_proxy("::1")
        .trust_proxy("2001:db8::/32")
        .allow_host("api.example.com:8443")
        .allow_host("[::1]")
        .allow_origin("*")
        .allow_origin("null")
        .allow_origin("https://app.example.com/");
    assert!(fine.build().is_ok());
}

/// One server has mistakes of every kind, and each mistake is reported once.
#[support::test]
fn all_mistakes_are_reported_at_once() {
    let server =
        server!(group = "twins").items(items![one::hello, hello, pay, count, repeat, plain]); // all
    check(
        server.state("x").state("y").allow_host(""), // both
        "the server cannot start, for 9 reasons:\n\
         - `.state(…)` at ⟨// both⟩: there are two states of type `&str`, the other at ⟨// both⟩: handlers could not tell them apart\n\
         - `.allow_host(…)` at ⟨// both⟩: `` is not a host name, such as `api.example.com`\n\
         - `items![…]` at ⟨// all⟩: `plain` has no `#[tool]`, `#[resource]` or `#[prompt]`\n\
         - `pay` at ⟨group = \"meta\"⟩: `a b/c` cannot be a key of `meta`: its prefix must be dotted labels such as `example.com`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `text` is a string, but a range applies only to numbers: remove `range`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `times` is an integer, but a length applies only to text, lists and maps: remove `len`\n\
         - `repeat` at ⟨group = \"constrained\"⟩: the argument `yes` is a boolean, but a pattern applies only to text: remove `pattern`\n\
         - `count` at ⟨group = \"stateless\"⟩ needs shared state of type `ui::build::Db`, and there is none: add `.state(…)` with a `Db`, or make it in `.setup(async || …)`; if it is an argument, take it by value\n\
         - there are two tools `hello`: `hello` at ⟨\"twins\", order = 1⟩ and `hello` at ⟨\"twins\", order = 2⟩: rename one, or give it `name = \"…\"`",
    );
}
