use mcp_runtime_wire::{Parsed, parse};

use super::{super::endpoint::Endpoint, *};
use crate::{
    builder::{builder, items},
    call::context::{Carrier, Context},
    catalog::Tool,
    protocol::{Arrival, Era, Received, ReplyTo},
    server::{HttpSettings, Identity},
};

/// Measures the memory of a session after typical use. A server needs this memory for each session that has not ended.
#[tokio::test]
async fn an_idle_session_takes_little_memory() {
    let server =
        builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
    server.handle().add(Tool::new("echo").handler(async |_: Context| "hello")).unwrap();
    let started = server.start().await.unwrap();
    let endpoint = Endpoint::new(started, HttpSettings::default(), None);
    let session = endpoint.new_session(&Carrier::default()).unwrap();
    let revision = Revision::NEWEST_LEGACY.name();
    let open = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","clientInfo":{{"name":"c","version":"1"}},"capabilities":{{}}}}}}"#
    );
    let mut turn = Received::default();
    let mut said = String::new();
    for message in [
        &*open,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
    ] {
        let outbox = Arc::<Outbox>::default();
        let to = ReplyTo::each(outbox.clone());
        let arrival = Arrival { to, carrier: Carrier::default(), era: Era::OfRequest };
        let (limits, mut parsed) = (endpoint.limits().of_wire(), Parsed::default());
        let incoming = parse(message.as_bytes(), limits, &mut parsed).unwrap();
        session.peer.handle(&incoming, &arrival, &mut turn);
        let mut bytes = Vec::new();
        outbox.take(&mut bytes);
        said += str::from_utf8(&bytes).unwrap();
    }
    assert!(said.contains("hello") && said.contains("inputSchema"), "{said}");
    // Memory around the session: two counters and the allocator's overhead for each of three `Arc`s, a slot in a table, and an entry among
    // the receivers of list changes. The table is at least 7/16 full.
    let around = 3 * (16 + 16) + 9 * 16 / 7 + 2 * 16;
    let bytes = size_of::<HttpSession>() + session.peer.kept() + around;
    assert!(bytes <= 448, "{bytes}");
}
