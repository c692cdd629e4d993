//! The attributes of `mcp-runtime`: `#[tool]`, `#[resource]`, `#[prompt]`, `#[completion]`, `#[server]`,
//! `#[data]`, `#[form]`, and the macros `server!` and `items!`.
//!
//! Use them through `mcp-runtime`, which re-exports all of them: what they expand to calls that crate.
//!
//! Four phases, one folder each: `keys` reads attributes, `item` is the model that borrows the syntax,
//! `check` judges it, `expand` prints it. The model never quotes, and the printer never raises an error.
//! This crate knows syntax only: whether a parameter is an argument of the client or a value of the server
//! is asked of the trait system by the generated code, never of the name of a type.
#![forbid(unsafe_code)]

mod check;
mod derives;
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

/// Makes a function a tool: something the model can call.
///
/// The name, the description, the schema of the arguments and that of the result come from the function.
/// Its doc comment is what the model reads, and so are the doc comments on its parameters.
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
/// An `async fn` runs on the server's runtime. A plain `fn` runs in place and must return at once; one that
/// computes or waits says `blocking` and runs on a pool of threads. Lifetimes are fine; type parameters,
/// `impl Trait`, `const`, `unsafe` and `extern` are not. Inside an impl block, the block needs [`macro@server`].
///
/// # Parameters
///
/// What implements `FromCall` comes from the server, everything else comes from the model. `&T` is shared state;
/// `&str` and `&[T]` are arguments. An `Option<T>` need not be given. Attributes of serde and schemars on a
/// parameter mean what they mean on the field of a struct. `#[arg(…)]` says the rest:
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name clients use, if not the parameter's |
/// | `title = "…"`, `description = "…"` | for people and models; the doc comment is the description otherwise. Both take a constant too: `description = CITY` with a `const CITY: &str` |
/// | `default`, `default = expr` | what an absent argument is: `Default::default()`, or the expression; the schema shows numbers, texts, `bool`, lists of those, and enums without fields |
/// | `range(1..=10)` | smallest and greatest number; `a..b` excludes `b` |
/// | `len(..=200)` | fewest and most characters or items |
/// | `pattern = "^[a-z]+$"` | a regular expression the text matches |
/// | `example = 3` | an example: a number, `true`, `false` or text; a sentence of the description, or `examples` in a full schema |
/// | `header = "Region"` | clients repeat this text, integer or `bool` in the HTTP header `Mcp-Param-Region`; never put a secret there. Under protocol revision 2026-07-28 a call without the header is refused, and a client learns of the header from the list: it must list the tools before it calls this one |
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | 1 to 128 letters, digits, `_`, `-` and `.`; the function's name otherwise |
/// | `title`, `description` | text, or an expression that is a `&'static str` at compile time, such as a constant: `description = ABOUT`, or `include_str!("about.md")` |
/// | `icon = "https://…"` | repeatable; `icon("https://…", mime_type = "image/png", sizes("48x48"))` |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints to the client; `key = false` says the opposite |
/// | `blocking` | a plain `fn` runs on the pool of blocking threads |
/// | `timeout = "30s"` | answers with an error after this time: `500ms`, `30s`, `5m`, `1h` |
/// | `rate = "10/s"` | how often one caller may call it: `10/s`, `10/m`, `10/h`; `rate("10/s", burst = 20)`: so many at once after a pause, ten here if not given. Each round of a call that asks counts (2026-07-28) |
/// | `concurrency = 4` | how many calls run at once, of all callers together, until they have been answered or, as tasks, have ended; what is `blocking` counts until it has, also when nobody waits for it any more |
/// | `scopes("files:write")` | what a caller's access token must grant, all of it: over HTTP others are told what to ask for (403), and lists do not show it to them; needs the feature `auth` |
/// | `auth(may_write)`, `auth(\|caller, access\| …)` | a function, or a closure that captures nothing, that decides who may use it, and with which arguments: a `Policy`; needs the feature `auth` |
/// | `single_use` | answers to its questions are taken once (2026-07-28): a client that sends the same round again is refused, by each process for itself |
/// | `task`, `task = "required"` | a call may, or must, become a task that its client looks after (2025-11-25 and later); `task(required, later, ttl = "1h", poll = "2s")`: with `later` it becomes one at `ctx.begin_task()`. Clients without tasks list a tool with `required` and cannot call it |
/// | `asks(elicitation, sampling, roots)` | what the function asks of the client; one that cannot do it is refused before anything runs. A parameter `Elicit`, `Sample` or `Roots` says the same |
/// | `order = -1` | the place in lists: lower comes first, 0 if not given, then by name |
/// | `group = "admin"` | only in servers that serve this group |
/// | `meta("vendor.com/key" = 1)` | entries of `_meta`: numbers, `true`, `false`, text |
/// | `strict` | an argument of the wrong JSON type is an error, also if its text would fit |
/// | `lenient` | unknown arguments are accepted and dropped |
/// | `schema = "full"`, `"compatible"`, `"static"` | clients get the schema unabridged; in the form that all understand, whatever the server says; and only if the compiler can write it |
/// | `input_schema = expr` | this schema is shown instead of the one made from the parameters |
/// | `crate = path` | where `mcp_runtime` is, when it is re-exported by another crate |
///
/// A caller, for `rate`, is the `Principal` where one is known, else the session or the connection; over HTTP without
/// a session it is the address the request came from.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Tool, attr.into(), item.into()).into()
}

/// Makes a function a resource, or a template of many: something clients read by its URI.
///
/// The URI comes first. Its variables (RFC 6570) are parameters of the same name, read with `FromStr`; a text
/// that does not fit is no match. All other parameters are values of the server.
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
/// | written | matches |
/// |---|---|
/// | `{x}` | text without `/` |
/// | `{+x}` | text with `/` |
/// | `{.x}`, `{/x}` | `.` or `/`, and text without `/` |
/// | `{/x*}` | any number of path segments |
/// | `{?x,y}`, `{&x,y}` | the pairs of a query, in any order |
///
/// `#[complete("a", "b")]` and `#[complete(function)]` complete a variable as they do an argument of a
/// [`macro@prompt`]; `#[arg(name = "a.b")]` takes a variable whose name is no Rust name.
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `mime_type = "text/plain"` | what the content is |
/// | `size = 1024`, `size = "1MB"` | bytes, if known: `B`, `KB`, `MB`, `GB`, `KiB`, `MiB`, `GiB` |
/// | `cache(public, ttl = "5m")` | how long clients may keep it, and whether they may share it |
/// | `subscribe` | clients can ask to be told of changes |
/// | `audience(user, assistant)` | for whom it is meant |
/// | `priority = 0.8` | from 0 (least) to 1 (most) |
///
/// `name`, `title`, `description`, `icon`, `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`, `group`,
/// `meta` and `crate` are those of [`macro@tool`].
#[proc_macro_attribute]
pub fn resource(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Resource, attr.into(), item.into()).into()
}

/// Makes a function a prompt: messages that people choose and fill in.
///
/// The arguments are text, read with `FromStr`, or with `Deserialize` by types of [`macro@data`] that are one text or number, such as enums
/// without fields; JSON in them is not read. An `Option<T>` need not be given.
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
/// `#[complete("a", "b")]` proposes these values, `#[complete(function)]` asks a [`macro@completion`] function; a method
/// is named by its type, `#[complete(Self::people)]`. A function without [`macro@completion`] does not compile there. Enums and `bool` complete themselves. `#[arg(…)]` is that of [`macro@tool`].
///
/// The keys are `name`, `title`, `description`, `icon`, `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`,
/// `group`, `meta` and `crate`, as for [`macro@tool`].
#[proc_macro_attribute]
pub fn prompt(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Prompt, attr.into(), item.into()).into()
}

/// Makes a function one that completes arguments, for `#[complete(function)]`.
///
/// It takes the text typed so far as `&str` or `String`, arguments that are already filled in by their names as
/// `Option<T>`, and any value of the server, in any order.
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
/// The attribute puts a hidden type of the same name beside the function, by which `#[complete(function)]` recognises it. So no module or type of
/// that name can be in the same scope.
///
/// The keys are `blocking`, `timeout` and `crate`, as for [`macro@tool`]; `#[arg(name = "…")]` names an argument whose
/// name is no Rust name.
#[proc_macro_attribute]
pub fn completion(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Completion, attr.into(), item.into()).into()
}

/// Registers the methods of an impl block that have [`macro@tool`], [`macro@resource`], [`macro@prompt`] or
/// [`macro@completion`].
///
/// `&self` is the state of that type which the server was given. Functions without a receiver are registered
/// too; everything else in the block stays as it is.
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
/// #[server(group = "notes")]
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
/// fn main() -> mcp_runtime::Exit {
///     mcp_runtime::server!(group = "notes").state(Notes::default()).run()
/// }
/// ```
///
/// A completion of the block is named by its type: `#[complete(Self::titles)]` or `#[complete(Notes::titles)]`.
///
/// The state is shared by concurrent calls, so a method cannot take `&mut self` or `self`. The block is one of
/// the type itself, without type parameters.
///
#[doc = include_str!("../docs/shared_keys.md")]
#[proc_macro_attribute]
pub fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::server_impl(attr.into(), item.into()).into()
}

/// Makes a struct or an enum usable as an argument and as a result.
///
/// It derives serde's `Serialize` and `Deserialize` and schemars' `JsonSchema` through `mcp-runtime`, so that
/// neither crate need be a dependency. Attributes of both work below it, doc comments describe the fields.
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
/// Its fields are std's types, types that have `#[data]` themselves, and those of other crates for which schemars has a
/// feature: `cargo add schemars --features uuid1` for `Uuid`. Bounds such as `#[schemars(range(max = 9))]` are published,
/// and not checked when a call comes; `#[arg(…)]` is for parameters.
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

/// Names `#[data]`, where serde's derive would look for serde among the user's crates.
#[doc(hidden)]
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn serialize(item: TokenStream) -> TokenStream {
    entry::prelude_derive("Serialize", item.into()).into()
}

/// As for [`serialize`].
#[doc(hidden)]
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn deserialize(item: TokenStream) -> TokenStream {
    entry::prelude_derive("Deserialize", item.into()).into()
}

/// As for [`serialize`].
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

/// Starts a server of the items of this package; `mcp_runtime::server!`.
///
/// Its name, version and description are those of the Cargo package.
///
/// ```no_run
/// # use mcp_runtime::{self as my_tools, prelude::*};
/// # struct Db;
/// # impl Db { async fn open() -> Result<Db> { Ok(Db) } }
/// fn main() -> mcp_runtime::Exit {
///     mcp_runtime::server!(instructions = "Ask before you delete.", with = [my_tools])
///         .setup(async || Db::open().await)
///         .run()
/// }
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `with = [my_tools]` | also the items of these crates |
/// | `group = "admin"` | the items of this group instead of those without one |
/// | `instructions = …` | what the model should know of the server |
/// | `title = …`, `icon = "https://…"`, `website = …` | what people see |
/// | `name = …`, `version = …` | instead of the package's |
/// | `max_result = "1MB"` | the longest answer; a number is bytes |
/// | `crate = path` | where `mcp_runtime` is |
///
/// Values are expressions.
#[proc_macro]
pub fn build_server(tokens: TokenStream) -> TokenStream {
    entry::build_server(tokens.into()).into()
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
/// Each is the path of a function with one of the attributes. `items![crate = path, …]` says where
/// `mcp_runtime` is.
#[proc_macro]
pub fn items(tokens: TokenStream) -> TokenStream {
    entry::items(tokens.into()).into()
}
