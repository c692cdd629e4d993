//! The server that this suite runs. Most of its tools misbehave, each in a different way.

// Some tools print on purpose, and handlers take their arguments by value.
#![allow(clippy::print_stdout, clippy::needless_pass_by_value)]

use std::{
    process::{Command, ExitCode, Stdio, Termination as _},
    thread,
    time::Duration,
};

use mcp_runtime::prelude::*;
use support::clock::Stopwatch;

mod diary;

/// Returns the text.
#[tool]
fn echo(text: String) -> String {
    text
}

/// Guest, as clients of an earlier version still name him.
#[data]
struct Guest {
    #[serde(alias = "guest")]
    name: String,
}

/// Search in a tree of files.
#[data]
struct Search {
    query: String,
    // A field of a server for rmcp, whose author has written the schema by hand.
    #[schemars(schema_with = "whole")]
    max_depth: Option<u32>,
}

fn whole(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "integer", "minimum": 0 })
}

/// Finds files.
#[tool]
fn find(search: Args<Search>) -> String {
    format!("{} to depth {:?}", search.query, search.max_depth)
}

/// Greets a guest.
#[tool]
fn welcome(guest: Args<Guest>) -> String {
    format!("Welcome, {}", guest.name)
}

/// Returns all arguments.
#[tool]
fn anything(arguments: Args<serde_json::Map<String, serde_json::Value>>) -> String {
    serde_json::Value::Object(arguments.0).to_string()
}

/// Prints to stdout, with and without a newline.
#[tool]
fn print() -> &'static str {
    println!("printed with a newline");
    print!("printed without one");
    "printed"
}

/// Prints this many lines to stderr, each of this many bytes with its end.
#[tool]
fn print_lines(lines: usize, bytes: usize) -> &'static str {
    for n in 0..lines {
        let text = format!("line {n} of {lines} ");
        eprintln!("{text}{}", "x".repeat((bytes - 1).saturating_sub(text.len())));
    }
    "printed"
}

/// Prints lines to stdout and to stderr in turn.
#[tool]
fn print_both(lines: usize) -> &'static str {
    for n in 0..lines {
        println!("out {n}");
        eprintln!("err {n}");
    }
    "printed"
}

/// Prints like `print_lines`, and ends the process with `exit`, with `abort`, with `abort` after it has installed a handler for SIGABRT
/// (`handled`), or with a `panic` during another panic.
#[tool]
fn print_and_end(lines: usize, bytes: usize, way: String) {
    print_lines(lines, bytes);
    match &*way {
        "exit" => std::process::exit(3),
        "abort" => std::process::abort(),
        #[cfg(unix)]
        "handled" => {
            let abort = rustix::process::Signal::ABORT.as_raw();
            let kind = tokio::signal::unix::SignalKind::from_raw(abort);
            let _handler = tokio::signal::unix::signal(kind).expect("a handler");
            std::process::abort();
        }
        _ => {
            let _bomb = Bomb;
            panic!("a panic before another one");
        }
    }
}

/// Panics at once.
#[tool]
fn panic_now() {
    panic!("panicked now");
}

/// Panics after a wait.
#[tool]
async fn panic_later() {
    tokio::time::sleep(Duration::from_millis(1)).await;
    panic!("panicked later");
}

/// Panics on a thread for blocking work.
#[tool(blocking)]
fn panic_blocking() {
    panic!("panicked on a thread");
}

/// Reports that it begins, and computes for a minute without a pause.
#[tool]
async fn compute(progress: Progress) -> &'static str {
    progress.step();
    tokio::task::yield_now().await;
    let watch = Stopwatch::start();
    while watch.elapsed() < Duration::from_secs(60) {
        std::hint::spin_loop();
    }
    "computed"
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics with a `Bomb` as the payload, at once.
#[tool]
fn throw_now() {
    std::panic::panic_any(Bomb);
}

/// Panics with a `Bomb` as the payload, after a wait.
#[tool]
async fn throw_later() {
    tokio::time::sleep(Duration::from_millis(1)).await;
    std::panic::panic_any(Bomb);
}

/// Panics with a `Bomb` as the payload, on a thread for blocking work.
#[tool(blocking)]
fn throw_blocking() {
    std::panic::panic_any(Bomb);
}

/// Holds a `Bomb`, which is dropped at the timeout of the call.
#[tool(timeout = "200ms")]
async fn oversleep_with_bomb() {
    let _bomb = Bomb;
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

/// Works until its call is cancelled.
#[tool]
async fn spin() {
    loop {
        tokio::task::yield_now().await;
    }
}

/// Works on a thread for blocking work until its call is cancelled.
#[tool(blocking)]
fn spin_blocking(cancel: Cancel) -> Result<()> {
    loop {
        cancel.check()?;
        thread::sleep(Duration::from_millis(1));
    }
}

/// Never ends, unless its call is cancelled.
#[tool]
async fn hold() {
    std::future::pending::<()>().await;
}

/// Never ends, and ignores the cancellation of its call.
#[tool(blocking)]
fn stubborn() {
    loop {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits as a task for something that never happens.
#[tool(task)]
async fn hold_task() {
    std::future::pending::<()>().await;
}

/// Never ends, and ignores the cancellation of its task.
#[tool(task, blocking)]
fn stubborn_task() {
    stubborn();
}

/// Waits for this many milliseconds, as a task.
#[tool(task, blocking)]
fn wait_task(ms: u64) -> String {
    wait_blocking(ms)
}

/// Takes longer than its timeout.
#[tool(timeout = "200ms")]
async fn oversleep() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

/// Takes longer than its timeout, on a thread for blocking work.
#[tool(blocking, timeout = "200ms")]
fn oversleep_blocking() {
    thread::sleep(Duration::from_secs(3600));
}

/// Answers with this many bytes.
#[tool]
fn big(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Answers with this many bytes after a wait.
#[tool]
async fn big_later(bytes: usize) -> String {
    tokio::task::yield_now().await;
    "x".repeat(bytes)
}

/// Starts a child process that prints to the stdout that it inherits.
#[tool(blocking)]
fn child_prints() -> Result<String> {
    let status = Command::new("echo").arg("printed by a child").status()?;
    Ok(format!("the child succeeded: {}", status.success()))
}

/// Starts a child process that reads the stdin that it inherits.
#[tool(blocking)]
fn child_reads() -> Result<String> {
    let output = Command::new("cat").stdin(Stdio::inherit()).output()?;
    Ok(format!("the child read {} bytes", output.stdout.len()))
}

/// Writes this many lines to the log.
#[tool]
fn log(lines: usize) -> String {
    for n in 0..lines {
        tracing::info!("log line {n} of {lines}");
    }
    format!("{lines} lines logged")
}

/// Waits for this many milliseconds.
#[tool]
async fn wait(ms: u64) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("waited {ms} ms")
}

/// Waits for this many milliseconds, on a thread for blocking work.
#[tool(blocking)]
fn wait_blocking(ms: u64) -> String {
    thread::sleep(Duration::from_millis(ms));
    format!("waited {ms} ms")
}

/// Reports each of this many steps. If `flag` names a file, writes this file afterwards.
#[tool]
async fn count(steps: u32, flag: Option<String>, progress: Progress) -> Result<String> {
    for n in progress.over(0..steps) {
        if n % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    if let Some(flag) = flag {
        std::fs::write(flag, "")?;
    }
    Ok(format!("{steps} steps"))
}

/// Reports the first of two stages, waits for a file with this path, and reports the second stage.
#[tool]
async fn stages(go: &str, progress: Progress) -> &'static str {
    progress.total(2).say(1, "halfway\nthere");
    while !std::path::Path::new(go).exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    progress.report(2);
    "all stages"
}

/// Reports two stages, and writes a line to the log between them.
#[tool]
async fn log_stages(progress: Progress) -> &'static str {
    progress.total(2).say(1, "halfway");
    tokio::task::yield_now().await;
    tracing::info!("saved the first half");
    progress.report(2);
    tokio::task::yield_now().await;
    "all stages"
}

/// Reports a text whose characters take two columns each.
#[tool]
async fn wide_stages(progress: Progress) -> &'static str {
    progress.total(2).say(1, "天気予報".repeat(20));
    tokio::task::yield_now().await;
    "all stages"
}

/// Fails.
#[tool]
fn fail() -> Result<()> {
    Err(Error::msg("it did not work"))
}

/// Repeats a word.
#[tool]
fn repeat(
    word: String,
    /// How often
    times: u8,
    separator: Option<String>,
) -> String {
    vec![word; times.into()].join(separator.as_deref().unwrap_or(" "))
}

/// A table in a restaurant.
#[data]
struct Table {
    seats: u8,
    outside: Option<bool>,
}

/// Seats guests at a table.
#[tool]
fn seat(guests: Vec<String>, table: Table) -> String {
    format!("{} at {} seats, outside: {:?}", guests.join(" and "), table.seats, table.outside)
}

/// Has an optional argument before a required one, and neither comes first in the alphabet.
#[tool]
fn shout(volume: Option<u8>, phrase: String, again: bool) -> String {
    format!("{phrase} {volume:?} {again}")
}

#[form]
#[serde(rename_all = "lowercase")]
enum Size {
    /// For two
    Small,
    Large,
}

#[form]
struct Booking {
    /// Whose table it is
    name: String,
    #[arg(title = "Persons", range(1..=8))]
    persons: u8,
    size: Size,
    #[arg(default = true)]
    outside: bool,
    remark: Option<String>,
}

/// Sends an elicitation request with a form that has every kind of field.
#[tool]
async fn book(ctx: &Context) -> Result<String> {
    let booking: Booking = ctx.elicit("table", "Which table?").await?;
    let size = if matches!(booking.size, Size::Small) { "small" } else { "large" };
    Ok(format!(
        "{} {} {size} {} {:?}",
        booking.name, booking.persons, booking.outside, booking.remark
    ))
}

/// Sends the user to a page.
#[prompt]
async fn link(ctx: &Context) -> Result<&'static str> {
    ctx.elicit_url("page", "Connect your calendar", "https://calendar.example.com/").await?;
    Ok("on the way")
}

/// Requires a payment that never arrives.
#[resource("notes://unpaid")]
async fn unpaid(ctx: &Context) -> Result<&'static str> {
    Err(ctx.require_url("pay", "Pay first", "https://pay.example.com/").await.into())
}

/// Requires a payment, which has arrived as soon as there is a file with this path.
#[tool]
async fn buy(ctx: &Context, receipt: &str) -> Result<&'static str> {
    if std::path::Path::new(receipt).exists() {
        return Ok("bought");
    }
    Err(ctx.require_url("pay", "Pay first", "https://pay.example.com/").await.into())
}

/// Asks the model of the client, and says so beforehand.
#[tool(asks(sampling))]
async fn summarize(ctx: &Context, text: &str) -> Result<String> {
    Ok(ctx.sample("summary", Sampling::ask(text, 50)).await?.text())
}

/// Asks for the directories of the user, and does not say so beforehand.
#[tool]
async fn count_roots(ctx: &Context) -> Result<usize> {
    Ok(ctx.roots().await?.len())
}

/// Something that is needed.
#[form]
struct Errand {
    thing: String,
}

/// Asks, begins a task, reports, asks again.
#[tool(task(required, later), asks(elicitation))]
async fn errand(ctx: &Context, progress: Progress) -> Result<String> {
    let first: Errand = ctx.elicit("first", "What is needed?").await?;
    ctx.begin_task().await;
    progress.total(2).say(1, "on the way");
    tokio::time::sleep(Duration::from_millis(400)).await;
    let second: Errand = ctx.elicit("second", "What else?").await?;
    Ok(format!("{} and {}", first.thing, second.thing))
}

/// The tasks of today.
#[resource("notes://today", subscribe)]
fn today() -> &'static str {
    "test the server"
}

/// Greets somebody.
#[prompt]
fn greet(name: &str) -> String {
    format!("Say hello to {name}.")
}

/// Introduces a book.
#[resource("books://{language}/{title}")]
fn volume(
    #[complete("German", "Greek", "English")] language: &str,
    #[complete(titles)] title: &str,
) -> String {
    format!("{title}, in {language}")
}

#[completion]
fn titles(language: Option<&str>) -> Vec<String> {
    match language {
        Some("German") => vec!["Faust".to_owned(), "Woyzeck".to_owned()],
        Some(_) => Vec::new(),
        None => (1..=120).map(|number| format!("Volume {number}")).collect(),
    }
}

/// State that `setup` returns. Commands that only list items do not need this state.
struct Prepared;

/// Items with schemas, names and descriptions that `check` complains about.
mod flawed {
    use mcp_runtime::prelude::*;
    use serde_json::json;

    /// State of the `setup` function, which also adds a tool.
    struct Added;

    fn schema() -> serde_json::Value {
        json!({ "type": "object", "properties": { "day": true }, "required": ["day", "hour"] })
    }

    /// Its schema is written by hand.
    #[tool(group = "flawed", input_schema = schema())]
    fn given(day: serde_json::Value) -> String {
        day.to_string()
    }

    /// Its schema is the one that schemars generates.
    #[tool(group = "flawed", name = "full.schema", schema = "full")]
    fn full(
        /// Which
        page: Option<u8>,
    ) -> Json<Page> {
        Json(Page { number: page, next: None })
    }

    /// A type that contains itself. Some clients reject the full schema of such a type.
    #[data]
    struct Page {
        number: Option<u8>,
        next: Option<Box<Page>>,
    }

    #[prompt(group = "flawed", name = "to do")]
    fn to_do(#[complete("today", "tomorrow")] day: &str, list: &str) -> String {
        format!("What of {list} is to be done {day}?")
    }

    async fn add(server: Handle) -> Result<Added> {
        if std::env::var_os("FIXTURE_BROKEN").is_some() {
            return Err(Error::msg("the disk is full"));
        }
        server.add(Tool::new("added").handler(async |_: Context| "added"))?;
        Ok(Added)
    }

    pub fn run() -> mcp_runtime::Exit {
        mcp_runtime::server!(name = "flawed", group = "flawed").setup(add).run()
    }

    /// Runs a server whose `setup` blocks its thread.
    pub fn run_stuck() -> mcp_runtime::Exit {
        let block = async |_: Handle| {
            loop {
                std::thread::park();
            }
            #[expect(unreachable_code, reason = "the type of the state")]
            Ok::<_, Error>(Added)
        };
        mcp_runtime::server!(name = "stuck", group = "flawed").setup(block).run()
    }
}

/// Tools for the tests of `schema`. Only one of their schemas can be generated at compile time.
mod lazy {
    use std::num::NonZeroI64;

    use mcp_runtime::prelude::*;

    #[data]
    struct Stay {
        nights: Vec<Night>,
    }

    #[data]
    struct Night {
        price: NonZeroI64,
    }

    #[tool(group = "lazy")]
    fn parts(day: NonZeroI64, stay: Stay, guests: u8) -> Json<Vec<Night>> {
        Json(stay.nights.into_iter().filter(|_| day.get() > guests.into()).collect())
    }

    #[tool(group = "lazy", schema = "full")]
    fn full() {}

    #[tool(group = "lazy")]
    fn plain(guests: u8) -> u8 {
        guests
    }

    pub fn run() -> mcp_runtime::Exit {
        mcp_runtime::server!(name = "lazy", group = "lazy").run()
    }
}

/// Server whose program stops it.
mod until {
    use mcp_runtime::prelude::*;
    use tokio::sync::Notify;

    static STOP: Notify = Notify::const_new();
    static STOPPED: Notify = Notify::const_new();

    /// Stops the server.
    #[tool(group = "until")]
    fn stop() {
        STOP.notify_one();
    }

    /// Returns when the server is stopping.
    #[tool(group = "until")]
    async fn outlast() -> &'static str {
        STOPPED.notified().await;
        "answered"
    }

    pub fn run() -> Result<(), mcp_runtime::ServeError> {
        let server = mcp_runtime::server!(name = "until", group = "until");
        let server = server.on_shutdown(async |_| eprintln!("shut down"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(server.serve_stdio_until(async {
            STOP.notified().await;
            STOPPED.notify_one();
        }))
    }
}

fn main() -> ExitCode {
    if std::env::var_os("FIXTURE_UNTIL").is_some() {
        until::run().expect("the server stops");
        return ExitCode::SUCCESS;
    }
    if std::env::var_os("FIXTURE_TWICE").is_some() {
        let codes = [run().code(), run().code()];
        eprintln!("went on after {codes:?}");
        return ExitCode::SUCCESS;
    }
    if std::env::var_os("FIXTURE_ON_A_RUNTIME").is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        return runtime.block_on(async { run() }).report();
    }
    run().report()
}

fn run() -> mcp_runtime::Exit {
    if std::env::var_os("FIXTURE_DIARY").is_some() {
        return diary::server().run();
    }
    if std::env::var_os("FIXTURE_LAZY").is_some() {
        return lazy::run();
    }
    if std::env::var_os("FIXTURE_STUCK").is_some() {
        return flawed::run_stuck();
    }
    if std::env::var_os("FIXTURE_FLAWED").is_some() {
        return flawed::run();
    }
    if std::env::var_os("FIXTURE_SLOW_PANIC").is_some() {
        // Resolving the symbols of a backtrace takes about this long.
        std::panic::set_hook(Box::new(|_| thread::sleep(Duration::from_millis(200))));
    }
    if std::env::var_os("FIXTURE_SUBSCRIBER").is_some() {
        let own = tracing::subscriber::NoSubscriber::new();
        tracing::subscriber::set_global_default(own).expect("nobody was before this");
    }
    let grace = std::env::var("FIXTURE_GRACE").ok().and_then(|text| text.parse().ok());
    let limits = match grace.map(Duration::from_millis) {
        Some(grace) => mcp_runtime::limits::Limits::new().grace(grace),
        None => mcp_runtime::limits::Limits::new(),
    };
    let server =
        mcp_runtime::server!().limits(limits).setup(async || Ok::<_, Error>(Prepared)).on_shutdown(
            async |context: Context| assert!(context.state::<Prepared>().is_some(), "no state"),
        );
    if std::env::var_os("FIXTURE_AROUND").is_none() {
        return server.run();
    }
    let around = server.around(async |call, next| {
        assert!(call.context().state::<Prepared>().is_some(), "no state");
        next.run(call).await
    });
    around.run()
}
