//! Colours, tables and progress of the command line. A terminal shows them. A pipe or a file has none, unless
//! `CLICOLOR_FORCE` is set.

use std::{
    fs,
    io::Write as _,
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use rustix::termios::{Winsize, tcsetwinsize};
use support::clock::LIMIT;

use crate::{
    server::fixture,
    terminal::{screen, terminal},
};

/// Runs a command with a terminal of this many columns as its stdout and stderr. Returns the text on the terminal, and the exit code.
fn on_terminal(mut command: Command, columns: u16) -> (String, Option<i32>) {
    let (person, program) = terminal();
    tcsetwinsize(&person, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
        .unwrap();
    let clone = || OwnedFd::from(program.try_clone().unwrap());
    command.stdin(Stdio::null()).stdout(clone()).stderr(clone());
    let mut child = command.spawn().expect("the fixture starts");
    // The test must not hold the terminal open, because reading would not end.
    drop((command, program));
    let screen = screen(&person);
    let mut seen = String::new();
    while let Ok(more) = screen.recv_timeout(LIMIT) {
        seen.push_str(&more);
    }
    (seen.replace("\r\n", "\n"), child.wait().unwrap().code())
}

/// Returns the fixture with these arguments, and without variables of the person who runs the tests.
fn command(arguments: &[&str]) -> Command {
    let mut command = fixture();
    command.args(arguments).env("TERM", "xterm");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// Removes the sequences that set colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

fn piped(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the fixture starts");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[support::test]
fn a_terminal_shows_lists_as_coloured_tables_of_its_width() {
    let (shown, code) = on_terminal(command(&["list"]), 60);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("\x1b[1mtools\x1b[0m\n"), "{shown}");
    assert!(shown.contains("  \x1b[36mrepeat\x1b[0m "), "{shown}");
    assert!(shown.contains("\x1b[33m(task)\x1b[0m\n"), "{shown}");
    let text = without_colours(&shown);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    let at = |line: &str, part: &str| line.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    let column = at(line("  repeat "), "Repeats a word.");
    assert_eq!(at(line("  echo "), "Returns the text."), column);
    assert!(line("  stages ").ends_with('…'), "{text}");
    assert!(text.contains(&format!("\n{:column$}word=<string> times=", "")), "{text}");
}

#[support::test]
fn a_pipe_has_no_colours_and_no_tables() {
    let text = piped(command(&["list"]));
    assert!(!text.contains('\x1b'), "{text}");
    assert!(
        text.contains("\n  repeat word=<string> times=<integer 0..=255> [separator=<string>]  ")
    );
    assert!(!piped(command(&["unknown"])).contains('\x1b'));
    assert!(!piped(command(&["help"])).contains('\x1b'));
}

/// The rules are those of <https://no-color.org> and <https://bixense.com/clicolors>.
#[support::test]
fn variables_turn_colours_off_and_on() {
    let shown = |variables: &[(&str, &str)]| {
        let mut command = command(&["list"]);
        command.envs(variables.iter().copied());
        on_terminal(command, 60).0
    };
    let plain = without_colours(&shown(&[]));
    for variables in [
        &[("NO_COLOR", "1")][..],
        &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
        &[("CLICOLOR", "0")],
        &[("TERM", "dumb")],
    ] {
        assert_eq!(shown(variables), plain, "{variables:?}");
    }
    assert!(shown(&[("NO_COLOR", "")]).contains('\x1b'));
    let forced = |also: &[(&str, &str)]| {
        let mut command = command(&["list"]);
        command.env("CLICOLOR_FORCE", "1").envs(also.iter().copied());
        piped(command)
    };
    assert!(forced(&[]).contains("\x1b[1mtools\x1b[0m\n"));
    assert_eq!(forced(&[("NO_COLOR", "1")]), piped(command(&["list"])));
}

#[support::test]
fn a_terminal_shows_errors_help_and_reports_in_colours() {
    let (error, code) = on_terminal(command(&["lsit"]), 80);
    assert_eq!(
        error,
        "\x1b[1m\x1b[31merror:\x1b[0m unknown command `lsit`; did you mean `list`?\n"
    );
    assert_eq!(code, Some(2));

    let (help, _) = on_terminal(command(&["help"]), 80);
    let row = "  \x1b[36mlist\x1b[0m ";
    assert!(help.contains(row), "{help}");
    let text = without_colours(&help);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&text), words(&piped(command(&["help"]))));

    let mut check = command(&["check"]);
    check.env("FIXTURE_FLAWED", "");
    let (report, _) = on_terminal(check, 80);
    assert!(report.contains("  \x1b[1m\x1b[31merror\x1b[0m (no description): "), "{report}");
    assert!(report.contains("    \x1b[32mfix:\x1b[0m "), "{report}");

    let file = std::env::temp_dir().join(format!("mcp-styled-{}.json", std::process::id()));
    let path = file.display().to_string();
    fs::write(&file, "{\n  \"theme\": \"dark\"\n}\n").unwrap();
    let (changes, _) = on_terminal(command(&["install", "plain", "--file", &path, "--print"]), 80);
    fs::remove_file(&file).unwrap();
    assert!(changes.contains("\x1b[32m+"), "{changes}");
    assert!(changes.contains("\x1b[1m\x1b[33mwarning:\x1b[0m this is a debug build"), "{changes}");
}

#[support::test]
fn a_terminal_shows_the_differences_of_a_replayed_session_in_colours() {
    let file = std::env::temp_dir().join(format!("mcp-styled-{}.jsonl", std::process::id()));
    let mut recording = fs::File::create(&file).unwrap();
    let request = crate::server::call(1, "echo", serde_json::json!({ "text": "a" }));
    writeln!(recording, "{}", serde_json::json!({ "client": request })).unwrap();
    let content = serde_json::json!([{ "type": "text", "text": "b" }]);
    let response = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "result": { "resultType": "complete", "content": content },
    });
    writeln!(recording, "{}", serde_json::json!({ "server": response })).unwrap();
    let path = file.display().to_string();
    let (shown, code) = on_terminal(command(&["replay", &path]), 80);
    fs::remove_file(&file).unwrap();
    assert!(shown.contains("\x1b[31mline 2\x1b[0m: "), "{shown}");
    assert!(shown.contains("\x1b[1m\x1b[31merror:\x1b[0m "), "{shown}");
    assert_eq!(code, Some(1));
}

/// The progress stays in the last line.
#[support::test]
fn lines_of_the_log_appear_above_the_progress() {
    let (shown, code) = on_terminal(command(&["call", "log_stages"]), 80);
    assert_eq!(code, Some(0), "{shown:?}");
    let bar = |done: usize, text: &str| "━".repeat(done) + &"─".repeat(20 - done) + text;
    let first = bar(10, " 1 of 2: halfway ");
    let blank = " ".repeat(first.chars().count());
    let (before, after) = shown.split_once(&first).unwrap_or_else(|| panic!("{shown:?}"));
    assert!(before.ends_with('\r'), "{shown:?}");
    let after = after.strip_prefix(&format!("\r{blank}\r")).unwrap_or_else(|| panic!("{shown:?}"));
    let (line, after) = after.split_once('\n').unwrap();
    assert!(line.ends_with("saved the first half"), "{shown:?}");
    assert!(after.starts_with(&format!("{first}\r{}", bar(20, " 2 of 2"))), "{shown:?}");
    assert!(after.ends_with("\rall stages\n"), "{shown:?}");

    let piped = piped(command(&["call", "log_stages"]));
    assert!(piped.starts_with("all stages\n"), "{piped:?}");
    assert!(!piped.contains(['━', '\r']), "{piped:?}");
}

/// Without `--json`, stdout has the text. The bar is on stderr in both cases.
#[support::test]
fn the_bar_of_a_call_is_shown_with_json_too() {
    let (shown, code) = on_terminal(command(&["call", "log_stages", "--json"]), 80);
    assert_eq!(code, Some(0), "{shown:?}");
    assert!(
        shown.contains(&format!("\r{}{} 1 of 2: halfway ", "━".repeat(10), "─".repeat(10))),
        "{shown:?}"
    );
}

/// A line that is wider than the terminal would wrap, and the next text could not replace it.
#[support::test]
fn the_progress_fits_into_the_columns_of_the_terminal() {
    for columns in [40_u16, 80] {
        let (shown, code) = on_terminal(command(&["call", "wide_stages"]), columns);
        assert_eq!(code, Some(0), "{shown:?}");
        let line = shown.split('\r').find(|line| line.contains("1 of 2: 天")).expect("a line");
        // The bar and the text around it take one column a character.
        let wide = line.chars().filter(|c| "天気予報".contains(*c)).count();
        let width = line.chars().count() + wide;
        assert!(width < usize::from(columns), "{width} of {columns}: {line:?}");
        assert!(line.trim_end().ends_with('…'), "{line:?}");
    }
}

#[support::test]
fn a_terminal_shows_the_note_of_record_in_colours() {
    let file = std::env::temp_dir().join(format!("mcp-noted-{}.jsonl", std::process::id()));
    let path = file.display().to_string();
    let (shown, code) = on_terminal(command(&["record", &path]), 80);
    fs::remove_file(&file).unwrap();
    assert_eq!(code, Some(0), "{shown}");
    let note = "\x1b[1m\x1b[36mnote:\x1b[0m the session is recorded in ";
    assert!(shown.contains(note), "{shown:?}");
}

#[support::test]
fn the_help_of_a_command_fits_into_a_terminal() {
    let (shown, _) = on_terminal(command(&["install", "--help"]), 60);
    assert!(shown.starts_with("\x1b[1minstall CLIENT "), "{shown}");
    assert!(shown.contains("\n  \x1b[36m--name NAME\x1b[0m "), "{shown}");
    let text = without_colours(&shown);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&text), words(&piped(command(&["install", "--help"]))));
}
