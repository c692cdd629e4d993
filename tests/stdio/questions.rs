//! Elicitation requests of handlers during the commands `call`, `get` and `read`. The answers come from `--answer` or from a person at the
//! terminal.

use std::{
    io::Write as _,
    os::fd::OwnedFd,
    process::{Output, Stdio},
};

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

#[test]
fn a_question_without_an_answer_says_how_to_give_one() {
    let example = r#"--answer table='{"name":"…","persons":1,"size":"small"}'"#;
    check(&["call", "book"], 1, "", &["error: the server asks `table`: Which table?\n", example]);
    let page = ["the server asks `page`: Connect", "https://calendar", "--answer page='true'"];
    check(&["get", "link"], 1, "", &page);
    check(
        &["call", "book", "--answer", "tabel={}"],
        1,
        "",
        &["`--answer tabel=…` has answered no question"],
    );
}

#[test]
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
    check(
        &["read", "notes://unpaid", "--answer", "pay=true"],
        1,
        "",
        &["`pay` again after", "Pay first"],
    );
    check(&["read", "notes://unpaid", "--answer", "pay=decline"], 1, "", &["the user declined"]);
}

#[test]
fn a_wrong_answer_is_a_wrong_command_line() {
    check(&["call", "book", "--answer"], 2, "", &["`--answer` takes KEY=JSON"]);
    check(&["call", "book", "--answer", "table"], 2, "", &["`--answer` takes KEY=JSON"]);
    check(
        &["call", "book", "--answer", "table=yes"],
        2,
        "",
        &["`--answer table=yes` is not a valid answer"],
    );
    check(&["get", "link", "--answer", "page={}"], 2, "", &["it can be 'true'"]);
    check(&["--answer", "page=true"], 2, "", &["`--answer` goes after `call`"]);
    check(&["list", "--answer", "page=true"], 2, "", &["`list` takes no argument"]);
    check(&["help"], 0, &String::from_utf8(run(&["--help"]).stdout).unwrap(), &[]);
    assert!(String::from_utf8(run(&["help"]).stdout).unwrap().contains("\n  --answer KEY=JSON "));
}

/// Waits for each of these texts on the screen, and then types the line that belongs to it. Returns stdout and the text of the screen.
#[track_caller]
fn talk(arguments: &[&str], turns: &[(&str, &str)]) -> (String, String) {
    let (mut person, program) = terminal();
    let mut command = fixture();
    command.args(arguments);
    command.stdin(OwnedFd::from(program.try_clone().unwrap()));
    command.stderr(OwnedFd::from(program));
    let mut server = Server::start_as(command);
    let mut output = server.take_stdout();
    let (screen, mut seen) = (screen(&person), String::new());
    for (text, typed) in turns {
        let mut more = String::new();
        wait_for(&screen, &mut more, text);
        seen.push_str(&more);
        person.write_all(typed.as_bytes()).unwrap();
    }
    let mut printed = String::new();
    std::io::Read::read_to_string(&mut output, &mut printed).unwrap();
    while let Ok(more) = screen.try_recv() {
        seen.push_str(&more);
    }
    (printed, seen)
}

#[test]
fn the_command_line_waits_for_a_task() {
    let (first, second) = (r#"first={"thing":"bread"}"#, r#"second={"thing":"milk"}"#);
    let answers = ["call", "errand", "--answer", first, "--answer", second];
    check(&answers, 0, "bread and milk\n", &["… on the way\n"]);
    check(&["call", "errand", "--answer", first], 1, "", &["the server asks `second`: What else?"]);
    check(&["call", "errand"], 1, "", &["the server asks `first`: What is needed?"]);
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    let (printed, seen) = talk(
        &["call", "book"],
        &[
            ("Whose table it is: ", "\n"),
            ("this field is required", "Ada\n"),
            ("Persons (integer 1..=8): ", "many\n"),
            ("`many` is not a number", "2\n"),
            ("(small = For two, large)", "huge\n"),
            ("`huge` is not one of small, large", "for two\n"),
            ("[Y/n]: ", "n\n"),
            ("[optional]: ", "\n"),
        ],
    );
    assert_eq!(printed, "Ada 2 small false None\n", "{seen}");
    assert!(seen.contains("Which table?"), "{seen}");
}

#[test]
fn a_person_at_the_terminal_may_decline() {
    let (printed, seen) = talk(&["call", "book"], &[("Whose table it is: ", "\u{4}")]);
    assert_eq!(printed, "", "{seen}");
    let (printed, seen) = talk(&["get", "link"], &[("Go there? [y/N] ", "y\n")]);
    assert_eq!(printed, "[user]\non the way\n", "{seen}");
    assert!(seen.contains("https://calendar.example.com/"), "{seen}");
    let (printed, seen) = talk(&["get", "link"], &[("Go there? [y/N] ", "\n")]);
    assert_eq!(printed, "", "{seen}");
}
