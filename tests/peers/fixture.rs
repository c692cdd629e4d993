//! A server whose tools ask the user, for the clients of this suite. The tools can ask in every protocol revision that the clients support.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::prelude::*;

/// Environment to which a version is deployed.
#[data]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Environment {
    Testing,
    Staging,
    Production,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Testing => "testing",
            Self::Staging => "staging",
            Self::Production => "production",
        })
    }
}

#[form]
struct Confirm {
    /// Whether it may begin
    confirm: bool,
}

#[form]
#[serde(rename_all = "lowercase")]
enum Time {
    Now,
    Tonight,
}

#[form]
struct Approval {
    time: Time,
    /// Who answers for it
    #[arg(len(1..=40))]
    who: String,
}

/// Calls of `deploy` that began, and plans that were made, since the server started.
#[derive(Default)]
struct History {
    begun: AtomicUsize,
    planned: AtomicUsize,
}

async fn make_plan(history: &History, env: Environment) -> Result<String> {
    let number = history.planned.fetch_add(1, Ordering::SeqCst) + 1;
    Ok(format!("plan {number} for {env}"))
}

/// Deploys a version, if the user agrees to the deployment and to its plan.
#[tool(destructive, asks(elicitation))]
async fn deploy(ctx: &Context, env: Environment, history: &History) -> Result<String> {
    history.begun.fetch_add(1, Ordering::SeqCst);
    let answer: Confirm = ctx.elicit("confirm", format!("Deploy to {env}?")).await?;
    if !answer.confirm {
        return Ok("nothing is deployed".to_owned());
    }
    let plan = ctx.once("plan", async || make_plan(history, env).await).await?;
    let approval: Approval = ctx.elicit("approval", format!("Carry out {plan}?")).await?;
    let time = match approval.time {
        Time::Now => "now",
        Time::Tonight => "tonight",
    };
    Ok(format!("{plan} is carried out {time}, says {}", approval.who))
}

/// Returns the number of calls that began, and of plans that were made.
#[tool(read_only)]
fn history(history: &History) -> String {
    let [begun, planned] =
        [&history.begun, &history.planned].map(|count| count.load(Ordering::SeqCst));
    format!("begun {begun}, planned {planned}")
}

/// Sends the user to a page.
#[tool]
async fn pay(ctx: &Context, booking: u32) -> Result<&'static str> {
    let url = format!("https://example.com/pay?booking={booking}");
    ctx.elicit_url("pay", format!("Please pay for {booking}."), url).await?;
    Ok("on the way")
}

/// All processes have the same state key, so each accepts rounds that another process began.
fn main() -> mcp_runtime::Exit {
    let server = mcp_runtime::server!(name = "asking-fixture").state(History::default());
    server.state_key(*b"a key that everybody here knows.").run()
}
