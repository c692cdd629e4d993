//! Items that send elicitation, sampling or roots requests to the client. Each item is a single function for all protocol revisions.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{Builder, elicitation::Unanswered, limits::Limits, prelude::*};

pub fn server() -> Builder {
    mcp_runtime::server!(name = "fixture", version = "1.2.3", group = "asking")
        .state(Planned::default())
        .state(Till::default())
}

/// Returns the same server with a limit of one second for each elicitation, sampling or roots request.
pub fn impatient() -> Builder {
    server().limits(Limits::new().question_time(Duration::from_secs(1)))
}

/// Number of plans that were made.
#[derive(Default)]
struct Planned(AtomicUsize);

/// Orders that have been paid for.
#[derive(Default)]
struct Till(Mutex<BTreeSet<u32>>);

/// Returns the URL of the payment page of an order.
fn bill(order: u32) -> String {
    format!("https://example.com/orders/{order}")
}

#[form]
struct Name {
    /// What you are called
    #[arg(len(1..=20))]
    name: String,
}

#[form]
struct Party {
    #[arg(range(1..=12))]
    guests: u8,
    garden: Option<bool>,
}

#[form]
#[serde(rename_all = "lowercase")]
#[derive(Debug)]
enum Dish {
    Soup,
    Bread,
}

#[form]
struct Menu {
    dishes: Vec<Dish>,
}

// ---- a single question

/// Asks for a name, without `asks` in its attribute.
#[tool(group = "asking")]
async fn introduce(ctx: &Context, greeting: &str) -> Result<String> {
    let name: Name = ctx.elicit("name", "What is your name?").await?;
    Ok(format!("{greeting} {}", name.name))
}

/// Declares that it sends elicitation requests.
#[tool(asks(elicitation), group = "asking")]
async fn declared(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Name>("name", "What is your name?").await?.name)
}

/// Continues without an answer.
#[tool(group = "asking")]
async fn perhaps(ctx: &Context) -> Result<String> {
    Ok(match ctx.elicit::<Name>("name", "What is your name?").await {
        Ok(name) => name.name,
        Err(Unanswered::Declined) => "declined".to_owned(),
        Err(Unanswered::Cancelled) => "cancelled".to_owned(),
        Err(error) => format!("nobody: {error}"),
    })
}

/// Asks for any of several choices.
#[tool(group = "asking")]
async fn choose(ctx: &Context) -> Result<String> {
    let menu: Menu = ctx.elicit("menu", "What would you like?").await?;
    Ok(format!("{:?}", menu.dishes))
}

/// Asks for a name, with a timeout that is shorter than the wait for an answer.
#[tool(timeout = "50ms", group = "asking")]
async fn hurried(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Name>("name", "What is your name?").await?.name)
}

/// Reports progress before and after it asks for a name.
#[tool(group = "asking")]
async fn reporting(ctx: &Context, progress: Progress) -> Result<String> {
    progress.step();
    let name: Name = ctx.elicit("name", "What is your name?").await?;
    progress.step();
    Ok(name.name)
}

/// Sends the user to a page.
#[tool(group = "asking")]
async fn pay(ctx: &Context) -> Result<&'static str> {
    ctx.elicit_url("pay", "Please pay.", "https://example.com/pay?booking=7").await?;
    Ok("on the way")
}

/// Hands over a paid order, and otherwise sends the user to the payment page.
#[tool(group = "asking")]
async fn collect(ctx: &Context, order: u32, till: &Till) -> Result<String> {
    if !till.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&order) {
        return Err(ctx.require_url("bill", "Please pay first.", bill(order)).await.into());
    }
    Ok(format!("here is order {order}"))
}

/// Records a payment, as the payment page would.
#[tool(group = "asking")]
fn paid(order: u32, till: &Till, server: Handle) {
    till.0.lock().unwrap_or_else(PoisonError::into_inner).insert(order);
    server.url_completed(bill(order));
}

/// Asks the client's model.
#[tool(group = "asking")]
async fn model(ctx: &Context) -> Result<String> {
    let question = Sampling::ask("The capital of France?", 100).system("Be brief.");
    Ok(ctx.sample("capital", question).await?.text())
}

/// Asks where the user works.
#[tool(group = "asking")]
async fn directories(ctx: &Context) -> Result<String> {
    let roots = ctx.roots().await?;
    Ok(roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join(" "))
}

#[prompt(group = "asking")]
async fn welcome(ctx: &Context, tone: &str) -> Result<String> {
    Ok(format!("{tone}: {}", ctx.elicit::<Name>("name", "What is your name?").await?.name))
}

#[resource("table://{number}", group = "asking")]
async fn table(ctx: &Context, number: u8) -> Result<String> {
    Ok(format!("{number}: {}", ctx.elicit::<Name>("name", "What is your name?").await?.name))
}

// ---- several questions

/// Makes a plan once and asks twice. The second question depends on the first answer.
#[tool(group = "asking")]
async fn book(ctx: &Context, day: &str, planned: &Planned) -> Result<String> {
    let plan = async || -> Result<usize> { Ok(planned.0.fetch_add(1, Ordering::SeqCst) + 1) };
    let plan = ctx.once("plan", plan).await?;
    let name: Name = ctx.elicit("name", "What is your name?").await?;
    let party: Party = ctx.elicit("party", format!("How many are you, {}?", name.name)).await?;
    let place = if party.garden.unwrap_or(false) { "outside" } else { "inside" };
    Ok(format!("plan {plan}: {} for {} {place}, {day}", party.guests, name.name))
}

/// Asks for a name, and accepts each answer only once.
#[tool(single_use, group = "asking")]
async fn order(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Name>("name", "What is your name?").await?.name)
}

/// Sends two elicitation requests at once.
#[tool(group = "asking")]
async fn together(ctx: &Context) -> Result<String> {
    let name = ctx.elicit::<Name>("name", "What is your name?");
    let party = ctx.elicit::<Party>("party", "How many are you?");
    let (name, party) = ctx.ask_all((name, party)).await;
    Ok(format!("{} for {}", party?.guests, name?.name))
}

/// Asks the user, the model and the client at once.
#[tool(asks(elicitation, sampling, roots), group = "asking")]
async fn everybody(ctx: &Context) -> Result<String> {
    let name = ctx.elicit::<Name>("name", "What is your name?");
    let greeting = ctx.sample("greeting", Sampling::ask("Greet somebody", 50));
    let (name, greeting, roots) = ctx.ask_all((name, greeting, ctx.roots())).await;
    Ok(format!("{} {} {}", greeting?.text(), name?.name, roots?.len()))
}
