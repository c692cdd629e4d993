//! Asking the client while a call runs: the same words in every revision.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{self, Poll},
};

use super::{Context, once::waits_for_an_answer};
use crate::{
    error::{Error, Kind, Result, Unanswered},
    extract::{Form, read_form},
    model::{Action, Question, Root, Sampled, Sampling, action, content, page, read_roots},
    wire::Raw,
};

/// A question that has been put, and the answer when it is there.
///
/// The question is put when this is made, so several can be open at once: `tokio::join!`, or [`Context::ask_all`].
#[must_use = "the answer comes with `.await`"]
pub struct Asked<T>(Pin<Box<dyn Future<Output = T> + Send>>);

impl<T> Asked<T> {
    pub(super) fn new(answer: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Box::pin(answer))
    }
}

impl<T> Future for Asked<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<T> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for Asked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}

impl Context {
    /// Asks the user to fill in a form (client/elicitation), and waits for the answer.
    ///
    /// The `key` names the question within this call: it must be the same each time the function runs with the same arguments, and
    /// no other question of the call may have it. In 2026-07-28 the call ends with the question and the function **runs
    /// again from the top** with the answer; what must not happen again goes into [`Context::once`].
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Whether to go on.
    /// #[form]
    /// struct Consent {
    ///     /// Put it into service
    ///     deploy: bool,
    /// }
    ///
    /// /// Puts a version into service, if the user agrees.
    /// #[tool(destructive, asks(elicitation))]
    /// async fn deploy(ctx: &Context, version: &str) -> Result<String> {
    ///     let consent: Consent = ctx.elicit("consent", format!("Deploy {version}?")).await?;
    ///     Ok(if consent.deploy { format!("{version} is deployed") } else { "nothing happened".to_owned() })
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// An answer that does not fit the form, or not the type (70,000 in a `u16`), is asked for again in 2026-07-28, with the reason
    /// behind the message. An answer holds for the words it was given to: a function that runs again and says something else under
    /// the same key asks again too, so words that change by themselves, such as a time, come out of [`Context::once`].
    ///
    /// # Errors
    /// [`Unanswered`]: the user declined or cancelled, or the client cannot be asked (2024-11-05 and 2025-03-26 have no forms). In
    /// revisions before 2026-07-28 an answer that cannot be read is one, too.
    pub fn elicit<T: Form>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Asked<Result<T, Unanswered>> {
        let reads = |content: Raw<'_>| read_form::<T>(content).map(drop);
        let question = Question::Form { message: message.into(), schema: T::schema(), reads };
        let asking = self.ask(key.into(), question);
        Asked::new(async move {
            let json = asking.await?;
            let result = Raw::trusted(&json);
            accepted(result)?;
            read_form(content(result)).map_err(|problems| wrong(problems.join("; ")))
        })
    }

    /// Sends the user to a page, such as one to pay or to log in at, and waits until the user has agreed to go there
    /// (client/elicitation, URL mode; 2025-11-25 and later). That is no word on what happened there.
    ///
    /// The address is an absolute http or https URL without a user name. Only on the user's own machine (`localhost`) a page
    /// should be http; anywhere else clients expect https. It must say nothing about the user and let nobody in by itself,
    /// since others than the user may read it.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Connects the user's calendar.
    /// #[tool]
    /// async fn connect(ctx: &Context, account: u32) -> Result<String> {
    ///     let page = format!("https://calendar.example.com/connect/{account}");
    ///     ctx.elicit_url("connect", "Let us into your calendar", page).await?;
    ///     Ok("the user is on the way there".to_owned())
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Unanswered`]: the user declined or cancelled, or the client cannot be asked. An address that is none is an internal
    /// error, before anybody is asked.
    pub fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Result<(), Unanswered>> {
        let (message, url) = (message.into(), url.into());
        let asking = self.ask_url(key.into(), Question::Url { message, url, must_visit: false });
        Asked::new(async move { accepted(Raw::trusted(&asking.await?)) })
    }

    /// Says that the user must have been at a page before the call can go on: for a function that has looked, and found that it
    /// is not paid yet, or that nobody has logged in. What the client needs to know comes back as the reason to return.
    ///
    /// The client sends the user there and calls again, and the function looks again: as long as it ends up here, the user is sent
    /// there. Once the user is done, [`Handle::url_completed`](crate::Handle::url_completed) tells the clients that
    /// can wait for it. The address is as for [`elicit_url`](Context::elicit_url).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    /// # struct Orders;
    /// # impl Orders { fn is_paid(&self, _: u32) -> bool { true } }
    ///
    /// /// Books the table of a paid order.
    /// #[tool]
    /// async fn book(ctx: &Context, order: u32, orders: &Orders) -> Result<String> {
    ///     if !orders.is_paid(order) {
    ///         let page = format!("https://pay.example.com/orders/{order}");
    ///         return Err(ctx.require_url("pay", "Pay for the table", page).await.into());
    ///     }
    ///     Ok("the table is yours".to_owned())
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// The reason is [`Unanswered::Declined`] or [`Unanswered::Cancelled`] when the user would not go there. Any other is
    /// [`Unanswered::Failed`], which is how 2025-11-25 sends a user to a page (JSON-RPC error -32042); a client that cannot be asked
    /// for it is told so, with the address for the model to pass on. One of 2026-07-28 gets the error -32021 instead, which has no
    /// address: look at `ctx.client().can("elicitation.url")` first where the model should have it.
    pub fn require_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Unanswered> {
        let (message, url) = (message.into(), url.into());
        let asking = self.ask_url(key.into(), Question::Url { message, url, must_visit: true });
        Asked::new(async move {
            let unanswered = match asking.await {
                Ok(json) => accepted(Raw::trusted(&json)),
                Err(error) => Err(error.into()),
            };
            // The word to go there is no answer, so it does not come back from asking.
            unanswered.err().unwrap_or(Unanswered::Cancelled)
        })
    }

    /// Asks the client's model (client/sampling).
    ///
    /// # Errors
    /// When the client cannot be asked, or did not answer.
    pub fn sample(&self, key: impl Into<String>, sampling: Sampling) -> Asked<Result<Sampled>> {
        let checked = sampling.check().map_err(Error::internal);
        let asking = self.ask(key.into(), Question::Sample(sampling.into()));
        Asked::new(async move {
            checked?;
            let json = asking.await?;
            Sampled::read(Raw::trusted(&json)).map_err(Error::msg)
        })
    }

    /// Asks which directories the user works in (client/roots). The client's word, and no permission. However often a call
    /// asks, the client is asked once in it, or once until they change where a session knows of that.
    ///
    /// # Errors
    /// When the client cannot be asked, or did not answer.
    pub fn roots(&self) -> Asked<Result<Vec<Root>>> {
        let asking = self.ask("client_roots".to_owned(), Question::Roots);
        Asked::new(async move { read_roots(Raw::trusted(&asking.await?)).map_err(Error::msg) })
    }

    /// Asks, where a person can be sent.
    fn ask_url(&self, key: String, question: Question) -> super::Asking {
        let checked = match &question {
            Question::Url { url, .. } => page::check(url),
            _ => Ok(()),
        };
        match checked {
            Ok(()) => self.ask(key, question),
            Err(why) => failed(self.fault(format_args!(
                "the page that `{key}` sends the user to must be {}: {why}",
                page::EXPECTED
            ))),
        }
    }

    /// An error for the author, with the place of the item.
    pub(super) fn fault(&self, why: impl fmt::Display) -> Error {
        match &self.0.caller.origin {
            Some(origin) => Error::internal(format_args!("{origin}: {why}")),
            None => Error::internal(why),
        }
    }

    fn ask(&self, key: String, question: Question) -> super::Asking {
        if self.is_over() || self.is_cancelled() {
            return failed(over());
        }
        let Some(asker) = &self.0.caller.asker else {
            let text = "nobody can be asked here: only tools, prompts and resources ask, and they take `&Context`, `Elicit`, `Sample` or `Roots`, or say `asks(…)`";
            return failed(Error::internal(text));
        };
        let mut asking = asker.ask(&key, question);
        // Perhaps another task asks than the one that runs the handler: that one must look.
        self.wake();
        let context = self.clone();
        Box::pin(async move {
            let mut end = std::pin::pin!(context.cancelled());
            let answer = std::future::poll_fn(|cx| match asking.as_mut().poll(cx) {
                Poll::Pending => {
                    waits_for_an_answer();
                    end.as_mut().poll(cx).map(|()| Err(over()))
                }
                ready => ready,
            })
            .await;
            // What only the author reads says where to look.
            answer.map_err(|it| match it.kind() {
                Kind::Internal => context.fault(it.message()),
                _ => it,
            })
        })
    }
}

fn failed(error: Error) -> super::Asking {
    Box::pin(std::future::ready(Err(error)))
}

/// Nobody waits for the call any more.
fn over() -> Error {
    Error::msg("the call is over: nobody can be asked")
}

/// Whether the person agreed.
fn accepted(result: Raw<'_>) -> Result<(), Unanswered> {
    match action(result).map_err(wrong)? {
        Action::Accept => Ok(()),
        Action::Decline => Err(Unanswered::Declined),
        Action::Cancel => Err(Unanswered::Cancelled),
    }
}

fn wrong(why: String) -> Unanswered {
    Unanswered::Failed(Error::msg(format_args!("the client's answer cannot be used: {why}")))
}
