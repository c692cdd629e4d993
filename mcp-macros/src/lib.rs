//! The attributes of `mcp-runtime`: [`macro@tool`], [`macro@resource`], [`macro@prompt`], [`macro@completion`], [`macro@handlers`],
//! [`macro@data`], [`macro@form`] and [`macro@config`], and the macros [`server!`] and [`items!`].
//!
//! Depend on `mcp-runtime` instead of this crate. It re-exports all macros, and the generated code calls it.
//!
//! ```
//! use mcp_runtime::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//! # fn main() {}
//! ```

// The crate has four phases, each with its own folder: `keys` reads attributes, `item` is the model, which borrows the user's syntax,
// `check` finds mistakes, and `expand` generates code. The model generates no code, and `expand` reports no errors.
//
// The macros see only syntax. Whether a parameter is an argument from the client or a value from the server is decided in the generated
// code, by the traits that its type implements. The name of the type never decides this.
#![forbid(unsafe_code)]

mod check;
mod docs;
mod editor;
mod entry;
mod errors;
mod expand;
mod item;
mod keys;
mod syntax;
mod uri;

#[cfg(test)]
mod tests;

use item::Kind;
use proc_macro::TokenStream;

/// Turns a function into a tool that the model can call.
///
/// The name, the description and the schemas come from the function. The model reads the doc comment of the function and of each
/// parameter. For content that an application selects, use [`macro@resource`]. For messages that a user selects, use [`macro@prompt`].
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct House {
///     most_sides: u32,
/// }
///
/// /// Returns the highest sum that some dice can show.
/// #[tool(read_only, title = "Highest sum")]
/// fn highest_sum(
///     /// Number of dice
///     #[arg(default = 1, range(1..=100))] count: u32,
///     /// Sides of each die
///     sides: u32,
///     house: &House,
/// ) -> u32 {
///     count * sides.min(house.most_sides)
/// }
/// # fn main() {}
/// ```
///
/// # Functions
///
/// An `async fn` runs on the server's runtime. A plain `fn` runs in place, on a thread of the runtime, so it must return at once. If a
/// plain `fn` computes for long or waits, give it the key `blocking`, which runs it on a pool of threads.
///
/// Lifetimes are allowed; type parameters, `impl Trait`, `const`, `unsafe` and `extern` are not. For a method, the impl block needs
/// [`macro@handlers`].
///
/// # Parameters
///
/// A parameter whose type implements [`FromCall`] gets its value from the server. Every other parameter is an argument from the model. `&T`
/// is shared state; `&str` and `&[T]` are arguments. An argument of type `Option<T>` is optional. Attributes of serde and schemars on a
/// parameter have the same meaning as on the field of a struct.
///
/// `#[arg(…)]` configures an argument. The protocol fields are keywords of the argument's property in `inputSchema`:
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `name = "in"` | name that clients use | string literal | name of the parameter | name in `properties` |
/// | `title = "City"` | name that users see | text | none | `title` |
/// | `description = CITY` | description for models and users | text | doc comment | `description` |
/// | `default`, `default = 1` | value of an absent argument: `Default::default()`, or the expression. The schema shows numbers, texts, `bool`, lists of these, and enums without fields | nothing, or an expression | none: the argument is required | `default`; removes the name from `required` |
/// | `range(1..=10)` | smallest and greatest number; `a..b` excludes `b` | range of number literals | no bounds | `minimum`, `maximum`, `exclusiveMaximum` |
/// | `len(..=200)` | smallest and greatest number of characters, of items in a list, or of entries in a map | range of integer literals | no bounds | `minLength`, `maxLength`; `minItems`, `maxItems`; `minProperties`, `maxProperties` |
/// | `pattern = "^[a-z]+$"` | expression that must match the text | string literal: a regular expression of the crate `regex-lite` | none | `pattern`, if JSON Schema reads the expression in the same way |
/// | `example = 3` | example value for the model | number, `true`, `false` or string literal | none | a sentence of `description`; `examples` in a full schema |
/// | `header = "Region"` | HTTP header in which clients repeat the argument | string literal: the name of an HTTP header | none | `x-mcp-header` |
///
/// The argument of a `header` is a text, an integer or a `bool`. Clients repeat it in the header `Mcp-Param-Region`, so never put a secret
/// there. Under protocol revision 2026-07-28 the server rejects a call without the header. A client finds the header in the list of tools,
/// so it must list the tools before it calls this one.
///
/// The key `complete` is for prompts and resources, because no protocol revision has completion for tools.
///
/// # Keys
///
/// The protocol fields that end in `Hint` are members of `annotations`.
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `name = "add"` | name that clients call | string literal: 1 to 128 letters (A-Z, a-z), digits, `_`, `-` and `.` | name of the function | `name` |
/// | `title = "Addition"` | name that users see | text | none | `title`; `annotations.title` in 2025-03-26 |
/// | `description = ABOUT` | description for the model | text | doc comment | `description` |
/// | `icon = "https://…"` | icon that users see | icon, repeatable | none | `icons`, since 2025-11-25 |
/// | `read_only` | the tool changes nothing | flag | not sent; clients assume `false` | `readOnlyHint` |
/// | `destructive` | the tool may delete or overwrite | flag | not sent; clients assume `true` | `destructiveHint` |
/// | `idempotent` | a repeated call has no further effect. A task that a restart has interrupted then runs again, if the server's store outlasts the process | flag | not sent; clients assume `false` | `idempotentHint` |
/// | `open_world` | the tool reaches things outside of the server | flag | not sent; clients assume `true` | `openWorldHint` |
/// | `blocking` | runs a plain `fn` on the pool of blocking threads | flag | off | none |
/// | `timeout = "30s"` | fails a call that takes longer | duration | [`timeout`][`Builder::timeout`] of the builder, otherwise no limit | none |
/// | `rate = "10/s"` | limits how often one caller may call the tool | rate | [`rate`][`Builder::rate`] of the builder, otherwise no limit | none |
/// | `concurrency = 4` | limits how many calls of all callers together run at once | integer, 1 or more | [`concurrency`][`Builder::concurrency`] of the builder, otherwise no limit | none |
/// | `scopes("write")` | scopes that a caller's access token must grant, all of them (feature `auth`) | string literals | none | `scope` of the `WWW-Authenticate` header in a 403 response |
/// | `auth(may_write)` | [`Policy`] that decides which callers may use the tool, and with which arguments (feature `auth`) | function, or closure without captures | none | none |
/// | `asks(elicitation)` | capabilities that the function needs of the client | any of `elicitation`, `sampling`, `roots` | what the parameters need | `requiredCapabilities` of the error |
/// | `single_use` | accepts the client's answers to elicitation, sampling and roots requests only once (2026-07-28) | flag | off | none |
/// | `task` | lets a call run as a task that its client follows (since 2025-11-25) | task | off | `taskSupport` of `execution`, in 2025-11-25 only |
/// | `order = -1` | lower comes first; items of equal order are sorted by name | integer (`i32`) | 0 | position in the list |
/// | `group = "admin"` | only servers that serve this group have the item | string literal | none | none |
/// | `meta("vendor.com/key" = 1)` | metadata for clients | names with literals, or with expressions that serialize to JSON | none | `_meta`, since 2025-06-18 |
/// | `strict` | rejects an argument of the wrong JSON type, even if its text could be read as the right type | flag | off | none |
/// | `lenient` | accepts and drops unknown arguments, and unknown fields of the structs in them | flag | off | no `additionalProperties` in a full schema |
/// | `schema = "full"` | see below | `"full"`, `"compatible"` or `"static"` | [`schema_profile`][`Builder::schema_profile`] of the builder, otherwise `"compatible"` | form of `inputSchema` and `outputSchema` |
/// | `input_schema = schema()` | schema that clients get; its root must be an object schema | expression: JSON text, or a value that serializes to the schema | made from the parameters | `inputSchema` |
/// | `output_schema = schema()` | schema of the structured result; the function returns `Json<…>` | expression: JSON text, or a value that serializes to the schema | made from the type of the result | `outputSchema`, since 2025-06-18; before 2026-07-28 only if its root is an object schema |
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` | none |
///
/// The types in the tables:
///
/// | type | values |
/// |---|---|
/// | text | a string literal, or an expression that is a `&'static str` at compile time: a constant, or `include_str!("about.md")` |
/// | flag | `key` alone, or `key = false`. A hint with `= false` sends `false` |
/// | duration | a whole number with a unit: `500ms`, `30s`, `5m`, `1h` |
/// | icon | `icon = "https://…"`, or `icon("https://…", mime_type = "image/png", sizes("48x48"))`. The keys become `mimeType` and `sizes`; a size is `"WIDTHxHEIGHT"` or `"any"` |
/// | rate | `"10/s"`, `"10/m"` or `"10/h"`, or `rate("10/s", burst = 20)` |
/// | task | `task`, `task = "required"`, or `task(required, later, ttl = "1h", poll = "2s")` |
///
/// `read_only` excludes `destructive`, and `strict` excludes `lenient`. `timeout`, `task` and `single_use` need a function that is `async`
/// or `blocking`.
///
/// **`timeout`.** A tool that takes too long returns a result with `isError`. The timeout is paused while the client answers an elicitation
/// or sampling request.
///
/// **`rate`.** With `"10/s"`, a caller that has made no calls for a while may make 10 calls at once, or as many as `burst` sets. Further
/// calls must be evenly spaced. A caller is the [`Principal`] if one is known, otherwise the session or the connection. Over HTTP without a
/// session, a caller is the address that the request came from. Under protocol revision 2026-07-28, the client repeats a call to answer an
/// elicitation or sampling request, and each repetition counts.
///
/// **`concurrency`.** A call counts until the server has answered it, and a task until it has ended. A `blocking` call counts until its
/// function returns, even if its client no longer waits.
///
/// **`scopes` and `auth`.** Over HTTP, a caller without the scopes gets a 403 response that names the scopes to request. Lists do not show
/// the item to this caller. **Over stdio the server checks neither scopes nor policies:** the user who starts the program may call every
/// tool.
///
/// **`asks`.** If a client lacks one of these capabilities, its calls are rejected before the function runs. A parameter of type [`Elicit`],
/// [`Sample`] or [`Roots`] has the same effect.
///
/// **`single_use`.** A request that sends the same `requestState` again is rejected. Servers that share a store reject it together. Without
/// such a store, each process of the server remembers only the states that it has received itself.
///
/// **`task`.** The keys have these meanings:
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `required` | a call must become a task. Clients without tasks see the tool in lists, but cannot call it | flag | off | `"required"` instead of `"optional"` |
/// | `later` | the call becomes a task at [`ctx.begin_task()`] instead of at once | flag | off | none |
/// | `ttl = "1h"` | time for which the task is kept after its creation, even while it runs. A `timeout` must not be longer | duration | [`Limits::task_ttl`]: 1 hour | `ttl` of the task; `ttlMs` in 2026-07-28 |
/// | `poll = "2s"` | interval at which clients poll. It must be shorter than `ttl` | duration | [`Limits::task_poll`]: 1 second | `pollInterval`; `pollIntervalMs` in 2026-07-28 |
///
/// **`schema`.** `"full"` is unabridged JSON Schema. `"compatible"` is the form that all clients understand. `"static"` is the compatible
/// form, generated at compile time. If that is impossible for a type, the tool does not compile.
///
/// Specification: Server features, Tools.
///
/// [`FromCall`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/extract/trait.FromCall.html
/// [`Builder::timeout`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.timeout
/// [`Builder::rate`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.rate
/// [`Builder::concurrency`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.concurrency
/// [`Policy`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/auth/trait.Policy.html
/// [`Builder::schema_profile`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.schema_profile
/// [`Principal`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/auth/struct.Principal.html
/// [`Elicit`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/elicitation/struct.Elicit.html
/// [`Sample`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/sampling/struct.Sample.html
/// [`Roots`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/extract/struct.Roots.html
/// [`ctx.begin_task()`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Context.html#method.begin_task
/// [`Limits::task_ttl`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/limits/struct.Limits.html#method.task_ttl
/// [`Limits::task_poll`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/limits/struct.Limits.html#method.task_poll
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Tool, attr.into(), item.into()).into()
}

/// Turns a function into a resource, or a template of many resources, that clients read by URI.
///
/// The first argument of the attribute is the URI, a string literal. Each variable in it (RFC 6570) is a parameter of the same name, parsed
/// with `FromStr`. If the text of a variable does not parse, the URI does not match. All other parameters get their values from the server.
/// For a function that the model calls, use [`macro@tool`].
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[data]
/// struct Profile {
///     name: String,
/// }
///
/// struct Db {
///     names: Vec<String>,
/// }
///
/// /// A user's profile.
/// #[resource("users://{id}/profile")]
/// async fn profile(id: usize, db: &Db) -> Result<Json<Profile>> {
///     match db.names.get(id) {
///         Some(name) => Ok(Json(Profile { name: name.clone() })),
///         None => Err(Error::not_found(format!("there is no user {id}"))),
///     }
/// }
///
/// /// The number of users.
/// #[resource("users://count", cache(public, ttl = "5m"))]
/// fn count(db: &Db) -> String {
///     db.names.len().to_string()
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
/// | `{/x*}` | one or more path segments |
/// | `{?x,y}`, `{&x,y}` | the pairs of a query, in any order |
///
/// Values are percent-decoded. No value has a `..` segment or a NUL, and only values of `{+x}` and of a query can be absolute paths, on Unix
/// or on Windows. So a path that is made of a directory and another value stays in the directory, apart from symbolic links.
///
/// `#[complete("a", "b")]` and `#[complete(function)]` complete a variable in the same way as an argument of a [`macro@prompt`].
/// `#[arg(name = "a.b")]` takes a variable whose name is not a Rust identifier.
///
/// # Keys
///
/// The URI becomes `uri`, or `uriTemplate` if it has variables. The types are those of [`macro@tool`].
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `name = "config"` | name in lists | string literal | name of the function | `name` |
/// | `title = "Settings"` | name that users see | text | none | `title`, since 2025-06-18 |
/// | `description = ABOUT` | description for models and users | text | doc comment | `description` |
/// | `icon = "https://…"` | icon that users see | icon, repeatable | none | `icons`, since 2025-11-25 |
/// | `mime_type = "text/plain"` | media type of the content | string literal | `text/plain` for text, `application/json` for `Json`; for other results none in lists, and the type of the value in contents | `mimeType` of the list entry and of the contents |
/// | `size = 1024`, `size = "1MB"` | size in bytes; not for a template | integer, or string literal with `B`, `KB`, `MB`, `GB`, `KiB`, `MiB` or `GiB` | none | `size` |
/// | `cache(public, ttl = "5m")` | how long clients may cache the contents, and whether they may share them. A resource with `scopes` or `auth` cannot be `public` | `public`: flag; `ttl`: duration | private, 0 seconds | `cacheScope` and `ttlMs` of the contents, in 2026-07-28 |
/// | `subscribe` | clients can subscribe to changes | flag | off | capability `resources.subscribe` |
/// | `audience(user, assistant)` | intended readers | `user`, `assistant` or both | none | `annotations.audience` |
/// | `priority = 0.8` | importance: 0 is the least, 1 the most | number from 0 to 1 | none | `annotations.priority` |
/// | `meta("vendor.com/key" = 1)` | metadata for clients | names with literals, or with expressions that serialize to JSON | none | `_meta`, since 2025-06-18 |
///
/// The keys `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`, `group` and `crate` work as for
/// [`macro@tool`]. A policy gets the variables of the URI as arguments. Scopes and policies also decide about subscriptions.
///
/// Specification: Server features, Resources.
#[proc_macro_attribute]
pub fn resource(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Resource, attr.into(), item.into()).into()
}

/// Turns a function into a prompt: messages that the user selects and fills in.
///
/// Arguments are text. The server parses them with `FromStr`, or with `Deserialize` for a [`macro@data`] type that is one text or number,
/// such as an enum without fields. JSON in an argument is not parsed. An argument of type `Option<T>` is optional. For a function that the
/// model calls, use [`macro@tool`].
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct Db {
///     people: Vec<String>,
/// }
///
/// /// Reviews code.
/// #[prompt(title = "Code review")]
/// fn review(
///     #[complete("rust", "python", "go")] language: &str,
///     #[complete(people)] tone_of: Option<&str>,
///     code: &str,
/// ) -> String {
///     format!(
///         "Review this {language} code in the tone of {}:\n{code}",
///         tone_of.unwrap_or("a friend")
///     )
/// }
///
/// #[completion]
/// fn people(typed: &str, db: &Db) -> Vec<String> {
///     db.people.iter().filter(|name| name.starts_with(typed)).cloned().collect()
/// }
/// # fn main() {}
/// ```
///
/// # Arguments
///
/// `#[complete("a", "b")]` proposes these values. `#[complete(function)]` calls a function with [`macro@completion`]; any other function is
/// a compile error. The path of a method starts with its type: `#[complete(Self::people)]`. `#[arg(complete(…))]` means the same. Enums and
/// `bool` are completed without an attribute.
///
/// `#[arg(…)]` takes the keys of [`macro@tool`], except `header`. Clients see these keys of an argument:
///
/// | key, by example | type | default | protocol field |
/// |---|---|---|---|
/// | `name = "in"` | string literal | name of the parameter | `arguments[].name` |
/// | `title = "City"` | text | none | `arguments[].title`, since 2025-06-18 |
/// | `description = CITY` | text | doc comment | `arguments[].description` |
/// | `default`, `default = "en"` | nothing, or an expression | none: the argument is required | `arguments[].required` is `false` |
/// | `complete("a", "b")`, `complete(function)` | string literals, or the path of a function | none | `completion.values` of the response to `completion/complete` |
///
/// # Keys
///
/// The types are those of [`macro@tool`].
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `name = "review"` | name that clients use | string literal | name of the function | `name` |
/// | `title = "Code review"` | name that users see | text | none | `title`, since 2025-06-18 |
/// | `description = ABOUT` | description for users | text | doc comment | `description` |
/// | `icon = "https://…"` | icon that users see | icon, repeatable | none | `icons`, since 2025-11-25 |
/// | `meta("vendor.com/key" = 1)` | metadata for clients | names with literals, or with expressions that serialize to JSON | none | `_meta`, since 2025-06-18 |
///
/// The keys `blocking`, `timeout`, `rate`, `concurrency`, `scopes`, `auth`, `asks`, `order`, `group` and `crate` work as for
/// [`macro@tool`].
///
/// Specification: Server features, Prompts.
#[proc_macro_attribute]
pub fn prompt(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Prompt, attr.into(), item.into()).into()
}

/// Turns a function into a source of completions, for `#[complete(function)]` on arguments of prompts and variables of resources.
///
/// The function takes the text typed so far as `&str` or `String`. A parameter of type `Option<T>` is the argument of the same name, if the
/// user has already filled it in. Other parameters get their values from the server. The order of the parameters does not matter. For a
/// fixed list, write `#[complete("a", "b")]` without a function.
///
/// The function returns a `Vec` or an array of texts, a `Completion` with the total number of values, or a `Result` of these. Clients get
/// the first 100 values.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct City {
///     name: String,
///     country: String,
/// }
///
/// struct Atlas {
///     cities: Vec<City>,
/// }
///
/// #[completion(timeout = "2s")]
/// async fn cities(typed: &str, country: Option<String>, atlas: &Atlas) -> Vec<String> {
///     let cities = atlas.cities.iter().filter(|city| city.name.starts_with(typed));
///     let cities = cities
///         .filter(|city| country.as_ref().is_none_or(|country| *country == city.country));
///     cities.map(|city| city.name.clone()).collect()
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
/// # Keys
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `blocking` | runs a plain `fn` on the pool of blocking threads | flag | off | none |
/// | `timeout = "2s"` | fails a request that takes longer | duration | [`timeout`][`Builder::timeout`] of the builder, otherwise no limit | none |
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` | none |
///
/// `#[arg(name = "…")]` names an argument whose name is not a Rust identifier. It is the only key of `#[arg]` here.
///
/// Specification: Server features, Utilities, Completion.
///
/// [`Builder::timeout`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.timeout
#[proc_macro_attribute]
pub fn completion(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::function(Kind::Completion, attr.into(), item.into()).into()
}

/// Registers the methods of an impl block that have [`macro@tool`], [`macro@resource`], [`macro@prompt`] or [`macro@completion`].
///
/// `&self` is the state of this type that was passed to `Builder::state` or returned by the closure of `Builder::setup`. Functions without
/// a receiver are registered too. The macro leaves the other members of the block unchanged. A free function needs no `#[handlers]`.
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
/// In `#[complete(…)]` and `items![…]`, the path of a method starts with its type: `#[complete(Self::titles)]`, `items![Notes::add]`.
///
/// Concurrent calls share the state, so a method cannot take `&mut self` or `self`. The block must be an inherent impl without type
/// parameters or lifetimes.
///
#[doc = include_str!("../docs/shared_keys.md")]
#[proc_macro_attribute]
pub fn handlers(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::handlers(attr.into(), item.into()).into()
}

/// Makes a struct or an enum usable as an argument and as a result.
///
/// It derives [`macro@Schema`], serde's `Serialize` and `Deserialize`, and schemars' `JsonSchema`. `mcp-runtime` re-exports these derives,
/// so you need neither serde nor schemars as a dependency. Attributes of both crates work below `#[data]`. Add all other derives yourself,
/// for example `#[derive(Clone, Debug)]` below `#[data]`. Doc comments on fields become their descriptions. For a type that users fill in,
/// use [`macro@form`].
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
/// `cargo add schemars --features uuid1` for `Uuid`.
///
/// Bounds such as `#[schemars(range(max = 9))]` are part of the schema, but the server does not check them when a call arrives. For bounds
/// that the server checks, put `#[arg(…)]` on a parameter. On a field of `#[data]`, `#[arg(…)]` is rejected.
///
/// # Keys
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` | none |
#[proc_macro_attribute]
pub fn data(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::data(attr.into(), item.into()).into()
}

#[doc = include_str!("../docs/schema.md")]
#[proc_macro_derive(Schema, attributes(mcp))]
pub fn schema(item: TokenStream) -> TokenStream {
    entry::schema(item.into()).into()
}

/// Always fails with an error that recommends `#[data]`. serde's derive itself would work only if the user's package depends on serde.
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

/// Makes the fields of a struct options of the command line and environment variables.
///
/// A handler takes the struct as `&Config`, and a closure of [`Builder::setup`] as `State<Config>`. The server reads the values when it
/// starts: from its command line, or else from the environment, or else from the default. `server!()` finds the struct by itself.
///
/// ```no_run
/// use std::path::PathBuf;
///
/// use mcp_runtime::prelude::*;
///
/// /// Settings of the file server.
/// #[config]
/// struct Config {
///     /// Directory to serve
///     root: PathBuf,
///     /// Key of the service
///     #[config(secret)]
///     api_key: Option<String>,
///     /// Attempts per request
///     #[config(default = 5)]
///     retries: u8,
/// }
///
/// /// Reads a file.
/// #[tool(read_only)]
/// fn read(config: &Config, path: &str) -> Result<String> {
///     Ok(std::fs::read_to_string(config.root.join(path))?)
/// }
///
/// fn main() -> Exit {
///     server!().run()
/// }
/// ```
///
/// If this server is called `files`, its options are `--root`, `--api-key` and `--retries`, and its variables `FILES_ROOT`,
/// `FILES_API_KEY` and `FILES_RETRIES`. `help` lists them. On the command line the options stand before a command, as in
/// `files --root . call read path=notes.txt`, and before or after `--http`.
///
/// Missing and wrong values stop the start. The error lists all of them. The commands `list`, `check`, `schema`, `help` and `version` need
/// no values. A server without [`Builder::run`] reads the environment and the defaults. A test gives the struct to the server with
/// [`Builder::state`], and then nothing is read.
///
/// # Types
///
/// | type of the field | option | absent |
/// |---|---|---|
/// | `bool` | `--verbose`, or `--verbose=false` | `false` |
/// | `Option<T>` | `--root TEXT` or `--root=TEXT` | `None` |
/// | `Vec<T>` | may be repeated; in the variable, commas separate the values | an empty list |
/// | any other `T` | `--root TEXT` or `--root=TEXT` | the `default`, or else an error |
///
/// `T` is a type that implements `FromStr`, such as `String`, `PathBuf`, a number or `SocketAddr`, or an enum with `#[data]` whose variants
/// have no fields. The values of such an enum are the names of its variants, as clients know them, and `help` lists them. An empty variable
/// counts as absent, and an empty path in an option is an error. Write a value that begins with `--`, and the values `-h` and
/// `-V`, after `=`, as in `--title=--draft`. The doc comment of a field is its description in `help`.
///
/// # Keys
///
/// | key, by example | effect | type | default |
/// |---|---|---|---|
/// | `env = "FILES"` | start of the names of the variables; gets a `_` in front of a digit | string literal | name of the server, in upper case |
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` |
///
/// # Keys of a field
///
/// | key, by example | effect | type | default |
/// |---|---|---|---|
/// | `default`, `default = 5` | value of an absent field: `Default::default()`, or the expression | nothing, or an expression | none: the field is required |
/// | `secret` | neither `help` nor an error shows the value | flag | off |
/// | `file`, `directory` | the value is the path of a file or of a directory, so that a client can ask for it with a picker | flag | off |
/// | `name = "folder"` | name of the option, and end of the name of the variable | string literal: lower-case letters, digits and `-` | name of the field |
/// | `env = "SERVICE_KEY"` | name of the variable | string literal: letters, digits and `_` | prefix and option, in upper case |
///
/// Pass secrets in variables. Other users of the machine may be able to see the arguments of a process. The commands `config`, `install`, `dev`
/// and `record` reject a comma in a secret of a list, because they pass the list on in a variable.
///
/// `#[derive(Debug)]` below `#[config]` shows `<secret>` in place of a secret. Above `#[config]` the compiler derives it from the
/// plain struct, and its output contains the secret.
///
/// [`Builder::run`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.run
/// [`Builder::setup`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.setup
/// [`Builder::state`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.state
#[proc_macro_attribute]
pub fn config(attr: TokenStream, item: TokenStream) -> TokenStream {
    entry::config(attr.into(), item.into()).into()
}

/// Returns the builder of a server with the items of this package.
///
/// The server has all functions of the package with [`macro@tool`], [`macro@resource`] and [`macro@prompt`]. To name them one by one, pass
/// [`items!`](macro@items) to [`Builder::items`].
///
/// ```no_run
/// use mcp_runtime::prelude::*;
///
/// struct Db;
///
/// impl Db {
///     async fn open() -> Result<Self> {
///         Ok(Self)
///     }
/// }
///
/// fn main() -> Exit {
///     server!(title = "Notes", instructions = "Ask before you delete a note.")
///         .setup(async || Db::open().await)
///         .run()
/// }
/// ```
///
/// # Keys
///
/// Values can be expressions, except those of `with`, `icon` and `crate`.
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `with = [my_tools]` | adds the items of these crates | names of crates | none | none |
/// | `group = "admin"` | serves the items of this group instead | text | the items without a group | none |
/// | `instructions = "…"` | instructions for the model | text | none | `instructions` |
/// | `title = "Notes"` | name that users see | text | none | `serverInfo.title`, since 2025-06-18 |
/// | `name = "notes"` | name of the server | text | name of the program, otherwise of the package | `serverInfo.name` |
/// | `version = "1.0.0"` | version of the server | text | version of the package | `serverInfo.version` |
/// | `icon = "https://…"` | icon that users see | icon, repeatable; see [`macro@tool`] | none | `serverInfo.icons`, since 2025-11-25 |
/// | `website = "https://…"` | website of the server | text | none | `serverInfo.websiteUrl`, since 2025-11-25 |
/// | `max_result = "1MB"` | maximum size of a tool's result; a larger result becomes an error | number of bytes, or text with `B`, `KB`, `MB`, `GB`, `KiB`, `MiB` or `GiB` | no limit | none |
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` | none |
///
/// `serverInfo.description` is the description of the package (since 2025-11-25).
///
/// [`Builder::items`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.items
#[proc_macro]
pub fn server(tokens: TokenStream) -> TokenStream {
    entry::server(tokens.into()).into()
}

/// Returns a list of items for [`Builder::items`]: the server has exactly these items, and lists them in this order.
///
/// Without it, [`server!`](macro@server) serves all items of the package, sorted by `order` and name.
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
///     use mcp_runtime::prelude::*;
///
///     /// The current user.
///     #[resource("users://me")]
///     pub fn profile() -> &'static str {
///         "Ada Lovelace"
///     }
/// }
///
/// let server = mcp_runtime::server!().items(items![add, tools::profile]).build();
/// assert!(server.is_ok());
/// ```
///
/// Each entry is the path of a function with one of the attributes. The path of a method starts with its type: `items![Notes::search]`.
///
/// # Keys
///
/// The key comes before the paths: `items![crate = my_framework::mcp_runtime, add]`.
///
/// | key, by example | effect | type | default | protocol field |
/// |---|---|---|---|---|
/// | `crate = path` | path of `mcp_runtime`, if another crate re-exports it | path | `::mcp_runtime` | none |
///
/// [`Builder::items`]: https://docs.rs/mcp-runtime/latest/mcp_runtime/struct.Builder.html#method.items
#[proc_macro]
pub fn items(tokens: TokenStream) -> TokenStream {
    entry::items(tokens.into()).into()
}
