//! HTTP server that the tests run in a process of its own. Its tools wait, report progress, count, send elicitation requests and return
//! large results. Environment variables set limits that are small enough for a test to exceed.

// Tool functions take their arguments by value.
#![allow(clippy::needless_pass_by_value)]

#[path = "../wire/server/gate.rs"]
mod gate;

use std::{
    convert::Infallible,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use gate::Gate;
use mcp_runtime::{Builder, Exit, limits::Limits, prelude::*, store::SqliteStore};
use mcp_runtime_redis::Redis;
use tokio::time::sleep;

/// Returns the text.
#[tool]
fn process_id() -> u32 {
    std::process::id()
}

/// Returns the text.
#[tool]
fn echo(text: String) -> String {
    text
}

/// May be called once an hour.
#[tool(rate = "1/h")]
fn once() -> &'static str {
    "said"
}

/// Returns the text after a while.
#[tool]
async fn wait(ms: u64, text: String) -> String {
    sleep(Duration::from_millis(ms)).await;
    text
}

/// Returns the text as soon as the file exists.
#[tool]
async fn wait_for_file(path: String, text: String) -> String {
    await_file(path).await;
    text
}

/// Answers with this many bytes.
#[tool]
fn big(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Opens this many files at once.
#[cfg(unix)]
#[tool]
fn open_files(count: usize) -> Result<usize> {
    let files = (0..count).map(|_| std::fs::File::open("/dev/null"));
    Ok(files.collect::<std::io::Result<Vec<_>>>()?.len())
}

/// Reports a step, and answers with this many bytes after a while.
#[tool]
async fn late(bytes: usize, ms: u64, progress: Progress) -> String {
    progress.step();
    sleep(Duration::from_millis(ms)).await;
    "x".repeat(bytes)
}

/// Reports a step this many times, with a pause before each.
#[tool]
async fn ticks(n: u32, ms: u64, progress: Progress) -> String {
    for _ in 0..n {
        sleep(Duration::from_millis(ms)).await;
        progress.step();
    }
    format!("{n} ticks")
}

/// Reports progress as fast as possible, each time with a message of this many bytes.
#[tool]
async fn torrent(n: u32, bytes: usize, progress: Progress) -> String {
    let text = "x".repeat(bytes);
    for i in 1..=n {
        progress.say(i, text.clone());
        if i % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    format!("{n} reports")
}

/// Prints a line, and computes for a minute without a pause.
#[tool]
async fn compute() -> &'static str {
    eprintln!("computing");
    let until = std::time::Instant::now() + Duration::from_secs(60);
    while std::time::Instant::now() < until {
        std::hint::spin_loop();
    }
    "computed"
}

/// Works on a thread until the call is cancelled.
#[tool(blocking)]
fn spin(spinning: &Spinning, cancel: Cancel) -> Result<()> {
    spinning.0.fetch_add(1, Ordering::AcqRel);
    while !cancel.is_cancelled() {
        thread::sleep(Duration::from_millis(1));
    }
    spinning.0.fetch_sub(1, Ordering::AcqRel);
    cancel.check()
}

/// Works on a thread forever, and ignores cancellation.
#[tool(blocking)]
fn stubborn() {
    loop {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Number of threads that run `spin` or `spin_task`.
#[derive(Default)]
struct Spinning(AtomicUsize);

/// Returns the number of threads that run `spin` or `spin_task`.
#[tool]
fn spinning(spinning: &Spinning) -> usize {
    spinning.0.load(Ordering::Acquire)
}

/// Publishes updates of many resources, several times.
#[tool]
async fn touch(uris: usize, times: usize, server: Handle) -> String {
    for _ in 0..times {
        for n in 0..uris {
            server.updated(format!("notes://{n}"));
        }
        tokio::task::yield_now().await;
    }
    format!("{uris} touched {times} times")
}

/// Publishes an update of one resource.
#[tool]
fn mark(n: usize, server: Handle) {
    server.updated(format!("notes://{n}"));
}

/// A note.
#[resource("notes://{n}", subscribe)]
fn note(n: u32) -> String {
    format!("note {n}")
}

#[form]
struct Word {
    word: String,
}

/// Asks three questions, and returns the answers, the process that asked each question, and the process that ended the call.
#[tool(asks(elicitation))]
async fn journey(ctx: &Context, greeting: String) -> Result<String> {
    let mut said = greeting;
    let process = std::process::id();
    for stage in 1..=3 {
        let key = format!("process-{stage}");
        let by = ctx.once(key, async || Ok::<_, Infallible>(process)).await?;
        let word: Word = ctx.elicit(format!("word-{stage}"), format!("Word {stage}?")).await?;
        said.push_str(&format!(" {by}:{}", word.word));
    }
    Ok(format!("{said} {process}:end"))
}

/// Asks for a word, and accepts each answer only once.
#[tool(single_use)]
async fn order(user: Elicit) -> Result<String> {
    Ok(user.form::<Word>("word", "Word?").await?.word)
}

/// Waits until the file exists, and returns the id of the process.
#[tool(task)]
async fn await_file(path: String) -> String {
    while !Path::new(&path).exists() {
        sleep(Duration::from_millis(5)).await;
    }
    std::process::id().to_string()
}

/// Waits like `await_file`, and may run again after a restart.
#[tool(task, idempotent)]
async fn await_file_again(path: String) -> String {
    await_file(path).await
}

/// Waits like `hold`, as a task, and returns the text.
#[tool(task)]
async fn hold_task(key: String, text: String, progress: Progress, gate: &Gate) -> String {
    gate::hold(key, None, progress, gate).await;
    text
}

/// Waits as a task, and returns the text.
#[tool(task)]
async fn wait_task(ms: u64, text: String) -> String {
    wait(ms, text).await
}

/// Works on a thread, as a task, until the task is cancelled.
#[tool(task, blocking)]
fn spin_task(spinning: &Spinning, cancel: Cancel) -> Result<()> {
    spin(spinning, cancel)
}

/// Works forever as a task, and ignores cancellation.
#[tool(task, blocking)]
fn stubborn_task() {
    stubborn();
}

/// Asks for a word, as a task.
#[tool(task, asks(elicitation))]
async fn word_task(ctx: &Context) -> Result<String> {
    Ok(ctx.elicit::<Word>("word", "Word?").await?.word)
}

/// Adds state keys from `n,n`. Each key is 32 bytes of the value `n`.
fn with_keys(server: Builder, text: &str) -> Builder {
    let numbers = text.split(',').filter(|number| !number.is_empty());
    let keys = numbers.map(|number| [number.parse().expect("a byte"); 32]);
    keys.fold(server, Builder::state_key)
}

/// Parses limits from `name=value,name=value`. Times are in milliseconds.
fn limits(text: &str) -> Limits {
    let mut limits = Limits::new();
    for (name, value) in text.split(',').filter_map(|limit| limit.split_once('=')) {
        let value: usize = value.parse().expect("a number");
        let time = Duration::from_millis(value as u64);
        limits = match name {
            "message" => limits.message(value),
            "depth" => limits.depth(value),
            "batch" => limits.batch(value),
            "calls" => limits.calls(value),
            "tasks" => limits.tasks(value),
            "max_total_calls" => limits.max_total_calls(value),
            "uri" => limits.uri(value),
            "subscriptions" => limits.subscriptions(value),
            "all_subscription_bytes" => limits.all_subscription_bytes(value),
            "streams" => limits.streams(value),
            "all_streams" => limits.all_streams(value),
            "sessions" => limits.sessions(value),
            "session_idle" => limits.session_idle(time),
            "events" => limits.events(value),
            "event_bytes" => limits.event_bytes(value),
            "all_event_bytes" => limits.all_event_bytes(value),
            "head" => limits.head(value),
            "body_time" => limits.body_time(time),
            "connection_idle" => limits.connection_idle(time),
            "connections" => limits.connections(value),
            "all_answers" => limits.all_answers(value),
            "all_bodies" => limits.all_bodies(value),
            "keep_alive" => limits.keep_alive(time),
            "grace" => limits.grace(time),
            other => panic!("no limit is called `{other}`"),
        };
    }
    limits
}

fn main() -> Exit {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let mut server = with_keys(mcp_runtime::server!(), &said("FIXTURE_STATE_KEYS"));
    let tasks = said("FIXTURE_TASKS");
    if !tasks.is_empty() {
        server = server.store(SqliteStore::new(tasks));
    }
    let redis = said("FIXTURE_REDIS");
    if !redis.is_empty() {
        // Busy machines answer later than the usual deadline.
        let deadline = match &*said("FIXTURE_REDIS_DEADLINE") {
            "" => 20_000,
            milliseconds => milliseconds.parse().expect("a number of milliseconds"),
        };
        server = server.store(Redis::new(redis).deadline(Duration::from_millis(deadline)));
    }
    server
        .limits(limits(&said("FIXTURE_LIMITS")))
        .state(Gate::default())
        .state(Spinning::default())
        .on_shutdown(async |_: Context| eprintln!("on_shutdown has run"))
        .run()
}
