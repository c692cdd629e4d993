//! The attributes of `mcp-runtime`: `#[tool]`, `#[resource]`, `#[prompt]`, `#[completion]`, `#[handlers]`,
//! `#[data]`, `#[form]`, and the macros `server!` and `items!`.
//!
//! Use them through `mcp-runtime`, which re-exports all of them: the generated code calls that crate.
//!
//! The crate has four phases, one folder each: `keys` reads attributes, `item` is the model and borrows the syntax, `check` finds
//! mistakes, `expand` generates code. The model generates no code, and `expand` reports no errors.
//! This crate knows syntax only. Whether a parameter is an argument of the client or a value of the server is decided by the trait
//! system in the generated code, never by the name of a type.
#![forbid(unsafe_code)]

mod check;
mod docs;
mod entry;
mod errors;
mod expand;
mod item;
mod keys;
mod uri;

#[cfg(test)]
mod tests;

use item::Kind;
use proc_macro::TokenStream;

/// Turns a function into a tool that the model can call.
///
/// The name, the description and the schemas of arguments and result come from the function. The model reads its doc comment and the
/// doc comments on its parameters.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// # struct Table;
/// # impl Table { fn roll(&self, count: u32, sides: u32) -> u32 { count * sides } }
/// /// Rolls dice and adds them up.
/// #[tool(read_only, title = "Dice")]
/// fn roll(
///     /// How many dice
///     #[arg(default = 1, range(1..=100))] count: u32,
///     /// Sides of each die
///     sides: u32,
///     table: &Table,
/// ) -> u32 {
///     table.roll(count, sides)
/// }
/// # fn main() {}
/// ```
///
/// # Functions
///
/// An `async fn` runs on the server's runtime. A plain `fn` runs in place and must return at once. A plain `fn` that computes for long
/// or waits needs the key `blocking`, which runs it on a pool of threads. Lifetimes are allowed; type parameters, `impl Trait`, `const`,
/// `unsafe` and `extern` are not. For a method, the impl block needs [`macro@handlers`].
///
/// # Parameters
///
/// A parameter whose type implements `FromCall` is a value of the server. Every other parameter is an argument from the model. `&T` is
/// shared state; `&str` and `&[T]` are arguments. An argument of type `Option<T>` is optional. Attributes of serde and schemars on a
/// parameter have the same meaning as on the field of a struct. `#[arg(…)]` configures the rest:
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | name that clients use; by default the name of the parameter |
/// | `title = "…"`, `description = "…"` | texts for users and models; by default the doc comment is the description. Both also take a constant: `description = CITY` with a `const CITY: &str` |
/// | `default`, `default = expr` | value of an absent argument: `Default::default()`, or the expression. The schema shows numbers, texts, `bool`, lists of these, and enums without fields |
/// | `range(1..=10)` | smallest and greatest number; `a..b` excludes `b` |
/// | `len(..=200)` | smallest and greatest number of characters or items |
/// | `pattern = "^[a-z]+$"` | regular expression that the text must match |
/// | `example = 3` | example value: a number, `true`, `false` or text. It becomes a sentence of the description, or `examples` in a full schema |
/// | `header = "Region"` | clients repeat this argument (text, integer or `bool`) in the HTTP header `Mcp-Param-Region`; never put a secret there. Under protocol revision 2026-07-28 the server rejects a call without the header. A client learns of the header from the list of tools, so it must list the tools before it calls this one |
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | 1 to 128 letters, digits, `_`, `-` and `.`; by default the name of the function |
/// | `title`, `description` | text, or an expression that is a `&'static str` at compile time, such as a constant: `description = ABOUT`, or `include_str!("about.md")` |
/// | `icon = "https://…"` | address of an icon, repeatable; also `icon("https://…", mime_type = "image/png", sizes("48x48"))` |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints to the client; `key = false` sets the opposite |
/// | `blocking` | a plain `fn` runs on the pool of blocking threads |
/// | `timeout = "30s"` | answers with an error after this time: `500ms`, `30s`, `5m`, `1h` |
/// | `rate = "10/s"` | how often one caller may call the tool: `10/s`, `10/m`, `10/h`. `rate("10/s", burst = 20)` allows 20 calls at once after a pause; by default as many as the rate counts, here 10. Under protocol revision 2026-07-28 each round of a call that asks the client counts |
/// | `concurrency = 4` | how many calls of all callers together run at once. A call counts until it has been answered, a task until it has ended. A `blocking` call counts until its function returns, even if its client no longer waits |
/// | `scopes("files:write")` | scopes that a caller's access token must grant, all of them. Over HTTP, the response to any other caller is 403 and names the scopes to ask for, and lists do not show the item to that caller; needs the feature `auth` |
/// | `auth(may_write)`, `auth(\|caller, access\| …)` | a `Policy`: a function, or a closure without captures, that decides which callers may use the item, and with which arguments; needs the feature `auth` |
/// | `single_use` | answers to a round of questions are accepted once (protocol revision 2026-07-28): a client that sends the same round again is rejected. Each process checks this for itself |
/// | `task`, `task = "required"` | a call may, or must, become a task that its client follows (protocol revision 2025-11-25 and later). `task(required, later, ttl = "1h", poll = "2s")`: with `later` the call becomes a task at `ctx.begin_task()`. A client without tasks sees a tool with `required` in lists, but cannot call it |
/// | `asks(elicitation, sampling, roots)` | capabilities that the function needs of the client. A call of a client without them is rejected before the function runs. A parameter `Elicit`, `Sample` or `Roots` has the same effect |
/// | `order = -1` | position in lists: lower comes first, 0 by default; items of equal order are sorted by name |
/// | `group = "admin"` | the item is only in servers that serve this group |
/// | `meta("vendor.com/key" = 1)` | entries of `_meta`: numbers, `true`, `false`, text |
/// | `strict` | an argument of the wrong JSON type is an error, even if its text could be read as the right type |
/// | `lenient` | unknown arguments are accepted and dropped |
/// | `schema = "full"`, `"compatible"`, `"static"` | form of the schema, instead of the server's setting. `"full"`: unabridged. `"compatible"`: the form that all clients understand. `"static"`: the compatible form, and a compile error if the compiler cannot write it |
/// | `input_schema = expr` | clients get this schema instead of the one made from the parameters |
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it |
///
/// For `rate`, a caller is the `Principal` if one is known, otherwise the session or the connection. Over HTTP without a session, it is
/// the address that the request came from.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Tool, attr.into(), item.into()).into()
}

/// Turns a function into a resource, or a template of many resources, that clients read by URI.
///
/// The URI comes first. Its variables (RFC 6570) are parameters of the same name, parsed with `FromStr`. A URI whose text does not parse
/// does not match. All other parameters are values of the server.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// # #[data]
/// # struct Profile { name: String }
/// # struct Db;
/// # impl Db { async fn profile(&self, _: u64) -> Result<Json<Profile>> { Err(Error::not_found("nobody")) } }
/// # struct Config;
/// # impl std::fmt::Display for Config { fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { Ok(()) } }
/// /// A user's profile.
/// #[resource("users://{id}/profile", mime_type = "application/json")]
/// async fn profile(id: u64, db: &Db) -> Result<Json<Profile>> {
///     db.profile(id).await
/// }
///
/// /// The settings in use.
/// #[resource("config://app", cache(public, ttl = "5m"))]
/// fn settings(config: &Config) -> String {
///     config.to_string()
/// }
/// # fn main() {}
/// ```
///
/// # Variables
///
/// | variable | matches |
/// |---|---|
/// | `{x}` | text without `/` |
/// | `{+x}` | text with `/` |
/// | `{.x}`, `{/x}` | `.` or `/`, and text without `/` |
/// | `{/x*}` | any number of path segments |
/// | `{?x,y}`, `{&x,y}` | the pairs of a query, in any order |
///
/// `#[complete("a", "b")]` and `#[complete(function)]` complete a variable in the same way as an argument of a [`macro@prompt`].
/// `#[arg(name = "a.b")]` takes a variable whose name is not a Rust identifier.
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `mime_type = "text/plain"` | media type of the content |
/// | `size = 1024`, `size = "1MB"` | size in bytes, if known; units are `B`, `KB`, `MB`, `GB`, `KiB`, `MiB`, `GiB` |
/// | `cache(public, ttl = "5m")` | how long clients may cache the content, and whether they may share it |
/// | `subscribe` | clients can subscribe to changes |
/// | `audience(user, assistant)` | intended readers |
/// | `priority = 0.8` | importance, from 0 (least) to 1 (most) |
///
/// `name`, `title`, `description`, `icon`, `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`, `group`,
/// `meta` and `crate` work as for [`macro@tool`].
#[proc_macro_attribute]
pub fn resource(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Resource, attr.into(), item.into()).into()
}

/// Turns a function into a prompt: messages that the user chooses and fills in.
///
/// Arguments are text. They are parsed with `FromStr`, or with `Deserialize` for a [`macro@data`] type that is one text or number, such
/// as an enum without fields. JSON in an argument is not parsed. An argument of type `Option<T>` is optional.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// # struct Db;
/// # impl Db { async fn people_starting_with(&self, _: &str) -> Vec<String> { Vec::new() } }
/// /// Reviews code.
/// #[prompt(title = "Code review")]
/// fn review(
///     #[complete("rust", "python", "go")] language: &str,
///     #[complete(people)] tone_of: Option<&str>,
///     code: &str,
/// ) -> String {
///     format!("Review this {language} code in the tone of {}:\n{code}", tone_of.unwrap_or("a friend"))
/// }
///
/// #[completion]
/// async fn people(typed: &str, db: &Db) -> Vec<String> {
///     db.people_starting_with(typed).await
/// }
/// # fn main() {}
/// ```
///
/// `#[complete("a", "b")]` proposes these values. `#[complete(function)]` calls a function with [`macro@completion`]; any other function
/// is a compile error. A method is named by its type: `#[complete(Self::people)]`. Enums and `bool` are completed without an attribute.
/// `#[arg(…)]` works as for [`macro@tool`].
///
/// The keys are `name`, `title`, `description`, `icon`, `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`,
/// `group`, `meta` and `crate`, as for [`macro@tool`].
#[proc_macro_attribute]
pub fn prompt(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Prompt, attr.into(), item.into()).into()
}

/// Makes a function complete arguments, for `#[complete(function)]`.
///
/// The function takes the text typed so far as `&str` or `String`. An `Option<T>` parameter is the argument of the same name, if the user
/// has filled it in already. Other parameters are values of the server. The order of the parameters does not matter.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// # struct Db;
/// # impl Db { async fn cities(&self, _: Option<&str>, _: &str) -> Vec<String> { Vec::new() } }
/// #[completion(timeout = "2s")]
/// async fn cities(typed: &str, country: Option<String>, db: &Db) -> Vec<String> {
///     db.cities(country.as_deref(), typed).await
/// }
///
/// /// Plans a trip.
/// #[prompt]
/// fn trip(country: &str, #[complete(cities)] city: &str) -> String {
///     format!("Plan a weekend in {city}, {country}.")
/// }
/// # fn main() {}
/// ```
///
/// For a free function, the attribute declares a hidden type of the same name, by which `#[complete(function)]` recognises the function.
/// Therefore no module or other type of that name can be in the same scope.
///
/// The keys are `blocking`, `timeout` and `crate`, as for [`macro@tool`]. `#[arg(name = "…")]` names an argument whose name is not a Rust
/// identifier.
#[proc_macro_attribute]
pub fn completion(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Completion, attr.into(), item.into()).into()
}

/// Registers the methods of an impl block that have [`macro@tool`], [`macro@resource`], [`macro@prompt`] or
/// [`macro@completion`].
///
/// `&self` is the state of this type that was given to the server. Functions without a receiver are registered too. The macro leaves the
/// other members of the block unchanged.
///
/// ```no_run
/// use mcp_runtime::prelude::*;
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Notes {
///     all: Mutex<Vec<String>>,
/// }
///
/// #[handlers(group = "notes")]
/// impl Notes {
///     /// Writes a note down.
///     #[tool]
///     fn add(&self, text: String) {
///         self.all.lock().unwrap().push(text);
///     }
///
///     /// One note.
///     #[resource("notes://{index}")]
///     fn note(&self, index: usize) -> Option<String> {
///         self.all.lock().unwrap().get(index).cloned()
///     }
/// }
///
/// fn main() -> Exit {
///     server!(group = "notes").state(Notes::default()).run()
/// }
/// ```
///
/// A completion function of the block is named by its type: `#[complete(Self::titles)]` or `#[complete(Notes::titles)]`.
///
/// The state is shared by concurrent calls, so a method cannot take `&mut self` or `self`. The block must be an inherent impl without
/// type parameters.
///
#[doc = include_str!("../docs/shared_keys.md")]
#[proc_macro_attribute]
pub fn handlers(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::handlers(attr.into(), item.into()).into()
}

/// Makes a struct or an enum usable as an argument and as a result.
///
/// Derives serde's `Serialize` and `Deserialize` and schemars' `JsonSchema` through `mcp-runtime`, so that you need neither crate as a
/// dependency. Attributes of both crates work below `#[data]`. Doc comments describe the fields.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// A place on earth.
/// #[data]
/// #[serde(rename_all = "camelCase")]
/// struct Place {
///     /// Degrees north
///     latitude: f64,
///     /// Degrees east
///     longitude: f64,
/// }
/// ```
///
/// A field has a type of std, a type with `#[data]`, or a type of another crate for which schemars has a feature:
/// `cargo add schemars --features uuid1` for `Uuid`. Bounds such as `#[schemars(range(max = 9))]` are published in the schema, but not
/// checked when a call arrives. `#[arg(…)]` is for parameters.
///
/// The only key is `crate = path`.
#[proc_macro_attribute]
pub fn data(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::data(attr.into(), item.into()).into()
}

#[doc = include_str!("../docs/schema.md")]
#[proc_macro_derive(Schema, attributes(mcp))]
pub fn schema(item: TokenStream) -> TokenStream {
    entry::schema(item.into()).into()
}

/// Always fails, with an error that names `#[data]`. Serde's own derive would need serde among the user's dependencies.
#[doc(hidden)]
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn serialize(item: TokenStream) -> TokenStream {
    entry::prelude_derive("Serialize", item.into()).into()
}

/// Always fails, like [`serialize`].
#[doc(hidden)]
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn deserialize(item: TokenStream) -> TokenStream {
    entry::prelude_derive("Deserialize", item.into()).into()
}

/// Always fails, like [`serialize`].
#[doc(hidden)]
#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn json_schema(item: TokenStream) -> TokenStream {
    entry::prelude_derive("JsonSchema", item.into()).into()
}

#[doc = include_str!("../docs/form.md")]
#[proc_macro_attribute]
pub fn form(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::form(attr.into(), item.into()).into()
}

/// Returns the builder of a server with the items of this package; exported as `mcp_runtime::server!`.
///
/// By default the server has the name, version and description of the Cargo package.
///
/// ```no_run
/// # use mcp_runtime::{self as my_tools, prelude::*};
/// # struct Db;
/// # impl Db { async fn open() -> Result<Db> { Ok(Db) } }
/// fn main() -> Exit {
///     server!(instructions = "Ask before you delete.", with = [my_tools])
///         .setup(async || Db::open().await)
///         .run()
/// }
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `with = [my_tools]` | adds the items of these crates |
/// | `group = "admin"` | serves the items of this group instead of those without one |
/// | `instructions = …` | instructions for the model |
/// | `title = …`, `icon = "https://…"`, `website = …` | shown to users |
/// | `name = …`, `version = …` | replace those of the package |
/// | `max_result = "1MB"` | largest result of a tool; a number is in bytes |
/// | `crate = path` | path of `mcp_runtime` |
///
/// Values can be expressions, except those of `with`, `icon` and `crate`.
#[proc_macro]
pub fn server(tokens: TokenStream) -> TokenStream {
    entry::server(tokens.into()).into()
}

/// Names items one by one, in the order in which they will be listed.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// mod tools {
///     # use mcp_runtime::prelude::*;
///     /// Who you are.
///     #[resource("users://me")]
///     pub fn profile() -> &'static str {
///         "nobody"
///     }
/// }
///
/// let server = mcp_runtime::server!().items(items![add, tools::profile]).build();
/// assert!(server.is_ok());
/// ```
///
/// A method is named by its type: `items![Notes::search]`.
///
/// Each entry is the path of a function with one of the attributes. `items![crate = path, …]` sets the path of `mcp_runtime`.
#[proc_macro]
pub fn items(tokens: TokenStream) -> TokenStream {
    entry::items(tokens.into()).into()
}
