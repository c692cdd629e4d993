//! Pages of lists, and cursors that stay valid while items come and go.

use std::collections::BTreeSet;

use mcp_runtime::{
    Builder, items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{both_eras, connect, names, refused, said};

/// Adds many items.
#[tool(order = -9)]
fn fill(handle: Handle, from: u32, to: u32) -> Result<()> {
    for n in from..to {
        handle.add(Tool::new(format!("tool{n:05}")).handler(async |_: Context| ()))?;
        let text = async |_, _: Context| "";
        handle
            .add(Resource::new(format!("page:{n:05}"), format!("resource{n:05}")).handler(text))?;
        handle.add(
            Resource::new(format!("t{n:05}://{{x}}"), format!("template{n:05}")).handler(text),
        )?;
        handle.add(Prompt::new(format!("prompt{n:05}")).handler(text))?;
    }
    Ok(())
}

#[tool(order = -8)]
fn edit(handle: Handle, add: bool, n: u32) -> Result<()> {
    if add {
        handle.add(
            Tool::new(format!("tool{n:05}"))
                .order(i32::try_from(n % 3)?)
                .handler(async |_: Context| ()),
        )?;
    } else {
        handle.remove(&format!("tool{n:05}"));
    }
    Ok(())
}

#[resource("page:first")]
fn resource() -> &'static str {
    ""
}

#[resource("page:first/{x}")]
fn template(x: &str) -> String {
    x.to_owned()
}

#[prompt]
fn prompt() -> &'static str {
    ""
}

fn served() -> Builder {
    server!().items(items![fill, edit, resource, template, prompt])
}

/// Returns the length of each page of a list.
async fn pages(client: &mut TestClient, method: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut params = json!({});
    loop {
        let page = client.request(method, params).await.unwrap();
        let list = page.as_object().unwrap().values().find_map(Value::as_array).unwrap();
        found.push(list.len());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return found,
        }
    }
}

both_eras! {
    async fn tools_are_on_one_page_and_other_lists_have_pages_of_a_hundred(revision) {
        let mut client = connect(served(), revision).await;
        said(&mut client, "fill", json!({ "from": 0, "to": 248 })).await;
        for (method, expected) in [
            ("tools/list", vec![250]),
            ("resources/list", vec![100, 100, 49]),
            ("resources/templates/list", vec![100, 100, 49]),
            ("prompts/list", vec![100, 100, 49]),
        ] {
            assert_eq!(pages(&mut client, method).await, expected, "{method}");
        }
        said(&mut client, "fill", json!({ "from": 248, "to": 999 })).await;
        assert_eq!(pages(&mut client, "tools/list").await, [1000, 1]);
        assert_eq!(pages(&mut client, "prompts/list").await, [100; 10]);
    }

    async fn the_author_sets_their_size(revision) {
        let mut client = connect(served().tools_per_page(3).items_per_page(2), revision).await;
        said(&mut client, "fill", json!({ "from": 0, "to": 3 })).await;
        assert_eq!(pages(&mut client, "tools/list").await, [3, 2]);
        assert_eq!(pages(&mut client, "prompts/list").await, [2, 2]);
        let tools = client.tools().await.unwrap();
        assert_eq!(names(&tools), ["fill", "edit", "tool00000", "tool00001", "tool00002"]);
    }

    async fn foreign_cursors_are_refused(revision) {
        let mut client = connect(served().items_per_page(1), revision).await;
        said(&mut client, "fill", json!({ "from": 0, "to": 3 })).await;
        let cursor = client.request("prompts/list", json!({})).await.unwrap()["nextCursor"].take();
        let text = "the cursor is not one this server gave for this list".to_owned();
        for (method, cursor) in [("tools/list", cursor), ("prompts/list", json!("")), ("prompts/list", json!("x"))] {
            assert_eq!(refused(&mut client, method, json!({ "cursor": cursor })).await, (-32602, text.clone()), "{method}");
        }
        let (code, _) = refused(&mut client, "prompts/list", json!({ "cursor": 1 })).await;
        assert_eq!(code, -32602);
    }

    async fn a_cursor_outlives_the_item_it_ended_at(revision) {
        let mut client = connect(served().tools_per_page(3), revision).await;
        said(&mut client, "fill", json!({ "from": 0, "to": 4 })).await;
        let first = client.request("tools/list", json!({})).await.unwrap();
        let last = names(first["tools"].as_array().unwrap())[2].to_owned();
        let n: u32 = last.trim_start_matches("tool").parse().unwrap();
        said(&mut client, "edit", json!({ "add": false, "n": n })).await;
        let next = client.request("tools/list", json!({ "cursor": first["nextCursor"] })).await.unwrap();
        let mut all: Vec<_> = names(first["tools"].as_array().unwrap());
        all.extend(names(next["tools"].as_array().unwrap()));
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (6, 6));
        assert_eq!(next.get("nextCursor"), None);
    }
}

/// Reads all pages of a list that changes between two pages. No item comes twice, no item that stays in the list is missed, and the items
/// come in order.
fn walk(initial: &BTreeSet<u32>, changes: &[(bool, u32)], size: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client =
            connect(server!().items(items![edit]).tools_per_page(size), Revision::V2025_11_25)
                .await;
        let (mut now, mut always) = (BTreeSet::new(), initial.clone());
        for &n in initial {
            said(&mut client, "edit", json!({ "add": true, "n": n })).await;
            now.insert(n);
        }
        let mut seen: Vec<String> = Vec::new();
        let mut changes = changes.iter();
        let mut params = json!({});
        loop {
            let page = client.request("tools/list", params).await.unwrap();
            let page_names = names(page["tools"].as_array().unwrap());
            assert!(page_names.len() <= size);
            seen.extend(page_names.into_iter().map(str::to_owned));
            let Some(cursor) = page.get("nextCursor") else { break };
            params = json!({ "cursor": cursor });
            if let Some(&(add, n)) = changes.next()
                && add != now.contains(&n)
            {
                said(&mut client, "edit", json!({ "add": add, "n": n })).await;
                if add {
                    now.insert(n)
                } else {
                    now.remove(&n)
                };
                always.remove(&n);
            }
        }
        let seen: Vec<u32> = seen
            .iter()
            .filter_map(|name| name.strip_prefix("tool"))
            .map(|number| number.parse().unwrap())
            .collect();
        let key = |n: &u32| (n % 3, *n);
        assert!(
            seen.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])),
            "out of order or twice: {seen:?}"
        );
        assert!(
            always.iter().all(|number| seen.contains(number)),
            "missed one of {always:?}: {seen:?}"
        );
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cursors_stay_valid_while_items_come_and_go(
        initial in prop::collection::btree_set(0_u32..30, 0..20),
        changes in prop::collection::vec((any::<bool>(), 0_u32..30), 0..20),
        size in 1_usize..5,
    ) {
        walk(&initial, &changes, size);
    }
}
