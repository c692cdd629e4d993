//! `max_result`: a larger result becomes an error that tells the model the limit.

use mcp_runtime::{Builder, items, prelude::*, server};
use serde_json::json;

use crate::support::{both_eras, connect, problems, said};

#[tool]
fn letters(count: usize) -> String {
    "x".repeat(count)
}

#[tool]
async fn pictures(count: usize) -> (Image, Embedded, ResourceLink) {
    tokio::task::yield_now().await;
    (
        Image::png(vec![0; count]),
        Embedded::blob("file:///a", vec![0; count]),
        ResourceLink::new("a:b", "n"),
    )
}

#[tool]
fn fails(count: usize) -> Result<String, String> {
    Err("x".repeat(count))
}

fn served() -> Builder {
    server!().items(items![letters, pictures, fails])
}

both_eras! {
    async fn the_limit_itself_is_allowed(revision) {
        let mut client = connect(served().max_result(10_usize), revision).await;
        assert_eq!(said(&mut client, "letters", json!({ "count": 10 })).await.len(), 10);
        let text = "error: the result has 11 bytes, and this server sends at most 10: ask for less of it";
        assert_eq!(said(&mut client, "letters", json!({ "count": 11 })).await, text);
        assert_eq!(said(&mut client, "fails", json!({ "count": 11 })).await, text);
        let text = "error: the result has 13 bytes, and this server sends at most 10: ask for less of it";
        assert_eq!(said(&mut client, "pictures", json!({ "count": 5 })).await, text);
        let called = client.call("pictures", json!({ "count": 3 })).await.unwrap();
        assert_eq!((called.content.len(), called.is_error), (3, false));
    }

    async fn without_max_result_there_is_no_limit(revision) {
        let mut client = connect(served(), revision).await;
        assert_eq!(said(&mut client, "letters", json!({ "count": 3_000_000 })).await.len(), 3_000_000);
    }
}

both_eras! {
    /// The key `max_result` of `server!` and the method `max_result` accept the same sizes.
    async fn sizes_are_numbers_or_texts(revision) {
        for server in [
            server!(max_result = "1KB"), server!(max_result = 1000), server!().max_result("1KB"), server!().max_result(1000_u64),
            server!().max_result("1 kb"), server!().max_result("1000"),
        ] {
            let mut client = connect(server.items(items![letters]), revision).await;
            assert_eq!(said(&mut client, "letters", json!({ "count": 1000 })).await.len(), 1000);
            assert!(said(&mut client, "letters", json!({ "count": 1001 })).await.contains("at most 1000"));
        }
        for server in [server!(max_result = "1KiB"), server!().max_result("1KiB")] {
            let mut client = connect(server.items(items![letters]), revision).await;
            assert_eq!(said(&mut client, "letters", json!({ "count": 1024 })).await.len(), 1024);
        }
    }
}

#[test]
fn a_max_result_that_is_no_size_stops_the_server() {
    assert!(problems(served().max_result("1 parsec"))[0].contains("`1 parsec` is not a size"));
}
