//! Access rules of items, checked with `Client::authorization`, as authors do in their own tests.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::{
    Builder,
    auth::{Access, Auth, Authorization, ProtectedResource, StaticTokens},
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::support::{both_eras, connect, names, problems, refused, said};

/// Number of times that handlers ran.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

impl Runs {
    fn run(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// For everybody.
#[tool]
fn open(runs: &Runs) -> &'static str {
    runs.run();
    "open"
}

/// Reads.
#[tool(scopes("notes:read"))]
fn read(runs: &Runs) -> &'static str {
    runs.run();
    "read"
}

/// Writes.
#[tool(scopes("notes:read", "notes:write"), idempotent)]
fn write(runs: &Runs) -> &'static str {
    runs.run();
    "written"
}

/// Callers may use only what they own.
#[tool(auth(own))]
fn owned(runs: &Runs, owner: &str, number: Option<u8>) -> String {
    runs.run();
    format!("{owner} {number:?}")
}

fn own(caller: &Authorization, access: &Access<'_>) -> bool {
    assert_eq!((access.kind(), access.item(), access.uri()), ("tool", "owned", None));
    let few = access.argument::<u8>("number").is_none_or(|number| number < 10);
    let owner = access.argument::<String>("owner");
    access.is_listing() || few && owner.as_deref() == Some(caller.principal())
}

/// Has a policy that panics.
#[tool(auth(|_, _| panic!("no idea")))]
fn undecided(runs: &Runs) {
    runs.run();
}

/// A diary.
#[prompt(scopes("notes:read"), auth(|caller, access| {
    access.is_listing() || access.argument::<u32>("year").is_some_and(|year| year > 2000 || caller.has_scope("old"))
}))]
fn diary(runs: &Runs, #[complete("2024", "2025")] year: u32) -> String {
    runs.run();
    year.to_string()
}

/// All notes.
#[resource("notes://all", scopes("notes:read"), subscribe, cache(ttl = "1m"))]
fn all(runs: &Runs) -> &'static str {
    runs.run();
    "all"
}

/// A note by its number, which everybody may read.
#[resource("notes://{number}")]
fn numbered(runs: &Runs, number: u8) -> String {
    runs.run();
    number.to_string()
}

/// A note by its title.
#[resource("notes://{title}", subscribe, auth(|caller, access| {
    access.is_listing() || access.argument::<String>("title").is_some_and(|title| caller.principal() == title)
}))]
fn titled(runs: &Runs, title: &str) -> String {
    runs.run();
    title.to_owned()
}

/// Returns what the handler knows about its caller.
#[tool]
fn known(caller: Option<Auth>) -> String {
    caller.map_or("nobody".to_owned(), |caller| {
        format!("{} {}", caller.principal(), caller.has_scope("notes:read"))
    })
}

fn all_items(runs: &Runs) -> Builder {
    server!()
        .items(items![open, read, write, owned, undecided, diary, all, numbered, titled, known])
        .state(runs.clone())
}

fn ada(scopes: &[&str]) -> Authorization {
    Authorization::new("ada").scopes(scopes.iter().copied())
}

/// State that `setup` returns.
struct Held;

/// Like `connect`, but also returns the handle of the server.
async fn connect_held(server: Builder, revision: Revision) -> (TestClient, Handle) {
    let slot = Arc::new(OnceLock::new());
    let kept = slot.clone();
    let server = server.setup(async move |handle: Handle| {
        let _ = kept.set(handle);
        Ok::<_, Error>(Held)
    });
    (connect(server, revision).await, slot.get().expect("`setup` has run").clone())
}

/// Returns the names of all items that are listed to the caller.
async fn listed(client: &mut TestClient) -> Vec<String> {
    let mut all = client.tools().await.unwrap();
    all.extend(client.prompts().await.unwrap());
    all.extend(client.resources().await.unwrap());
    all.extend(client.templates().await.unwrap());
    names(&all).into_iter().map(str::to_owned).collect()
}

async fn check_refused(client: &mut TestClient, method: &str, params: Value, says: &str) {
    let (code, message) = refused(client, method, params.clone()).await;
    assert!(code == -32600 && message.contains(says), "{method} {params}: {code} {message}");
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

both_eras! {
    async fn without_a_caller_nothing_is_checked(revision) {
        let runs = Runs::default();
        let mut client = connect(all_items(&runs), revision).await;
        assert_eq!(listed(&mut client).await.len(), 10);
        assert_eq!(said(&mut client, "write", json!({})).await, "written");
        assert_eq!(said(&mut client, "owned", json!({ "owner": "grace" })).await, "grace None");
        assert_eq!(client.read("notes://all").await.unwrap().len(), 1);
        assert_eq!(said(&mut client, "known", json!({})).await, "nobody");
        assert_eq!(runs.count(), 3);
    }

    async fn lists_contain_only_what_the_caller_may_use(revision) {
        let mut client = connect(all_items(&Runs::default()), revision).await;
        let always = ["open", "owned", "known", "numbered", "titled"];
        let check = async |client: &mut TestClient, scopes: &[&str], more: &[&str]| {
            client.authorization(ada(scopes));
            let mut expected: Vec<_> = always.iter().chain(more).collect();
            expected.sort_unstable();
            let mut found = listed(client).await;
            found.sort_unstable();
            assert_eq!(
                found.iter().map(|name| &**name).collect::<Vec<_>>(),
                expected.into_iter().copied().collect::<Vec<_>>()
            );
        };
        check(&mut client, &[], &[]).await;
        check(&mut client, &["notes:read", "other"], &["read", "diary", "all"]).await;
        check(&mut client, &["notes:write"], &[]).await;
        check(&mut client, &["notes:write", "notes:read"], &["read", "write", "diary", "all"])
            .await;
    }

    async fn a_header_alone_does_not_make_the_server_check_the_caller(revision) {
        let mut client = connect(all_items(&Runs::default()), revision).await;
        let all = listed(&mut client).await;
        client.header("x-tenant", "one");
        assert_eq!(listed(&mut client).await, all);
        client.authorization(ada(&[]));
        assert_ne!(listed(&mut client).await, all);
    }

    async fn forbidden_items_do_not_run(revision) {
        let runs = Runs::default();
        let mut client = connect(all_items(&runs), revision).await;
        client.authorization(ada(&["notes:write"]));
        let needs = "needs a token that grants `notes:read` too";
        check_refused(
            &mut client,
            "tools/call",
            tool("write", json!({})),
            "the tool `write` needs a token that grants `notes:read` too",
        )
        .await;
        check_refused(
            &mut client,
            "prompts/get",
            json!({ "name": "diary", "arguments": { "year": "2024" } }),
            needs,
        )
        .await;
        check_refused(&mut client, "resources/read", json!({ "uri": "notes://all" }), needs).await;
        assert_eq!(runs.count(), 0);
        client.authorization(ada(&["notes:write", "notes:read"]));
        assert_eq!(said(&mut client, "write", json!({})).await, "written");
        assert_eq!(client.prompt("diary", json!({ "year": "2024" })).await.unwrap().text(), "2024");
        assert_eq!(client.read("notes://all").await.unwrap().len(), 1);
        assert_eq!(runs.count(), 3);
    }

    async fn a_policy_sees_the_arguments(revision) {
        let runs = Runs::default();
        let mut client = connect(all_items(&runs), revision).await;
        client.authorization(ada(&["notes:read"]));
        let no = "this caller may not use the tool `owned` with these arguments";
        for arguments in [
            json!({ "owner": "grace" }),
            json!({}),
            json!({ "owner": null }),
            json!({ "owner": "ada", "number": 10 }),
        ] {
            check_refused(&mut client, "tools/call", tool("owned", arguments), no).await;
        }
        for unreadable in [json!({ "owner": 5 }), json!({ "owner": "ada", "number": "many" })] {
            let (code, message) =
                refused(&mut client, "tools/call", tool("owned", unreadable)).await;
            assert!(code == -32602 && message.contains("cannot be read"), "{code} {message}");
        }
        check_refused(
            &mut client,
            "prompts/get",
            json!({ "name": "diary", "arguments": { "year": "1999" } }),
            "the prompt `diary`",
        )
        .await;
        check_refused(
            &mut client,
            "resources/read",
            json!({ "uri": "notes://grace" }),
            "the resource `notes://{title}`",
        )
        .await;
        assert_eq!(runs.count(), 0);
        // If a number is sent as a text, the policy reads it in the same way as the handler.
        assert_eq!(
            said(&mut client, "owned", json!({ "owner": "ada", "number": "9" })).await,
            "ada Some(9)"
        );
        assert_eq!(client.read("notes://ada").await.unwrap()[0].text.as_deref(), Some("ada"));
        assert_eq!(client.read("notes://%61da").await.unwrap()[0].text.as_deref(), Some("ada"));
        // `7` is a number, so it matches `notes://{number}`, which has no policy, and not `notes://{title}`.
        assert_eq!(client.read("notes://7").await.unwrap()[0].text.as_deref(), Some("7"));
        client.authorization(ada(&["notes:read", "old"]));
        assert_eq!(client.prompt("diary", json!({ "year": "1999" })).await.unwrap().text(), "1999");
    }

    async fn a_policy_that_panics_rejects_every_caller(revision) {
        let runs = Runs::default();
        let mut client = connect(all_items(&runs), revision).await;
        client.authorization(ada(&[]));
        assert!(!listed(&mut client).await.contains(&"undecided".to_owned()));
        let (code, message) =
            refused(&mut client, "tools/call", tool("undecided", json!({}))).await;
        assert_eq!((code, &*message, runs.count()), (-32603, "internal error", 0));
    }

    async fn hidden_items_are_not_suggested(revision) {
        let mut client = connect(all_items(&Runs::default()), revision).await;
        client.authorization(ada(&[]));
        let (_, message) = refused(&mut client, "tools/call", tool("writ", json!({}))).await;
        assert_eq!(message, "unknown tool `writ`");
        client.authorization(ada(&["notes:read", "notes:write"]));
        let (_, message) = refused(&mut client, "tools/call", tool("writ", json!({}))).await;
        assert_eq!(message, "unknown tool `writ`; did you mean `write`?");
    }

    async fn completions_and_subscriptions_are_checked_too(revision) {
        let mut client = connect(all_items(&Runs::default()), revision).await;
        client.authorization(ada(&[]));
        let error = client.complete("diary", "year", "").await.unwrap_err();
        assert!(error.code == -32600 && error.message.contains("notes:read"), "{error}");
        for (uri, says) in [
            ("notes://all", "notes:read"),
            ("notes://grace", "with these arguments"),
            // The same URIs, percent-encoded.
            ("notes://%67race", "with these arguments"),
            ("notes://%61ll", "with these arguments"),
        ] {
            let error = client.subscribe(uri).await.unwrap_err();
            assert!(error.code == -32600 && error.message.contains(says), "{uri}: {error}");
        }
        assert!(client.subscribe("other://it").await.unwrap_err().message.contains("no resource"));
        client.subscribe("notes://ada").await.unwrap();
        client.authorization(ada(&["notes:read"]));
        assert_eq!(client.complete("diary", "year", "").await.unwrap().values, ["2024", "2025"]);
        client.subscribe("notes://all").await.unwrap();
    }

    async fn hidden_items_do_not_shorten_pages(revision) {
        let (mut client, handle) = connect_held(
            server!().items(items![open]).state(Runs::default()).tools_per_page(2),
            revision,
        )
        .await;
        for at in 0..9 {
            let tool = Tool::new(format!("t{at}")).handler(async |_: Context| "");
            let tool = if at % 3 == 0 { tool } else { tool.scopes(["more"]) };
            handle.add(tool).unwrap();
        }
        let page = async |client: &mut TestClient, cursor: Option<&Value>| {
            let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let page = client.request("tools/list", params).await.unwrap();
            (names(page["tools"].as_array().unwrap()).join(" "), page.get("nextCursor").cloned())
        };
        client.authorization(ada(&[]));
        let (first, cursor) = page(&mut client, None).await;
        assert_eq!(first, "open t0");
        let (second, end) = page(&mut client, cursor.as_ref()).await;
        assert_eq!((&*second, end), ("t3 t6", None));
        // A cursor is a position in the full list. Any caller can continue from that position.
        client.authorization(ada(&["more"]));
        let (all, more) = page(&mut client, cursor.as_ref()).await;
        assert_eq!((&*all, more.is_some()), ("t1 t2", true));
        assert_eq!(client.tools().await.unwrap().len(), 10);
        // A disabled or removed item leaves the lists of the callers that see it.
        handle.disable("t0");
        handle.remove("t3");
        client.authorization(ada(&[]));
        assert_eq!(names(&client.tools().await.unwrap()), ["open", "t6"]);
    }

    async fn items_added_at_run_time_can_have_access_rules_too(revision) {
        let runs = Runs::default();
        let (mut client, handle) =
            connect_held(server!().items(items![open]).state(runs.clone()), revision).await;
        handle
            .add(
                Tool::new("admin")
                    .auth(|caller, _| caller.has_scope("admin"))
                    .handler(async |_: Context| "done"),
            )
            .unwrap();
        handle
            .add(
                Prompt::new("help")
                    .scopes(["help"])
                    .handler(async |_: Variables, _: Context| "help"),
            )
            .unwrap();
        let page = Resource::new("pages://{name}", "page").auth(|_, access| {
            access.is_listing()
                || access.argument::<String>("name").is_some_and(|name| name != "secret")
                    && access.uri() == Some("pages://open")
        });
        handle.add(page.handler(async |_: Variables, _: Context| "page")).unwrap();
        client.authorization(ada(&[]));
        assert_eq!(listed(&mut client).await, ["open", "page"]);
        check_refused(&mut client, "tools/call", tool("admin", json!({})), "may not").await;
        check_refused(&mut client, "prompts/get", json!({ "name": "help" }), "`help`").await;
        check_refused(&mut client, "resources/read", json!({ "uri": "pages://secret" }), "pages")
            .await;
        assert_eq!(client.read("pages://open").await.unwrap().len(), 1);
        client.authorization(ada(&["admin", "help"]));
        assert_eq!(said(&mut client, "admin", json!({})).await, "done");
        assert_eq!(listed(&mut client).await.len(), 4);
        for wrong in ["", "a b", "offline_access", "ä"] {
            let error = handle
                .add(Tool::new("x").scopes([wrong]).handler(async |_: Context| ""))
                .unwrap_err();
            assert!(error.to_string().contains("`x`"), "{error}");
        }
    }

    async fn a_server_may_have_a_policy_for_all(revision) {
        let runs = Runs::default();
        let server = all_items(&runs)
            .policy(|caller, _| caller.principal() != "guest")
            .policy(|_, access| access.is_listing() || access.item() != "open");
        let (mut client, handle) = connect_held(server, revision).await;
        handle.add(Tool::new("later").handler(async |_: Context| "later")).unwrap();
        client.authorization(Authorization::new("guest").scopes(["notes:read", "notes:write"]));
        assert_eq!(listed(&mut client).await, Vec::<String>::new());
        check_refused(&mut client, "tools/call", tool("later", json!({})), "may not").await;
        client.authorization(ada(&[]));
        assert_eq!(listed(&mut client).await.len(), 6);
        check_refused(&mut client, "tools/call", tool("open", json!({})), "may not").await;
        assert_eq!(said(&mut client, "later", json!({})).await, "later");
        assert_eq!(runs.count(), 0);
    }

    async fn a_policy_sees_the_uri_of_a_resource_as_its_author_wrote_it(revision) {
        let server = all_items(&Runs::default())
            .policy(|_, access| access.is_listing() || access.uri() != Some("notes://all"));
        let mut client = connect(server, revision).await;
        client.authorization(ada(&["notes:read"]));
        for uri in ["notes://all", "NOTES://all", "notes://ALL"] {
            check_refused(&mut client, "resources/read", json!({ "uri": uri }), "notes://all").await;
            let refused = client.subscribe(uri).await.unwrap_err();
            assert!(refused.message.contains("may not"), "{uri}: {}", refused.message);
        }
    }

    async fn around_does_not_run_for_a_rejected_call(revision) {
        let (runs, around) = (Runs::default(), Runs::default());
        let counted = around.clone();
        let server = all_items(&runs).around(move |call, next| {
            counted.run();
            async move { next.run(call).await }
        });
        let mut client = connect(server, revision).await;
        client.authorization(ada(&[]));
        check_refused(&mut client, "tools/call", tool("write", json!({})), "notes:read").await;
        assert_eq!((runs.count(), around.count()), (0, 0));
        assert_eq!(names(&client.tools().await.unwrap()), ["open", "owned", "known"]);
        assert_eq!(said(&mut client, "open", json!({})).await, "open");
        assert_eq!((runs.count(), around.count()), (1, 2));
        let (_, message) = refused(&mut client, "tools/call", tool("writ", json!({}))).await;
        assert_eq!(message, "unknown tool `writ`");
    }

    async fn a_broader_scope_implies_a_narrower_one(revision) {
        let runs = Runs::default();
        let protected = ProtectedResource::new(StaticTokens::new().token("a", "ada"))
            .implies("notes:admin", ["notes:write"])
            .implies("notes:write", ["notes:read", "notes:admin"]);
        let mut client = connect(all_items(&runs).auth(protected), revision).await;
        client.authorization(ada(&["notes:admin"]));
        assert_eq!(said(&mut client, "write", json!({})).await, "written");
        assert_eq!(said(&mut client, "known", json!({})).await, "ada true");
        client.authorization(ada(&["notes:read"]));
        check_refused(&mut client, "tools/call", tool("write", json!({})), "notes:write").await;
    }

    async fn lists_may_show_items_whose_scopes_are_missing(revision) {
        let runs = Runs::default();
        let protected =
            ProtectedResource::new(StaticTokens::new().token("a", "ada")).list_beyond_scopes();
        let mut client = connect(all_items(&runs).auth(protected), revision).await;
        client.authorization(ada(&[]));
        let found = listed(&mut client).await;
        assert!(found.len() == 9 && !found.contains(&"undecided".to_owned()), "{found:?}");
        check_refused(&mut client, "tools/call", tool("write", json!({})), "notes:write").await;
    }
}

#[tokio::test]
async fn results_that_depend_on_the_caller_have_a_private_cache_scope() {
    let mut client = connect(all_items(&Runs::default()), Revision::V2026_07_28).await;
    client.authorization(ada(&["notes:read"]));
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({ "uri": "notes://all" })),
    ] {
        let result = client.request(method, params).await.unwrap();
        assert_eq!(result["cacheScope"], "private", "{method}");
    }
}

#[test]
fn a_server_with_a_policy_and_anonymous_callers_does_not_build() {
    let protected = ProtectedResource::new(StaticTokens::new().token("a", "ada")).optional();
    let found =
        problems(all_items(&Runs::default()).auth(protected).policy(|_, _| true)).join("; ");
    assert!(found.contains("`.policy(…)` at") && found.contains("rights.rs:"), "{found}");
    let implied =
        ProtectedResource::new(StaticTokens::new().token("a", "ada")).implies("a", ["b c"]);
    let found = problems(all_items(&Runs::default()).auth(implied)).join("; ");
    assert!(found.contains("`b c` is not a scope"), "{found}");
}

/// Ignores unknown arguments.
#[tool(lenient, auth(|caller, access| {
    let owner = access.argument::<String>("owner");
    access.is_listing() || owner.as_deref() == Some(caller.principal())
}))]
fn lent(owner: &str) -> String {
    format!("lent to {owner}")
}

/// Checks that the policy and the handler see the same value if a client sends an argument twice.
#[tokio::test]
async fn a_policy_sees_the_argument_that_the_handler_gets() {
    let server = server!().items(items![lent, owned]).state(Runs::default());
    let mut client = TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap();
    client.authorization(ada(&[]));
    let texts = ["\"ada\"", "\"grace\"", "null"];
    for (tool, one, other) in ["lent", "owned"]
        .into_iter()
        .flat_map(|tool| texts.map(|one| (tool, one)))
        .flat_map(|(tool, one)| texts.map(|other| (tool, one, other)))
    {
        client.send_raw(
            format!(
                r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"{tool}","arguments":{{"owner":{one},"owner":{other}}}}}}}"#
            )
            .as_bytes(),
        );
        let answer = client.receive_raw(std::time::Duration::from_secs(20)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(!answer.contains("lent to grace") && !answer.contains("grace None"), "{answer}");
    }
}
