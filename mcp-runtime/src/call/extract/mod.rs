//! Conversion of the client's arguments and the server's values into the parameters of the user's function.
//!
//! The *type* of a parameter decides where its value comes from: a [`FromCall`] type from the server, any other type from the client.
//! `probe` asks the trait system. The names of types do not matter.

mod ask;
#[allow(missing_docs, reason = "public only for generated code")]
mod call;
mod client;
mod default;
#[allow(missing_docs, reason = "public only for generated code, but for its two traits")]
mod form;
mod from_call;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
pub(crate) mod header;
mod json;
mod lenient;
mod missing;
#[allow(missing_docs, reason = "public only for generated code")]
mod params;
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod probe;
mod reader;
#[allow(missing_docs, reason = "public only for generated code")]
mod spread;
mod state;
mod text;
mod values;

pub use ask::{Elicit, Roots, Sample};
pub(crate) use call::{Arguments, Member, Mode, Names};
pub use call::{Call, Running};
pub use client::Client;
pub use default::{from_default, from_text};
pub(crate) use form::read as read_form;
pub use form::{Form, FormChoice, FormField, choices, field, form};
pub use from_call::{FromCall, Needs};
#[cfg(feature = "auth")]
pub(crate) use json::read as read_json;
pub use params::Params;
pub(crate) use params::{Field, Source};
pub use probe::{Argument, Probe, unfit::Borrows};
pub(crate) use spread::read as spread_arguments;
pub use spread::{Args, SpreadField};
pub use state::{Shared, State};
#[cfg(feature = "auth")]
pub(crate) use text::read as read_text;
