//! Parsing a message.

use criterion::Criterion;
use mcp_runtime::bench::parse;

use crate::bytes;

/// A typical call.
pub(crate) const CALL: &str = r#"{"jsonrpc":"2.0","id":1234567,"method":"tools/call","params":{"name":"echo","arguments":{"message":"the rain in Spain stays mainly in the plain"}}}"#;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    let with_meta = CALL.replace(
        r#""name":"echo","#,
        r#""name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}},"progressToken":"p-17"},"#,
    );
    let with_long = CALL.replace("the rain", &"the rain ".repeat((64 << 10) / 9));
    let with_escapes =
        CALL.replace("the rain", &"the \\\"rain\\\"\\n\\u00e9 ".repeat((64 << 10) / 21));
    let cases = [
        ("a call", CALL),
        ("a call with _meta", &with_meta),
        ("an argument of 64 KB", &with_long),
        ("an argument of 64 KB with escapes", &with_escapes),
    ];
    for (name, text) in cases {
        assert!(parse(text.as_bytes()), "{name}");
        bytes(&mut group, name, text.as_bytes(), parse);
    }
    group.finish();
}
