//! Completions of the command line, tested in bash, zsh and fish. The script for PowerShell is only parsed.

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::Receiver,
};

use support::{
    python::Python,
    requirement::{Missing, needs, success_of},
};

use crate::{
    home::HomeFolder,
    server::{Server, fixture},
    terminal::{screen, terminal, wait_for},
};

/// Returns the suggestions for words of the command line, as fish gets them: each with its description after a tab.
fn suggested(words: &[&str]) -> Vec<String> {
    of_program(fixture(), words)
}

fn of_program(mut program: Command, words: &[&str]) -> Vec<String> {
    let output = program.args(["completions", "fish", "--"]).args(words).stdin(Stdio::null());
    let output = output.output().expect("the fixture starts");
    assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(words: &[&str], expected: &[&str]) {
    assert_eq!(suggested(words), expected, "{words:?}");
}

#[support::test]
fn commands_and_their_options_are_suggested() {
    let commands = suggested(&[""]);
    let help = fixture().arg("help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for command in ["list", "call", "completions", "playground", "version"] {
        assert!(commands.iter().any(|line| line.starts_with(&format!("{command}\t"))));
    }
    for line in &commands {
        assert!(help.contains(&format!("\n  {}", line.split('\t').next().unwrap())), "{line}");
    }
    check(&["ve"], &["version\tprints the name and the version of the server"]);
    let json = "--json\tprints the output of the command as JSON";
    let help = "--help\tprints this help, or that of a command";
    let strict = "--strict\tfails if there is any finding that is not accepted";
    let against = "--against\tcompares the server with this lock file instead";
    let baseline = "--baseline\tleaves out the findings that this file accepts";
    let write = "--write-baseline\taccepts all findings, and lists them in this file";
    check(&["check", "-"], &[strict, against, baseline, write, json, help]);
    check(&["check", "--strict", "--a"], &[against]);
    check(&["list", ""], &[json, help]);
    check(&["list", "--json", ""], &[help]);
    check(&["help", "ve"], &["version\tprints the name and the version of the server"]);
    let installed = suggested(&["install", "cursor", "--project", ""]);
    let names: Vec<_> = installed.iter().map(|line| line.split_once('\t').unwrap().0).collect();
    assert_eq!(
        names,
        [
            "--name",
            "--url",
            "--header",
            "--dev",
            "--features",
            "--no-default-features",
            "--file",
            "--print",
            "--json",
            "--help"
        ]
    );
    // An option that may be repeated is suggested again.
    assert_eq!(suggested(&["call", "echo", "--answer=a=1", "--a"]).len(), 2);
    check(&["--pa"], &["--path\tpath of the endpoint, by default /mcp"]);
    check(&["--http", "8000", "--pa"], &["--path\tpath of the endpoint, by default /mcp"]);
    assert_eq!(suggested(&["dev", "--leg"]).len(), 1);
    check(&["--hel"], &[help]);
}

/// `help` and the completions of shells follow from the same declarations.
#[support::test]
fn every_option_in_the_help_of_a_command_is_suggested_with_its_description() {
    let output = fixture().args(["help", "--json"]).output().unwrap();
    let help: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for command in help["commands"].as_array().unwrap() {
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let usage = text(&command["usage"]);
        let expected: Vec<String> = command["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|option| {
                let usage = text(&option["usage"]);
                format!("{}\t{}", usage.split(' ').next().unwrap(), text(&option["about"]))
            })
            .collect();
        assert!(expected.iter().all(|line| !line.ends_with('\t')), "{expected:?}");
        assert_eq!(suggested(&[usage.split(' ').next().unwrap(), "--"]), expected, "{usage}");
    }
}

#[support::test]
fn values_with_a_fixed_set_are_suggested() {
    check(&["config", "cl"], &["claude-code\tClaude Code", "claude-desktop\tClaude Desktop"]);
    check(&["completions", ""], &["bash", "zsh", "fish", "powershell"]);
    check(&["call", "shout", "again="], &["again=true", "again=false"]);
}

/// Without a suggestion, a shell completes names of files.
#[support::test]
fn nothing_is_suggested_where_a_file_or_a_free_text_stands() {
    for words in [
        &["check", "--against", ""][..],
        &["check", "--against=m"],
        &["replay", ""],
        &["install", "cursor", "--file", ""],
        &["record", "a", "--", ""],
        &["call", "repeat", "word="],
        &["call", "unknown", ""],
        &["unknown", ""],
        &["--path", ""],
        &["--", ""],
    ] {
        check(words, &[]);
    }
}

#[support::test]
fn items_and_their_arguments_are_suggested() {
    check(&["call", "rep"], &["repeat\tRepeats a word."]);
    check(&["call", "--json", "rep"], &["repeat\tRepeats a word."]);
    check(&["call", "repeat", ""], &["times=\tHow often", "word=\tstring", "separator=\tstring"]);
    check(&["call", "repeat", "word=a", "times=2", ""], &["separator=\tstring"]);
    let greet = "greet\tGreets somebody.";
    check(&["get", ""], &[greet, "link\tSends the user to a page."]);
    check(&["get", "greet", ""], &["name="]);
    check(&["read", "notes://t"], &["notes://today\tThe tasks of today."]);
    check(&["read", "b"], &["books://\tIntroduces a book."]);
    check(&["complete", "g"], &[greet]);
    check(&["complete", "volume", ""], &["language", "title"]);
    check(&["complete", "volume", "title", "a", "l"], &["language="]);
}

/// The template is named as in `complete`, by its name or by its text.
#[support::test]
fn values_of_the_variables_of_a_template_come_from_the_server() {
    for volume in ["volume", "books://{language}/{title}"] {
        check(&["complete", volume, "title", "", "language=Ge"], &["language=German"]);
        check(
            &["complete", volume, "language", "", "language=German", "title=F"],
            &["title=Faust"],
        );
    }
    check(&["complete", "absent", "title", "", "language=Ge"], &[]);
}

/// `complete ITEM ARGUMENT TEXT` gets the same values as the command prints.
#[support::test]
fn the_text_of_complete_is_suggested_by_the_server() {
    check(&["complete", "volume", "language", "G"], &["German", "Greek"]);
    check(&["complete", "books://{language}/{title}", "language", "Eng"], &["English"]);
    // A value of another argument may stand in place of the text.
    check(&["complete", "volume", "title", "lang"], &["language="]);
    check(&["complete", "volume", "title", "language=Ge"], &["language=German"]);
    check(&["complete", "volume", "title", "language=German", "title=F"], &["title=Faust"]);
    check(&["complete", "absent", "title", "F"], &[]);
}

/// A `setup` that blocks its thread cannot be interrupted, so the process ends while it runs.
#[support::test]
fn a_setup_that_blocks_its_thread_ends_without_suggestions() {
    let mut command = fixture();
    command.args(["completions", "fish", "--", "call", ""]).env("FIXTURE_STUCK", "");
    let mut stuck = Server::start_as(command);
    assert_eq!(stuck.line(), None);
    let ended = stuck.wait();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}

/// The server completes the arguments of its prompts, as it does for a client.
#[support::test]
fn values_of_the_arguments_of_a_prompt_come_from_the_server() {
    let flawed = |words: &[&str]| {
        let mut fixture = fixture();
        fixture.env("FIXTURE_FLAWED", "");
        of_program(fixture, words)
    };
    assert_eq!(flawed(&["get", "to do", "day=to"]), ["day=today", "day=tomorrow"]);
    // `setup` adds this tool.
    assert!(flawed(&["call", "a"]).contains(&"added".to_owned()));
}

#[support::test]
fn options_of_the_author_are_suggested_and_count_for_the_items() {
    let configured =
        |words: &[&str]| of_program(Command::new(env!("CARGO_BIN_EXE_configured-fixture")), words);
    let root = "--root\tDirectory to serve; required [FILE_BOX_ROOT]";
    assert_eq!(configured(&["--roo"]), [root]);
    assert_eq!(configured(&["--root", ""]), [""; 0]);
    assert_eq!(configured(&["--language", ""]), ["en", "no"]);
    assert_eq!(configured(&["--language=e"]), ["--language=en"]);
    assert_eq!(configured(&["--root=e"]), [""; 0]);
    // The parser reads `--retries` as an option too.
    assert_eq!(configured(&["--language", "--retries", ""]), [""; 0]);
    assert_eq!(configured(&["--root", "x", "--verbose", "cal"]), ["call\tcalls a tool"]);
    assert_eq!(configured(&["--api-key=abcd", "get", "ex"]), ["explain\tExplains a file."]);
}

#[support::test]
fn an_unknown_shell_is_refused_with_the_nearest_name() {
    let output = fixture().args(["completions", "fihs"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: unknown shell `fihs`; did you mean `fish`?\n");
    let output = fixture().args(["completions", "elvish"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "error: unknown shell `elvish`; the shells are: bash, zsh, fish, powershell\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

/// Returns a command for a shell that finds the fixture in `PATH`, and does not read files of the person who runs the tests.
fn prepared(shell: &str, home: &Path) -> Command {
    let mut command = Command::new(shell);
    let bin = Path::new(env!("CARGO_BIN_EXE_stdio-fixture")).parent().unwrap();
    let inherited = env::var_os("PATH").unwrap_or_default();
    let path = [PathBuf::from(bin)].into_iter().chain(env::split_paths(&inherited));
    command.env("PATH", env::join_paths(path).unwrap()).env("HOME", home).env("TERM", "xterm");
    command.env("PS1", "READY ").env("XDG_CONFIG_HOME", home).env("XDG_DATA_HOME", home);
    command.env_remove("RUST_LOG").current_dir(home);
    command
}

/// Shell on a terminal, and its output that no test has waited for yet.
struct Interactive {
    person: File,
    screen: Receiver<String>,
    seen: String,
    child: std::process::Child,
}

impl Interactive {
    /// Starts the shell. Returns an error if it is not installed.
    fn start(shell: &str, arguments: &[&str], home: &Path) -> Result<Self, Missing> {
        let mut command = prepared(shell, home);
        let (person, program) = terminal();
        let clone = || OwnedFd::from(program.try_clone().unwrap());
        command.args(arguments).stdin(clone()).stdout(clone()).stderr(clone());
        let child = command.spawn().map_err(|why| Missing::new(format!("{shell}: {why}")))?;
        drop((command, program));
        let mut started = Self { screen: screen(&person), person, seen: String::new(), child };
        started.wait("READY ");
        Ok(started)
    }

    fn wait(&mut self, text: &str) {
        wait_for(&self.screen, &mut self.seen, text);
        let end = self.seen.find(text).unwrap_or_default() + text.len();
        self.seen.drain(..end);
    }

    /// Types a line, and waits for its output and the next prompt.
    fn run(&mut self, line: &str, output: &str) {
        self.person.write_all(format!("{line}\r").as_bytes()).unwrap();
        self.wait(output);
        self.wait("READY ");
    }

    fn end(mut self) {
        self.person.write_all(b"exit\r").unwrap();
        self.child.wait().unwrap();
    }
}

/// Types lines with tabs in bash or zsh, and checks the output of the completed commands.
fn complete_in(shell: &mut Interactive) {
    let version = format!("stdio-fixture {}\r\n", env!("CARGO_PKG_VERSION"));
    shell.run("stdio-fixture vers\t", &version);
    // The shell adds a space after a finished name, but not after `NAME=`.
    shell.run("stdio-fixture call repe\two\tha ti\t2", "ha ha\r\n");
    shell.run("stdio-fixture call shout phrase=a ag\tt\t", "a None true\r\n");
    // bash splits words at `:`.
    shell.run("stdio-fixture read notes://tod\t", "test the server\r\n");
    let path = env!("CARGO_BIN_EXE_stdio-fixture");
    shell.run(&format!("{path} get gree\tna\tAda"), "[user]\r\nSay hello to Ada.\r\n");
    // Without a suggestion, the shell completes names of files.
    shell.run("stdio-fixture call repeat times=2 word=only-f\t", "only-file only-file\r\n");
}

fn home() -> HomeFolder {
    let home = HomeFolder::new();
    home.write("only-file", "");
    home
}

#[support::test]
fn bash_completes_the_command_line() {
    let home = home();
    let test = || {
        let mut bash =
            Interactive::start("bash", &["--norc", "--noprofile", "-i"], &home.path(""))?;
        bash.run("source <(stdio-fixture completions bash); echo load''ed", "loaded");
        complete_in(&mut bash);
        bash.end();
        Ok(())
    };
    needs(test());
}

#[support::test]
fn zsh_completes_the_command_line() {
    let home = home();
    let test = || {
        let mut zsh = Interactive::start("zsh", &["-f", "-i"], &home.path(""))?;
        zsh.run("autoload -U compinit; compinit -u -D; echo start''ed", "started");
        zsh.run("source <(stdio-fixture completions zsh); echo load''ed", "loaded");
        complete_in(&mut zsh);
        zsh.end();

        // zsh loads a file in `fpath` at the first completion.
        let script = success_of(fixture().args(["completions", "zsh"]))?;
        home.write("functions/_stdio-fixture", &script);
        let mut zsh = Interactive::start("zsh", &["-f", "-i"], &home.path(""))?;
        let start = "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D";
        zsh.run(&format!("{start}; echo start''ed"), "started");
        zsh.run("stdio-fixture call repe\two\tha ti\t2", "ha ha\r\n");
        zsh.run("stdio-fixture call repe\two\tho ti\t2", "ho ho\r\n");
        zsh.end();
        Ok(())
    };
    needs(test());
}

#[support::test]
fn fish_completes_the_command_line() {
    let home = home();
    let completed = |line: &str| {
        let mut fish = prepared("fish", &home.path(""));
        let script = "stdio-fixture completions fish | source; complete -C $argv[1]";
        success_of(fish.args(["--no-config", "-c", script, line]))
    };
    let test = || {
        let version = "version\tprints the name and the version of the server\n";
        assert_eq!(completed("stdio-fixture vers")?, version);
        let path = env!("CARGO_BIN_EXE_stdio-fixture");
        assert_eq!(completed(&format!("{path} call repe"))?, "repeat\tRepeats a word.\n");
        assert_eq!(completed("stdio-fixture call repeat word=a ti")?, "times=\tHow often\n");
        assert_eq!(completed("stdio-fixture call shout again=t")?, "again=true\n");
        assert_eq!(
            completed("stdio-fixture read notes://tod")?,
            "notes://today\tThe tasks of today.\n"
        );
        assert_eq!(completed("stdio-fixture call echo text=only-f")?.trim_end(), "text=only-file");
        Ok(())
    };
    needs(test());
}

/// Grammar of PowerShell for a parser. PowerShell itself is in none of the registries that the tests use.
const GRAMMAR: &str = "tree-sitter==0.25.2\ntree-sitter-powershell==0.26.4\n";

const PARSE: &str = "
import sys, tree_sitter, tree_sitter_powershell
language = tree_sitter.Language(tree_sitter_powershell.language())
tree = tree_sitter.Parser(language).parse(open(sys.argv[1], 'rb').read())
print('error' if tree.root_node.has_error else 'parsed')
";

#[support::test]
fn the_script_for_power_shell_follows_its_grammar_and_reads_its_suggestions() {
    let home = home();
    let script = fixture().args(["completions", "powershell"]).output().unwrap();
    let script = String::from_utf8(script.stdout).unwrap();
    // The script passes these words. The `=` before the last word marks it, because PowerShell would drop an empty word.
    let words = ["completions", "powershell", "--", "call", "repeat", "word=a", "="];
    let output = fixture().args(words).stdin(Stdio::null()).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines, "times=\tHow often\nseparator=\tstring\n");

    let parsed = |script: &str| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("publishing");
        let python = Python::installed(&folder, "tree-sitter-powershell-0.26.4", GRAMMAR)?;
        home.write("parse.py", PARSE);
        home.write("script.ps1", script);
        success_of(python.run(home.path("parse.py")).arg(home.path("script.ps1")))
    };
    let test = || {
        assert_eq!(parsed(&script)?, "parsed\n");
        assert_eq!(parsed(&script.replacen('}', "", 1))?, "error\n");
        Ok(())
    };
    needs(test());
    fs::remove_file(home.path("only-file")).unwrap();
}
