//! Tools that wait until another tool releases them, so that a transcript decides when they continue.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use mcp_runtime::prelude::*;
use tokio::sync::watch;

/// Calls that have begun, were released or have ended, by the key that the transcript gave each call.
#[derive(Default)]
pub struct Gate(watch::Sender<Held>);

#[derive(Default)]
struct Held {
    begun: BTreeSet<String>,
    let_go: BTreeSet<String>,
    fates: BTreeMap<String, &'static str>,
}

impl Gate {
    /// Waits until `ready` returns a value.
    async fn until<T>(&self, ready: impl Fn(&Held) -> Option<T>) -> T {
        let mut held = self.0.subscribe();
        let found = held.wait_for(|held| ready(held).is_some()).await.expect("the gate stands");
        ready(&found).expect("what was there a moment ago")
    }
}

/// Guard that records, when it is dropped, whether the call finished or was dropped.
struct Fate<'a> {
    gate: &'a Gate,
    key: String,
    is: &'static str,
}

impl Drop for Fate<'_> {
    fn drop(&mut self) {
        self.gate.0.send_modify(|held| {
            held.fates.insert(self.key.clone(), self.is);
        });
    }
}

/// Reports a step, waits for `let_go`, and then reports `more` further steps.
#[tool]
pub async fn hold(key: String, more: Option<u32>, progress: Progress, gate: &Gate) -> &'static str {
    let mut fate = Fate { gate, key: key.clone(), is: "dropped" };
    gate.0.send_modify(|held| {
        held.begun.insert(key.clone());
    });
    progress.step();
    gate.until(|held| held.let_go.contains(&key).then_some(())).await;
    for _ in 0..more.unwrap_or_default() {
        progress.step();
    }
    fate.is = "finished";
    "let go"
}

/// Releases its stream, and waits like [`hold`].
#[tool]
async fn release(key: String, progress: Progress, gate: &Gate, context: &Context) -> &'static str {
    progress.step();
    context.release_stream(Duration::from_millis(700));
    gate.until(|held| held.let_go.contains(&key).then_some(())).await;
    "released"
}

/// Ends the wait of a call, even of a call that begins later.
#[tool]
fn let_go(key: String, gate: &Gate) {
    gate.0.send_modify(|held| {
        held.let_go.insert(key);
    });
}

/// Waits until a call is held.
#[tool]
async fn begun(key: String, gate: &Gate) {
    gate.until(|held| held.begun.contains(&key).then_some(())).await;
}

/// Waits until a call is over, and returns whether it was finished or dropped.
#[tool]
async fn fate(key: String, gate: &Gate) -> &'static str {
    gate.until(|held| held.fates.get(&key).copied()).await
}
