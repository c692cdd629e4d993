//! Contracts of servers. The crate compares the current items of a server with the items in its lock file, and finds the differences that
//! break clients.
//!
//! This crate is a part of [mcp-runtime](https://docs.rs/mcp-runtime). The two crates are released together, and the names of this crate
//! may change in any release. The crate works without a running server: mcp-runtime creates the [`Manifest`] of a server.
//!
//! The command `schema` prints a [`Manifest`], and authors of servers commit this text as a lock file. [`Published::against`] compares the
//! lock file with the current server. Each difference is breaking, additive or cosmetic (`ChangeClass`), and has a place in the sources. If
//! the effect of a difference cannot be decided, the difference counts as breaking.
//!
//! A manifest contains what a client of the newest protocol revision sees, in a fixed order and without the server's version. It also
//! contains information that affects clients but is not part of that revision's lists:
//!
//! - `execution.taskSupport`;
//! - `asks`: the capabilities that an item requires from the client;
//! - `scopes`: the scopes that an item requires from the caller (policies cannot be compared);
//! - `completes`: the arguments that an item completes;
//! - `subscribe`: whether a resource can be subscribed to.
//!
//! | part | breaking | additive | cosmetic |
//! |---|---|---|---|
//! | tools and prompts (by name), resources (by URI), templates (by URI template) | gone; renamed (one is gone and a similar one is new) | new | title, description, icons, size, annotations of a resource, a resource's name |
//! | description of the server | | | all of it, including its name |
//! | an argument | gone, under another name, or new and required | new and optional | title, description, examples |
//! | type of an argument | a value that was accepted cannot be shown to be still accepted | more values are accepted | the order of an `enum`, another spelling |
//! | whether an argument is required | required now | not required any more | |
//! | default of an argument | another default, or none any more | a default where there was none | |
//! | header of an argument (`x-mcp-header`) | any change: old clients are rejected, or routers miss the header | | its case |
//! | result | output schema gone; a value is possible that was not promised; a member is gone | an output schema; more is promised; a member is new | descriptions, defaults |
//! | hints | a promise is taken back: `readOnlyHint`, not `destructiveHint`, `idempotentHint`, not `openWorldHint`, each with its default | a promise | the same promises, written differently |
//! | `execution.taskSupport` | any other change | from `forbidden` or `required` to `optional` | |
//! | `asks`, `scopes` | needs more of its client or caller | needs less | |
//! | `completes`, `subscribe`, `mimeType`, `_meta` | taken back or changed | new | |
//! | arguments of prompts | as for tools | | their order |
//! | order of lists and arguments, version of the server, lines of code | | | not compared: no lock contains them |
//!
//! **Schemas** (`schema`) are compared by the values that they accept. For arguments, the new schema must accept every value that the old
//! schema accepts. For results, the old schema must accept every value that the new schema accepts. Two cases have rules of their own:
//!
//! - An object is assumed to have no undeclared members unless it has `additionalProperties`. A new optional member of such an object is
//!   therefore not breaking. However, a change is breaking if arguments that accepted undeclared members reject them now.
//! - It is breaking to remove a declared member, for arguments and for results, even if the object accepts undeclared members. It is not
//!   breaking if `additionalProperties` of the new object accepts the member, as for a map.
//!
//! Keywords that cannot be compared (`not`, `if`, `patternProperties`, another `pattern`, …) are compatible only if they are equal. A `not`
//! is also compatible if it excludes none of the values. A schema in which only annotations have changed is always compatible. Only the
//! published schemas are compared: to clients, `i32` and `i64` are both `integer`, unless a `range` adds bounds.
//!
//! **Grouping.** If several items take or return a type, a difference in the type is reported once (`schema::type_key`). The report shows
//! the difference at its first place and lists the other places, each with its line. A change of a hint that implies other hints is also
//! reported once.
//!
//! The modules [`collect`], [`percent`] and [`suggest`] are helpers that mcp-runtime uses, too.

#[cfg(feature = "comparison")]
mod change;
pub mod collect;
#[cfg(feature = "comparison")]
mod comparison;
#[cfg(feature = "comparison")]
mod item;
#[cfg(feature = "comparison")]
mod lock;
mod manifest;
pub mod percent;
#[cfg(feature = "comparison")]
mod place;
#[cfg(feature = "comparison")]
mod schema;
pub mod suggest;
#[cfg(any(test, feature = "validator"))]
pub mod validator;

pub use self::manifest::{ItemKind, JsonObject, Manifest};
#[cfg(feature = "comparison")]
pub use self::{
    change::ContractReport,
    comparison::Published,
    place::{ItemPlace, SourcePlace, SourcePlaces},
};

#[cfg(all(test, feature = "comparison"))]
mod tests;
