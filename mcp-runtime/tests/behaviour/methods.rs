//! Methods: functions whose `&self` is the server's state.

use std::sync::Mutex;

use mcp_runtime::{items, prelude::*, server};
use serde_json::json;

use crate::support::{both_eras, connect, named, names, problems, said};

struct Notes {
    all: Mutex<Vec<String>>,
}

#[handlers]
impl Notes {
    fn helper(&self) -> usize {
        self.all.lock().unwrap().len()
    }

    /// Writes a note down.
    #[tool(group = "writers")]
    fn write(&self, text: String) -> usize {
        self.all.lock().unwrap().push(text);
        self.helper()
    }

    #[tool(group = "writers")]
    async fn count(&self, by: Option<usize>) -> usize {
        tokio::task::yield_now().await;
        self.helper() * by.unwrap_or(Self::FACTOR)
    }

    #[tool(blocking, group = "writers")]
    fn count_elsewhere(&self, #[arg(default = Self::FACTOR)] by: usize) -> usize {
        self.helper() * by
    }

    #[tool(group = "writers")]
    fn free(word: &str) -> String {
        word.to_owned()
    }

    #[tool(group = "writers")]
    fn same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    #[resource("notes://{index}", group = "writers")]
    fn note(&self, index: usize) -> Option<String> {
        self.all.lock().unwrap().get(index).cloned()
    }

    #[prompt(group = "writers")]
    fn recall(&self, #[complete(Self::texts)] note: &str) -> String {
        format!("{note} of {}", self.helper())
    }

    #[completion]
    async fn texts(&self) -> Vec<String> {
        self.all.lock().unwrap().clone()
    }

    const FACTOR: usize = 10;
}

fn notes() -> Notes {
    Notes { all: Mutex::new(vec!["milk".to_owned()]) }
}

both_eras! {
    async fn self_is_the_servers_state(revision) {
        let mut client = connect(server!(group = "writers").state(notes()), revision).await;
        assert_eq!(said(&mut client, "write", json!({ "text": "eggs" })).await, "2");
        assert_eq!(said(&mut client, "count", json!({})).await, "20");
        assert_eq!(said(&mut client, "count", json!({ "by": 3 })).await, "6");
        assert_eq!(said(&mut client, "count_elsewhere", json!({})).await, "20");
        assert_eq!(said(&mut client, "free", json!({ "word": "w" })).await, "w");
        assert_eq!(said(&mut client, "same", json!({})).await, "true");
        assert_eq!(client.read("notes://1").await.unwrap()[0].text.as_deref(), Some("eggs"));
        client.read("notes://2").await.unwrap_err();
        assert_eq!(client.prompt("recall", json!({ "note": "n" })).await.unwrap().text(), "n of 2");
        assert_eq!(client.complete("recall", "note", "e").await.unwrap().values, ["eggs"]);
    }

    async fn items_name_methods_too_and_keep_their_order(revision) {
        let items = items![Notes::write, zulu, Notes::free, alpha, Notes::count];
        let mut client = connect(server!().items(items).state(notes()), revision).await;
        assert_eq!(names(&client.tools().await.unwrap()), ["write", "zulu", "free", "alpha", "count"]);
    }
}

#[tool(order = -5)]
fn zulu() {}

#[tool(order = 9)]
fn alpha() {}

/// A key of the block applies to each item that can have the key and does not set it itself.
#[handlers(
    group = "sharing",
    read_only,
    open_world = false,
    blocking,
    timeout = "30s",
    mime_type = "text/markdown"
)]
impl Shelf {
    #[tool]
    fn plain(&self) -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tool(destructive, open_world, blocking = false)]
    fn own(&self) -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tool(idempotent)]
    async fn waiting(&self) -> String {
        String::new()
    }

    #[resource("shelf://one")]
    fn one(&self) -> &'static str {
        "one"
    }

    #[resource("shelf://two", mime_type = "text/csv")]
    fn two(&self) -> &'static str {
        "two"
    }
}

struct Shelf;

both_eras! {
    async fn items_share_the_keys_of_their_block(revision) {
        let mut client = connect(server!(group = "sharing").state(Shelf), revision).await;
        let tools = client.tools().await.unwrap();
        let hints = |name: &str| named(&tools, name)["annotations"].clone();
        assert_eq!(hints("plain"), json!({ "readOnlyHint": true, "openWorldHint": false }));
        assert_eq!(hints("own"), json!({ "destructiveHint": true, "openWorldHint": true }));
        assert_eq!(
            hints("waiting"),
            json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false })
        );
        let resources = client.resources().await.unwrap();
        assert_eq!(named(&resources, "one")["mimeType"], "text/markdown");
        assert_eq!(named(&resources, "two")["mimeType"], "text/csv");
        // Blocking handlers run on threads of the pool.
        let here = said(&mut client, "own", json!({})).await;
        assert_ne!(said(&mut client, "plain", json!({})).await, here);
    }
}

#[test]
fn a_method_without_its_state_stops_the_server() {
    let problems = problems(server!().items(items![Notes::write]));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("behaviour::methods::Notes"), "{problems:?}");
}
