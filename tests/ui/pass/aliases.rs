//! A type alias hides nothing: the traits decide what a parameter is.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]

use super::state::Db;
use mcp_runtime::prelude::*;

type Text<'a> = &'a str;
type MaybeText<'a> = Option<&'a str>;
type Numbers<'a> = &'a [i64];
type Maybe = Option<u8>;
type Held = State<Db>;
type Borrowed<'a> = &'a Db;
type Call<'a> = &'a Context;
type Owned = Context;
type Steps = Progress;
type Stop = Cancel;
type Extra = Meta;
type Who = Client;
type Catalog = Handle;
type Trip = Args<Stages>;
type Out = Result<Json<Stages>>;

/// Where to go.
#[data]
struct Stages {
    /// The first stop
    first: String,
}

/// Arguments by other names.
#[tool]
fn alias_arguments(
    text: Text<'_>,
    maybe_text: MaybeText<'_>,
    numbers: Numbers<'_>,
    maybe: Maybe,
    trip: Trip,
) -> Out {
    let first = format!("{text}{maybe_text:?}{numbers:?}{maybe:?}{}", trip.first);
    Ok(Json(Stages { first }))
}

/// Values of the server by other names.
#[tool]
fn alias_server(
    held: Held,
    borrowed: Borrowed<'_>,
    call: Call<'_>,
    owned: Owned,
    extra: Extra,
    who: Who,
    catalog: Catalog,
) {
    let _ = (held, borrowed, call, owned, extra, who, catalog);
}

/// What only work in progress needs.
#[tool]
async fn alias_live(steps: Steps, stop: Stop) {
    let _ = (steps, stop);
}

/// Text by other names.
#[prompt]
fn alias_prompt(text: Text<'_>, maybe_text: MaybeText<'_>, maybe: Maybe, held: Held) -> String {
    let _ = held;
    format!("{text}{maybe_text:?}{maybe:?}")
}

/// Variables by other names.
#[resource("alias://{text}/{number}{?maybe}")]
fn alias_resource(text: Text<'_>, number: u8, maybe: Maybe, call: Call<'_>) -> String {
    let _ = call;
    format!("{text}{number}{maybe:?}")
}

/// What was typed, by another name.
#[completion]
fn alias_completion(typed: Text<'_>, text: Option<String>, held: Held) -> Vec<String> {
    let _ = held;
    vec![typed.to_owned(), text.unwrap_or_default()]
}
