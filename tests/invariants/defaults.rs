//! Numbers of the guide, which must be those of the sources.

use std::fs;

use crate::sources::root;

/// Limits that the table of the guide does not have, because another page names them.
const ELSEWHERE: [&str; 1] = ["task_poll"];

/// Numbers that are no settings of `Limits`: a page of the guide, its text, the file that decides, and the line of it.
pub(crate) const FIXED: [(&str, &str, &str, &str); 19] = [
    (
        "01-first-server",
        "within 30 seconds",
        "crates/dev/src/stdio.rs",
        "const PATIENCE: Duration = Duration::from_secs(30);",
    ),
    (
        "01-first-server",
        "within 30 seconds",
        "crates/dev/src/http/upstream.rs",
        "const PATIENCE: Duration = Duration::from_secs(30);",
    ),
    (
        "10-tasks",
        "The defaults are 1 hour and 1 second.",
        "src/limits.rs",
        "task_poll: Duration::from_secs(1),",
    ),
    (
        "13-http",
        "stay open for [two seconds more]",
        "src/transport/http/connection.rs",
        "const LAST_REQUEST_OF_PROXY: Duration = Duration::from_secs(2);",
    ),
    (
        "13-http",
        "has a quarter of a second, or those two seconds",
        "src/transport/http/connection.rs",
        "const LAST_REQUEST: Duration = Duration::from_millis(250);",
    ),
    (
        "17-limits",
        "keeps up to 1 MiB of text",
        "src/transport/stdio/stderr.rs",
        "const MOST: usize = 512 << 10;",
    ),
    (
        "17-limits",
        "for up to five seconds",
        "src/transport/stdio/stderr.rs",
        "const LAST_WORDS: Duration = Duration::from_secs(5);",
    ),
    (
        "17-limits",
        "for one second in which the client reads nothing",
        "src/transport/stdio/stderr.rs",
        "const LAST_WORDS_UNREAD: Duration = Duration::from_secs(1);",
    ),
    (
        "17-limits",
        "| 256 | `Builder::max_blocking` |",
        "src/builder/settings.rs",
        "max_blocking: 256,",
    ),
    (
        "17-limits",
        "| 15 min | `Builder::state_lifetime` |",
        "src/ask/codec.rs",
        "lifetime: Duration::from_secs(15 * 60),",
    ),
    (
        "17-limits",
        "| 256 MiB | `MemoryStore::bytes` |",
        "src/storage/memory.rs",
        "most: 256 << 20,",
    ),
    (
        "17-limits",
        "| 1 GiB | `SqliteStore::bytes` |",
        "src/sqlite/sqlite_store.rs",
        "most: 1 << 30,",
    ),
    ("17-limits", "| 0 s | `Builder::drain` |", "src/server/http.rs", "drain: Duration::ZERO,"),
    (
        "21-several-nodes",
        "| `deadline` | 250 ms |",
        "crates/redis/src/redis_store.rs",
        "deadline: Duration::from_millis(250),",
    ),
    (
        "21-several-nodes",
        "the lease of the node has ended, which takes ten seconds",
        "src/node/lease.rs",
        "const LEASE: Duration = Duration::from_secs(10);",
    ),
    (
        "21-several-nodes",
        "up to 4,096 updates",
        "src/node/outgoing.rs",
        "const MOST: usize = 4096;",
    ),
    (
        "21-several-nodes",
        "newest\n16,384 messages",
        "src/node/message.rs",
        "const MOST: usize = 16_384;",
    ),
    (
        "21-several-nodes",
        "At most 1,000 nodes can\nshare a store",
        "src/node/lease.rs",
        "const MOST: usize = 1000;",
    ),
    (
        "21-several-nodes",
        "for a minute after its end",
        "src/transport/http/stream_log.rs",
        "const KEPT: Duration = Duration::from_secs(60);",
    ),
];

/// Returns the numbers of a list such as [`FIXED`] that the page or the source does not have.
pub(crate) fn changed(numbers: &[(&str, &str, &str, &str)]) -> Vec<String> {
    let has = |path: String, part: &str| {
        let text = fs::read_to_string(root().join("mcp-runtime").join(&path));
        let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
        (!text.contains(part)).then(|| format!("{path} has no `{part}`"))
    };
    let problems = numbers.iter().flat_map(|(page, text, file, line)| {
        [has(format!("docs/guide/{page}.md"), text), has((*file).to_owned(), line)]
    });
    problems.flatten().collect()
}

/// Compares the tables of a page with the defaults in the source of `Limits`. Returns the differences.
pub(crate) fn wrong(page: &str, source: &str) -> Vec<String> {
    let body = source.split("pub const fn new() -> Self {").nth(1).expect("the defaults");
    let defaults = body.lines().skip(2).map_while(|line| line.trim().strip_suffix(','));
    let shown: Vec<(&str, &str)> = page.lines().filter_map(settings).flatten().collect();
    let mut wrong = Vec::new();
    for (name, value) in defaults.filter_map(|line| line.split_once(": ")) {
        let said = shown.iter().find(|(setting, _)| *setting == name);
        let is_right = said.is_some_and(|(_, said)| number(said) == Some(computed(value)));
        if !(is_right || said.is_none() && ELSEWHERE.contains(&name)) {
            wrong.push(format!("`{name}` is {value}, but the guide has: {said:?}"));
        }
    }
    wrong
}

/// Returns the settings of a row, `| limit | 64 KiB, 100 | `a`, `b` |`, each with its default.
fn settings(row: &str) -> Option<impl Iterator<Item = (&str, &str)>> {
    let cells: Vec<&str> = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [_, values, names] = cells[..] else { return None };
    Some(names.split('`').skip(1).step_by(2).zip(values.split(", ")))
}

/// Returns the number of a text such as `16,384`, `64 KiB` or `10 min`: a count, bytes or seconds.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let unit = match unit {
        "" | "s" => 1,
        "min" => 60,
        "h" => 3600,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits.replace(',', "").parse::<u64>().ok().map(|number| number * unit)
}

/// Returns the value of an expression of the source: a number, `1 << 20`, or `Duration::from_secs(30 * 60)`.
fn computed(expression: &str) -> u64 {
    let plain = expression.trim_start_matches("Duration::from_secs(").trim_end_matches(')');
    let value = |text: &str| text.replace('_', "").parse().expect(expression);
    match (plain.split_once(" << "), plain.split_once(" * ")) {
        (Some((number, bits)), _) => value(number) << value(bits),
        (_, Some((one, other))) => value(one) * value(other),
        _ => value(plain),
    }
}
