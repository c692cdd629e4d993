//! A server for the browser: a form with every kind of field, results of every kind, and calls that wait.

use std::{future::pending, sync::LazyLock};

use mcp_runtime::{
    SchemaProfile,
    auth::{Authorization, StaticTokens},
    prelude::*,
};
use serde_json::{Value, json};
use tokio::sync::watch;

#[data]
struct Customer {
    name: String,
    /// Where the receipt goes
    #[schemars(email)]
    email: String,
}

#[data]
struct Article {
    /// Number in the catalog
    code: u32,
    /// Pieces, from 1 to 9
    #[schemars(range(min = 1, max = 9))]
    amount: u8,
}

/// How the parcel reaches the customer.
#[data]
#[serde(tag = "by", rename_all = "lowercase")]
enum Delivery {
    Pickup { shop: String },
    Courier { street: String, floor: Option<i32> },
}

#[data]
#[serde(rename_all = "lowercase")]
enum Extra {
    Gift,
    Invoice,
    Insurance,
}

/// Orders articles, and returns the order as the server has read it.
///
/// - **customer** gets a receipt
/// - see [the catalog](https://example.com/catalog)
#[tool(title = "Order articles", destructive)]
fn order(
    customer: Customer,
    articles: Vec<Article>,
    delivery: Delivery,
    /// Wishes of the customer
    extras: Option<Vec<Extra>>,
    /// Time of day
    #[arg(default = 12, range(8..=18))]
    hour: u8,
    note: Option<String>,
    express: Option<bool>,
) -> String {
    let pieces: u32 = articles.iter().map(|article| u32::from(article.amount)).sum();
    let codes: Vec<_> = articles.iter().map(|article| article.code).collect();
    let delivery = match delivery {
        Delivery::Pickup { shop } => format!("pickup at {shop}"),
        Delivery::Courier { street, floor } => format!("courier to {street}, floor {floor:?}"),
    };
    let extras = extras.map_or(0, |extras| extras.len());
    let Customer { name, email } = customer;
    format!(
        "{pieces} pieces of {codes:?} for {name} <{email}>, {delivery}, {extras} extras, at {hour}, {note:?}, {express:?}"
    )
}

#[data]
struct Rows {
    cities: Vec<City>,
}

#[data]
struct City {
    name: String,
    people: u64,
}

/// Lists cities with their population.
#[tool(read_only, idempotent)]
fn cities(
    /// Least number of people
    #[arg(default = 0)]
    people: u64,
    /// Part of the name
    name: Option<&str>,
) -> Json<Rows> {
    let all = [("Helsinki", 684_018), ("Tampere", 260_358), ("Turku", 206_073), ("Vaasa", 70_361)];
    let is_wanted =
        |city: &(&str, u64)| city.1 >= people && name.is_none_or(|part| city.0.contains(part));
    let found = all.into_iter().filter(is_wanted);
    Json(Rows {
        cities: found.map(|(name, people)| City { name: name.to_owned(), people }).collect(),
    })
}

fn promised() -> Value {
    json!({ "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] })
}

/// Promises a number, and returns a text.
#[tool(read_only, output_schema = promised())]
fn broken_promise() -> Json<Value> {
    Json(json!({ "count": "many" }))
}

#[data]
struct Balance {
    /// Units of the smallest coin
    amount: u64,
    parts: Vec<u64>,
}

/// Returns the amount and half of it.
#[tool(read_only)]
fn balance(
    amount: u64,
    /// Amount of the parts, by default half of the amount
    part: Option<u64>,
) -> Json<Balance> {
    Json(Balance { amount, parts: vec![part.unwrap_or(amount / 2)] })
}

/// Returns Markdown and links.
#[tool(read_only)]
fn report() -> (&'static str, ResourceLink, ResourceLink) {
    (
        "# Report\n\nAll is **well**, see [the page](https://example.com/page).\n\n| lamp | state |\n|---|---|\n| hall | on |\n\n<img src=x onerror=alert(1)>",
        ResourceLink::new("fixture://notes", "notes").description("What was noted"),
        ResourceLink::new("https://example.com/manual", "manual"),
    )
}

/// Notes.
#[resource("fixture://notes", mime_type = "text/markdown")]
fn notes() -> &'static str {
    "- first\n- second"
}

/// A street of a city.
#[resource("fixture://{city}/{street}")]
fn street(#[complete(known_cities)] city: &str, #[complete(known_streets)] street: &str) -> String {
    format!("{street} in {city}")
}

/// Plans a walk.
#[prompt]
fn walk(#[complete(known_cities)] city: &str, #[complete(known_streets)] street: &str) -> String {
    format!("Plan a walk along {street} in {city}.")
}

#[completion]
fn known_cities() -> Vec<String> {
    ["Turku", "Tampere", "Vaasa"].map(str::to_owned).into()
}

#[completion]
fn known_streets(city: Option<&str>) -> Vec<String> {
    match city {
        Some("Turku") => vec!["Aurakatu".to_owned(), "Linnankatu".to_owned()],
        _ => vec!["Kirkkokatu".to_owned()],
    }
}

/// Number of calls of `wait_for_cancel` that have been cancelled.
static CANCELLED: LazyLock<watch::Sender<u32>> = LazyLock::new(watch::Sender::default);

struct Cancellation;

impl Drop for Cancellation {
    fn drop(&mut self) {
        CANCELLED.send_modify(|count| *count += 1);
    }
}

/// Waits until this number of calls of `wait_for_cancel` has been cancelled.
// A tool that may run as a task lets the page offer tasks for all tools in revision 2026-07-28.
#[tool(task, read_only)]
async fn wait_for_cancellations(
    /// Number of calls
    count: u32,
) -> Result<&'static str> {
    CANCELLED.subscribe().wait_for(|cancelled| *cancelled >= count).await.map_err(Error::from)?;
    Ok("cancelled")
}

/// Reports half of its work, and then waits until it is cancelled.
#[tool(read_only)]
async fn wait_for_cancel(progress: Progress) -> &'static str {
    let _cancellation = Cancellation;
    progress.total(10).say(5, "half of it");
    pending::<()>().await;
    "never"
}

/// Writes a log message of each level.
#[tool(read_only)]
async fn write_log() -> &'static str {
    tracing::debug!("a detail");
    tracing::info!("a fact");
    tracing::warn!("a doubt");
    tracing::error!("a mistake");
    "written"
}

/// Adds a tool, a resource, a template and a prompt.
#[tool]
fn grow(server: Handle, name: String) -> Result<&'static str> {
    let grown = |_: Variables, _: Context| async { "grown" };
    server.add(
        Tool::new(name.clone())
            .description("Came later.")
            .handler_with(|_: Nothing, _: Context| async { "grown" }),
    )?;
    server.add(Resource::new(format!("grown://{name}"), name.clone()).handler(grown))?;
    server.add(Resource::new(format!("grown://{name}/{{part}}"), name.clone()).handler(grown))?;
    server.add(Prompt::new(name).handler(grown))?;
    Ok("There are new items.")
}

#[data]
struct Nothing {}

/// Sends the user to a page first.
#[tool(asks(elicitation))]
async fn pay(ctx: &Context) -> Result<&'static str> {
    ctx.elicit_url("bill", "Pay the bill.", "https://pay.example.com/bill/7").await?;
    Ok("paid")
}

/// Amount that the user confirms.
#[form]
struct Payment {
    #[arg(default = 9_007_199_254_740_993_u64)]
    amount: u64,
}

/// Asks for an amount, and returns it with its proposal.
#[tool(asks(elicitation))]
async fn confirm_amount(
    ctx: &Context,
    #[arg(default = 9_007_199_254_740_995_u64)] proposal: u64,
) -> Result<String> {
    let payment: Payment = ctx.elicit("amount", "How much do you pay?").await?;
    Ok(format!("{} of {proposal}", payment.amount))
}

/// HTML of the view of `lamp`.
const VIEW: &str = include_str!("view.html");

#[data]
struct Lamp {
    name: String,
    is_on: bool,
    /// Number above 2^53
    serial: u64,
}

fn lamp_of(name: &str) -> Lamp {
    Lamp { name: name.to_owned(), is_on: true, serial: 9_007_199_254_740_993 }
}

/// Shows a lamp.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/lamp" })))]
fn lamp(lamp: &str) -> Json<Lamp> {
    Json(lamp_of(lamp))
}

/// Shows a lamp, with the deprecated key, and in a view with careless settings.
#[tool(read_only, meta("ui/resourceUri" = "ui://fixture/careless"))]
fn careless_lamp(lamp: &str) -> Json<Lamp> {
    Json(lamp_of(lamp))
}

/// Has a view that never hears of a result.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/lamp" })))]
async fn broken_lamp() -> &'static str {
    pending::<()>().await;
    "never"
}

/// Names a view that is no view.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/text" })))]
fn text_lamp() -> &'static str {
    "on"
}

/// Returns the state of a lamp for its view.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/lamp", "visibility": ["app"] })))]
fn lamp_state(lamp: &str) -> Json<Lamp> {
    Json(lamp_of(lamp))
}

/// Turns a lamp on or off.
#[tool(idempotent, destructive = false)]
fn switch_lamp(lamp: &str, on: bool) -> String {
    format!("{lamp} is {}", if on { "on" } else { "off" })
}

/// Shows a lamp in a view without a script.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/silent" })))]
fn silent_lamp() -> &'static str {
    "on"
}

/// A view that never asks the page for anything.
#[resource("ui://fixture/silent", mime_type = "text/html;profile=mcp-app")]
fn silent_view() -> &'static str {
    "<!doctype html><html lang=\"en\"><title>Silent</title><p>A lamp without a script</p></html>"
}

/// Forgets a lamp.
#[tool(meta("ui" = json!({ "visibility": ["model"] })))]
fn forget_lamp() -> &'static str {
    "forgotten"
}

/// The view of a lamp. It may connect to each port of `localhost`, and to no other host.
#[resource(
    "ui://fixture/lamp",
    mime_type = "text/html;profile=mcp-app",
    meta("ui" = json!({ "csp": { "connectDomains": ["http://localhost:*"], "resourceDomains": ["http://localhost:*"] } }))
)]
fn lamp_view() -> &'static str {
    VIEW
}

/// The same view with sources that are none, and without a border.
#[resource(
    "ui://fixture/careless",
    mime_type = "text/html;profile=mcp-app",
    meta("ui" = json!({
        "csp": { "connectDomains": ["http://localhost:*; script-src *", "*"], "frameDomains": ["http://localhost:*"] },
        "prefersBorder": false,
    }))
)]
fn careless_view() -> &'static str {
    VIEW
}

/// Shows a lamp in a view that uses the official library.
#[tool(read_only, meta("ui" = json!({ "resourceUri": "ui://fixture/library" })))]
fn library_lamp(lamp: &str) -> Json<Lamp> {
    Json(lamp_of(lamp))
}

/// The file that the variable `FIXTURE_VIEW` names.
#[resource("ui://fixture/library", mime_type = "text/html;profile=mcp-app")]
fn library_view() -> Result<String> {
    let file = std::env::var("FIXTURE_VIEW").map_err(Error::from)?;
    Ok(std::fs::read_to_string(file)?)
}

/// A text.
#[resource("ui://fixture/text", mime_type = "text/plain")]
fn text_view() -> &'static str {
    "on"
}

fn main() -> mcp_runtime::Exit {
    // The full schemas have formats and nullable members.
    let server =
        mcp_runtime::server!(title = "Parcels", instructions = "Call `order` with **care**.")
            .schema_profile(SchemaProfile::Full);
    // With the variable, the author gives out the token, and there is no authorization server.
    match std::env::var("FIXTURE_TOKEN") {
        Ok(token) => {
            server.auth(StaticTokens::new().token(&token, Authorization::new("ada"))).run()
        }
        Err(_) => server.run(),
    }
}
