//! What a restart left behind.

use std::{borrow::Cow, sync::Arc};

use super::{Live, Tasks, live::Origin, way::Way};
use crate::{
    context::Caller,
    dispatch::{Dispatched, Dispatcher, Request},
    error::Result,
    limits::{Gate, Reservation},
    model::ListKind,
    wire::validate,
};

impl Tasks {
    /// Takes up the tasks that were running when the server stopped: a tool that is `idempotent` runs again with its
    /// arguments, any other task ends and says why.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub(crate) async fn recover(self: &Arc<Self>, dispatcher: &Arc<Dispatcher>) -> Result<()> {
        for kept in self.store.unfinished().await? {
            if kept.is_expired() {
                continue;
            }
            let record = match kept.read() {
                Ok(record) => record,
                // One that nobody can read is no reason not to serve the others.
                Err(why) => {
                    tracing::error!("{}", why.message());
                    continue;
                }
            };
            let live = self.reopen(&kept.owner, record);
            if let Err(why) = self.run_again(dispatcher, &live) {
                live.fail(&why);
                self.put(&live).await?;
            }
        }
        Ok(())
    }

    /// # Errors
    /// Why it does not run.
    fn run_again(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
        live: &Arc<Live>,
    ) -> Result<(), Cow<'static, str>> {
        let Origin { tool, arguments, client, owner, caller, .. } = &live.origin;
        let arguments = arguments.as_deref().ok_or(ENDED)?;
        let snapshot = dispatcher.catalog.snapshot();
        let entry = snapshot.find(ListKind::Tools, tool);
        let entry = entry.filter(|it| it.is_idempotent() && it.task().is_some()).ok_or(ENDED)?;
        let arguments = validate(arguments.as_bytes(), 1024).map_err(|_| ENDED)?;
        let request =
            Request::CallTool { name: (&**tool).into(), arguments: Some(arguments.into()) };
        let carrier = dispatcher.carrier_of(owner, caller.as_deref());
        // What the tool wants of its callers may be different now.
        #[cfg(feature = "auth")]
        if let Err(no) = dispatcher.permit(&snapshot, Some(entry), &carrier, &request) {
            let why = no.error.message();
            return Err(format!("the server ended before this was done: {why}").into());
        }
        let client = client.clone();
        let caller = Way::new(live.clone()).lead(Caller { client, carrier, ..Caller::default() });
        let permit = entry.gate.as_ref().and_then(Gate::reenter);
        match dispatcher
            .dispatch(&snapshot, None, caller, request)
            .holding(Reservation::new(permit, None))
        {
            Dispatched::Pending(pending) => self.run(live, pending),
            Dispatched::Ready(answer) => {
                live.finish(Some(answer));
                let (tasks, live) = (self.clone(), live.clone());
                tokio::spawn(async move { tasks.put(&live).await });
            }
        }
        Ok(())
    }
}

const ENDED: &str =
    "the server ended before this was done: look at what it has done before you call again";
