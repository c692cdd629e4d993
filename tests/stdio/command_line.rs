//! Output and exit codes of the command line.

use std::{
    io::{Read, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::{
    home::HomeFolder,
    server::{Server, fixture},
};

pub(super) const SUCCESS: i32 = 0;
pub(super) const FAILURE: i32 = 1;
pub(super) const USAGE: i32 = 2;

pub(super) fn run(arguments: &[&str]) -> Output {
    let mut command = fixture();
    command.args(arguments).stdin(Stdio::null()).output().expect("the fixture starts")
}

/// Returns stderr without the lines in which `schema` reports which schemas are generated at compile time.
fn beside_schema(output: &Output) -> String {
    let said = text(&output.stderr);
    let of_schema = |line: &&str| line.starts_with("schemas: ") || line.starts_with("  ");
    said.lines().filter(|line| !of_schema(line)).collect()
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Checks the exit code, all of stdout, and all of stderr.
#[track_caller]
fn check(arguments: &[&str], status: i32, stdout: &str, stderr: &str) {
    let output = run(arguments);
    assert_eq!(text(&output.stderr), stderr, "{arguments:?}");
    assert_eq!(text(&output.stdout), stdout, "{arguments:?}");
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
}

/// Checks the exit code, that stdout is empty, and that stderr is an error with these parts.
#[track_caller]
pub(super) fn check_refused(arguments: &[&str], status: i32, parts: &[&str]) {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked at"), "{arguments:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
}

#[support::test]
fn help_lists_commands_and_options() {
    let help = run(&["help"]);
    assert_eq!(help.status.code(), Some(SUCCESS));
    let printed = text(&help.stdout);
    assert!(
        printed.starts_with(&format!("stdio-fixture {}: an MCP server", env!("CARGO_PKG_VERSION")))
    );
    let tried = ["list", "call TOOL", "read URI", "get PROMPT", "schema", "check"];
    for command in tried.into_iter().chain(["help", "version"]) {
        assert!(printed.contains(&format!("\n  {command}")), "{printed}");
    }
    for same in [&["--help"][..], &["-h"], &["--http", "--help"]] {
        check(same, SUCCESS, &printed, "");
    }
}

#[support::test]
fn the_version_is_that_of_the_package() {
    let version = format!("stdio-fixture {}\n", env!("CARGO_PKG_VERSION"));
    check(&["--version"], SUCCESS, &version, "");
    check(&["-V"], SUCCESS, &version, "");
    check(&["version"], SUCCESS, &version, "");
    check_refused(&["versoin"], USAGE, &["did you mean `version`?"]);
    for option in ["--version", "-V"] {
        let problem = "`--version` takes no argument, but got `extra`; see `help`\n";
        check_refused(&[option, "extra"], USAGE, &[problem]);
    }
}

#[support::test]
fn list_has_every_item_with_its_usage() {
    let output = run(&["list"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(SUCCESS), String::new()));
    let printed = text(&output.stdout);
    for line in [
        "\ntools\n",
        "\n  repeat word=<string> times=<integer 0..=255> [separator=<string>]  Repeats a word.\n",
        "\n  shout [volume=<integer 0..=255>] phrase=<string> again=<boolean>  ",
        "  Waits as a task for something that never happens. (task)\n",
        "  Asks, begins a task, reports, asks again. (task required; asks elicitation)\n",
        "\nresources\n  notes://today",
        "\nprompts\n  greet name=…",
    ] {
        assert!(printed.contains(line), "{line:?} is not in\n{printed}");
    }
}

/// A `setup` that takes the `Handle` runs for `list`, because it may add items. If it fails, the other items are listed nevertheless.
#[support::test]
fn list_has_the_items_that_setup_adds() {
    let list = |broken: bool| {
        let mut command = fixture();
        command.arg("list").env("FIXTURE_FLAWED", "").stdin(Stdio::null());
        if broken {
            command.env("FIXTURE_BROKEN", "");
        }
        command.output().expect("the fixture starts")
    };
    let whole = list(false);
    assert_eq!((whole.status.code(), text(&whole.stderr)), (Some(SUCCESS), String::new()));
    let listed = text(&whole.stdout);
    assert!(listed.contains("\n  added\n") && listed.contains("\n  to do "), "{listed}");

    let broken = list(true);
    let listed = text(&broken.stdout);
    assert!(!listed.contains("\n  added\n") && listed.contains("\n  to do "), "{listed}");
    let why = "not every item is listed, because `setup` failed: the disk is full\n";
    assert_eq!((broken.status.code(), &*text(&broken.stderr)), (Some(SUCCESS), why));
}

#[support::test]
fn schema_is_json() {
    let output = run(&["schema"]);
    assert_eq!((output.status.code(), beside_schema(&output)), (Some(SUCCESS), String::new()));
    let makers = text(&output.stderr);
    let line = |name: &str| makers.lines().find(|line| line.trim_start().starts_with(name));
    assert!(line("echo ").is_some_and(|line| line.contains("input static")), "{makers}");
    let manifest: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(manifest["server"]["name"], "stdio-fixture");
    let tools = manifest["tools"].as_array().expect("an array");
    let repeat = tools.iter().find(|tool| tool["name"] == "repeat").expect("the tool");
    assert_eq!(repeat["inputSchema"]["properties"]["word"]["type"], "string");
}

/// `schema` lists each tool on stderr. Below a tool whose schemas cannot be generated at compile time, it prints the reasons.
#[support::test]
fn schema_gives_the_reason_for_a_lazy_schema() {
    let mut command = fixture();
    let output = command.arg("schema").env("FIXTURE_LAZY", "").stdin(Stdio::null()).output();
    let said = text(&output.expect("the fixture starts").stderr);
    let lines: Vec<&str> = said.lines().collect();
    let [head, full, full_why, parts, day, nights, page, known, advice] = lines.as_slice() else {
        panic!("{said}")
    };
    assert!(head.starts_with("schemas: static ones are"), "{said}");
    assert!(full.starts_with("  full   input lazy  "), "{said}");
    assert_eq!(
        *full_why,
        "    only schemas in the compatible form are made at compile time, and this one is in the full form"
    );
    assert!(parts.starts_with("  parts  input lazy, output lazy  "), "{said}");
    assert_eq!(*day, "    input: the compiler does not know the type of `day`: `NonZero<i64>`");
    assert_eq!(
        *nights,
        "    input: the compiler does not know the type of `stay.nights[].price`: `NonZero<i64>`"
    );
    assert_eq!(*page, "    output: the compiler does not know all of `Vec<Night>`");
    assert!(known.starts_with("  plain  input static  "), "{said}");
    assert!(advice.starts_with("  `#[data]` makes the schema of a type known"), "{said}");
}

#[support::test]
fn call_read_and_get_print_results() {
    check(&["call", "repeat", "word=a", "times=3"], SUCCESS, "a a a\n", "");
    check(&["call", "repeat", "word=1=1", "times=2", "separator=, "], SUCCESS, "1=1, 1=1\n", "");
    // A string stays a string, even if it looks like JSON or like an option.
    check(&["call", "echo", "text=[1, 2]"], SUCCESS, "[1, 2]\n", "");
    check(&["call", "echo", "text=--help"], SUCCESS, "--help\n", "");
    check(&["read", "notes://today"], SUCCESS, "test the server\n", "");
    check(&["get", "greet", "name=Ada"], SUCCESS, "[user]\nSay hello to Ada.\n", "");
}

#[support::test]
fn complete_prints_the_values_of_an_argument() {
    let book = "books://{language}/{title}";
    check(&["complete", "volume", "language"], SUCCESS, "German\nGreek\nEnglish\n", "");
    check(&["complete", book, "language", "ee"], SUCCESS, "Greek\n", "");
    check(&["complete", book, "title", "language=German"], SUCCESS, "Faust\nWoyzeck\n", "");
    check(&["complete", book, "title", "W", "language=German"], SUCCESS, "Woyzeck\n", "");
    check(&["complete", "greet", "name"], SUCCESS, "", "no values\n");
    let many = run(&["complete", "volume", "title"]);
    assert_eq!(text(&many.stdout).lines().count(), 100);
    assert_eq!(text(&many.stderr), "100 of 120 values; a longer text gives fewer\n");
    let json = run(&["complete", "volume", "language", "Gr", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json, json!({ "values": ["Greek"], "total": 1, "hasMore": false }));
}

#[support::test]
fn complete_explains_a_wrong_item_or_argument() {
    let usage = "`complete ITEM ARGUMENT [TEXT] [NAME=VALUE …]`";
    check_refused(&["complete", "greet"], USAGE, &[usage]);
    check_refused(&["complete", "gret", "name"], USAGE, &["did you mean `greet`?"]);
    check_refused(&["complete", "repeat", "word"], USAGE, &["`repeat` is a tool", "templates"]);
    check_refused(
        &["complete", "greet", "nmae"],
        USAGE,
        &["`greet` has no argument `nmae`; did you mean `name`?\n"],
    );
    check_refused(
        &["complete", "greet", "who"],
        USAGE,
        &["`greet` has no argument `who`; the only argument is `name`\n"],
    );
    // The error names the item as the user has typed it.
    for item in ["volume", "books://{language}/{title}"] {
        let lacks = |name: &str| format!("`{item}` has no argument `{name}`");
        let near = "; did you mean `title`?\nthe arguments are: language, title\n";
        check_refused(&["complete", item, "titel"], USAGE, &[&(lacks("titel") + near)]);
        check_refused(&["complete", item, "title", "", "titel=x"], USAGE, &[&lacks("titel"), near]);
        let all = "; the arguments are: language, title\n";
        check_refused(&["complete", item, "page"], USAGE, &[&(lacks("page") + all)]);
    }
    check_refused(&["complete", "link", "page"], USAGE, &["`link` has no arguments\n"]);
    check_refused(&["complete", "greet", "name", "A", "B"], USAGE, &["`B` is not NAME=VALUE"]);
}

#[support::test]
fn commands_print_the_result_of_the_protocol_as_json() {
    let json = |arguments: &[&str], status: i32| -> Value {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let called = json(&["call", "--json", "repeat", "word=a", "times=2"], SUCCESS);
    assert_eq!(called["content"][0]["text"], "a a");
    let failed = json(&["call", "fail", "--json"], FAILURE);
    assert_eq!(failed["isError"], true);
    let read = json(&["read", "notes://today", "--json"], SUCCESS);
    assert_eq!(read["contents"][0]["text"], "test the server");
    let prompt = json(&["get", "greet", "name=Ada", "--json"], SUCCESS);
    assert_eq!(prompt["messages"][0]["content"]["text"], "Say hello to Ada.");
    let listed = json(&["list", "--json"], SUCCESS);
    let names = |list: &str, key: &str| -> Vec<String> {
        let items = listed[list].as_array().expect("a list").iter();
        items.map(|item| item[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert!(names("tools", "name").contains(&"repeat".to_owned()), "{listed}");
    assert_eq!(names("resourceTemplates", "uriTemplate"), ["books://{language}/{title}"]);
    assert_eq!(names("prompts", "name"), ["greet", "link"]);
    assert_eq!(run(&["schema", "--json"]).stdout, run(&["schema"]).stdout);
    check_refused(&["schema", "--yaml"], USAGE, &["`schema` has no option `--yaml`"]);
}

#[support::test]
fn a_failed_call_or_read_exits_with_a_failure() {
    check(&["call", "fail"], FAILURE, "", "error: it did not work\n");
    check_refused(&["call", "repeat", "word=a", "times=many"], USAGE, &["`repeat`", "times"]);
    check_refused(&["call", "repeat", "word=a", "times=300"], USAGE, &["`repeat`", "times"]);
    check_refused(&["call", "oversleep"], FAILURE, &["took longer than 200ms"]);
    check(
        &["read", "notes://tomorrow"],
        FAILURE,
        "",
        "error: there is no resource `notes://tomorrow`\n`list` shows all resources and templates\n",
    );
}

#[support::test]
fn a_wrong_name_of_a_resource_gets_a_correction() {
    let near = |given: &str, meant: &str| {
        let text = format!("error: there is no resource `{given}`; did you mean `{meant}`?\n");
        check(&["read", given], FAILURE, "", &text);
    };
    near("notes://tody", "notes://today");
    // The values of a template stay in the suggestion, so the user can use it as it is.
    near(
        "boks://a-very-long-language/a-very-long-title",
        "books://a-very-long-language/a-very-long-title",
    );
    let usage =
        |given: &str, text: &str| check(&["read", given], USAGE, "", &format!("error: {text}\n"));
    usage("greet", "unknown resource `greet`; did you mean `get greet`?");
    usage("echo", "unknown resource `echo`; did you mean `call echo`?");
    usage("today", "unknown resource `today`; did you mean `notes://today`?");
    usage(
        "volume",
        "unknown resource `volume`; did you mean a URI of the template `books://{language}/{title}`?",
    );
    usage(
        "books://{language}/{title}",
        "`books://{language}/{title}` is not a URI: put values in place of `{language}` and `{title}`",
    );
    usage(
        "books://German/{title}",
        "`books://German/{title}` is not a URI: put a value in place of `{title}`",
    );
}

#[support::test]
fn errors_of_the_command_line_suggest_a_correction() {
    let usage = "usage: repeat word=<string> times=<integer 0..=255> [separator=<string>]";
    check_refused(&["lsit"], USAGE, &["unknown command `lsit`; did you mean `list`?"]);
    check_refused(&["frobnicate"], USAGE, &["unknown command `frobnicate`; `help` shows all "]);
    check_refused(&["--frobnicate"], USAGE, &["unknown option `--frobnicate`"]);
    check_refused(&["--htpp"], USAGE, &["did you mean `--http`?"]);
    check_refused(&["--json", "list"], USAGE, &["`--json` goes after the command"]);
    check_refused(&["--http", "list"], USAGE, &["`list` cannot be used with `--http`"]);
    check_refused(&["--path", "/x"], USAGE, &["`--path` requires `--http`"]);
    check_refused(&["--http", "--path", "x"], USAGE, &["`--path`: `x` does not begin with `/`"]);
    check_refused(
        &["--http", "--trust-proxy", "10.0.0.1/8"],
        USAGE,
        &["`--trust-proxy`: `10.0.0.1/8`", "write `10.0.0.1` or `10.0.0.0/8`"],
    );
    for drain in ["5", "s", "-1s", "1.5s", "99999999999999999999h", "18446744073709551615h"] {
        check_refused(
            &["--http", &format!("--drain={drain}")],
            USAGE,
            &[&format!("`--drain`: `{drain}` is not a time"), "`500ms`, `5s`"],
        );
    }
    check_refused(&["--drain", "5s"], USAGE, &["`--drain` requires `--http`"]);
    check_refused(
        &["--http", "nobody.invalid:1"],
        FAILURE,
        &["nobody.invalid:1: cannot listen on this address", "such as 127.0.0.1:8000\n"],
    );
    check_refused(
        &["--http", "http://127.0.0.1:8000/x"],
        USAGE,
        &["is more than an address: write `--http 127.0.0.1:8000 --path /x`"],
    );
    check_refused(&["--http=99999"], USAGE, &["`--http`: `99999` is not a port"]);
    check_refused(&["call"], USAGE, &["`call` needs `TOOL`: `call TOOL [NAME=VALUE …]`"]);
    check_refused(&["read"], USAGE, &["`read` needs `URI`: `read URI`"]);
    check_refused(&["get"], USAGE, &["`get` needs `PROMPT`: `get PROMPT [NAME=VALUE …]`"]);
    check_refused(&["call", "repaet"], USAGE, &["unknown tool `repaet`; did you mean `repeat`?"]);
    check_refused(&["call", "greet"], USAGE, &["unknown tool `greet`; did you mean `get greet`?"]);
    check_refused(
        &["get", "repeat"],
        USAGE,
        &["unknown prompt `repeat`; did you mean `call repeat`?"],
    );
    check_refused(&["get", "great"], USAGE, &["unknown prompt `great`; did you mean `greet`?"]);
    check_refused(
        &["get", "frobnicate"],
        USAGE,
        &["unknown prompt `frobnicate`; the prompts are: greet, link\n"],
    );
    let tools = text(&run(&["list", "--json"]).stdout);
    let tools: Value = serde_json::from_str(&tools).expect("JSON");
    let count = tools["tools"].as_array().expect("a list").len();
    check_refused(
        &["call", "frobnicate"],
        USAGE,
        &[&format!("unknown tool `frobnicate`; `list` shows all {count} tools\n")],
    );
    check_refused(
        &["call", "repeat", "wrod=a", "times=1"],
        USAGE,
        &["unknown argument `wrod`", "did you mean `word`?", usage],
    );
    check_refused(&["call", "repeat", "a"], USAGE, &["`a` is not NAME=VALUE", usage]);
    check_refused(&["call", "repeat", "word=a"], USAGE, &["- `times`: missing, ", usage]);
    let both = ["- `word`: missing, ", "- `times`: missing, ", usage];
    check_refused(&["call", "repeat"], USAGE, &both);
    check_refused(&["get", "greet"], USAGE, &["`name` is missing", "usage: greet name=…"]);
    check_refused(
        &["call", "repeat", "word=a", "times=1", "word=b"],
        USAGE,
        &["`word` is given twice", usage],
    );
    check_refused(&["list", "tools"], USAGE, &["`list` takes no argument"]);
    check_refused(&["read", "notes://today", "now"], USAGE, &["`read` takes one argument"]);
}

#[support::test]
fn call_takes_what_the_server_takes() {
    check(&["call", "welcome", "guest=Ada"], SUCCESS, "Welcome, Ada\n", "");
    check(&["call", "anything", "a=1", "b=x"], SUCCESS, "{\"a\":1,\"b\":\"x\"}\n", "");
    check(&["call", "anything"], SUCCESS, "{}\n", "");
    check(&["call", "find", "query=a"], SUCCESS, "a to depth None\n", "");
    check_refused(&["call", "find"], USAGE, &["usage: find [max_depth=<integer>] query=<string>"]);
    check(&["call", "repeat", "--arguments", r#"{"word":"a","times":2}"#], SUCCESS, "a a\n", "");
    check_refused(&["call", "welcome"], USAGE, &["missing field `name`", "usage: welcome name="]);
    let given = ["call", "echo", "--arguments={}", "text=a"];
    check_refused(&given, USAGE, &["write `text=a` into its object"]);
    let mut piped = fixture();
    piped.args(["call", "echo", "--arguments", "-"]);
    piped.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut piped = piped.spawn().unwrap();
    piped.stdin.take().unwrap().write_all(br#"{"text":"from a pipe"}"#).unwrap();
    assert_eq!(text(&piped.wait_with_output().unwrap().stdout), "from a pipe\n");
}

#[support::test]
fn a_list_or_an_object_that_is_not_json_gets_an_example() {
    let (guests, table) = (r#"guests=["Ada","Bob"]"#, r#"table={"seats":2}"#);
    check(&["call", "seat", guests, table], SUCCESS, "Ada and Bob at 2 seats, outside: None\n", "");
    check(
        &["call", "seat", guests, "table ={\"seats\":2}"],
        SUCCESS,
        "Ada and Bob at 2 seats, outside: None\n",
        "",
    );
    check_refused(
        &["call", "seat", "guests=Ada,Bob", table],
        USAGE,
        &["`guests` is not JSON: a list starts with `[`", "\nwrite it as in guests='[\"…\"]'\n"],
    );
    check_refused(
        &["call", "seat"],
        USAGE,
        &[
            "usage: seat guests=<array> table=<object>\n",
            "\nwrite `guests` as in guests='[\"…\"]'\nwrite `table` as in table='{\"seats\":0}'\n",
        ],
    );
    check_refused(
        &["call", "seat", guests, "table={seats:2}"],
        USAGE,
        &["`table` is not JSON: key must be a string", "\nwrite it as in table='{\"seats\":0}'\n"],
    );
    check_refused(
        &["call", "seat", guests, "table=two"],
        USAGE,
        &[
            "`table` is not JSON: an object starts with `{`",
            "\nwrite it as in table='{\"seats\":0}'\n",
        ],
    );
}

/// A word in place of a command may be what the command is about.
#[support::test]
fn a_command_that_was_left_out_is_suggested() {
    for (given, meant) in [
        ("echo", "call echo"),
        ("greet", "get greet"),
        ("notes://today", "read notes://today"),
        ("8000", "--http 8000"),
    ] {
        let expected = format!("unknown command `{given}`; did you mean `{meant}`?\n");
        check_refused(&[given, "text=x"], USAGE, &[&expected]);
    }
    check_refused(&["serve"], USAGE, &["; without a command the program serves a client on"]);
    for option in ["--port", "--host"] {
        check_refused(
            &[option, "80"],
            USAGE,
            &["`; the address follows `--http`, as in `--http 1"],
        );
    }
}

#[support::test]
fn a_program_goes_on_after_each_run_and_only_the_first_has_the_standard_streams() {
    let again = "the standard streams are already guarded: ";
    for (arguments, codes, errors) in
        [(&["frobnicate"][..], "[2, 2]", 0), (&["list"], "[0, 1]", 1), (&[], "[0, 1]", 1)]
    {
        let mut command = fixture();
        command.args(arguments).env("FIXTURE_TWICE", "").stdin(Stdio::null());
        let ended = command.output().expect("the fixture starts");
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(SUCCESS), "{ended:?}");
        assert!(said.ends_with(&format!("went on after {codes}\n")), "{said}");
        assert_eq!(said.matches(again).count(), errors, "{said}");
    }
}

#[support::test]
fn run_inside_a_runtime_is_an_error() {
    for arguments in [&[][..], &["list"], &["--http", "127.0.0.1:0"]] {
        let mut command = fixture();
        command.args(arguments).env("FIXTURE_ON_A_RUNTIME", "").stdin(Stdio::null());
        let output = command.output().expect("the fixture starts");
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("error: `.run()` at tests/stdio/fixture.rs:"), "{stderr}");
        for part in ["a plain `fn main` without `#[tokio::main]`", "`.serve_stdio().await`"] {
            assert!(stderr.contains(part), "{stderr}");
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(FAILURE), String::new()));
    }
}

/// stdout has only the result, so that it can be piped into another program. All other output goes to stderr, as in a running server.
#[support::test]
fn text_that_tools_print_does_not_mix_with_their_results() {
    check(&["call", "print"], SUCCESS, "printed\n", "printed with a newline\nprinted without one");
    check(
        &["call", "child_prints"],
        SUCCESS,
        "the child succeeded: true\n",
        "printed by a child\n",
    );
    let mut command = fixture();
    let output = command.args(["call", "child_reads"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(text(&output.stdout), "the child read 0 bytes\n");
}

#[support::test]
fn log_lines_of_tools_go_to_stderr() {
    let output = run(&["call", "log", "lines=2"]);
    assert_eq!(text(&output.stdout), "2 lines logged\n");
    assert!(text(&output.stderr).contains("log line 1 of 2\n"), "{output:?}");
}

#[support::test]
fn a_panic_is_a_failure_of_the_call() {
    let output = run(&["call", "panic_later"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(FAILURE), &b""[..]));
    assert!(text(&output.stderr).ends_with("error: the tool `panic_later` panicked\n"));
}

/// The test client waits for at most 10 seconds. A command has no such limit, because the person who runs it decides how long to wait.
#[support::test]
fn a_slow_tool_is_waited_for() {
    check(&["call", "wait", "ms=10500"], SUCCESS, "waited 10500 ms\n", "");
}

#[support::test]
fn commands_that_only_list_do_not_run_the_around_function() {
    for arguments in [&["list"][..], &["schema"], &["check"], &["call", "echo", "text=x"]] {
        let mut command = fixture();
        command.args(arguments).env("FIXTURE_AROUND", "").stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), beside_schema(&output)), (Some(SUCCESS), String::new()));
    }
}

#[support::test]
fn a_large_result_is_printed_whole() {
    let output = run(&["call", "big", "bytes=5000000"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(SUCCESS), 5_000_001));
}

#[support::test]
fn a_closed_stdout_is_not_a_failure() {
    for arguments in ["list", "schema", "help", "--version", "call big bytes=1000000"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = fixture();
        command.args(arguments.split(' ')).stdin(Stdio::null()).stdout(writer);
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), beside_schema(&output)), (Some(SUCCESS), String::new()));
    }
}

/// stderr is closed, so the error message is lost. The exit code is still right, and the process does not panic.
#[support::test]
fn an_error_that_cannot_be_written_keeps_the_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = fixture();
    command.arg("frobnicate").stdin(Stdio::null()).stderr(writer);
    assert_eq!(command.output().unwrap().status.code(), Some(USAGE));
}

/// The commands leave the streams unchanged. The commands of a shell share its streams, so a change would affect the commands that follow.
#[support::test]
fn the_streams_are_left_as_they_were() {
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" call echo text=one; \"$0\" call echo text=two; echo three"]);
    let output = command.arg(env!("CARGO_BIN_EXE_stdio-fixture")).output().unwrap();
    assert_eq!(text(&output.stdout), "one\ntwo\nthree\n");
}

/// A server runs until its stdin ends, but a command ends when its work is done.
#[support::test]
fn commands_do_not_wait_for_stdin() {
    let mut command = fixture();
    command.args(["call", "echo", "text=a"]);
    let mut server = Server::start_as(command);
    let mut printed = String::new();
    server.take_stdout().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "a\n");
    server.wait().check_soon();
}

#[support::test]
fn every_command_that_prints_takes_json() {
    let json = |arguments: &[&str]| -> Value {
        let output = run(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|why| panic!("{arguments:?}: {why} in {output:?}"))
    };
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({ "name": "stdio-fixture", "version": version });
    assert_eq!(json(&["version", "--json"]), expected);

    let help = json(&["help", "--json"]);
    let commands = help["commands"].as_array().unwrap();
    // These commands serve a client or a page, or print a script for a shell.
    let others = ["dev", "record", "playground", "completions"];
    let file = std::env::temp_dir().join(format!("mcp-json-{}", std::process::id()));
    let path = file.display().to_string();
    let bundle = format!("{path}.mcpb");
    let recording = format!("{path}.jsonl");
    let request = crate::server::call(1, "echo", json!({ "text": "a" }));
    std::fs::write(&recording, json!({ "client": request }).to_string()).unwrap();
    for command in commands {
        let name = command["usage"].as_str().unwrap().split(' ').next().unwrap();
        let rest: &[&str] = match name {
            "call" => &["echo", "text=a"],
            "read" => &["notes://today"],
            "get" => &["greet", "name=Ada"],
            "complete" => &["volume", "language"],
            "config" => &["codex-cli"],
            "install" | "uninstall" => &["cursor", "--file", &path],
            "bundle" => &["--author", "Ada", "--out", &bundle],
            "server-json" => &["--name", "com.example/box", "--url", "https://example.com/mcp"],
            "replay" => &[&recording],
            _ if others.contains(&name) => continue,
            _ => &[],
        };
        let words: Vec<&str> = [name].iter().chain(rest).copied().chain(["--json"]).collect();
        // The table of the guide has the members that are listed here.
        let members: &[&str] = match name {
            "list" => &["tools", "resources", "resourceTemplates", "prompts"],
            "check" => &["findings", "setupError", "bytes", "toolTokens"],
            "config" => &["client", "server", "file", "text"],
            "install" | "uninstall" => {
                &["client", "server", "file", "written", "backup", "difference"]
            }
            "bundle" => &["file", "bytes"],
            "replay" => &["messages", "differences"],
            "help" => &["name", "version", "description", "commands", "options", "settings"],
            _ => &[],
        };
        let printed = json(&words);
        let has_all = members.iter().all(|member| printed.get(*member).is_some());
        assert!(printed.is_object() && has_all, "{words:?}: {printed}");
    }
    for file in [&file, Path::new(&bundle), Path::new(&recording)] {
        std::fs::remove_file(file).unwrap();
    }
    std::fs::remove_file(format!("{path}.bak")).unwrap();
}

/// Words after `--` belong to the server that a client starts.
#[support::test]
fn json_after_two_dashes_is_an_argument_of_the_server() {
    let output = run(&["config", "codex-cli", "--", "--json"]);
    assert!(text(&output.stdout).contains(r#"args = ["--json"]"#), "{output:?}");
    let output = run(&["config", "codex-cli", "--json", "--", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["client"], &json["server"]), (&json!("codex-cli"), &json!("stdio-fixture")));
    assert!(json["text"].as_str().unwrap().contains(r#"args = ["--json"]"#), "{json}");
}

#[support::test]
fn install_describes_the_change_of_the_file_as_json() {
    let home = HomeFolder::new();
    home.write("mcp.json", "{}\n");
    let json = |words: &[&str]| -> Value {
        let words: Vec<_> = words.iter().chain(&["--file", "mcp.json", "--json"]).collect();
        serde_json::from_str(&home.succeed(&words.into_iter().copied().collect::<Vec<_>>()))
            .unwrap()
    };
    let shown = json(&["install", "cursor", "--print"]);
    assert_eq!((&shown["written"], &shown["backup"]), (&json!(false), &json!(null)), "{shown}");
    assert!(shown["difference"].as_str().unwrap().contains("\n+"), "{shown}");
    assert_eq!(home.text("mcp.json"), "{}\n");
    let written = json(&["install", "cursor"]);
    // A difference may contain secrets, so only `--print` shows it.
    assert_eq!((&written["written"], &written["difference"]), (&json!(true), &json!(null)));
    assert!(written["backup"].as_str().unwrap().ends_with("mcp.json.bak"), "{written}");
    let again = json(&["install", "cursor"]);
    assert_eq!((&again["written"], &again["difference"]), (&json!(false), &json!(null)), "{again}");
    assert_eq!(json(&["uninstall", "cursor"])["written"], true);
}
