//! Tasks that a restart has left unfinished.

use std::{borrow::Cow, sync::Arc};

use super::{LiveTask, Tasks, live::TaskOrigin, way::TaskRoute};
use crate::{
    call::context::Caller,
    dispatch::{Dispatched, Dispatcher, Request},
    error::Result,
    limits::{Gate, Reservation},
    model::{Answer, ListKind},
    wire::validate,
};

impl Tasks {
    /// Takes up the tasks that were running when the server stopped. A tool that is `idempotent` runs again with its arguments. Any other
    /// task ends with an error that says why.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub(crate) async fn recover(self: &Arc<Self>, dispatcher: &Arc<Dispatcher>) -> Result<()> {
        for kept in self.store.unfinished().await? {
            if kept.is_expired() {
                continue;
            }
            let record = match kept.read() {
                Ok(record) => record,
                // A task that cannot be read is no reason not to serve the others.
                Err(why) => {
                    tracing::error!("{}", why.message());
                    continue;
                }
            };
            let live = self.reopen(&kept.owner, record);
            match self.run_again(dispatcher, &live) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    live.finish(Some(answer));
                    self.enter(&live);
                    self.settle(&live).await;
                }
                Err(why) => {
                    live.fail(&why);
                    self.put(&live).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs the tool of a task again. Returns the answer of a tool that is ready at once.
    ///
    /// # Errors
    /// Fails if the tool does not run. The text is the reason.
    fn run_again(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
        live: &Arc<LiveTask>,
    ) -> Result<Option<Answer>, Cow<'static, str>> {
        let TaskOrigin { tool, arguments, client, owner, caller, .. } = &live.origin;
        let arguments = arguments.as_deref().ok_or(ENDED)?;
        let snapshot = dispatcher.catalog.snapshot();
        let entry = snapshot.find(ListKind::Tools, tool);
        let entry = entry.filter(|it| it.is_idempotent() && it.task().is_some()).ok_or(ENDED)?;
        let arguments = validate(arguments.as_bytes(), 1024).map_err(|_| ENDED)?;
        let request =
            Request::CallTool { name: (&**tool).into(), arguments: Some(arguments.into()) };
        let carrier = dispatcher.carrier_of(owner, caller.as_deref());
        // The conditions for callers of the tool may be different now.
        #[cfg(feature = "auth")]
        if let Err(no) = dispatcher.permit(&snapshot, Some(entry), &carrier, &request) {
            let why = no.error.message();
            return Err(format!("the server ended before this was done: {why}").into());
        }
        let client = client.clone();
        let caller =
            TaskRoute::new(live.clone()).lead(Caller { client, carrier, ..Caller::default() });
        let permit = entry.gate.as_ref().and_then(Gate::reenter);
        let reservation = Reservation::new(permit, None);
        match dispatcher.dispatch(&snapshot, None, caller, request).holding(reservation) {
            Dispatched::Pending(pending) => {
                self.run(live, pending);
                Ok(None)
            }
            Dispatched::Ready(answer) => Ok(Some(answer)),
        }
    }
}

const ENDED: &str =
    "the server ended before this was done: look at what it has done before you call again";
