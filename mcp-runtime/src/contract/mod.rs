//! The contract: what a server published then, what it publishes now, and whom the difference breaks.
//!
//! `schema` prints a [`Manifest`], users commit it, and [`Published::against`] compares it with the server of today. Each
//! difference is breaking, additive or cosmetic ([`Class`](change::Class)), and has a place in the sources. What cannot be
//! decided breaks.
//!
//! A manifest is what a client of the newest revision is told, without the server's version and in an order of its own,
//! and what clients meet although that revision's lists do not say it: `execution.taskSupport`, the capabilities that an
//! item needs (`asks`), the scopes that it needs (`scopes`; what a policy says nobody can compare), the arguments that it completes
//! (`completes`), and whether a resource can be subscribed to.
//!
//! | what | breaking | additive | cosmetic |
//! |---|---|---|---|
//! | tools and prompts (by name), resources (by URI), templates (by URI template) | gone; gone while one like it came, which is told as a new name | new | title, description, icons, size, annotations of a resource, a resource's name |
//! | what the server says of itself | | | all of it, also its name |
//! | an argument | gone, under another name, or new and required | new and optional | title, description, examples |
//! | the type of an argument | some value that was accepted is not shown to be accepted | more is accepted | the order of an `enum`, another spelling |
//! | whether an argument is required | now it is | not any more | |
//! | its default | another one, or none any more | one where there was none | |
//! | its header (`x-mcp-header`) | any change: old clients are refused, or routers miss it | | its case |
//! | the result | output schema gone; something may come that was not promised; a member is gone | an output schema; more is promised; a member is new | descriptions, defaults |
//! | hints | a promise is taken back: `readOnlyHint`, not `destructiveHint`, `idempotentHint`, not `openWorldHint`, each with its default | a promise | said differently |
//! | `execution.taskSupport` | anything but that | from `forbidden` or `required` to `optional` | |
//! | `asks`, `scopes` | needs more of its client or caller | needs less | |
//! | `completes`, `subscribe`, `mimeType`, `_meta` | taken back or another one | new | |
//! | prompts' arguments | as for tools | | their order |
//! | the order of lists and arguments, the server's version, lines of code | | | none: no lock has them |
//!
//! **Schemas** ([`schema`]) are compared by the values they accept. For arguments everything that the old schema accepts must
//! be accepted by the new one; for results the reverse. Two things are decided beside that: members that an object does not
//! declare are not sent unless it says `additionalProperties`, so that a new optional member of an open struct is no
//! break, while arguments that ruled nothing out and refuse other members now do break; and a declared member that is gone is a break on both sides, although an open struct would let it pass. Of
//! keywords that nobody here can compare (`not`, `if`, `patternProperties`, another `pattern`, …) only the same ones are
//! compatible. A schema of which only the words have changed always is. What is not published is not compared: `i32` and `i64` are
//! both `integer` to clients, unless a `range` says more.
//!
//! **Once each.** What differs in a type that several items take or return is one difference ([`schema`]'s `kin`): the report tells it where
//! it comes first and lists the other places, each with its line. A hint that implies others is one difference too.

mod change;
mod hints;
mod item;
mod items;
mod lock;
mod manifest;
mod place;
mod schema;
mod text;

pub(crate) use manifest::Published;

#[cfg(test)]
mod tests;
