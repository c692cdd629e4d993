//! The limit on concurrent calls of an item. Abandoned calls still count while their handlers run.

use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::prelude::*;
use serde_json::json;
use support::clock::eventually;

use crate::{
    client::{plain_call, run},
    rates::serving,
};

/// State of calls that run until they may stop.
#[derive(Default)]
struct Works {
    running: AtomicUsize,
    stop: Mutex<bool>,
    stopped: Condvar,
}

impl Works {
    async fn wait_for(&self, running: usize) {
        eventually("so many are at work", async || {
            (self.running.load(Ordering::SeqCst) == running).then_some(())
        })
        .await;
    }

    fn stop(&self) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stopped.notify_all();
    }
}

/// Guard that lets all calls stop when it is dropped, even if the test fails.
struct Stopping(Arc<Works>);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Works until the test stops the handler, whether or not the client still waits.
#[tool(blocking, concurrency = 1)]
fn work(works: &Arc<Works>) -> &'static str {
    works.running.fetch_add(1, Ordering::SeqCst);
    let stop = works.stop.lock().unwrap_or_else(PoisonError::into_inner);
    drop(works.stopped.wait_while(stop, |may_stop| !*may_stop));
    works.running.fetch_sub(1, Ordering::SeqCst);
    "done"
}

/// A blocking handler continues after its client has disconnected, so its call still counts towards the limit.
#[support::test]
fn giving_calls_up_makes_no_room_for_more_of_them() {
    run(async {
        for is_wrapped in [false, true] {
            let works = Arc::new(Works::default());
            let _stopping = Stopping(works.clone());
            let mut server = mcp_runtime::server!().items(items![work]).state(works.clone());
            if is_wrapped {
                server = server.around(async |call, next| next.run(call).await);
            }
            serving(server, async |address| {
                let leaving = plain_call(1, "work", json!({})).send(address).await;
                works.wait_for(1).await;
                drop(leaving);
                // By the time the server answers the first of these requests, it has noticed the disconnect. The handler still runs, so the
                // server rejects each request.
                for _ in 0..50 {
                    let text = plain_call(1, "work", json!({})).ask(address).await.text();
                    assert!(text.contains("is running already"), "{text}");
                    assert_eq!(works.running.load(Ordering::SeqCst), 1);
                }
                works.stop();
                works.wait_for(0).await;
                let done = plain_call(1, "work", json!({})).ask(address).await.text();
                assert_eq!(done, "done");
            })
            .await;
        }
    });
}
