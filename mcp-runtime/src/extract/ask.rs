//! Parameters that say what a function asks of the client.

use std::fmt;

use super::{FromCall, Needs};
use crate::{context::Context, error::Result};

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident, $need:ident, $can:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Context);

        impl $name {
            /// Whether the client that calls declared the capability. A client of 2026-07-28 that did not never gets
            /// here; one of an earlier revision does.
            pub fn client_can(&self) -> bool {
                self.0.client().$can()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("client_can", &self.client_can())
                    .finish_non_exhaustive()
            }
        }

        #[diagnostic::do_not_recommend]
        impl FromCall<'_> for $name {
            fn from_call(context: &Context) -> Result<Self> {
                Ok(Self(context.clone()))
            }

            fn needs(needs: &mut Needs) {
                needs.asks = needs.asks.$need();
            }
        }
    )*};
}

asks! {
    /// Says that the function asks the user through a form (`elicitation`, client/elicitation): take it as a parameter,
    /// or write `asks(elicitation)`.
    ///
    /// In 2026-07-28 a call from a client without the capability is refused with -32021 before anything runs. In
    /// earlier revisions the function runs and looks for itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Puts a new version into service.
    /// #[tool(destructive)]
    /// async fn deploy(user: Elicit, version: &str) -> Result<String> {
    ///     if !user.client_can() {
    ///         return Err(Error::msg("this needs the consent of a person, and your client cannot ask for it"));
    ///     }
    ///     Ok(format!("ready to ask about {version}"))
    /// }
    /// # fn main() {}
    /// ```
    Elicit, elicitation, can_elicit;

    /// Says that the function uses the client's model (`sampling`, client/sampling): take it as a parameter, or write
    /// `asks(sampling)`.
    ///
    /// In 2026-07-28 a call from a client without the capability is refused with -32021 before anything runs. In
    /// earlier revisions the function runs and looks for itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Sums a text up.
    /// #[tool(read_only)]
    /// async fn sum_up(model: Sample, text: &str) -> String {
    ///     if model.client_can() { text.to_owned() } else { text.chars().take(100).collect() }
    /// }
    /// # fn main() {}
    /// ```
    Sample, sampling, can_sample;

    /// Says that the function asks which directories the user works in (`roots`, client/roots): take it as a
    /// parameter, or write `asks(roots)`.
    ///
    /// In 2026-07-28 a call from a client without the capability is refused with -32021 before anything runs. In
    /// earlier revisions the function runs and looks for itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Says whether the client shares its directories.
    /// #[tool(read_only)]
    /// async fn shares(directories: Roots) -> bool {
    ///     directories.client_can()
    /// }
    /// # fn main() {}
    /// ```
    Roots, roots, can_list_roots;
}
