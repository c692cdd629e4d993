//! `assert_contract!`, called as in the tests of an author.

use std::{
    env, fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::Command,
};

use mcp_runtime::{Builder, prelude::*, server, testing::assert_contract};

use support::requirement::{Missing, needs};

use crate::locks::text;

/// Adds two numbers.
#[tool(group = "then", name = "add")]
fn add_then(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two numbers.
#[tool(group = "now", name = "add")]
fn add_now(a: i64) -> i64 {
    a
}

/// State that no server in this file provides.
struct Sum;

/// Adds two numbers, or three.
#[tool(group = "later", name = "add")]
fn add_later(a: i64, b: i64, c: Option<i64>, sum: State<Sum>) -> i64 {
    let _ = sum;
    a + b + c.unwrap_or_default()
}

/// A postal address.
#[data]
struct AddressThen {
    street: String,
    zip: String,
}

/// A postal address.
#[data]
struct AddressNow {
    street: String,
}

/// Ships an order.
#[tool(group = "address then", name = "ship")]
fn ship_then(to: AddressThen) -> String {
    to.street + &to.zip
}

/// Bills an order.
#[tool(group = "address then", name = "bill")]
fn bill_then(of: AddressThen) -> String {
    of.street + &of.zip
}

/// Ships an order.
#[tool(group = "address now", name = "ship")]
fn ship_now(to: AddressNow) -> String {
    to.street
}

/// Bills an order.
#[tool(group = "address now", name = "bill")]
fn bill_now(of: AddressNow) -> String {
    of.street
}

fn of(group: &'static str) -> Builder {
    server!(group = group)
}

/// A lock file that is removed at the end of the test.
struct Lock(PathBuf);

impl Lock {
    fn new(name: &str) -> Self {
        let name = format!("mcp-contract-{name}-{}.json", std::process::id());
        Self(env::temp_dir().join(name))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Contains the assertion for one server, as in an author's test. Other tests run this test in a child process.
#[support::test]
#[ignore = "run by the tests below, in a process with an environment of its own"]
fn child() {
    let set = |name| env::var(name).map_err(|_| Missing::new(format!("the variable `{name}`")));
    let (group, file) = (needs(set("CONTRACT_GROUP")), needs(set("CONTRACT_FILE")));
    assert_contract!(of(group.leak()), Path::new(&file));
}

/// Runs the assertion for the server of `group` with `MCP_LOCK` set to `mode`. Returns whether the assertion holds, and the output.
fn assert(group: &str, lock: &Lock, mode: &str) -> (bool, String) {
    let output = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "asserted::child", "--ignored", "--nocapture", "--test-threads=1"])
        .env("CONTRACT_GROUP", group)
        .env("CONTRACT_FILE", &lock.0)
        .env("MCP_LOCK", mode)
        .output()
        .expect("this test starts");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(said.contains("running 1 test"), "{said}");
    (output.status.success(), said)
}

#[track_caller]
fn check((holds, said): (bool, String), expected: bool, parts: &[&str]) {
    assert_eq!(holds, expected, "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
}

#[support::test]
fn a_lock_can_be_created_matched_and_broken() {
    let lock = Lock::new("kept");
    check(
        assert("then", &lock, ""),
        false,
        &[" does not exist yet", "create it with `MCP_LOCK=update cargo test`"],
    );
    check(assert("then", &lock, "update"), true, &["was written"]);
    check(assert("then", &lock, ""), true, &[".json: up to date"]);
    check(assert("then", &lock, "strict"), true, &[]);
    let attribute = |line: &str| line.starts_with("#[tool(group = \"now\"");
    let at = include_str!("asserted.rs").lines().position(attribute).expect("it is there") + 1;
    let line = format!("{}:{at}: tool `add`: argument `b` is gone", file!());
    check(
        assert("now", &lock, ""),
        false,
        &["1 breaking change", &line, "MCP_LOCK=update cargo test"],
    );
    // An additive change fails the assertion only with `MCP_LOCK=strict`.
    check(assert("later", &lock, ""), true, &["argument `c` is new", "Nothing breaks."]);
    check(assert("later", &lock, "strict"), false, &["1 additive change"]);
    check(
        assert("now", &lock, "updaet"),
        false,
        &["`MCP_LOCK=updaet`: it can be `update` or `strict`"],
    );
    check(assert("now", &lock, "update"), true, &[]);
    check(assert("now", &lock, "strict"), true, &[]);
}

/// The two tools share a type, so the change is reported once, with the line of each tool.
#[support::test]
fn a_field_removed_from_a_shared_type_is_reported_once() {
    let lock = Lock::new("shared");
    check(assert("address then", &lock, "update"), true, &[]);
    let line = |text: &str| {
        let at = include_str!("asserted.rs").lines().position(|line| line.starts_with(text));
        format!("{}:{}", file!(), at.expect("it is there") + 1)
    };
    let (ship, bill) = (line("fn ship_now(to"), line("fn bill_now(of"));
    let first = format!("  {ship}: tool `ship`: argument `to.zip` is gone\n");
    let also = format!("      also tool `bill`: argument `of.zip` ({bill})\n");
    let said = ["1 breaking change\n", &first, &also];
    check(assert("address now", &lock, ""), false, &said);
}

#[support::test]
fn an_unreadable_lock_is_reported_with_the_reason() {
    let lock = Lock::new("broken");
    for (content, why) in [
        ("", "it is empty"),
        ("{\"format\": 1", "it is cut off in line 1"),
        ("{\n>>>>>>> theirs\n}", "a merge left conflict markers in line 2"),
    ] {
        fs::write(&lock.0, content).expect("it can be written");
        check(
            assert("then", &lock, ""),
            false,
            &[why, "write it again with `MCP_LOCK=update cargo test`"],
        );
    }
}

/// Uses the error about a missing lock file to check which server and which lock file each form of the macro uses.
#[support::test]
fn assert_contract_uses_defaults_for_omitted_arguments() {
    fn said(assertion: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let panicked = catch_unwind(assertion).expect_err("there is no such lock");
        *panicked.downcast::<String>().expect("a text")
    }
    // With `MCP_LOCK` set, the assertions could write the lock files, which must be missing here.
    let set = env::var_os("MCP_LOCK").map(|_| Missing::new("an environment without `MCP_LOCK`"));
    needs(set.map_or(Ok(()), Err));
    let folder = env!("CARGO_MANIFEST_DIR");
    let default = Path::new(folder).join("mcp.lock.json").display().to_string();
    let other = Path::new(folder).join("no/such.json").display().to_string();
    assert!(said(|| assert_contract!(of("then"))).contains(&default));
    assert!(said(|| assert_contract!(of("then"), "no/such.json")).contains(&other));
    // All items of this package are in groups, so its default server has no items.
    assert!(said(|| assert_contract!()).contains("all items of package `mcp-tests` are in groups"));
    assert!(said(|| assert_contract!("no/such.json")).contains("`assert_contract!(server())`"));
}
