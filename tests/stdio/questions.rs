//! Elicitation requests of handlers during the commands `call`, `get` and `read`. The answers come from `--answer` or from a person at the
//! terminal.

use std::{
    fs,
    io::Write as _,
    os::fd::OwnedFd,
    path::PathBuf,
    process::{Output, Stdio},
};

use support::clock::LIMIT;

use crate::{
    server::{Server, fixture},
    terminal::{screen, terminal, wait_for},
};

fn run(arguments: &[&str]) -> Output {
    let mut command = fixture();
    command.args(arguments).stdin(Stdio::null()).output().expect("the fixture starts")
}

/// Checks the exit code and stdout, and that stderr contains these parts. If no parts are given, stderr must be empty.
#[track_caller]
fn check(arguments: &[&str], status: i32, stdout: &str, stderr: &[&str]) {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stdout, "{arguments:?}: {said}");
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert_eq!(said.is_empty(), stderr.is_empty(), "{arguments:?}: {said}");
    for part in stderr {
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[support::test]
fn a_question_without_an_answer_says_how_to_give_one() {
    let example = r#"--answer table='{"name":"…","persons":1,"size":"small"}'"#;
    check(&["call", "book"], 1, "", &["error: the server asks `table`: Which table?\n", example]);
    let page = ["the server asks `page`: Connect", "https://calendar", "--answer page='true'"];
    check(&["get", "link"], 1, "", &page);
    check(
        &["get", "link"],
        1,
        "",
        &["open this page in a browser, then run the command again with"],
    );
    check(
        &["call", "book", "--answer", "tabel={}"],
        1,
        "",
        &["`--answer tabel=…` has answered no question"],
    );
}

#[support::test]
fn an_answer_to_a_question_that_is_not_asked_is_named() {
    check(
        &["call", "book", "--answer", "z={}"],
        1,
        "",
        &["(`--answer z=…` has answered no question)"],
    );
    let page = ["get", "link", "--answer", "page=true", "--answer", "x=1", "--answer", "y=2"];
    let note = "note: `--answer x=…` and `--answer y=…` have answered no question\n";
    check(&page, 0, "[user]\non the way\n", &[note]);
}

#[support::test]
fn the_command_line_answers() {
    let table = r#"table={"name":"Ada","persons":2,"size":"large","remark":"late"}"#;
    check(&["call", "book", "--answer", table], 0, "Ada 2 large true Some(\"late\")\n", &[]);
    let joined = format!("--answer={table}");
    check(&["call", &joined, "book"], 0, "Ada 2 large true Some(\"late\")\n", &[]);
    check(&["call", "book", "--answer", "table=decline"], 1, "", &["the user declined"]);
    check(&["call", "book", "--answer", "table=cancel"], 1, "", &["the user closed"]);
    check(&["get", "link", "--answer", "page=true"], 0, "[user]\non the way\n", &[]);
    check(&["get", "link", "--answer", "page=false"], 1, "", &["the user declined"]);
    // If an answer does not fit, the server asks again. No second answer is given here, so the command fails and prints the reason.
    let wrong = r#"table={"name":"Ada","persons":20,"size":"large"}"#;
    check(&["call", "book", "--answer", wrong], 1, "", &["`table` again after", "persons", "20"]);
    check(&["read", "notes://unpaid", "--answer", "pay=decline"], 1, "", &["the user declined"]);
}

/// An answer cannot replace the visit to a required page, so the message does not ask for an answer a second time.
#[support::test]
fn a_required_page_has_to_be_finished_before_the_command_is_repeated() {
    let advice = [
        "the server asks `pay` again: Pay first\n  https://pay.example.com/\n",
        "finish the page in a browser, then run the same command again",
    ];
    check(&["read", "notes://unpaid", "--answer", "pay=true"], 1, "", &advice);
    let (receipt, argument) = receipt("repeated");
    let command = ["call", "buy", &argument, "--answer", "pay=true"];
    check(&command, 1, "", &advice);
    fs::write(&receipt, "").unwrap();
    check(&command, 0, "bought\n", &["note: `--answer pay=…` has answered no question\n"]);
    fs::remove_file(receipt).unwrap();
}

/// Returns the path of a file that does not exist yet, and the argument of `buy` that names it.
fn receipt(name: &str) -> (PathBuf, String) {
    let receipt = std::env::temp_dir().join(format!("mcp-{name}-{}", std::process::id()));
    let argument = format!("receipt={}", receipt.display());
    (receipt, argument)
}

#[support::test]
fn a_question_that_the_command_line_cannot_answer_names_the_missing_capability() {
    for (command, capability) in
        [(&["call", "summarize", "text=x"][..], "sampling"), (&["call", "count_roots"], "roots")]
    {
        let lacks = format!("the command line is a client without `{capability}`");
        let advice = "use a client that has it, or write a test with `TestClient::answer_with`";
        check(command, 1, "", &["error: ", &lacks, advice]);
    }
}

#[support::test]
fn a_wrong_answer_is_a_wrong_command_line() {
    check(
        &["call", "book", "--answer"],
        2,
        "",
        &["`--answer` needs a value, as in `--answer KEY=JSON`"],
    );
    check(&["call", "book", "--answer", "table"], 2, "", &["`--answer` takes KEY=JSON"]);
    check(
        &["call", "book", "--answer", "table=1", "--answer", "table=2"],
        2,
        "",
        &["`--answer table=…` is given twice"],
    );
    check(
        &["call", "book", "--answer", "table=yes"],
        2,
        "",
        &["`--answer table=yes` is not a valid answer"],
    );
    check(&["get", "link", "--answer", "page={}"], 2, "", &["it can be 'true'"]);
    check(&["--answer", "page=true"], 2, "", &["`--answer` goes after `call`"]);
    check(&["list", "--answer", "page=true"], 2, "", &["`list` has no option `--answer`"]);
    check(&["help"], 0, &String::from_utf8(run(&["--help"]).stdout).unwrap(), &[]);
    assert!(String::from_utf8(run(&["help"]).stdout).unwrap().contains("\n  --answer KEY=JSON "));
}

/// Waits for each of these texts on the screen, and then types the line that belongs to it. Returns stdout and the text of the screen.
#[track_caller]
fn talk(arguments: &[&str], turns: &[(&str, &str)]) -> (String, String) {
    talk_and(arguments, turns, || ())
}

/// Like `talk`, and calls `before_last` before the last line is typed.
#[track_caller]
fn talk_and(
    arguments: &[&str],
    turns: &[(&str, &str)],
    before_last: impl Fn(),
) -> (String, String) {
    let (mut person, program) = terminal();
    let mut command = fixture();
    command.args(arguments);
    command.stdin(OwnedFd::from(program.try_clone().unwrap()));
    command.stderr(OwnedFd::from(program));
    let mut server = Server::start_as(command);
    let mut output = server.take_stdout();
    let (screen, mut seen) = (screen(&person), String::new());
    for (at, (text, typed)) in turns.iter().enumerate() {
        let mut more = String::new();
        wait_for(&screen, &mut more, text);
        seen.push_str(&more);
        if at + 1 == turns.len() {
            before_last();
        }
        person.write_all(typed.as_bytes()).unwrap();
    }
    let mut printed = String::new();
    std::io::Read::read_to_string(&mut output, &mut printed).unwrap();
    // The reader of the screen ends when the command does.
    while let Ok(more) = screen.recv_timeout(LIMIT) {
        seen.push_str(&more);
    }
    (printed, seen)
}

#[support::test]
fn the_command_line_waits_for_a_task() {
    let (first, second) = (r#"first={"thing":"bread"}"#, r#"second={"thing":"milk"}"#);
    let answers = ["call", "errand", "--answer", first, "--answer", second];
    check(&answers, 0, "bread and milk\n", &["… on the way\n"]);
    check(&["call", "errand", "--answer", first], 1, "", &["the server asks `second`: What else?"]);
    check(&["call", "errand"], 1, "", &["the server asks `first`: What is needed?"]);
}

#[support::test]
fn a_person_at_the_terminal_is_asked() {
    let (printed, seen) = talk(
        &["call", "book"],
        &[
            ("Whose table it is: ", "\n"),
            ("this field is required", "Ada\n"),
            ("Persons (integer 1..=8): ", "many\n"),
            ("`many` is not a number", "0\n"),
            ("give 1 to 8", "2\n"),
            ("(small = For two, large)", "huge\n"),
            ("`huge` is not one of small, large", "for two\n"),
            ("[Y/n]: ", "n\n"),
            ("[optional]: ", "\n"),
        ],
    );
    assert_eq!(printed, "Ada 2 small false None\n", "{seen}");
    assert!(seen.contains("Which table?"), "{seen}");
}

#[support::test]
fn a_person_at_the_terminal_may_decline() {
    let (printed, seen) = talk(&["call", "book"], &[("Whose table it is: ", "\u{4}")]);
    assert_eq!(printed, "", "{seen}");
    let (printed, seen) = talk(&["get", "link"], &[("then continue? [y/N] ", "y\n")]);
    assert_eq!(printed, "[user]\non the way\n", "{seen}");
    assert!(seen.contains("https://calendar.example.com/"), "{seen}");
    let (printed, seen) = talk(&["get", "link"], &[("then continue? [y/N] ", "\n")]);
    assert_eq!(printed, "", "{seen}");
}

#[support::test]
fn a_person_at_the_terminal_finishes_a_required_page() {
    let (receipt, argument) = receipt("visited");
    let first = "Open this page in a browser, then continue? [y/N] ";
    let again = "The server still needs this page. Finish there, then continue? [y/N] ";
    let turns = [(first, "y\n"), (again, "y\n"), (again, "y\n")];
    let pay = || fs::write(&receipt, "").unwrap();
    let (printed, seen) = talk_and(&["call", "buy", &argument], &turns, pay);
    assert_eq!(printed, "bought\n", "{seen}");
    fs::remove_file(&receipt).unwrap();
    let (printed, seen) = talk(&["call", "buy", &argument], &[(first, "y\n"), (again, "n\n")]);
    assert_eq!(printed, "", "{seen}");
}

/// Each report replaces the last one on the same line, and the line is empty when the result is printed.
#[support::test]
fn a_person_at_the_terminal_sees_progress() {
    let (file, _) = receipt("stages");
    let argument = format!("go={}", file.display());
    let go = || fs::write(&file, "").unwrap();
    let (half, full) = ("━".repeat(10) + &"─".repeat(10) + " ", "━".repeat(20) + " ");
    for option in [None, Some("--json")] {
        let words: Vec<_> = ["call", "stages", &argument].into_iter().chain(option).collect();
        let first = format!("{half}1 of 2: halfway there ");
        let (printed, seen) = talk_and(&words, &[(&format!("\r{first}"), "")], go);
        assert!(printed.contains("all stages"), "{seen}");
        let rest = format!("{full}2 of 2 ");
        let second = format!("{rest:width$}", width = first.chars().count());
        let last = format!("\r{}\r", " ".repeat(rest.chars().count()));
        assert!(seen.ends_with(&format!("\r{second}{last}")), "{seen:?}");
        fs::remove_file(&file).unwrap();
    }
    fs::write(&file, "").unwrap();
    check(&["call", "stages", &argument], 0, "all stages\n", &[]);
    fs::remove_file(file).unwrap();
}

#[support::test]
fn the_status_of_a_task_and_its_questions_share_the_terminal() {
    let turns = [("thing: ", "bread\n"), ("\ron the way ", ""), ("thing: ", "milk\n")];
    let (printed, seen) = talk(&["call", "errand"], &turns);
    assert_eq!(printed, "bread and milk\n", "{seen}");
    let blank = " ".repeat("on the way ".len());
    assert!(seen.contains(&format!("\r{blank}\rWhat else?")), "{seen:?}");
}
