use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use super::{Asked, Context};

/// Several questions at once: a tuple of two to four, or a `Vec`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not several questions",
    label = "not a tuple of two to four questions, nor a `Vec` of them",
    note = "write `ctx.ask_all((ctx.roots(), ctx.elicit::<Name>(\"name\", \"Who are you?\"))).await`; a question alone is waited for with `.await`"
)]
pub trait AskAll {
    /// Answers, in the order of the questions.
    type Answers;

    /// Waits for all answers.
    fn answers(self) -> Asked<Self::Answers>;
}

impl Context {
    /// Waits for the answers to several questions. The client gets the questions together: under protocol revision 2026-07-28 in one round.
    ///
    /// ```
    /// # use mcp_runtime::prelude::*;
    /// # #[form] struct Name { name: String }
    /// # #[form] struct Place { place: String }
    /// /// Introduces the user.
    /// #[tool(asks(elicitation))]
    /// async fn introduce(ctx: &Context) -> Result<String> {
    ///     let name = ctx.elicit::<Name>("name", "What is your name?");
    ///     let place = ctx.elicit::<Place>("place", "Where do you live?");
    ///     let (name, place) = ctx.ask_all((name, place)).await;
    ///     Ok(format!("{} of {}", name?.name, place?.place))
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Other futures that the function polls at the same time, with `tokio::join!` or `select!`, are dropped when a question ends the call.
    /// They start again in the next round. Only work in [`Context::once`] is completed first.
    pub fn ask_all<Q: AskAll>(&self, questions: Q) -> Asked<Q::Answers> {
        questions.answers()
    }
}

/// A question, and its answer once it has come.
struct Slot<T> {
    asked: Asked<T>,
    answer: Option<T>,
}

impl<T> Slot<T> {
    fn new(asked: Asked<T>) -> Self {
        Self { asked, answer: None }
    }

    fn is_ready(&mut self, cx: &mut std::task::Context<'_>) -> bool {
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
        let mut slots: Vec<_> = self.into_iter().map(Slot::new).collect();
        Asked::new(poll_fn(move |cx| {
            // Every question is polled, so that each of them registers its waker.
            let open = slots.iter_mut().filter_map(|it| (!it.is_ready(cx)).then_some(())).count();
            if open > 0 {
                return Poll::Pending;
            }
            Poll::Ready(slots.iter_mut().filter_map(|it| it.answer.take()).collect())
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
                let mut slots = ($(Slot::new($name),)+);
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
