//! Parameters that declare the questions of a function to the client.

use std::fmt;

use super::{Form, FromCall, Needs};
use crate::{
    call::context::{Asked, Context},
    error::{Result, Unanswered},
    model::{Root, Sampled, Sampling},
};

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident, $need:ident, $can:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Context);

        impl $name {
            /// Returns whether the calling client has declared the capability.
            ///
            /// Always `true` if the function itself takes this parameter or has `asks(…)`, because calls of other clients are rejected. It
            /// can be `false` in a type of yours that holds this one, if its [`FromCall::needs`] does not pass on the requirement.
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
    /// Asks the user through a form (`elicitation`, client/elicitation). Take it as a parameter to declare that the function asks, or write
    /// `asks(elicitation)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool's result tells the model, and prompts and resources answer with an error. A function
    /// that can do without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[form]
    /// struct Consent {
    ///     /// Put it into service
    ///     deploy: bool,
    /// }
    ///
    /// /// Puts a new version into service.
    /// #[tool(destructive)]
    /// async fn deploy(user: Elicit, version: &str) -> Result<String> {
    ///     let consent: Consent = user.form("consent", format!("Deploy {version}?")).await?;
    ///     Ok(format!("deployed: {}", consent.deploy))
    /// }
    /// # fn main() {}
    /// ```
    Elicit, elicitation, can_elicit;

    /// Asks the client's model (`sampling`, client/sampling). Take it as a parameter to declare that the function asks, or write
    /// `asks(sampling)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool's result tells the model, and prompts and resources answer with an error. A function
    /// that can do without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Sums a text up.
    /// #[tool(read_only)]
    /// async fn sum_up(model: Sample, text: &str) -> Result<String> {
    ///     let question = Sampling::ask(format!("Sum this up: {text}"), 200);
    ///     Ok(model.ask("summary", question).await?.text())
    /// }
    /// # fn main() {}
    /// ```
    Sample, sampling, can_sample;

    /// Asks which directories the user works in (`roots`, client/roots). Take it as a parameter to declare that the function asks, or write
    /// `asks(roots)`.
    ///
    /// A call of a client without the capability is rejected before the function runs. Under protocol revision 2026-07-28 the client gets
    /// error -32021. Under earlier revisions a tool's result tells the model, and prompts and resources answer with an error. A function
    /// that can do without the capability takes `&Context` instead, and checks the client itself.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Names the directories that the client shares.
    /// #[tool(read_only)]
    /// async fn shared(directories: Roots) -> Result<String> {
    ///     let roots = directories.list().await?;
    ///     Ok(roots.iter().map(|it| it.uri.as_str()).collect::<Vec<_>>().join("\n"))
    /// }
    /// # fn main() {}
    /// ```
    Roots, roots, can_list_roots;
}

impl Elicit {
    /// Asks the user to fill in a form: see [`Context::elicit`].
    pub fn form<T: Form>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Asked<Result<T, Unanswered>> {
        self.0.elicit(key, message)
    }

    /// Sends the user to a page: see [`Context::elicit_url`].
    pub fn url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Result<(), Unanswered>> {
        self.0.elicit_url(key, message, url)
    }

    /// Sends the user to a page before the call can continue: see [`Context::require_url`].
    pub fn require_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Unanswered> {
        self.0.require_url(key, message, url)
    }
}

impl Sample {
    /// Asks the client's model: see [`Context::sample`].
    pub fn ask(&self, key: impl Into<String>, sampling: Sampling) -> Asked<Result<Sampled>> {
        self.0.sample(key, sampling)
    }
}

impl Roots {
    /// Returns the directories that the user works in: see [`Context::roots`].
    pub fn list(&self) -> Asked<Result<Vec<Root>>> {
        self.0.roots()
    }
}
