//! Conversion of the client's arguments and the server's values into the parameters of the user's function.
//!
//! The *type* of a parameter decides where its value comes from. The value of a [`FromCall`] type comes from the server, any other value
//! from the client. `probe` distinguishes the two with trait bounds and not by the name of the type, so type aliases work too.

#[allow(missing_docs, reason = "public only for generated code")]
mod argument_handles;
#[cfg(feature = "auth")]
mod auth;
#[allow(missing_docs, reason = "public only for generated code")]
mod call;
mod from_call;
#[allow(missing_docs, reason = "public only for generated code")]
mod params;
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod probe;
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod server_handles;
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod spread;
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod unfit_handles;

#[cfg(feature = "auth")]
pub use auth::Auth;
#[cfg(feature = "stdio")]
pub(crate) use call::wrong_arguments;
pub(crate) use call::{ArgumentMember, ArgumentNames, Arguments, Mode};
pub use call::{Call, Running};
#[cfg(feature = "http")]
pub use from_call::Extension;
pub use from_call::{Client, Elicit, FromCall, Requirements, Roots, Sample, Shared, State};
pub(crate) use params::{ArgumentField, ArgumentSource};
pub use params::{Describe, ItemParams, from_default, from_text};
pub use probe::{Argument, Probe};
pub use spread::Args;
pub(crate) use spread::{read as spread_arguments, stringified};
pub use unfit_handles::Borrows;
