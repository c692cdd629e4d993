//! Tasks whose handlers run on a thread, or report progress from a thread. The tests use the system clock.

use crate::support::LIMIT;

use super::{edges::capable, *};

#[tokio::test]
async fn blocking_tools_can_be_tasks() {
    for revision in [V4, V5] {
        let mut client = connect(revision).await;
        let created = create(&mut client, "threaded", json!({})).await;
        assert_eq!(client.finish_task(&created).await.unwrap().text(), "from a thread");
    }
}

/// Reports from a thread until its call is cancelled.
#[tool(task(later))]
async fn hurries(ctx: &Context, progress: Progress) -> &'static str {
    let cancel = ctx.cancel();
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    std::thread::spawn(move || {
        while !cancel.is_cancelled() {
            progress.step();
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    while steps.load(Ordering::Relaxed) < 1000 {
        tokio::task::yield_now().await;
    }
    ctx.begin_task().await;
    std::future::pending().await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_report_follows_the_answer() {
    let mut client = connect_to(server!().items(items![hurries]), V5).await;
    for round in 0..80 {
        let meta = json!({
            "progressToken": round,
            "io.modelcontextprotocol/protocolVersion": V5.name(),
            "io.modelcontextprotocol/clientCapabilities": capable(),
        });
        let params = json!({ "name": "hurries", "_meta": meta });
        let call =
            json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params });
        client.send_raw(call.to_string().as_bytes());
        let mut answer = Value::Null;
        let patience =
            |answer: &Value| if answer.is_null() { LIMIT } else { Duration::from_millis(5) };
        while let Some(line) = client.receive_raw(patience(&answer)).await {
            let message: Value = serde_json::from_slice(&line).unwrap();
            assert!(answer.is_null(), "round {round}: {message} after {answer}");
            if message["id"] == "call" {
                answer = message;
            }
        }
        let id = answer["result"]["taskId"].as_str().unwrap();
        client.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
    }
}
