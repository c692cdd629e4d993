//! Questions to the client during a call: elicitation, sampling and roots requests. The API is the same for every protocol revision.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    task::{self, Poll},
};

use futures_core::future::BoxFuture;
use mcp_runtime_wire::Raw;

use super::{AnswerFuture, Context, rounds::waits_for_an_answer};
use crate::{
    call::read::{Form, read_form},
    error::{Error, ErrorKind, Result, Unanswered},
    model::{
        Action, PAGE_URL, Question, Root, Sampled, Sampling, check_page_url, read_action,
        read_content, read_roots,
    },
};

/// Future of the answer to an elicitation, sampling or roots request, returned by the methods of [`Context`] that ask the client.
///
/// The server asks the question when the future is created, not when it is first polled. So several questions can be open at once: pass
/// them to [`Context::ask_all`] or `tokio::join!`.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[form]
/// struct Name {
///     name: String,
/// }
///
/// /// Greets the user.
/// #[tool]
/// async fn greet(user: Elicit) -> Result<String> {
///     let question = user.form::<Name>("name", "What is your name?");
///     let answer = question.await?;
///     Ok(format!("Hello, {}!", answer.name))
/// }
/// # fn main() {}
/// ```
///
/// # Cancel safety
/// Not cancel safe: if the future is dropped, the answer is lost. Before protocol revision 2026-07-28, and in tasks, the server then
/// withdraws the question. Under protocol revision 2026-07-28 the client may still get the question. To keep the question open in
/// `select!`, poll the future by mutable reference.
#[must_use = "the answer comes with `.await`"]
pub struct Asked<T>(BoxFuture<'static, T>);

impl<T> Asked<T> {
    fn new(answer: impl Future<Output = T> + Send + 'static) -> Self {
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

/// Requests to the client while the call runs.
impl Context {
    /// Asks the user to fill in a form. The future resolves to the answer.
    ///
    /// The `key` identifies the question within this call. It must be the same each time the function runs with the same arguments, and
    /// each question of the call needs a key of its own. Under protocol revision 2026-07-28 the question ends the call, and the function
    /// **runs again from the top** with the answer. Use [`Context::once`] for work that must not be repeated.
    ///
    /// The timeout of the handler is paused while the question is open. Before protocol revision 2026-07-28, a question outside of a task
    /// fails after [`Limits::question_time`](crate::limits::Limits::question_time) (default: 10 minutes). Under protocol revision
    /// 2026-07-28, the user has to answer within [`Builder::state_lifetime`](crate::Builder::state_lifetime) (default: 15 minutes).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Permission of the user.
    /// #[form]
    /// struct Consent {
    ///     /// Deploy this version
    ///     deploy: bool,
    /// }
    ///
    /// /// Deploys a version, if the user agrees.
    /// #[tool(destructive, asks(elicitation))]
    /// async fn deploy(ctx: &Context, version: &str) -> Result<String> {
    ///     let consent: Consent = ctx.elicit("consent", format!("Deploy {version}?")).await?;
    ///     Ok(if consent.deploy {
    ///         format!("{version} is deployed")
    ///     } else {
    ///         "nothing happened".to_owned()
    ///     })
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Under protocol revision 2026-07-28 the server asks again in two cases:
    ///
    /// - The answer does not fit the form or the type, for example 70,000 for a `u16`. The server then appends the reason to the message.
    /// - The function runs again with a different message for the same key. An answer is valid only for the message that the user has seen.
    ///   If a part of the message changes from run to run, such as the time, compute that part in [`Context::once`].
    ///
    /// Specification: Client features, Elicitation.
    ///
    /// # Errors
    /// Fails with [`Unanswered`] if the user declines or cancels, or if the client cannot be asked (protocol revisions 2024-11-05 and
    /// 2025-03-26 have no forms). Before protocol revision 2026-07-28 it also fails if the answer cannot be read.
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
            read_form(read_content(result)).map_err(|problems| wrong(problems.join("; ")))
        })
    }

    /// Asks the user to visit a web page. The future resolves when the user agrees (protocol revision 2025-11-25 and later).
    ///
    /// The result does not show what happened on the page. If the call cannot continue before the user has visited the page, use
    /// [`require_url`](Context::require_url).
    ///
    /// The address is an absolute http or https URL without a user name. Clients expect https, except for a page on the user's own machine
    /// (`localhost`). Other people may read the address, so it must not contain data about the user, and must not grant access by itself.
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
    /// Specification: Client features, Elicitation, URL mode.
    ///
    /// # Errors
    /// Fails with [`Unanswered`] if the user declines or cancels, or if the client cannot be asked. An invalid address is an internal
    /// error, and the client is not asked.
    pub fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Result<(), Unanswered>> {
        let asking = self.ask_url(key.into(), message.into(), url.into(), false);
        Asked::new(async move { accepted(Raw::trusted(&asking.await?)) })
    }

    /// Sends the user to a web page before the call can continue, for example to pay or to log in.
    ///
    /// Call this method when the function finds that a step is missing, for example that an order is not paid. Return the resulting
    /// [`Unanswered`] as the error of the function, because this error tells the client about the page. The rules for the address are the
    /// same as for [`elicit_url`](Context::elicit_url).
    ///
    /// The client sends the user to the page and repeats the call, and the function checks again. This continues until the check succeeds.
    /// When the user is done, call [`Handle::url_completed`](crate::Handle::url_completed), which notifies the clients that can wait for
    /// the event.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// struct Orders;
    ///
    /// impl Orders {
    ///     fn is_paid(&self, order: u32) -> bool {
    ///         order < 1000
    ///     }
    /// }
    ///
    /// /// Books a table for a paid order.
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
    /// The result is [`Unanswered::Declined`] or [`Unanswered::Cancelled`] if the user refuses to visit the page, and
    /// [`Unanswered::Failed`] otherwise:
    ///
    /// - Under protocol revision 2025-11-25 the client gets JSON-RPC error -32042, which sends the user to the page. A client that cannot
    ///   send users to pages gets a message with the address, which the model can pass on.
    /// - Under protocol revision 2026-07-28 a client that cannot send users to pages gets error -32021 without the address. If the model
    ///   should get the address, check `ctx.client().can("elicitation.url")` first.
    ///
    /// Specification: Client features, Elicitation, URL mode.
    pub fn require_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asked<Unanswered> {
        let asking = self.ask_url(key.into(), message.into(), url.into(), true);
        Asked::new(async move {
            let unanswered = match asking.await {
                Ok(json) => accepted(Raw::trusted(&json)),
                Err(error) => Err(error.into()),
            };
            // With `must_visit`, the user's agreement to visit the page does not answer the question, so `asking` never resolves to an
            // acceptance. The fallback is therefore never used.
            unanswered.err().unwrap_or(Unanswered::Cancelled)
        })
    }

    /// Asks the client's model. The future resolves to the model's answer.
    ///
    /// The `key` has the same rules as in [`elicit`](Context::elicit). The client decides which model answers, and may show the
    /// conversation to the user first.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Summarizes a text.
    /// #[tool(read_only, asks(sampling))]
    /// async fn summarize(ctx: &Context, text: &str) -> Result<String> {
    ///     let question = Sampling::ask(format!("Summarize this text: {text}"), 200);
    ///     Ok(ctx.sample("summary", question).await?.text())
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Specification: Client features, Sampling.
    ///
    /// # Errors
    /// Fails if the client cannot be asked or does not answer. An invalid conversation is an internal error.
    pub fn sample(&self, key: impl Into<String>, sampling: Sampling) -> Asked<Result<Sampled>> {
        let checked = sampling.check().map_err(Error::internal);
        let asking = self.ask(key.into(), Question::Sample(sampling.into()));
        Asked::new(async move {
            checked?;
            let json = asking.await?;
            Sampled::read(Raw::trusted(&json)).map_err(Error::msg)
        })
    }

    /// Asks the client which directories the user works in.
    ///
    /// The list is a claim of the client, and grants no permission. The server asks the client only once per call, even if the function
    /// asks several times. In a session whose client reports changes of the roots, the server asks again only after a change.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Counts the directories that the user works in.
    /// #[tool(read_only, asks(roots))]
    /// async fn count_roots(ctx: &Context) -> Result<usize> {
    ///     Ok(ctx.roots().await?.len())
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Specification: Client features, Roots.
    ///
    /// # Errors
    /// Fails if the client cannot be asked or does not answer.
    pub fn roots(&self) -> Asked<Result<Vec<Root>>> {
        let asking = self.ask("client_roots".to_owned(), Question::Roots);
        Asked::new(async move { read_roots(Raw::trusted(&asking.await?)).map_err(Error::msg) })
    }

    /// Waits for the answers to several questions.
    ///
    /// The client gets the questions together, under protocol revision 2026-07-28 in one round.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[form]
    /// struct Name {
    ///     name: String,
    /// }
    ///
    /// #[form]
    /// struct Home {
    ///     town: String,
    /// }
    ///
    /// /// Introduces the user.
    /// #[tool(asks(elicitation))]
    /// async fn introduce(ctx: &Context) -> Result<String> {
    ///     let name = ctx.elicit::<Name>("name", "What is your name?");
    ///     let home = ctx.elicit::<Home>("home", "Where do you live?");
    ///     let (name, home) = ctx.ask_all((name, home)).await;
    ///     Ok(format!("{} from {}", name?.name, home?.town))
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Under protocol revision 2026-07-28 a question ends the call. Other futures that the function polls at the same time, with
    /// `tokio::join!` or `select!`, are dropped then, and start again in the next round. Only work in [`Context::once`] is completed first.
    pub fn ask_all<Q: AskAll>(&self, questions: Q) -> Asked<Q::Answers> {
        questions.answers()
    }

    /// Asks the user to visit the page if its URL is valid. Otherwise the future resolves to an internal error.
    fn ask_url(&self, key: String, message: String, url: String, must_visit: bool) -> AnswerFuture {
        let Err(why) = check_page_url(&url) else {
            return self.ask(key, Question::Url { message, url, must_visit });
        };
        // All arguments are texts, so the compiler cannot find a wrong order.
        let misplaced = [("key", &key), ("message", &message)];
        let misplaced = misplaced.iter().find(|(_, text)| check_page_url(text).is_ok());
        failed(match misplaced {
            Some((argument, _)) => self.fault(format_args!(
                "a question to the user has a URL as its {argument}: write the arguments in the order key, message, URL"
            )),
            None => self.fault(format_args!("the URL of the question `{key}` must be {PAGE_URL}: {why}")),
        })
    }

    fn ask(&self, key: String, question: Question) -> AnswerFuture {
        if self.is_over() || self.is_cancelled() {
            return failed(over());
        }
        let Some(asker) = &self.0.caller.asker else {
            let text = "the client cannot be asked here: only tools, prompts and resources can ask, if they take `&Context`, `Elicit`, `Sample` or `Roots`, or declare `asks(…)`";
            return failed(Error::internal(text));
        };
        let mut asking = asker.ask(&key, question);
        // This code may run in a different tokio task from the handler. Waking the handler's tokio task makes it notice the question.
        self.wake();
        let context = self.clone();
        Box::pin(async move {
            let mut end = std::pin::pin!(context.cancelled());
            let answer = poll_fn(|cx| match asking.as_mut().poll(cx) {
                Poll::Pending => {
                    waits_for_an_answer();
                    end.as_mut().poll(cx).map(|()| Err(over()))
                }
                ready => ready,
            })
            .await;
            // Internal errors are for the author, so they name the source location of the item.
            answer.map_err(|error| match error.kind() {
                ErrorKind::Internal => context.fault(error.message()),
                _ => error,
            })
        })
    }
}

fn failed(error: Error) -> AnswerFuture {
    Box::pin(std::future::ready(Err(error)))
}

/// Returns the error for a question after the call has ended.
fn over() -> Error {
    Error::msg("the call has ended: the client can no longer be asked")
}

/// Returns `Ok` if the user accepted.
fn accepted(result: Raw<'_>) -> Result<(), Unanswered> {
    match read_action(result).map_err(wrong)? {
        Action::Accept => Ok(()),
        Action::Decline => Err(Unanswered::Declined),
        Action::Cancel => Err(Unanswered::Cancelled),
    }
}

fn wrong(why: String) -> Unanswered {
    Unanswered::Failed(Error::msg(format_args!("the client's answer cannot be used: {why}")))
}

/// Group of questions for [`Context::ask_all`]: a tuple of two to four, or a `Vec` of questions with the same type of answer.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[form]
/// struct Rating {
///     #[arg(range(1..=5))]
///     stars: u8,
/// }
///
/// /// Asks the user to rate each of the books.
/// #[tool(asks(elicitation))]
/// async fn rate(ctx: &Context, books: Vec<String>) -> Result<u32> {
///     let questions: Vec<_> = books
///         .iter()
///         .map(|book| ctx.elicit::<Rating>(book, format!("How do you rate {book}?")))
///         .collect();
///     let mut sum = 0;
///     for rating in ctx.ask_all(questions).await {
///         sum += u32::from(rating?.stars);
///     }
///     Ok(sum)
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a group of questions",
    label = "neither a tuple of two to four questions nor a `Vec` of questions",
    note = "write `ctx.ask_all((ctx.roots(), ctx.elicit::<Name>(\"name\", \"Who are you?\"))).await`; a single question needs only `.await`"
)]
pub trait AskAll {
    /// Answers, in the order of the questions.
    type Answers;

    /// Waits for all answers.
    fn answers(self) -> Asked<Self::Answers>;
}

/// Question with its answer, once the answer has arrived.
struct AnswerSlot<T> {
    asked: Asked<T>,
    answer: Option<T>,
}

impl<T> AnswerSlot<T> {
    fn new(asked: Asked<T>) -> Self {
        Self { asked, answer: None }
    }

    fn is_ready(&mut self, cx: &mut task::Context<'_>) -> bool {
        if self.answer.is_none()
            && let Poll::Ready(answer) = Pin::new(&mut self.asked).poll(cx)
        {
            self.answer = Some(answer);
        }
        self.answer.is_some()
    }
}

impl<T: Send + Unpin + 'static> AskAll for Vec<Asked<T>> {
    type Answers = Vec<T>;

    fn answers(self) -> Asked<Vec<T>> {
        let mut slots: Vec<_> = self.into_iter().map(AnswerSlot::new).collect();
        Asked::new(poll_fn(move |cx| {
            // Every question is polled, so that each of them registers its waker.
            let open =
                slots.iter_mut().filter_map(|slot| (!slot.is_ready(cx)).then_some(())).count();
            if open > 0 {
                return Poll::Pending;
            }
            Poll::Ready(slots.iter_mut().filter_map(|slot| slot.answer.take()).collect())
        }))
    }
}

macro_rules! tuples {
    ($($($name:ident),+;)+) => {$(
        impl<$($name: Send + Unpin + 'static),+> AskAll for ($(Asked<$name>,)+) {
            type Answers = ($($name,)+);

            #[allow(non_snake_case, reason = "the names of the types serve for their values")]
            fn answers(self) -> Asked<Self::Answers> {
                let ($($name,)+) = self;
                let mut slots = ($(AnswerSlot::new($name),)+);
                Asked::new(poll_fn(move |cx| {
                    let ($($name,)+) = &mut slots;
                    let ready = [$($name.is_ready(cx)),+];
                    if ready.contains(&false) {
                        return Poll::Pending;
                    }
                    match ($($name.answer.take(),)+) {
                        ($(Some($name),)+) => Poll::Ready(($($name,)+)),
                        _ => Poll::Pending,
                    }
                }))
            }
        }
    )+};
}

tuples! {
    A, B;
    A, B, C;
    A, B, C, D;
}
