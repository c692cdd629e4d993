//! Schemas that are built at compile time. The program contains them in the form that clients get, and schemars does not run.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_runtime::{Builder, SchemaProfile, items, prelude::*, server, testing::TestClient};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

type Cents = i64;

/// How it is sent.
#[data]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
enum Way {
    /// Over night
    NextDay,
    #[serde(rename = "slow")]
    Ordinary,
}

#[data]
struct Parcel {
    /// What is in it
    inside: Vec<Item>,
    to: Address,
}

#[data]
#[serde(rename_all = "camelCase")]
struct Item {
    price_each: Cents,
    count: Option<u8>,
}

/// Where it goes
#[data]
struct Address {
    lines: Vec<String>,
    labels: BTreeMap<String, Way>,
}

/// Sends a parcel.
#[tool(schema = "static")]
fn send_parcel(
    /// What it may cost
    #[arg(range(1..), example = 250)]
    most: Cents,
    #[arg(default = Way::Ordinary)] way: Way,
    parcel: Parcel,
) -> Json<Parcel> {
    let _ = (most, way);
    Json(parcel)
}

/// Only schemars knows it.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Foreign {
    /// Its key
    key: String,
}

#[data]
struct Holder {
    /// What is held
    held: Foreign,
    count: u8,
}

#[tool]
fn hold(holder: Holder, way: Way) -> Json<Foreign> {
    let _ = (holder.count, way);
    Json(holder.held)
}

/// Returns the response to `tools/list`, byte for byte.
async fn listed(server: Builder) -> String {
    let (mut client, io) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(io);
    let serving = tokio::spawn(server.serve(input, output));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    client.write_all(format!("{list}\n").as_bytes()).await.unwrap();
    let mut line = String::new();
    while !line.ends_with('\n') {
        let mut byte = [0];
        client.read_exact(&mut byte).await.unwrap();
        line.push(char::from(byte[0]));
    }
    drop(client);
    serving.await.unwrap().unwrap();
    line
}

/// Returns the text of a member that is an object.
fn object<'a>(line: &'a str, member: &str) -> &'a str {
    let start = line.find(&format!("\"{member}\":{{")).expect(member) + member.len() + 3;
    let mut values = serde_json::Deserializer::from_str(&line[start..]).into_iter::<Value>();
    values.next().expect("a value").expect("JSON");
    &line[start..start + values.byte_offset()]
}

#[tokio::test]
async fn the_binary_contains_the_schemas_as_they_are_served() {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    // The search in a string is faster than a comparison at each byte.
    let program = String::from_utf8_lossy(&program);
    let is_in_program = |text: &str| program.contains(text);
    let line = listed(server!().items(items![send_parcel])).await;
    for member in ["inputSchema", "outputSchema"] {
        let text = object(&line, member);
        assert!(is_in_program(text), "{text}");
    }
    let input = object(&line, "inputSchema");
    let way = "\"way\":{\"default\":\"slow\",\"description\":\"How it is sent.\\n\\n- `NEXT-DAY`: Over night\",\
        \"enum\":[\"slow\",\"NEXT-DAY\"],\"type\":\"string\"}";
    assert!(input.contains(way), "{input}");
    assert!(input.starts_with(
        "{\"type\":\"object\",\"properties\":{\"most\":{\"description\":\"What it may cost\\n\\nFor example `250`.\",\
         \"minimum\":1,\"type\":\"integer\"},"
    ), "{input}");
    assert!(input.contains("\"priceEach\":{\"type\":\"integer\"}"), "{input}");
    let lazy = listed(server!().items(items![hold])).await;
    assert!(!is_in_program(object(&lazy, "inputSchema")), "made of two parts at run time");
}

/// `Holder` has a field of the type `Foreign`, whose schema only schemars can build. Both schemas become one.
#[tokio::test]
async fn a_part_that_only_schemars_knows_is_merged_into_the_schema() {
    let line = listed(server!().items(items![hold])).await;
    let schema: Value = serde_json::from_str(object(&line, "inputSchema")).unwrap();
    let key = json!({ "description": "Its key", "type": "string" });
    assert_eq!(
        schema["properties"]["holder"],
        json!({
            "type": "object",
            "properties": {
                "held": {
                    "description": "What is held", "type": "object", "properties": { "key": key }, "required": ["key"],
                },
                "count": { "type": "integer", "minimum": 0, "maximum": 255 },
            },
            "required": ["held", "count"],
        })
    );
}

/// Counts the events of one target.
struct Count(Arc<AtomicUsize>);

impl tracing::Subscriber for Count {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "mcp_runtime::schema"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// Returns how often schemars ran until a server was built, and until that server had listed its tools.
async fn asked(server: fn() -> Builder) -> (usize, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let _guard = tracing::subscriber::set_default(Count(count.clone()));
    let mut client = TestClient::connect(server()).await.unwrap();
    let built = count.load(Ordering::Relaxed);
    client.tools().await.unwrap();
    (built, count.load(Ordering::Relaxed))
}

#[tokio::test]
async fn schemars_runs_only_before_the_start_and_for_schemas_that_the_compiler_cannot_build() {
    assert_eq!(asked(|| server!().items(items![send_parcel])).await, (0, 0));
    assert_eq!(asked(|| server!().items(items![hold])).await, (2, 2));
    let full = || server!().items(items![hold]).schema_profile(SchemaProfile::Full);
    assert_eq!(asked(full).await, (2, 2));
}
