//! Timeouts and cancellation of calls. Most tests pause tokio's clock, which then advances only while all tokio tasks are waiting.

use std::time::Duration;

use tokio::{sync::Semaphore, task, time::Instant};

use crate::{
    Tool,
    builder::{builder, items},
    call::context::{Caller, Context},
    dispatch::{Dispatched, Request},
    model::{Content, Done, OperationResult},
    server::Identity,
};

const SECOND: Duration = Duration::from_secs(1);

/// Calls a tool in a tokio task. Returns the answer and how long the call took.
async fn call(tool: Tool) -> (Option<OperationResult>, Duration) {
    let identity = Identity::new("tests", None, "0", "");
    let server = builder(identity).items(items(&[])).build().unwrap();
    server.handle().add(tool).unwrap();
    let started = server.start().await.unwrap();
    let snapshot = started.dispatcher.catalog.snapshot();
    let request = Request::CallTool { name: "tool".into(), arguments: None };
    let since = Instant::now();
    let dispatched = started.dispatcher.dispatch(&snapshot, None, Caller::default(), request);
    let Dispatched::Pending(pending) = dispatched else { panic!("the tool waits") };
    (task::spawn(pending).await.unwrap(), since.elapsed())
}

fn text(answer: Option<OperationResult>) -> String {
    let Some(Ok(Done::Tool(result))) = answer else { panic!("{answer:?}") };
    let [Content::Text(text)] = &result.content[..] else { panic!("{result:?}") };
    text.text.to_string()
}

async fn check(tool: Tool, expected: &str, after: Duration) {
    let (answer, took) = call(tool.timeout(10 * SECOND)).await;
    assert_eq!(text(answer), expected);
    // Tokio's timers have a resolution of one millisecond.
    assert!(took >= after && took <= after + SECOND / 100, "{took:?}");
}

const GIVEN_UP: &str = "the tool `tool` took longer than 10s and was given up";

#[tokio::test(start_paused = true)]
async fn a_call_has_all_of_its_time() {
    let tool = Tool::new("tool").handler(async |_: Context| {
        tokio::time::sleep(Duration::from_millis(9_999)).await;
        "in time"
    });
    check(tool, "in time", Duration::from_millis(9_999)).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_given_up() {
    let tool = Tool::new("tool").handler(async |_: Context| {
        tokio::time::sleep(11 * SECOND).await;
        "too late"
    });
    check(tool, GIVEN_UP, 10 * SECOND).await;
}

/// The handler never waits: each poll of the call ends because the tokio task has used up its cooperative budget. A paused clock would
/// never advance here, so this test does not pause the clock.
#[tokio::test]
async fn a_call_that_never_waits_is_given_up() {
    let tool = Tool::new("tool").handler(async |_: Context| {
        let semaphore = Semaphore::new(1);
        loop {
            drop(semaphore.acquire().await);
        }
        #[expect(unreachable_code, reason = "it gives the loop a type that is a reply")]
        ""
    });
    let call = call(tool.timeout(SECOND / 20));
    let (answer, _) =
        tokio::time::timeout(30 * SECOND, call).await.expect("the clock is looked at");
    assert_eq!(text(answer), "the tool `tool` took longer than 50ms and was given up");
}

#[tokio::test(start_paused = true)]
async fn blocking_work_of_a_call_that_is_given_up_sees_the_cancellation() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let tool = Tool::new("tool").handler(move |context: Context| {
        let sender = sender.lock().unwrap().take().unwrap();
        // This tokio task stands in for blocking work, which notices the cancellation through the context.
        task::spawn(async move {
            context.cancelled().await;
            let _ = sender.send(());
        });
        std::future::pending::<()>()
    });
    check(tool, GIVEN_UP, 10 * SECOND).await;
    receiver.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_no_answer() {
    let tool = Tool::new("tool").handler(async |context: Context| {
        task::spawn(async move {
            tokio::time::sleep(SECOND).await;
            context.set_cancelled();
        });
        std::future::pending::<()>().await;
    });
    let (answer, took) = call(tool).await;
    assert!(answer.is_none());
    assert!(took >= SECOND && took < 2 * SECOND, "{took:?}");
}
