//! The command `check`: its findings, the findings that an author accepts, and the comparison with a lock file.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::{
    command_line::{FAILURE, SUCCESS, USAGE, check_refused, run, text},
    home::HomeFolder,
    server::fixture,
};

/// Runs a server with faults. The `setup` of a broken server fails.
fn flawed(arguments: &[&str], broken: bool) -> Output {
    let mut command = fixture();
    command.args(arguments).env("FIXTURE_FLAWED", "").stdin(Stdio::null());
    if broken {
        command.env("FIXTURE_BROKEN", "");
    }
    command.output().expect("the fixture starts")
}

/// `check` prints its findings, but exits with a failure only with `--strict`.
#[support::test]
fn check_reports_what_clients_reject() {
    let output = flawed(&["check"], false);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(SUCCESS), String::new()));
    let printed = text(&output.stdout);
    let groups: Vec<Vec<&str>> = printed
        .split("\n\n")
        .map(|group| group.lines().filter(|line| !line.starts_with("    ")).collect())
        .collect();
    let [added, full, given, prompt, total] = groups.as_slice() else { panic!("{printed}") };
    let has = |group: &[&str], title: &str, findings: &[&str]| {
        assert!(group[0].starts_with(title), "{printed}");
        let found: Vec<_> =
            group[1..].iter().map(|finding| finding.split_once(": ").unwrap().0).collect();
        assert_eq!(found, findings, "{printed}");
    };
    has(added, "tool `added`, an item added while running", &["  error (no description)"]);
    has(
        full,
        "tool `full.schema`, `full` at tests/stdio/fixture.rs:",
        &[
            "  error (tool name)",
            "  error ($schema)",
            "  error (null)",
            "  error (type list)",
            "  error (format)",
            "  error (further members)",
            "  error ($schema)",
            "  error (references)",
            "  error (recursion)",
            "  warning (type list)",
            "  warning (format)",
        ],
    );
    has(
        given,
        "tool `given`, `given` at tests/stdio/fixture.rs:",
        &[
            "  error (required but unknown)",
            "  error (any value)",
            "  warning (undocumented argument)",
        ],
    );
    let found = ["  error (prompt name)", "  warning (undocumented prompt argument)"];
    has(prompt, "prompt `to do`, `to_do` at ", &found);
    assert!(printed.contains("    fix: `.description(\"…\")` on the `Tool`\n"), "{printed}");
    // The argument `day` has a completion, so it needs no description.
    assert!(printed.contains(": the argument `list` has no description: the user "), "{printed}");
    assert!(total[0].starts_with("flawed: 3 tools, 1 prompt, "), "{printed}");
    assert!(
        printed.contains("    fix: remove `schema = \"full\"`: the compatible form avoids this\n"),
        "{printed}"
    );

    let strict = flawed(&["check", "--strict"], false);
    assert_eq!((strict.status.code(), text(&strict.stdout)), (Some(FAILURE), printed));
    assert_eq!(text(&strict.stderr), "error: 17 findings, and `--strict` allows none\n");

    let broken = text(&flawed(&["check"], true).stdout);
    assert!(
        broken.contains("not everything was checked, because `setup` failed: the disk is full\n"),
        "{broken}"
    );
    let json = flawed(&["check", "--json", "--strict"], false);
    assert_eq!(json.status.code(), Some(FAILURE));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(17), "{json}");
    let first = &json["findings"][0];
    assert_eq!(first["subject"], "tool `added`, an item added while running");
    assert_eq!((&first["severity"], &first["rule"]), (&json!("error"), &json!("no description")));
    assert_eq!(first["fix"], "`.description(\"…\")` on the `Tool`");
    assert_eq!(json["setupError"], Value::Null);
}

/// A server with many findings can use `--strict` for new ones.
#[support::test]
fn findings_of_a_baseline_are_counted_and_new_findings_fail() {
    let home = HomeFolder::new();
    let file = home.path("mcp.check.json");
    let path = file.to_str().expect("UTF-8");
    let ends_with = |arguments: &[&str], status: i32, parts: &[&str]| {
        let output = flawed(arguments, false);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{printed}");
        for part in parts {
            assert!(printed.contains(part), "{part:?} is not in\n{printed}");
        }
        printed
    };
    let strict = ["check", "--strict", "--baseline", path];
    let write = ["check", "--write-baseline", path];
    ends_with(&strict, FAILURE, &[" does not exist: create it with `check --write-baseline "]);
    ends_with(&write, SUCCESS, &["mcp.check.json accepts 17 findings\n"]);
    let printed =
        ends_with(&strict, SUCCESS, &["mcp.check.json accepts 17 findings\n\nflawed: 3 "]);
    assert!(printed.ends_with(" No further finding.\n"), "{printed}");

    let written = home.text("mcp.check.json");
    let mut content: Value = serde_json::from_str(&written).expect("JSON");
    let entries = content["accepted"].as_array_mut().expect("a list");
    let at = |entries: &[Value], rule: &str| {
        entries.iter().position(|entry| entry["rule"] == rule).expect("an entry")
    };
    let first = json!({
        "item": "tool `added`", "severity": "error", "rule": "no description", "count": 1
    });
    assert_eq!(entries[0], first);
    // The author gives a reason. One finding is new, one rule has one finding more, and one less.
    entries[0]["reason"] = json!("its name says all");
    let removed = at(entries, "references");
    entries.remove(removed);
    let twice = at(entries, "$schema");
    assert_eq!(entries[twice]["count"], 2);
    entries[twice]["count"] = json!(1);
    let name = at(entries, "tool name");
    entries[name]["count"] = json!(2);
    home.write("mcp.check.json", &content.to_string());
    let changed = [
        "  error (references): ",
        "mcp.check.json accepts 14 findings\n",
        "there are more findings than ",
        "  tool `full.schema`, error ($schema): accepts 1, found 2\n",
        "findings in ",
        " are gone, lower their counts:\n",
        "  tool `full.schema`, error (tool name): accepts 2, found 1\n",
        "error: 3 findings, and `--strict` allows none\n",
    ];
    let printed = ends_with(&strict, FAILURE, &changed);
    assert_eq!(printed.matches("  error (").count(), 3, "{printed}");
    let json = flawed(&["check", "--json", "--baseline", path], false);
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let listed = |rule: &str, count: u32, found: u32| {
        let (item, severity) = ("tool `full.schema`", "error");
        json!([{ "item": item, "severity": severity, "rule": rule, "count": count, "found": found }])
    };
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(3), "{json}");
    assert_eq!(
        json["baseline"],
        json!({ "accepted": 14, "exceeded": listed("$schema", 1, 2), "gone": listed("tool name", 2, 1) })
    );

    // Without the items that `setup` adds, no finding is gone for sure.
    let broken = text(&flawed(&["check", "--baseline", path], true).stdout);
    assert!(broken.contains("mcp.check.json accepts ") && !broken.contains("are gone"), "{broken}");

    // The reason stays, and the rest is as at first.
    ends_with(&write, SUCCESS, &["mcp.check.json accepts 17 findings\n"]);
    let reason = "\"count\": 1,\n      \"reason\": \"its name says all\"\n";
    assert_eq!(home.text("mcp.check.json"), written.replacen("\"count\": 1\n", reason, 1));
}

#[support::test]
fn a_baseline_that_cannot_be_used_is_told() {
    let home = HomeFolder::new();
    let file = home.path("mcp.check.json");
    let path = file.to_str().expect("UTF-8");
    let both = r#"{"accepted": [{"item": "tool `a`", "severity": "error", "rule": "null"}, {"item": "tool `a`", "severity": "error", "rule": "null"}]}"#;
    for (content, problem) in [
        ("{}", "mcp.check.json is no baseline of `check`: missing field `accepted`"),
        (r#"{"accepted": [{"item": "a", "rules": []}]}"#, ": unknown field `rules`, expected "),
        (r#"{"accepted": [{"item": "a", "severity": "warn", "rule": "b"}]}"#, "variant `warn`"),
        (both, "has two entries for tool `a` and the error `null`: keep one, "),
    ] {
        home.write("mcp.check.json", content);
        check_refused(&["check", "--baseline", path], FAILURE, &[problem]);
        check_refused(&["check", "--write-baseline", path], FAILURE, &[problem]);
        assert_eq!(home.text("mcp.check.json"), content);
    }
    let together = "`--against` and `--baseline` cannot be used together: run `check` twice";
    check_refused(&["check", "--baseline", path, "--against", path], USAGE, &[together]);
    let broken = flawed(&["check", "--write-baseline", path], true);
    assert_eq!(broken.status.code(), Some(FAILURE));
    let why =
        " is not written, because `setup` failed, so that items are missing: the disk is full";
    assert!(text(&broken.stderr).contains(why), "{broken:?}");
}

/// Tests only the exit codes. The suite `contract` tests the comparison itself.
#[support::test]
fn the_exit_code_of_check_depends_on_the_changes_against_the_lock() {
    let folder = std::env::temp_dir().join(format!("mcp-against-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("mcp.lock.json");
    let path = file.to_str().expect("UTF-8");
    let against = ["check", "--against", path];
    check_refused(&against, FAILURE, &[" does not exist", "schema > ", path]);

    let lock = text(&run(&["schema"]).stdout);
    let ends_with = |lock: &str, arguments: &[&str], status: i32, part: &str| {
        std::fs::write(&file, lock).expect("it can be written");
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{part}: {}", text(&output.stderr));
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.contains(part), "{part:?} is not in\n{printed}");
    };
    let strict = ["check", "--strict", "--against", path];
    ends_with(&lock, &against, SUCCESS, "mcp.lock.json: up to date");
    ends_with(&lock, &strict, SUCCESS, "mcp.lock.json: up to date");
    // The changed locks have a different description, a different tool name, only half of the text, and the name of a different server.
    let without = lock.replacen("Repeats a word.", "Says a word again.", 1);
    assert_ne!(without, lock);
    ends_with(&without, &against, SUCCESS, "1 cosmetic change\n  tests/stdio/fixture.rs:");
    ends_with(&without, &strict, FAILURE, "`--strict` requires it to match");
    let renamed = lock.replace("\"repeat\"", "\"say_again\"");
    ends_with(&renamed, &against, FAILURE, "tool `say_again` ");
    let json = ["check", "--json", "--against", path];
    ends_with(&renamed, &json, FAILURE, "\"class\": \"breaking\"");
    ends_with(&lock, &json, SUCCESS, "[]\n");
    ends_with(&renamed, &against, FAILURE, "error: the server breaks the contract in ");
    ends_with(&lock[..lock.len() / 2], &against, FAILURE, "it is cut off in line ");
    let foreign = r#"{"format": 1, "server": {"name": "x"}, "tools": [], "resources": [], "resourceTemplates": [], "prompts": []}"#;
    ends_with(foreign, &against, FAILURE, "it is the lock of the server `x`");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
