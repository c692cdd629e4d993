//! Server that the benchmarks measure, with three tools that do almost nothing. With `TOOLS=N` in the environment, there are `N` more
//! tools, which are only listed. With `ISSUER=URL`, callers over HTTP need a token of that issuer.
//!
//! Nothing is tuned for the benchmarks: the figures in `BENCHMARKS.md` are those of a server with all default limits and checks.

use mcp_runtime::{auth::Jwt, prelude::*};

/// Echo the message back
#[tool]
fn echo(
    /// What to say
    message: String,
) -> String {
    message
}

#[data]
struct Sum {
    sum: i64,
}

/// Add two integers
#[tool]
fn add(
    /// First addend
    a: i64,
    /// Second addend
    b: i64,
) -> Result<Json<Sum>> {
    let sum = a
        .checked_add(b)
        .ok_or_else(|| Error::msg(format_args!("{a} + {b} does not fit in 64 bits")))?;
    Ok(Json(Sum { sum }))
}

/// Return a text of the given size
#[tool]
fn payload(
    /// In bytes
    #[arg(range(..=64_000_000))]
    size: usize,
) -> String {
    "x".repeat(size)
}

#[data]
struct Search {
    /// What to look for
    query: String,
    /// How many results to return
    limit: Option<i64>,
    /// Whether to say more
    verbose: Option<bool>,
}

/// Additional tools, whose number is known only when the server starts.
struct Dummies;

fn dummies(count: usize, handle: &Handle) -> Result<Dummies> {
    for number in 0..count {
        let about = format!(
            "Dummy tool number {number:03}, present only to make the tool list long enough to measure."
        );
        let tool = Tool::new(format!("dummy_{number:03}"))
            .description(about)
            .handler_with(async |search: Search, _: Context| search.query);
        handle.add(tool)?;
    }
    Ok(Dummies)
}

fn main() -> Exit {
    let server = server!();
    let server = match std::env::var("ISSUER") {
        Ok(issuer) => server.auth(Jwt::new(issuer, "https://rig.example/mcp")),
        Err(_) => server,
    };
    let Ok(count) = std::env::var("TOOLS") else { return server.run() };
    let count = count.parse().unwrap_or_else(|_| panic!("`TOOLS` must be a number, not `{count}`"));
    server
        .tools_per_page(count + 3)
        .setup(async move |handle: Handle| dummies(count, &handle))
        .run()
}
