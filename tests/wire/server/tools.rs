use std::time::Duration;

use mcp_runtime::prelude::*;
use tokio::time::sleep;

// ---- every kind of result

#[tool]
pub fn text() -> &'static str {
    "plain \u{2713}\nsecond line"
}

#[tool]
fn nothing() {}

#[tool]
fn image() -> Image {
    Image::png([1, 2, 3]).audience(&[Role::User]).priority(0.5)
}

#[tool]
fn audio() -> Audio {
    Audio::wav([1, 2, 3])
}

#[tool]
fn embedded() -> Embedded {
    Embedded::text("note://1", "inside")
}

#[tool]
fn link() -> ResourceLink {
    ResourceLink::new("note://1", "note").title("A note").mime_type("text/plain").size(6)
}

#[tool]
fn mixed() -> (Text, Image, String) {
    let stamped = Text::new("one")
        .last_modified("2026-07-28T00:00:00Z")
        .meta(Meta::new().with("example.com/n", 1));
    (stamped, Image::jpeg([4]), "three".to_owned())
}

#[data]
struct Point {
    x: i64,
    y: i64,
}

#[tool]
fn object() -> WithMeta<Json<Point>> {
    WithMeta(Json(Point { x: 1, y: 2 }), Meta::new().with("example.com/took", 7))
}

#[tool]
fn array() -> Json<[i64; 2]> {
    Json([1, 2])
}

#[tool]
fn null() -> Json<Option<Point>> {
    Json(None)
}

// ---- every kind of failure

#[tool]
fn fail() -> Result<Json<Point>> {
    Err(Error::msg("the oven is cold"))
}

#[tool]
fn refuse() -> Result<String> {
    Err(Error::invalid_params("`x` and `y` exclude each other").with_data(["x", "y"]))
}

#[tool]
fn coded() -> Result<String> {
    Err(Error::code(7, "out of flour"))
}

#[tool]
fn hidden() -> Result<String> {
    Err(Error::internal("the password is wrong"))
}

#[tool]
fn crash() -> String {
    panic!("this tool panics on purpose")
}

#[tool(timeout = "50ms")]
async fn late() -> &'static str {
    sleep(Duration::from_secs(3600)).await;
    "never said"
}

// ---- arguments

#[data]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

/// Orders pizza.
#[tool]
fn order(
    pizza: String,
    size: Size,
    #[arg(range(1..=9))] count: u8,
    extras: Option<Vec<String>>,
) -> String {
    let size = if matches!(size, Size::Small) { "small" } else { "large" };
    format!("{count} {size} {pizza} with {}", extras.unwrap_or_default().join(" and "))
}

#[tool(strict)]
fn exactly(count: u8) -> String {
    count.to_string()
}

#[tool(lenient)]
fn roughly(count: u8) -> String {
    count.to_string()
}

// ---- while a call runs

/// Reports 1, 0.5 (lower than the report before it), 2.5 and 4 of 4, and once more after the answer has been sent.
#[tool]
async fn climb(progress: Progress) -> &'static str {
    progress.total(4).report(1);
    progress.say(0.5, "back");
    progress.say(2.5, "half way");
    sleep(Duration::from_millis(5)).await;
    progress.report(4);
    tokio::spawn(async move {
        sleep(Duration::from_millis(5)).await;
        progress.report(5);
    });
    "at the top"
}

/// Waits for a second, reporting when it begins and ends.
#[tool]
async fn wait(progress: Progress) -> &'static str {
    progress.step();
    sleep(Duration::from_secs(1)).await;
    progress.step();
    "waited"
}

/// Works until the call is cancelled, and then reports once more.
#[tool(blocking)]
fn stubborn(progress: Progress, cancel: Cancel) {
    progress.step();
    while !cancel.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    progress.step();
}

/// Logs an event at each level from debug to error.
#[tool]
async fn chatter() -> &'static str {
    tracing::debug!("details");
    tracing::info!(dish = "soup", count = 3, "served");
    sleep(Duration::from_millis(5)).await;
    tracing::warn!("low on salt");
    tracing::error!("fire");
    "done"
}

/// Returns the name and version of the client, and the `traceparent` of the call.
#[tool]
fn caller(client: Client, meta: Meta) -> String {
    let trace = meta.get("traceparent").and_then(|value| value.as_str()).unwrap_or("-");
    format!("{} {} {trace}", client.name, client.version)
}

// ---- tools that change the server

/// Adds a tool, a resource or a prompt called `new`.
#[tool]
fn add(kind: &str, server: Handle) -> Result<()> {
    match kind {
        "tool" => server.add(Tool::new("new").handler(async |_: Context| "new")),
        "resource" => {
            server.add(Resource::new("new://1", "new").handler(async |_, _: Context| "new"))
        }
        "template" => {
            server.add(Resource::new("new://{n}", "new").handler(async |_, _: Context| "new"))
        }
        _ => server.add(Prompt::new("new").handler(async |_, _: Context| "new")),
    }
}

/// Removes everything called `name`.
#[tool]
fn remove(name: &str, server: Handle) -> bool {
    server.remove(name)
}

/// Notifies the clients that a resource has changed.
#[tool]
fn touch(uri: &str, server: Handle) {
    server.updated(uri);
}
