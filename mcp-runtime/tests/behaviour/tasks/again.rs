//! Tasks that run again after a restart, with their callers, who may have lost access to the tool.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use mcp_runtime::{
    Builder,
    auth::{Auth, Authorization, ProtectedResource, StaticTokens},
    items,
    prelude::*,
    server,
    store::MemoryStore,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{V5, begin, connect_to, get, pause};

/// Texts that the handlers have recorded, mostly about their caller.
#[derive(Default)]
struct Found(Mutex<Vec<String>>);

impl Found {
    fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[derive(Deserialize)]
struct Account {
    plan: String,
}

/// Records the caller that began the task.
#[tool(task, idempotent)]
async fn who(ctx: &Context, caller: Option<Auth>, found: &Arc<Found>) -> &'static str {
    let caller = caller.as_ref();
    found.add(format!(
        "{} {} {}",
        ctx.principal().unwrap_or("nobody"),
        caller.is_some_and(|caller| caller.has_scope("a")),
        caller.is_some_and(|caller| caller.authorization().expiry() == Some(END)),
    ));
    tokio::time::sleep(Duration::from_secs(60)).await;
    "said"
}

/// A time in the past, in whole milliseconds.
const END: SystemTime = SystemTime::UNIX_EPOCH;

/// Records the plan from the claims of its caller.
#[tool(task, idempotent)]
async fn plan(caller: Auth<Account>, found: &Arc<Found>) -> &'static str {
    found.add(caller.plan.clone());
    tokio::time::sleep(Duration::from_secs(60)).await;
    "said"
}

/// Records a word, for every caller.
#[tool(task, idempotent, name = "guarded")]
async fn open(word: &str, found: &Arc<Found>) -> &'static str {
    found.add(word.to_owned());
    tokio::time::sleep(Duration::from_secs(60)).await;
    "said"
}

/// Version of `open` in the second server, which fewer callers may use.
#[tool(task, idempotent, scopes("b"), auth(|_, access| {
    access.is_listing() || access.argument::<String>("word").is_some_and(|word| word == "good")
}))]
async fn guarded(word: &str, found: &Arc<Found>) -> &'static str {
    found.add(word.to_owned());
    tokio::time::sleep(Duration::from_secs(60)).await;
    "said"
}

fn before(found: &Arc<Found>, store: &Arc<MemoryStore>) -> Builder {
    let items = items![who, plan, open];
    server!().items(items).state(found.clone()).store(store.clone())
}

fn after(found: &Arc<Found>, store: &Arc<MemoryStore>) -> Builder {
    let resource = ProtectedResource::new(StaticTokens::new().token("t", "nobody"));
    let items = items![who, plan, guarded];
    let server = server!().items(items).state(found.clone()).store(store.clone());
    server.auth(resource.implies("all", ["a", "b"]))
}

/// Begins a task, ends its server, and starts another server with the same store. Returns the texts of the two runs and the task.
async fn restarted(
    caller: Option<Authorization>,
    tool: &str,
    arguments: Value,
) -> (Vec<String>, Vec<String>, Value) {
    let (found, store) = (Arc::new(Found::default()), Arc::new(MemoryStore::new()));
    let mut client = connect_to(before(&found, &store), V5).await;
    if let Some(caller) = &caller {
        client.authorization(caller.clone());
    }
    let id = begin(&mut client, tool, arguments).await;
    pause(1).await;
    drop(client);
    let first = found.take();
    let mut client = connect_to(after(&found, &store), V5).await;
    if let Some(caller) = caller {
        client.authorization(caller.scopes(["all"]));
    }
    pause(1).await;
    let second = found.take();
    (first, second, get(&mut client, &id).await)
}

fn ada() -> Authorization {
    Authorization::new("ada").scopes(["all"]).expires(END)
}

#[tokio::test(start_paused = true)]
async fn a_task_that_runs_again_knows_its_caller() {
    for (caller, expected) in [(None, "nobody false false"), (Some(ada()), "ada true true")] {
        let (first, second, task) = restarted(caller.clone(), "who", json!({})).await;
        // On the first server, `all` implied no other scopes.
        let before = expected.replacen("true", "false", 1);
        assert_eq!((first, second), (vec![before], vec![expected.to_owned()]));
        assert_eq!(task["status"], "working");
    }
}

#[tokio::test(start_paused = true)]
async fn serializable_claims_survive_a_restart() {
    let caller = ada().claims_json(r#"{ "plan": "free", "more": [1] }"#);
    let (first, second, _) = restarted(Some(caller), "plan", json!({})).await;
    assert_eq!((first, second), (vec!["free".to_owned()], vec!["free".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_needs_unsaved_claims_fails_after_a_restart() {
    let account = || Account { plan: "free".to_owned() };
    let (first, second, task) = restarted(Some(ada().claims(account())), "plan", json!({})).await;
    assert_eq!((first, second), (vec!["free".to_owned()], vec![]));
    let text = task["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("restart") && text.contains("call again"), "{task}");
    let (first, second, _) = restarted(Some(ada().claims(account())), "who", json!({})).await;
    assert_eq!((first.len(), second), (1, vec!["ada true true".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_task_does_not_run_again_if_its_owner_lost_access_to_the_tool() {
    let check = async |caller: Authorization, word: &str, refused: Option<&str>| {
        let word = json!({ "word": word });
        let (first, second, task) = restarted(Some(caller), "guarded", word).await;
        let text = task["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((first.len(), second.len()), (1, usize::from(refused.is_none())), "{task}");
        assert!(refused.is_none_or(|reason| text.contains(reason)), "{refused:?}: {task}");
    };
    check(ada(), "good", None).await;
    check(ada(), "bad", Some("may not use the tool `guarded` with these arguments")).await;
    check(ada().scopes(["a"]), "good", Some("needs a token that grants `b` too")).await;
}
