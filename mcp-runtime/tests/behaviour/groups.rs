//! Items that a server serves: those of its package, of a group, of named crates, or of a list.

use mcp_runtime::{items, prelude::*, server};
use serde_json::json;
use tools_crate::Ledger;

use crate::support::{both_eras, capabilities, connect, names, problems, said};

#[tool(group = "alpha", order = 2)]
fn apple() -> &'static str {
    "apple"
}

#[tool(group = "alpha")]
fn avocado() {}

#[tool(group = "alpha")]
fn almond() {}

// The smallest number that `order` accepts.
#[tool(group = "alpha", order = -2147483648)]
fn zucchini() {}

#[tool(group = "beta")]
fn banana() -> &'static str {
    "banana"
}

struct Shelf;

#[handlers(group = "gamma")]
impl Shelf {
    #[tool]
    fn grape(&self) {}

    #[tool(group = "beta")]
    fn blueberry(&self) {}
}

both_eras! {
    async fn a_group_is_served_alone_sorted_by_order_then_name(revision) {
        let mut client = connect(server!(group = "alpha"), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["zucchini", "almond", "avocado", "apple"]);
        let mut client = connect(server!(group = "gamma").state(Shelf), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["grape"]);
    }

    async fn items_are_listed_as_they_are_written_where_the_author_says_so(revision) {
        let server = server!(group = "alpha").as_written().setup(async |handle: Handle| {
            handle.add(Tool::new("aardvark").handler(async |_: Context| ""))?;
            handle.add(Tool::new("zebra").order(-1).handler(async |_: Context| ""))?;
            Ok::<_, Error>(())
        });
        let mut client = connect(server, revision).await;
        assert_eq!(
            names(&client.tools().await.unwrap()),
            ["zucchini", "zebra", "avocado", "almond", "aardvark", "apple"]
        );
    }

    async fn several_servers_live_in_one_process(revision) {
        let mut alpha = connect(server!(group = "alpha", name = "alpha"), revision).await;
        let mut beta = connect(server!(group = "beta", name = "beta").state(Shelf), revision).await;
        assert_eq!(said(&mut alpha, "apple", json!({})).await, "apple");
        assert_eq!(said(&mut beta, "banana", json!({})).await, "banana");
        assert_eq!(alpha.call("banana", json!({})).await.unwrap_err().code, -32602);
        assert_eq!(names(&beta.tools().await.unwrap()), ["banana", "blueberry"]);
        alpha.close().await;
        assert_eq!(said(&mut beta, "banana", json!({})).await, "banana");
    }

    async fn the_items_of_another_crate_are_served_when_it_is_named(revision) {
        let mut client = connect(server!(with = [tools_crate], group = "stateful").state(Ledger(7)), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["foreign_state", "local_state"]);
        assert_eq!(said(&mut client, "foreign_state", json!({})).await, "7");
        assert_eq!(client.complete("foreign_prompt", "ledger", "a").await.unwrap().values, ["a7"]);
        let mut client = connect(server!(group = "stateful").state(Ledger(7)), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["local_state"]);
        assert_eq!(client.call("foreign_state", json!({})).await.unwrap_err().code, -32602);
    }

    async fn items_of_another_crate_can_be_listed(revision) {
        let items = items![tools_crate::foreign, banana, tools_crate::foreign_resource];
        let mut client = connect(server!().items(items), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["foreign", "banana"]);
        assert_eq!(said(&mut client, "foreign", json!({})).await, "tools_crate");
        assert_eq!(client.read("foreign://here").await.unwrap()[0].text.as_deref(), Some("there"));
    }

    async fn only_what_exists_is_a_capability(revision) {
        for (items, expected) in [
            (items![banana], json!({ "tools": {} })),
            (items![tools_crate::foreign_resource], json!({ "resources": {} })),
            (items![watched], json!({ "resources": { "subscribe": true } })),
            (items![templated], json!({ "resources": {} })),
            (items![said_once], json!({ "prompts": {} })),
            (items![said_once, completed], json!({ "prompts": {}, "completions": {} })),
            (items![changes], json!({ "tools": { "listChanged": true } })),
            (
                items![changes, said_once, watched],
                json!({
                    "tools": { "listChanged": true }, "prompts": { "listChanged": true },
                    "resources": { "listChanged": true, "subscribe": true },
                }),
            ),
        ] {
            let mut found = capabilities(server!().items(items), revision).await;
            // Tests share a process. If another test has installed the `tracing` layer for clients, this server has the capability
            // `logging`.
            found.as_object_mut().unwrap().remove("logging");
            assert_eq!(found, expected);
        }
    }

    async fn methods_of_missing_capabilities_are_not_found(revision) {
        let mut client = connect(server!().items(items![banana]), revision).await;
        for method in ["resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get", "completion/complete"] {
            assert_eq!(client.request(method, json!({})).await.unwrap_err().code, -32601, "{method}");
        }
        let mut client = connect(server!().items(items![templated]), revision).await;
        for method in ["resources/subscribe", "resources/unsubscribe", "prompts/list", "tools/list", "nonsense"] {
            let error = client.request(method, json!({ "uri": "templated://x" })).await.unwrap_err();
            assert_eq!(error.code, -32601, "{method}");
        }
    }
}

#[tool(group = "stateful")]
fn local_state() {}

#[resource("watched://x", subscribe)]
fn watched() -> &'static str {
    ""
}

#[resource("templated://{x}")]
fn templated(x: &str) -> String {
    x.to_owned()
}

#[prompt]
fn said_once() -> &'static str {
    ""
}

#[prompt]
fn completed(flag: bool) -> String {
    flag.to_string()
}

#[tool]
fn changes(_handle: Handle) {}

fn unregistered() {}

mod local {
    use mcp_runtime::prelude::*;

    #[tool(group = "delta")]
    pub(super) fn foreign() {}

    #[prompt(group = "foreign twins")]
    fn twin() -> &'static str {
        ""
    }
}

#[tool(name = "banana", group = "delta")]
fn other_banana() {}

#[test]
fn problems_of_groups_and_items_name_their_place_in_the_source() {
    let group = problems(server!(group = "omega"));
    assert_eq!(group.len(), 1);
    assert!(
        group[0].contains("no item in the group \"omega\"; its groups: alpha, beta, "),
        "{group:?}"
    );
    let twice = problems(server!().items(items![banana, other_banana]));
    assert_eq!(twice.len(), 1);
    assert!(twice[0].starts_with("there are two tools `banana`: `banana` at "), "{twice:?}");
    assert!(twice[0].matches("groups.rs:").count() == 2, "{twice:?}");
    let unknown = problems(server!().items(items![unregistered]));
    assert_eq!(unknown.len(), 1);
    assert!(unknown[0].starts_with("`items![…]` at "), "{unknown:?}");
    assert!(
        unknown[0].ends_with("`unregistered` has no `#[tool]`, `#[resource]` or `#[prompt]`"),
        "{unknown:?}"
    );
    let across = problems(server!().items(items![tools_crate::foreign, local::foreign]));
    assert_eq!(across.len(), 1);
    assert!(across[0].starts_with("there are two tools `foreign`: `foreign` at "), "{across:?}");
    assert!(across[0].contains("tools-crate/src/lib.rs:"), "{across:?}");
    assert!(across[0].contains("behaviour/groups.rs:"), "{across:?}");
    let across = problems(server!(with = [tools_crate], group = "foreign twins").state(Ledger(1)));
    assert_eq!(across.len(), 1, "{across:?}");
    assert!(across[0].starts_with("there are two prompts `twin`: `twin` at "), "{across:?}");
    assert!(across[0].contains("tools-crate/src/lib.rs:"), "{across:?}");
    assert!(across[0].contains("behaviour/groups.rs:"), "{across:?}");
    let with = problems(server!(with = [serde], group = "alpha"));
    assert!(with[0].starts_with("`with = [serde]` at "), "{with:?}");
    assert!(
        with[0].contains(": the crate `serde` has no items; crates with items in this program: "),
        "{with:?}"
    );
    assert!(with[0].contains("tools_crate"), "{with:?}");
    let missing = problems(server!(with = [tools_crate], group = "stateful"));
    assert!(missing.iter().all(|problem| problem.contains("tools_crate::Ledger")), "{missing:?}");
    assert_eq!(missing.len(), 1, "{missing:?}");
}
