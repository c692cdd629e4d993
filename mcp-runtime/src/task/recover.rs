//! What a restart left behind.

use std::sync::Arc;

use super::{Live, Tasks, way::Way};
use crate::{
    context::{Caller, Carrier},
    dispatch::{Dispatched, Dispatcher, Request},
    error::Result,
    limits::Gate,
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
            if !self.run_again(dispatcher, &live) {
                live.fail("the server ended before this was done");
                self.put(&live).await?;
            }
        }
        Ok(())
    }

    /// Returns whether it runs.
    fn run_again(self: &Arc<Self>, dispatcher: &Arc<Dispatcher>, live: &Arc<Live>) -> bool {
        let Some(arguments) = live.origin.arguments.as_deref() else { return false };
        let snapshot = dispatcher.catalog.snapshot();
        let entry = snapshot.find(ListKind::Tools, &live.origin.tool);
        let entry = entry.filter(|it| it.is_idempotent() && it.task().is_some());
        let Some(entry) = entry else { return false };
        let Ok(arguments) = validate(arguments.as_bytes(), 1024) else { return false };
        let name = (&*live.origin.tool).into();
        let request = Request::CallTool { name, arguments: Some(arguments.into()) };
        let (client, carrier) = (live.origin.client.clone(), Carrier::of(&live.origin.owner));
        let caller = Way::new(live.clone()).lead(Caller { client, carrier, ..Caller::default() });
        let permit = entry.gate.as_ref().and_then(Gate::reenter);
        match dispatcher.dispatch(&snapshot, None, caller, request).holding(permit) {
            Dispatched::Pending(pending) => self.run(live, pending),
            Dispatched::Ready(answer) => {
                live.finish(Some(answer));
                let (tasks, live) = (self.clone(), live.clone());
                tokio::spawn(async move { tasks.put(&live).await });
            }
        }
        true
    }
}
