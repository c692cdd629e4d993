//! Work in `Context::once` that runs while a question is open. In 2026-07-28 a question ends the round, which first waits for work that has
//! begun.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::json;

use crate::support::pass;

#[form]
struct Name {
    name: String,
}

/// Number of times that the work began, and that it ended.
#[derive(Default)]
struct Work {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Work {
    async fn slowly(&self) -> Result<usize> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        pass(Duration::from_millis(20)).await;
        Ok(self.ended.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// Works and asks at the same time, in one of several ways.
#[tool(timeout = "5s")]
async fn beside(ctx: &Context, way: &str, work: &Arc<Work>) -> Result<String> {
    let ask = || ctx.elicit::<Name>("name", "Name?");
    let (answer, done) = match way {
        "plain" => tokio::join!(ask(), ctx.once("work", async || work.slowly().await)),
        "nested" => tokio::join!(
            ask(),
            ctx.once("outer", async || ctx.once("work", async || work.slowly().await).await)
        ),
        "another task" => {
            let (ctx, work) = (ctx.clone(), work.clone());
            let task =
                tokio::spawn(async move { ctx.once("work", async || work.slowly().await).await });
            // The round waits only for work that has begun, so this pause lets the work begin.
            pass(Duration::from_millis(5)).await;
            let (answer, done) = tokio::join!(ask(), task);
            (answer, done?)
        }
        "fails" => {
            let fails = ctx.once("work", async || {
                work.slowly().await?;
                Err::<usize, _>(Error::msg("no"))
            });
            let (answer, failed) = tokio::join!(ask(), fails);
            (answer, Ok(failed.unwrap_or_default()))
        }
        // The handler stops waiting for this work after 40 ms.
        "dropped" => {
            let once = ctx.once("work", async || {
                work.slowly().await?;
                std::future::pending::<Result<usize>>().await
            });
            let short = tokio::time::timeout(Duration::from_millis(40), once);
            let (answer, late) = tokio::join!(ask(), short);
            (answer, late.unwrap_or(Ok(0)))
        }
        // This work waits for an answer itself, so the round does not wait for it.
        "asks" => {
            let asked = ask();
            let outer = ctx.once("outer", async || {
                let done = ctx.once("work", async || work.slowly().await).await?;
                Ok::<_, Error>((asked.await?.name, done))
            });
            let (name, done) = outer.await?;
            (Ok(Name { name }), Ok(done))
        }
        _ => return Err(Error::msg("no such way")),
    };
    Ok(format!("{} {}", answer?.name, done?))
}

#[tokio::test(start_paused = true)]
async fn work_in_once_that_runs_beside_a_question_is_done_only_once() {
    for (way, text, begun, ended) in [
        ("plain", "Ada 1", 1, 1),
        ("nested", "Ada 1", 1, 1),
        ("another task", "Ada 1", 1, 1),
        ("asks", "Ada 1", 1, 1),
        // Work that did not finish is tried again.
        ("fails", "Ada 0", 2, 2),
        ("dropped", "Ada 0", 2, 2),
    ] {
        let work = Arc::new(Work::default());
        let server = server!().state(work.clone()).items(items![beside]);
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        client.answer_with(|_, _| json!({ "action": "accept", "content": { "name": "Ada" } }));
        let called = client.call("beside", json!({ "way": way })).await.unwrap();
        assert_eq!(called.text(), text, "{way}");
        let counted = (work.begun.load(Ordering::SeqCst), work.ended.load(Ordering::SeqCst));
        assert_eq!(counted, (begun, ended), "{way}");
    }
}

#[tool]
async fn asks(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Name>("name", "Name?").await?.name)
}

#[tokio::test]
async fn around_runs_for_each_round() {
    for (revision, expected) in
        [(Revision::V2025_11_25, vec![false]), (Revision::V2026_07_28, vec![true, false])]
    {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let server = server!().items(items![asks]).around(move |call, next| {
            let log = log.clone();
            async move {
                let outcome = next.run(call).await;
                log.lock().unwrap().push(outcome.needs_input());
                outcome
            }
        });
        let can = json!({ "elicitation": {} });
        let mut client = TestClient::connect_capable(server, revision, can).await.unwrap();
        client.answer_with(|_, _| json!({ "action": "accept", "content": { "name": "Ada" } }));
        assert_eq!(client.call("asks", json!({})).await.unwrap().text(), "Ada");
        assert_eq!(*seen.lock().unwrap(), expected, "{revision}");
    }
}

/// Stores a deeply nested value, and asks twice.
#[tool]
async fn digs(ctx: &Context) -> Result<String> {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let kept = ctx.once("deep", async || Ok::<_, Error>(deep(126))).await?;
    assert_eq!(kept, deep(126));
    let first: Name = ctx.elicit("first", "Name?").await?;
    let second: Name = ctx.elicit("second", "And then?").await?;
    Ok(format!("{} {}", first.name, second.name))
}

#[tokio::test]
async fn a_kept_value_may_be_as_deep_as_the_limit_for_messages() {
    for depth in [16, 128, 400] {
        let server =
            server!().items(items![digs]).limits(mcp_runtime::limits::Limits::new().depth(depth));
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        client.answer_with(move |_, _| {
            // The deepest value that the server accepts. Four levels surround it: the message, its `params`, the answers, and this answer.
            let more = (4..depth).fold(json!(1), |inner, _| json!([inner]));
            json!({ "action": "accept", "content": { "name": "Ada" }, "more": more })
        });
        let called = client.call("digs", json!({})).await.unwrap();
        assert_eq!(called.text(), "Ada Ada", "{depth}");
    }
}

/// The schema of this form accepts numbers that do not fit the field, such as 70000.
#[form]
struct Port {
    port: u16,
}

#[tool]
async fn listens(ctx: &Context) -> Result<String> {
    let port: Port = ctx.elicit("port", "Which port?").await?;
    Ok(port.port.to_string())
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_asked_for_again_with_the_reason() {
    let server = server!().items(items![listens]);
    let can = json!({ "elicitation": {} });
    let mut client = TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
    let messages = Arc::new(Mutex::new(Vec::new()));
    let seen = messages.clone();
    client.answer_with(move |_, params| {
        let mut seen = seen.lock().unwrap();
        seen.push(params["message"].as_str().unwrap().to_owned());
        let port = [json!(70_000), json!("x"), json!(8080)][seen.len() - 1].clone();
        json!({ "action": "accept", "content": { "port": port } })
    });
    assert_eq!(client.call("listens", json!({})).await.unwrap().text(), "8080");
    let messages = messages.lock().unwrap();
    assert_eq!(messages[0], "Which port?");
    assert!(
        messages[1].starts_with("Which port? (The last answer cannot be used: "),
        "{messages:?}"
    );
    assert!(messages[1].contains("70000"), "{messages:?}");
    // The message gives the reason for the last answer only.
    assert!(messages[2].contains("\"x\"") && !messages[2].contains("70000"), "{messages:?}");
}

#[tool]
async fn sends_away(ctx: &Context) -> Result<()> {
    ctx.elicit_url("page", "Log in", "https://example.com/").await?;
    Ok(())
}

#[tokio::test]
async fn a_test_whose_answers_are_never_accepted_learns_the_reason() {
    let form = "`port`: Which port?";
    for (tool, answer, question, reason) in [
        ("listens", json!({ "action": "accept", "content": { "port": "x" } }), form, "\"x\""),
        ("listens", json!({ "port": 1 }), form, "`action` must be `accept`, `decline` or `cancel`"),
        ("listens", json!("yes"), form, "`action` must be `accept`, `decline` or `cancel`"),
        (
            "sends_away",
            json!({ "content": {} }),
            "`page`: Log in",
            "`action` must be `accept`, `decline` or `cancel`",
        ),
    ] {
        let server = server!().items(items![listens, sends_away]);
        let can = json!({ "elicitation": { "form": {}, "url": {} } });
        let client = TestClient::connect_capable(server, Revision::V2026_07_28, can).await;
        let mut client = client.unwrap();
        let shown = answer.to_string();
        client.answer_with(move |_, _| answer.clone());
        let error = client.call(tool, json!({})).await.unwrap_err();
        let says = format!(
            "the server still asks questions after 100 rounds: {question} (The last answer cannot be used: "
        );
        assert!(
            error.message.starts_with(&says) && error.message.contains(reason),
            "{shown}: {error}"
        );
    }
}

/// Number of files, which may change during a call.
#[derive(Default)]
struct Files(AtomicUsize);

/// Asks questions that mention the current number of files.
#[tool]
async fn removes(ctx: &Context, files: &Arc<Files>) -> Result<String> {
    let count = files.0.load(Ordering::SeqCst);
    let sure = ctx.elicit::<Name>("sure", format!("Who removes {count} files?"));
    let twice = ctx.elicit::<Name>("twice", "Who else?");
    let (sure, twice) = ctx.ask_all((sure, twice)).await;
    let last: Name = ctx.elicit("last", "And who saw it?").await?;
    Ok(format!("{} and {} removed {count} files, as {} saw", sure?.name, twice?.name, last.name))
}

/// An answer counts only for the exact wording of its question. `changing` is the number of the request after which the wording changes, or
/// 0 for never.
#[tokio::test]
async fn a_reworded_question_needs_a_new_answer() {
    for changing in 0..4 {
        let files = Arc::new(Files::default());
        let server = server!().state(files.clone()).items(items![removes]);
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let growing = files.clone();
        client.answer_with(move |_, params| {
            let mut seen = seen.lock().unwrap();
            seen.push(params["message"].as_str().unwrap().to_owned());
            if seen.len() == changing {
                growing.0.fetch_add(1, Ordering::SeqCst);
            }
            json!({ "action": "accept", "content": { "name": "Ada" } })
        });
        let called = client.call("removes", json!({})).await.unwrap();
        let count = usize::from(changing > 0);
        let text = format!("Ada and Ada removed {count} files, as Ada saw");
        assert_eq!(called.text(), text, "{changing}");
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        let mut expected = vec!["And who saw it?", "Who else?", "Who removes 0 files?"];
        expected.extend((count > 0).then_some("Who removes 1 files?"));
        assert_eq!(asked, expected, "{changing}");
    }
}
