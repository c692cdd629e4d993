//! Changing the catalog while the server runs, and notifying clients of it.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::kept::Log;
use crate::support::{LIMIT, both_eras, connect, names, refused, said};

#[data]
struct Sum {
    a: i64,
    b: i64,
}

#[tool]
fn fixed() -> &'static str {
    "fixed"
}

#[tool]
fn change(handle: Handle, how: &str, name: &str) -> Result<bool> {
    Ok(match how {
        "tool" => {
            handle.add(
                Tool::new(name.to_owned())
                    .title("Added")
                    .description("Adds")
                    .handler_with(async |sum: Sum, _: Context| Json(vec![sum.a + sum.b])),
            )?;
            true
        }
        "bare tool" => {
            handle.add(
                Tool::new(name.to_owned()).handler(async |ctx: Context| ctx.client().name.clone()),
            )?;
            true
        }
        "hinted tool" => {
            let tool = Tool::new(name.to_owned()).read_only(true).idempotent(true);
            handle.add(tool.open_world(false).handler(async |_: Context| ()))?;
            true
        }
        "harmless tool" => {
            let tool = Tool::new(name.to_owned()).read_only(false).destructive(false);
            handle.add(tool.handler(async |_: Context| ()))?;
            true
        }
        "contradictory tool" => {
            let tool = Tool::new(name.to_owned()).read_only(true).destructive(true);
            handle.add(tool.handler(async |_: Context| ()))?;
            true
        }
        "slow tool" => {
            let tool = Tool::new(name.to_owned()).timeout(Duration::from_millis(5));
            handle.add(tool.handler(async |_: Context| std::future::pending::<()>().await))?;
            true
        }
        "no struct" => {
            handle
                .add(Tool::new(name.to_owned()).handler_with(async |_: Vec<u8>, _: Context| ()))?;
            true
        }
        "resource" => {
            let resource =
                Resource::new(format!("added://{name}"), name.to_owned()).mime_type("text/x");
            handle.add(resource.handler(async |_: Variables, ctx: Context| {
                ctx.uri().unwrap_or_default().to_owned()
            }))?;
            true
        }
        "template" => {
            let template = Resource::new(format!("{name}://{{x}}/{{y}}"), name.to_owned());
            handle.add(
                template.handler(async |variables: Variables, _: Context| format!("{variables:?}")),
            )?;
            true
        }
        "prompt" => {
            // An argument can be added to a prompt before or after its handler.
            let prompt = Prompt::new(name.to_owned()).argument("word", "A word", true);
            let prompt =
                prompt.handler(async |variables: Variables, _: Context| format!("{variables:?}"));
            handle.add(prompt.argument("more", "More", false))?;
            true
        }
        "remove" => handle.remove(name),
        "enable" => handle.enable(name),
        "disable" => handle.disable(name),
        "updated" => {
            handle.updated(name);
            true
        }
        other => return Err(Error::msg(other)),
    })
}

#[resource("fixed://watched", subscribe)]
fn watched() -> &'static str {
    "w"
}

#[prompt]
fn fixed_prompt() -> &'static str {
    "p"
}

async fn served(revision: Revision) -> TestClient {
    connect(server!().items(items![fixed, change, watched, fixed_prompt]), revision).await
}

async fn changed(client: &mut TestClient, how: &str, name: &str) -> String {
    said(client, "change", json!({ "how": how, "name": name })).await
}

/// Returns the methods of the notifications that arrive, without the prefix `notifications/`.
async fn heard(client: &mut TestClient) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(notification) = client.notification(Duration::from_millis(20)).await {
        found.push(
            notification["method"]
                .as_str()
                .unwrap_or_default()
                .trim_start_matches("notifications/")
                .to_owned(),
        );
    }
    found
}

/// Subscribes to changes of the lists. Legacy clients get these notifications without a subscription.
async fn listen(client: &mut TestClient) {
    if client.revision() == Revision::V2026_07_28 {
        let filter = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
        client.listen(filter.clone()).await.unwrap();
        let acknowledged = client.notification(Duration::from_secs(5)).await.unwrap();
        assert_eq!(acknowledged["params"]["notifications"], filter);
    }
}

both_eras! {
    async fn items_come_and_go_and_clients_are_notified(revision) {
        let mut client = served(revision).await;
        listen(&mut client).await;
        assert_eq!(changed(&mut client, "tool", "sum").await, "true");
        assert_eq!(heard(&mut client).await, ["tools/list_changed"]);
        let tools = client.tools().await.unwrap();
        assert_eq!(names(&tools), ["fixed", "change", "sum"]);
        assert_eq!(tools[2]["title"], "Added");
        assert_eq!(tools[2]["inputSchema"]["required"], json!(["a", "b"]));
        assert_eq!(said(&mut client, "sum", json!({ "a": 1, "b": 2 })).await, "[3]");
        let text = "error: The arguments of `sum` are wrong:\n- missing field `b`";
        assert_eq!(said(&mut client, "sum", json!({ "a": 1 })).await, text);
        let text = "error: The arguments of `sum` are wrong:\n- unknown argument `c`; there are `a`, `b`";
        assert_eq!(said(&mut client, "sum", json!({ "a": 1, "b": 2, "c": 3 })).await, text);
        assert_eq!(changed(&mut client, "disable", "sum").await, "true");
        assert_eq!(client.call("sum", json!({ "a": 1, "b": 2 })).await.unwrap_err().code, -32602);
        assert_eq!(names(&client.tools().await.unwrap()), ["fixed", "change"]);
        assert_eq!(changed(&mut client, "enable", "sum").await, "true");
        assert_eq!(said(&mut client, "sum", json!({ "a": 1, "b": 2 })).await, "[3]");
        assert_eq!(changed(&mut client, "remove", "sum").await, "true");
        assert_eq!(changed(&mut client, "remove", "sum").await, "false");
        assert_eq!(names(&client.tools().await.unwrap()), ["fixed", "change"]);
        assert_eq!(heard(&mut client).await, ["tools/list_changed"; 3]);
    }

    async fn an_added_tool_has_the_hints_that_it_sets(revision) {
        let mut client = served(revision).await;
        for how in ["hinted tool", "harmless tool", "bare tool"] {
            assert_eq!(changed(&mut client, how, &how.replace(' ', "_")).await, "true");
        }
        let tools = client.tools().await.unwrap();
        let hints = |name: &str| {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            tool["annotations"].clone()
        };
        let expected = json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false });
        assert_eq!(hints("hinted_tool"), expected);
        assert_eq!(hints("harmless_tool"), json!({ "readOnlyHint": false, "destructiveHint": false }));
        assert_eq!(hints("bare_tool"), Value::Null);
    }

    async fn a_change_without_effect_sends_no_notification(revision) {
        let mut client = served(revision).await;
        listen(&mut client).await;
        for how in ["enable", "disable", "disable", "remove"] {
            changed(&mut client, how, "nobody").await;
        }
        changed(&mut client, "enable", "fixed").await;
        assert_eq!(heard(&mut client).await, [] as [&str; 0]);
    }

    async fn resources_and_prompts_come_and_go_too(revision) {
        let mut client = served(revision).await;
        listen(&mut client).await;
        for (how, name, expected) in [
            ("resource", "r", "resources/list_changed"), ("template", "t", "resources/list_changed"),
            ("prompt", "p", "prompts/list_changed"), ("bare tool", "b", "tools/list_changed"),
        ] {
            assert_eq!(changed(&mut client, how, name).await, "true");
            assert_eq!(heard(&mut client).await, [expected], "{how}");
        }
        let read = client.read("added://r").await.unwrap();
        assert_eq!((read[0].text.as_deref(), read[0].mime_type.as_deref()), (Some("added://r"), Some("text/x")));
        let read = client.read("t://1/a%20b").await.unwrap();
        assert_eq!(read[0].text.as_deref(), Some("{\"x\": \"1\", \"y\": \"a b\"}"));
        assert_eq!(client.templates().await.unwrap()[0]["uriTemplate"], "t://{x}/{y}");
        let prompt = client.prompt("p", json!({ "word": "w", "more": 1 })).await.unwrap();
        assert_eq!(prompt.text(), "{\"more\": \"1\", \"word\": \"w\"}");
        let arguments = &client.prompts().await.unwrap()[1]["arguments"];
        let expected = json!([
            { "name": "word", "description": "A word", "required": true },
            { "name": "more", "description": "More", "required": false },
        ]);
        assert_eq!(*arguments, expected);
        let get = |arguments: Value| json!({ "name": "p", "arguments": arguments });
        let text = "wrong arguments for prompt `p`: `word`: missing; unknown argument `wrod`; did you mean `word`?";
        assert_eq!(refused(&mut client, "prompts/get", get(json!({ "wrod": "" }))).await, (-32602, text.into()));
        assert_eq!(said(&mut client, "b", json!({})).await, "mcp-runtime-testing");
        let text = "error: The arguments of `b` are wrong:\n- unknown argument `x`: there are none";
        assert_eq!(said(&mut client, "b", json!({ "x": 1 })).await, text);
        assert_eq!(changed(&mut client, "remove", "added://r").await, "true");
        assert!(client.read("added://r").await.is_err());
    }

    async fn adding_a_wrong_item_returns_an_error(revision) {
        let mut client = served(revision).await;
        for (how, name, expected) in [
            ("tool", "fixed", "error: there is a tool `fixed` already: `fixed` at "),
            ("tool", "a b", "error: `a b` is not a valid tool name"),
            ("prompt", "fixed_prompt", "error: there is a prompt `fixed_prompt` already"),
            ("template", "{", "error: "),
            ("no struct", "x", "error: `x`: `arguments` cannot be spread"),
            ("contradictory tool", "x", "error: `x`: `destructive` contradicts `read_only`"),
        ] {
            let found = changed(&mut client, how, name).await;
            assert!(found.starts_with(expected), "{found}");
        }
        assert_eq!(client.tools().await.unwrap().len(), 2);
        changed(&mut client, "slow tool", "slow").await;
        assert_eq!(said(&mut client, "slow", json!({})).await, "error: the tool `slow` took longer than 5ms and was given up");
    }

    async fn only_subscribers_are_notified_of_an_update(revision) {
        let mut client = served(revision).await;
        changed(&mut client, "updated", "fixed://watched").await;
        assert_eq!(heard(&mut client).await, [] as [&str; 0]);
        let stream = client.subscribe("fixed://watched").await.unwrap();
        heard(&mut client).await;
        changed(&mut client, "updated", "fixed://watched").await;
        changed(&mut client, "updated", "fixed://other").await;
        let update = client.notification(Duration::from_secs(5)).await.unwrap();
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], "fixed://watched");
        assert_eq!(heard(&mut client).await, [] as [&str; 0]);
        match stream {
            Some(stream) => client.cancel(stream),
            None => drop(client.request("resources/unsubscribe", json!({ "uri": "fixed://watched" })).await.unwrap()),
        }
        changed(&mut client, "updated", "fixed://watched").await;
        assert_eq!(heard(&mut client).await, [] as [&str; 0]);
    }

    async fn an_update_of_a_uri_that_no_item_has_is_logged(revision) {
        let log = Log::default();
        // A second subscriber, as in `the_value_that_makes_the_state_too_large_is_named`.
        let _other = tracing::Dispatch::new(Log::default());
        let _logging = tracing::subscriber::set_default(log.clone());
        let mut client = served(revision).await;
        changed(&mut client, "updated", "fixed://watched").await;
        assert!(!log.0.lock().unwrap().contains("updated URI"));
        changed(&mut client, "updated", "fixde://watched").await;
        let logged = log.0.lock().unwrap().clone();
        assert!(logged.contains("has the updated URI `fixde://watched`"), "{logged}");
    }

    async fn a_call_goes_on_when_its_item_is_removed(revision) {
        let mut client = connect(server!().items(items![change, waits]), revision).await;
        let ongoing = client.start("tools/call", json!({ "name": "waits" }));
        assert_eq!(changed(&mut client, "remove", "waits").await, "true");
        LET_GO.add_permits(1);
        assert_eq!(client.wait(ongoing).await.unwrap()["content"][0]["text"], "waited");
        assert_eq!(client.call("waits", json!({})).await.unwrap_err().code, -32602);
    }

    /// A capability stays declared even if its last item is hidden, because clients read the capabilities only once, when they connect.
    async fn the_last_item_of_a_kind_can_be_hidden(revision) {
        let mut client = served(revision).await;
        changed(&mut client, "disable", "fixed_prompt").await;
        assert_eq!(client.prompts().await.unwrap().len(), 0);
        assert!(client.discover().await.unwrap()["capabilities"]["prompts"].is_object());
    }
}

/// Permits for the calls of `waits`.
static LET_GO: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);

#[tool]
async fn waits() -> &'static str {
    LET_GO.acquire().await.expect("it is never closed").forget();
    "waited"
}

/// Looks for a `Handle` in the state of the server, where there is none.
#[tool]
fn has_no_handle(ctx: &Context) -> bool {
    ctx.state::<Handle>().is_none()
}

#[tokio::test]
async fn without_a_handle_nothing_can_change() {
    let mut client = connect(server!().items(items![has_no_handle]), Revision::V2026_07_28).await;
    assert_eq!(said(&mut client, "has_no_handle", json!({})).await, "true");
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:b"] });
    client.listen(filter).await.unwrap();
    let acknowledged = client.notification(Duration::from_secs(5)).await.unwrap();
    assert_eq!(acknowledged["params"]["notifications"], json!({}), "nothing of it can happen");
}

#[tokio::test]
async fn a_stream_is_tagged_and_gets_only_the_requested_notifications() {
    let mut client = served(Revision::V2026_07_28).await;
    client.listen(json!({ "promptsListChanged": true })).await.unwrap();
    client.notification(Duration::from_secs(5)).await.unwrap();
    changed(&mut client, "tool", "t").await;
    changed(&mut client, "prompt", "p").await;
    let told = client.notification(Duration::from_secs(5)).await.unwrap();
    assert_eq!(told["method"], "notifications/prompts/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(heard(&mut client).await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_server_whose_items_are_all_added_in_setup_starts() {
    let server = || server!(group = "filled in setup");
    let add =
        async |handle: Handle| handle.add(Tool::new("added").handler(async |_: Context| "added"));
    assert!(server().setup(add).build().is_ok());
    let mut client = TestClient::connect(server().setup(add)).await.unwrap();
    assert_eq!(names(&client.tools().await.unwrap()), ["added"]);
    assert_eq!(said(&mut client, "added", json!({})).await, "added");

    let error = TestClient::connect(server().setup(async |_: Handle| Ok::<_, Error>(())))
        .await
        .unwrap_err()
        .to_string();
    for part in [
        "there is nothing to serve: package `mcp-runtime` has no item in the group \"filled in setup\"",
        "the `setup` that takes the `Handle` added no item either; a server that gets its items later starts with `.items(items![])`",
    ] {
        assert!(error.contains(part), "{error}");
    }

    // A `setup` without the handle cannot add items, so its server is rejected before the start.
    let error = server().setup(async || Ok::<_, Error>(())).build().unwrap_err().to_string();
    assert!(
        error.contains("there is nothing to serve") && !error.contains("the `setup`"),
        "{error}"
    );
}

/// The server drops a removed tool as soon as the call that removed it has ended, without waiting for another request.
#[tokio::test]
async fn a_removed_tool_drops_its_values_though_a_client_has_listed_it() {
    let owned = Arc::new(());
    let left = Arc::downgrade(&owned);
    let builder = server!().items(items![fixed, change]).setup(async move |handle: Handle| {
        let owner = move |_: Context| {
            let _owned = owned.clone();
            async { "owned" }
        };
        handle.add(Tool::new("owner").handler(owner))
    });
    let mut client = connect(builder, Revision::V2025_11_25).await;
    assert_eq!(names(&client.tools().await.unwrap()), ["fixed", "change", "owner"]);
    assert_eq!(changed(&mut client, "remove", "owner").await, "true");
    // Yields, so that the call that removed the tool can end.
    tokio::task::yield_now().await;
    assert!(left.upgrade().is_none(), "nobody can call it any more");
}

/// Removing a tool drops the values that its handler owns, and such a drop may change the server in turn.
#[test]
fn a_value_of_a_removed_tool_may_change_the_server_when_dropped() {
    struct Guard(Handle);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.remove("companion");
        }
    }
    fn guarded(handle: &Handle) -> Tool {
        let guard = Arc::new(Guard(handle.clone()));
        Tool::new("guarded").handler(move |_: Context| {
            let _guard = guard.clone();
            async { "guarded" }
        })
    }
    fn check(name: &'static str, act: fn(&Handle)) {
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (give, given) = std::sync::mpsc::channel();
            let builder = server!()
                .items(items![])
                .setup(async move |handle: Handle| give.send(handle).map_err(Error::msg));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let _client = runtime.unwrap().block_on(connect(builder, Revision::V2025_11_25));
            let handle = given.recv().unwrap();
            let companion = || Tool::new("companion").handler(async |_: Context| "here");
            handle.add(guarded(&handle)).unwrap();
            handle.add(companion()).unwrap();
            act(&handle);
            done.send(handle.remove("companion")).unwrap();
        });
        let left = is_done.recv_timeout(LIMIT);
        assert_eq!(left, Ok(false), "{name}");
    }
    check("removed", |handle| assert!(handle.remove("guarded")));
    check("refused", |handle| assert!(handle.add(guarded(handle)).is_err()));
}
