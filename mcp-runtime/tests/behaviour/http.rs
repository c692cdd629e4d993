//! HTTP values in a handler whose call did not come over HTTP.

use mcp_runtime::{
    http::{Extension, HeaderMap},
    items,
    prelude::*,
    server,
};
use serde_json::json;

use crate::support::{both_eras, connect, refused, said};

#[derive(Clone)]
struct User(&'static str);

#[tool]
fn reads(user: Extension<User>, headers: &HeaderMap) -> String {
    format!("{} {:?}", user.0.0, headers.get("x-tenant"))
}

#[tool]
fn heads(headers: &HeaderMap, ctx: &Context) -> String {
    assert!(ctx.extension::<User>().is_none());
    ctx.release_stream(std::time::Duration::from_secs(1));
    format!("{} {}", headers.len(), ctx.headers().len())
}

#[tool]
fn needs_an_application(_user: Extension<User>) -> &'static str {
    "somebody"
}

both_eras! {
    async fn a_call_without_http_has_no_headers(revision) {
        let mut client = connect(server!().items(items![heads]), revision).await;
        assert_eq!(said(&mut client, "heads", json!({})).await, "0 0");
    }

    async fn a_test_sets_extensions_and_headers(revision) {
        let mut client = connect(server!().items(items![reads]), revision).await;
        client.extension(User("ada"));
        assert_eq!(said(&mut client, "reads", json!({})).await, "ada None");
        client.header("X-Tenant", "one");
        client.extension(User("bob"));
        assert_eq!(said(&mut client, "reads", json!({})).await, "bob Some(\"one\")");
    }

    async fn a_missing_extension_is_an_internal_error(revision) {
        let server = server!().items(items![needs_an_application]);
        let mut client = connect(server, revision).await;
        let call = json!({ "name": "needs_an_application", "arguments": {} });
        let (code, message) = refused(&mut client, "tools/call", call).await;
        assert_eq!((code, &*message), (-32603, "internal error"));
    }
}
