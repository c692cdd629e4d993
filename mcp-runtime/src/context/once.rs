use std::{
    cell::Cell,
    collections::BTreeSet,
    future::poll_fn,
    pin::pin,
    sync::{Arc, MutexGuard, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Asker, Context};
use crate::error::Error;

thread_local! {
    /// Whether what is polled now waits for an answer.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Whoever is polled now waits for an answer.
pub(super) fn waits_for_an_answer() {
    ASKS.set(true);
}

/// What `once` has been used for while the handler ran, from the top.
#[derive(Default)]
pub(crate) struct Onces {
    keys: BTreeSet<Box<str>>,
    misuse: Option<Error>,
}

/// A round does not end while this is there.
struct Hold {
    asker: Arc<dyn Asker>,
    context: Context,
}

impl Hold {
    fn new(asker: &Arc<dyn Asker>, context: &Context) -> Self {
        asker.hold();
        Self { asker: asker.clone(), context: context.clone() }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.asker.release();
        // Perhaps the work was another task's: whoever drives the call looks whether its round ends now.
        self.context.wake();
    }
}

impl Context {
    /// Does something at most once in a call, however often the function starts again: a later round of 2026-07-28 gets what the
    /// first one got done. Only success is kept; what failed is tried again.
    ///
    /// A round does not end while this runs, so a question may be open beside it: the question goes out when this is done. Work
    /// that waits for an answer itself is the exception: it ends with the round, and begins again with the next. That is seen only
    /// of work that asks where it runs: where another task asks for it, or it waits for what comes after an answer, the call waits
    /// until its time is up.
    ///
    /// What this gives must survive the way to JSON and back, or the call ends with an internal error before anybody is asked.
    ///
    /// The key names it within the call, like that of a question: a call that does two things under one key ends with an internal
    /// error. A client that sends one round twice repeats what follows it, unless
    /// the item is `single_use`.
    ///
    /// Between two rounds the server keeps the value in its process. With `Builder::state_key` (feature `state-key`) it seals the value and
    /// sends it to the client instead. The value is lost after [`Builder::state_lifetime`](crate::Builder::state_lifetime). The values of all
    /// keys of a call may have [`Limits::state`](crate::Limits::state) bytes together.
    ///
    /// ```
    /// # use mcp_runtime::prelude::*;
    /// # #[form] struct Consent { deploy: bool }
    /// # async fn make_plan(env: &str) -> Result<String> { Ok(env.to_owned()) }
    /// /// Plans, asks, deploys.
    /// #[tool(asks(elicitation))]
    /// async fn deploy(ctx: &Context, env: String) -> Result<String> {
    ///     let plan = ctx.once("plan", async || make_plan(&env).await).await?;
    ///     let consent: Consent = ctx.elicit("consent", format!("Do this? {plan}")).await?;
    ///     Ok(format!("{}", consent.deploy))
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn once<T, E, F>(&self, key: impl Into<String>, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        F: AsyncFnOnce() -> Result<T, E>,
    {
        let key = key.into();
        let asker = self.0.caller.asker.as_ref();
        let done = asker.and_then(|it| it.done(&key));
        if let Some(done) = done.and_then(|json| serde_json::from_str(&json).ok()) {
            self.use_once(&key);
            return Ok(done);
        }
        let mut hold = asker.map(|it| Hold::new(it, self));
        let mut work = pin!(work());
        let value = poll_fn(|cx| {
            let outer = ASKS.replace(false);
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() && ASKS.get() {
                hold = None;
            }
            // Work around this one waits for the same answer.
            ASKS.set(ASKS.get() && polled.is_pending() || outer);
            polled
        })
        .await?;
        self.use_once(&key);
        if let Some(asker) = asker {
            let json = serde_json::to_string(&value);
            // Judged now, before anybody is asked: what cannot be read back would have to be done again.
            let kept = json.and_then(|json| serde_json::from_str::<T>(&json).map(|_| json));
            match kept {
                Ok(json) => asker.set_done(&key, json.into()),
                Err(error) => asker.fail(Error::internal(format!(
                    "what `once(\"{key}\")` got done cannot be kept: {error}"
                ))),
            }
        }
        drop(hold);
        Ok(value)
    }

    /// A key names one thing in every revision, also where nothing would be lost by another one.
    fn use_once(&self, key: &str) {
        let mut onces = self.onces();
        if !onces.keys.insert(key.into()) {
            onces.misuse.get_or_insert_with(|| {
                self.fault(format_args!(
                    "`once(\"{key}\")` is there twice in one call: give each its own key, such as `format!(\"{key}-{{i}}\")` in a loop"
                ))
            });
        }
    }

    fn onces(&self) -> MutexGuard<'_, Onces> {
        let onces = self.0.onces.get_or_init(Box::default);
        onces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the call has no answer, whatever its handler gave back.
    pub(crate) fn misuse(&self) -> Option<Error> {
        self.0.onces.get()?;
        self.onces().misuse.take()
    }
}
