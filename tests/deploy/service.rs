//! The systemd unit.

use std::process::{Command, Stdio};

use serde_json::json;
use support::requirement::{Missing, needs, output_of};

use crate::{
    client::{plain_call, run},
    files::{Folder, HOST, committed, options, replace},
    front::installed,
    limits::{default_number, default_time},
    server::{Server, fixture},
};

const FILE: &str = "mcp-server.service";
const START: &str = "ExecStart=/usr/local/bin/mine ";

/// Most points of `systemd-analyze security`. It rates a unit without settings at 9.6, and calls a unit below 2.5 safe.
const EXPOSURE: f64 = 1.8;

/// Returns the value of a setting that the unit has once.
fn setting(name: &str) -> String {
    let text = committed(FILE);
    let values: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('=')).collect();
    let [value] = values[..] else { panic!("{name}: {values:?}") };
    value.to_owned()
}

/// Runs `systemd-analyze` with the unit, whose program is replaced by one that is here. Returns stdout and stderr.
fn analyze(arguments: &[&str], text: &str) -> Result<(String, String), Missing> {
    let program = installed("systemd-analyze", "--version", "systemd")?;
    let folder = Folder::new();
    let start = format!("ExecStart={} ", fixture().display());
    let unit = folder.write(FILE, &replace(text, START, &start, 1));
    let mut analyze = Command::new(program);
    let output = analyze.args(arguments).arg(unit).stdin(Stdio::null()).output();
    let output = output.expect("systemd-analyze starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((text(&output.stdout), text(&output.stderr)))
}

#[support::test]
fn systemd_accepts_the_unit_without_a_warning() {
    let verify = |text: &str| analyze(&["verify"], text).map(|(_, stderr)| stderr);
    let planted = replace(&committed(FILE), "RestartSec=1", "RestartSec=soon", 1);
    let said = needs(verify(&planted));
    assert!(said.contains(FILE), "a mistake is seen: {said}");
    // systemd may warn about other units of the machine.
    let said = needs(verify(&committed(FILE)));
    let warnings: Vec<_> = said.lines().filter(|line| line.contains(FILE)).collect();
    assert!(warnings.is_empty(), "{said}");
}

#[support::test]
fn the_unit_keeps_its_sandbox() {
    let security = ["security", "--offline=true", "--no-pager"];
    let (stdout, stderr) = needs(analyze(&security, &committed(FILE)));
    let said = stdout + &stderr;
    let level = said.lines().find(|line| line.contains("Overall exposure level"));
    let points = level.and_then(|line| line.split(' ').find_map(|word| word.parse::<f64>().ok()));
    let points = points.unwrap_or_else(|| panic!("{said}"));
    support::note!("exposure: {points}");
    assert!(points <= EXPOSURE, "{said}");
}

#[support::test]
fn the_server_takes_the_options_of_the_unit() {
    run(async {
        let options = options(&committed(FILE), START);
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let server = Server::start_with(fixture(), &options, &[]);
        let echo = plain_call(1, "echo", json!({ "text": "x" })).host(HOST);
        assert_eq!(echo.ask(server.address()).await.text(), "x");
    });
}

#[support::test]
fn systemd_waits_longer_than_the_server_needs_to_stop() {
    let seconds: u64 = setting("TimeoutStopSec").parse().expect("a number of seconds");
    assert!(seconds > default_time("grace").as_secs());
    // Without `--drain`, the server needs the grace period alone.
    assert!(!committed(FILE).contains("--drain"));
}

#[support::test]
fn the_unit_allows_as_many_files_as_the_server_has_connections() {
    let files: usize = setting("LimitNOFILE").parse().expect("a number");
    assert!(files / 4 * 3 > default_number("connections"));
}

/// A restart does not correct a wrong command line.
#[support::test]
fn systemd_does_not_repeat_a_start_with_a_wrong_command_line() {
    let mut wrong = Command::new(fixture());
    let status = wrong.args(["--http", "--htpp"]).stderr(Stdio::null()).status();
    let code = status.expect("the server starts").code().expect("an exit code");
    assert_eq!(setting("RestartPreventExitStatus"), code.to_string());
    output_of(Command::new(fixture()).arg("--version")).expect("a correct one");
}
