//! Help and options of the commands: each option is declared once, and the help, the parser and the completions of shells agree on it.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::server::fixture;

const SUCCESS: i32 = 0;
const USAGE: i32 = 2;

/// Runs a command. Returns its stdout and its stderr.
#[track_caller]
fn run(words: &[&str], status: i32) -> (String, String) {
    let output = fixture().args(words).stdin(Stdio::null()).output().expect("the fixture starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(status), "{words:?}: {stdout}{stderr}");
    (stdout, stderr)
}

#[track_caller]
fn page(words: &[&str]) -> String {
    let (page, stderr) = run(words, SUCCESS);
    assert_eq!(stderr, "", "{words:?}");
    page
}

#[track_caller]
fn json_of(words: &[&str]) -> Value {
    serde_json::from_str(&page(words)).unwrap_or_else(|why| panic!("{words:?}: {why}"))
}

/// Checks the exit code 2, that stdout is empty, and all of stderr.
#[track_caller]
fn check_refused(words: &[&str], problem: &str) {
    let expected = (String::new(), format!("error: {problem}\n"));
    assert_eq!(run(words, USAGE), expected, "{words:?}");
}

#[support::test]
fn each_command_has_a_page_of_help_with_its_options() {
    let call = page(&["call", "--help"]);
    assert_eq!(
        call,
        "call TOOL [NAME=VALUE …]\ncalls a tool\n\n  \
           --arguments JSON   passes this object as the arguments of `call`; `-` reads it from stdin\n  \
           --answer KEY=JSON  answers a question of `call`, `read` or `get`; may be repeated\n  \
           --json             prints the output of the command as JSON\n  \
           --help             prints this help, or that of a command\n"
    );
    for same in [&["call", "-h"][..], &["help", "call"], &["--help", "call"]] {
        assert_eq!(page(same), call, "{same:?}");
    }
    // The other words do not matter, and the command does not run.
    for same in [&["call", "echo", "text=a", "--help"][..], &["call", "--jsn", "--help"]] {
        assert_eq!(page(same), call, "{same:?}");
    }
    let install = page(&["install", "--help"]);
    assert!(
        install.starts_with("install CLIENT [OPTIONS] [-- ARGUMENTS]\nadds this server "),
        "{install}"
    );
    for option in ["--name NAME ", "--url URL ", "--file FILE ", "--project ", "--print "] {
        let line = install.lines().find(|line| line.starts_with(&format!("  {option}")));
        let about = line.and_then(|line| line[2..].split_once("  ")).map(|(_, about)| about.trim());
        assert!(about.is_some_and(|about| !about.is_empty()), "{option}: {install}");
    }
    // `dev` passes on the options of a server over HTTP.
    assert!(page(&["dev", "--help"]).contains("\n  --legacy-sse "));
}

/// Without JSON, the help of a command would end in an error about `--json`, or mix with the JSON that a program reads.
#[support::test]
fn the_help_with_json_is_json() {
    let help = json_of(&["help", "--json"]);
    assert_eq!(help["name"], "stdio-fixture");
    for same in [&["--help", "--json"][..], &["--json", "--help"], &["-h", "--json"]] {
        assert_eq!(json_of(same), help, "{same:?}");
    }
    let commands = help["commands"].as_array().expect("a list");
    let list = json_of(&["list", "--help", "--json"]);
    assert_eq!(list["usage"], "list");
    assert_eq!(list["about"], "lists tools, resources and prompts");
    let options = list["options"].as_array().expect("a list");
    let usages: Vec<_> = options.iter().map(|option| &option["usage"]).collect();
    assert_eq!(usages, [&json!("--json"), &json!("--help")]);
    assert!(commands.contains(&list), "{help}");
    for same in [&["list", "--json", "--help"][..], &["help", "list", "--json"]] {
        assert_eq!(json_of(same), list, "{same:?}");
    }
    // The help of a command is JSON even if the command itself has no `--json`.
    let dev = json_of(&["dev", "--help", "--json"]);
    assert!(commands.contains(&dev), "{help}");

    let version = json_of(&["version", "--json"]);
    for same in [&["--version", "--json"][..], &["--json", "-V"]] {
        assert_eq!(json_of(same), version, "{same:?}");
    }
    check_refused(&["--json"], "`--json` goes after the command; see `help`");
    check_refused(&["--json", "list"], "`--json` goes after the command; see `help`");
}

#[support::test]
fn help_for_an_unknown_command_names_the_nearest() {
    check_refused(&["help", "lsit"], "unknown command `lsit`; did you mean `list`?");
    check_refused(&["help", "echo"], "unknown command `echo`; did you mean `call echo`?");
    check_refused(
        &["help", "list", "call"],
        "`help` takes one argument, but got `call`: `help [COMMAND]`; see `help`",
    );
}

#[support::test]
fn an_unknown_option_of_a_command_is_refused_with_the_nearest() {
    check_refused(
        &["check", "--strcit"],
        "`check` has no option `--strcit`; did you mean `--strict`?",
    );
    check_refused(
        &["bundle", "--descripton=x"],
        "`bundle` has no option `--descripton`; did you mean `--description`?",
    );
    check_refused(
        &["call", "echo", "--anwser", "a=1"],
        "`call` has no option `--anwser`; did you mean `--answer`? (an argument of the item is written `anwser=VALUE`)",
    );
    check_refused(
        &["call", "echo", "--text", "a"],
        "`call` has no option `--text`; it has --arguments, --answer, --json, --help (an argument of the item is written `text=VALUE`)",
    );
    check_refused(
        &["dev", "--feature=a"],
        "`dev` has no option `--feature`; did you mean `--features`?",
    );
    check_refused(
        &["dev", "--lgacy-sse"],
        "`dev` has no option `--lgacy-sse`; did you mean `--legacy-sse`?",
    );
    check_refused(&["list", "--all"], "`list` has no option `--all`; it has --json, --help");
    check_refused(
        &["config", "cursor", "--fast"],
        "`config` has no option `--fast`; it has --name, --url, --header, --dev, --features, --no-default-features, --json, --help; other words follow `--`",
    );
    check_refused(
        &["list", "--http"],
        "`list` has no option `--http`; options of HTTP go without a command: see `help`",
    );
    check_refused(
        &["playground", "--path", "/x"],
        "`playground` has no option `--path`; options of HTTP go without a command: see `help`",
    );
}

#[support::test]
fn a_value_of_a_flag_is_refused() {
    for words in [
        &["check", "--strict=yes"][..],
        &["list", "--json=no"],
        &["install", "cursor", "--print=no"],
        &["bundle", "--validate=true"],
        &["playground", "--no-open=1"],
        &["--http", "--legacy-sse=1"],
        &["dev", "--http", "--legacy-sse=1"],
    ] {
        let given = words.iter().find(|word| word.contains('=')).expect("a value");
        let flag = given.split('=').next().expect("a name");
        check_refused(words, &format!("`{flag}` takes no value: write `{flag}` alone"));
    }
}

#[support::test]
fn a_missing_value_of_an_option_is_refused() {
    for words in [
        &["check", "--against"][..],
        &["call", "echo", "--answer"],
        &["--http", "--path"],
        &["dev", "--features"],
        &["dev", "--http", "--drain"],
        // The next option is not the value.
        &["install", "cursor", "--print", "--name", "--project"],
        &["check", "--against", "--strict"],
    ] {
        let option = words.iter().rfind(|word| !["--project", "--strict"].contains(word));
        let option = option.expect("an option");
        let problem = format!("`{option}` needs a value, as in `{option} ");
        let (_, stderr) = run(words, USAGE);
        assert!(stderr.starts_with(&format!("error: {problem}")), "{stderr}");
    }
}

#[support::test]
fn an_option_that_is_given_twice_is_refused_unless_it_may_be_repeated() {
    for words in [
        &["check", "--strict", "--strict"][..],
        &["check", "--against=a", "--against", "b"],
        &["list", "--json", "--json"],
        &["config", "cursor", "--name=a", "--name", "b"],
        &["playground", "--no-open", "--no-open"],
        &["--http", "--path=/a", "--path=/b"],
        &["--http=1", "--http=2"],
        &["dev", "--http", "--drain=1s", "--drain=2s"],
    ] {
        let option = words.last().and_then(|word| word.split('=').next());
        let option = option.filter(|word| word.starts_with("--")).unwrap_or(words[words.len() - 2]);
        check_refused(words, &format!("`{option}` is given twice"));
    }
    let repeated = ["call", "echo", "text=a", "--answer", "x=1", "--answer=y=2"];
    let (stdout, stderr) = run(&repeated, SUCCESS);
    assert_eq!(stdout, "a\n");
    assert_eq!(stderr, "note: `--answer x=…` and `--answer y=…` have answered no question\n");
    check_refused(
        &["--http", "--allow-host=a", "--allow-host=b", "--path=x"],
        "`--path`: `x` does not begin with `/`",
    );
}

/// Words after `--` are arguments, even if they look like options.
#[support::test]
fn a_word_after_two_dashes_is_no_option() {
    check_refused(
        &["list", "--", "--json"],
        "`list` takes no argument, but got `--json`: `list`; see `help`",
    );
    let (stdout, _) = run(&["complete", "volume", "title", "--", "--x"], SUCCESS);
    assert_eq!(stdout, "");
}
