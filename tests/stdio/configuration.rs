//! Options and variables of a server whose author has declared them with `#[config]`.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::server::{Server, prepared};

const ROOT: (&str, &str) = ("FILE_BOX_ROOT", "/data");
const KEY: (&str, &str) = ("FILE_BOX_API_KEY", "hunter2hunter2");

/// A secret that is too short for its type.
const SHORT: (&str, &str) = ("FILE_BOX_API_KEY", "s3c");

fn server(variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_configured-fixture"));
    command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

fn run(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    server(variables, arguments).output().expect("the fixture starts")
}

/// Returns stdout and stderr of a command that ends with this status.
#[track_caller]
fn ended(variables: &[(&str, &str)], arguments: &[&str], status: i32) -> (String, String) {
    let output = run(variables, arguments);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
    (stdout, stderr)
}

/// Checks the values that the server sees.
#[track_caller]
fn check(variables: &[(&str, &str)], options: &[&str], values: &str) {
    let arguments = [options, &["call", "values"]].concat();
    let (stdout, _) = ended(variables, &arguments, 0);
    assert_eq!(stdout, format!("{values}\n"));
}

#[support::test]
fn an_option_wins_over_a_variable_and_a_variable_over_the_default() {
    check(&[ROOT, KEY], &[], "/data 14 5 false none [] pool of sqlite::memory:");
    check(&[ROOT, KEY], &["--root", "/srv"], "/srv 14 5 false none [] pool of sqlite::memory:");
    check(
        &[ROOT, KEY, ("FILE_BOX_RETRIES", "7")],
        &["--root=/srv"],
        "/srv 14 7 false none [] pool of sqlite::memory:",
    );
    check(
        &[ROOT, KEY, ("FILE_BOX_RETRIES", "7")],
        &["--retries", "9", "--api-key=abcd"],
        "/data 4 9 false none [] pool of sqlite::memory:",
    );
}

#[support::test]
fn read_says_that_a_server_has_no_resources() {
    let (_, stderr) = ended(&[ROOT, KEY], &["read", "files://a"], 2);
    assert_eq!(stderr, "error: unknown resource `files://a`: this server has none\n");
}

#[support::test]
fn flags_lists_and_optional_values_have_their_own_forms() {
    check(&[ROOT, KEY], &["--verbose"], "/data 14 5 true none [] pool of sqlite::memory:");
    let verbose = ("FILE_BOX_VERBOSE", "true");
    check(&[ROOT, KEY, verbose], &[], "/data 14 5 true none [] pool of sqlite::memory:");
    check(
        &[ROOT, KEY, verbose],
        &["--verbose=false", "--language", "no"],
        "/data 14 5 false Norwegian [] pool of sqlite::memory:",
    );
    check(
        &[ROOT, KEY],
        &["--extension", "md", "--extension=txt"],
        "/data 14 5 false none [\"md\", \"txt\"] pool of sqlite::memory:",
    );
    check(
        &[ROOT, KEY, ("FILE_BOX_EXTENSION", "md, txt"), ("TEXT_LANGUAGE", "en")],
        &[],
        "/data 14 5 false English [\"md\", \"txt\"] pool of sqlite::memory:",
    );
}

#[support::test]
fn a_setup_takes_the_values_that_it_needs() {
    let url = ("STORE_DATABASE_URL", "postgres://db");
    check(&[ROOT, KEY, url], &[], "/data 14 5 false none [] pool of postgres://db");
    check(&[ROOT, KEY], &["--database-url", "x"], "/data 14 5 false none [] pool of x");
}

#[support::test]
fn an_empty_variable_counts_as_absent() {
    let (_, stderr) = ended(&[("FILE_BOX_ROOT", ""), KEY], &["call", "values"], 1);
    assert!(stderr.contains("`root` at "), "{stderr}");
    check(
        &[ROOT, KEY, ("FILE_BOX_RETRIES", "")],
        &[],
        "/data 14 5 false none [] pool of sqlite::memory:",
    );
}

#[support::test]
fn one_message_lists_all_missing_and_wrong_values() {
    let (stdout, stderr) =
        ended(&[("TEXT_LANGUAGE", "de")], &["--retries", "many", "call", "values"], 1);
    assert_eq!(stdout, "");
    let expected = "error: the configuration has 4 problems:\n\
        - `root` at tests/stdio/configured.rs:13 has no value: set the option `--root ROOT` or the variable `FILE_BOX_ROOT` to a value of type `PathBuf`\n\
        - `api_key` at tests/stdio/configured.rs:16 has no value: set the option `--api-key API_KEY` or the variable `FILE_BOX_API_KEY` to a value of type `Key`\n\
        - `retries` at tests/stdio/configured.rs:19 cannot be `many`, which the option `--retries` gives: \
        expected a whole number from 0 to 255 in the option `--retries RETRIES` or the variable `FILE_BOX_RETRIES`\n\
        - `language` at tests/stdio/configured.rs:23 cannot be `de`, which the variable `TEXT_LANGUAGE` gives (there is no such value): \
        set the option `--language LANGUAGE` or the variable `TEXT_LANGUAGE` to `en` or `no`\n";
    assert_eq!(stderr, expected);
    // Serving fails in the same way.
    for arguments in [&[][..], &["--http", "127.0.0.1:0"], &["--", "word"]] {
        let (stdout, stderr) = ended(&[], arguments, 1);
        assert_eq!(stdout, "");
        assert!(stderr.contains("the configuration has 2 problems:"), "{stderr}");
    }
    let (_, stderr) = ended(&[KEY], &["--http", "127.0.0.1:0", "--retries", "x", "--root", "/"], 1);
    assert!(stderr.contains("error: `retries` at "), "{stderr}");
}

#[support::test]
fn a_secret_is_neither_in_errors_nor_in_the_help() {
    for (variables, arguments, source) in [
        (&[ROOT, SHORT][..], &["call", "values"][..], "the variable `FILE_BOX_API_KEY`"),
        (&[ROOT], &["--api-key", "s3c", "call", "values"], "the option `--api-key`"),
        (&[ROOT], &["--api-key=s3c"], "the option `--api-key`"),
    ] {
        let (stdout, stderr) = ended(variables, arguments, 1);
        assert_eq!(stdout, "");
        let problem = format!(
            "the value of {source} is not a valid `Key`; it is not shown, because it is secret: "
        );
        assert!(stderr.contains(&problem), "{stderr}");
        assert!(stderr.contains("`Key`") && !stderr.contains("s3c"), "{stderr}");
    }
    for arguments in [&["help"][..], &["--api-key", "s3c", "--help"]] {
        let (stdout, stderr) = ended(&[SHORT], arguments, 0);
        assert!(!stdout.contains("s3c") && stderr.is_empty(), "{stdout}{stderr}");
    }
    let (_, stderr) = ended(&[ROOT], &["--api-key", "s3c", "--api-key", "s3c"], 2);
    assert_eq!(stderr, "error: `--api-key` is given twice\n");
}

#[support::test]
fn the_help_has_a_section_for_each_struct() {
    let (help, _) = ended(&[], &["help"], 0);
    let own = &help[help.find("\nSettings of the file server:\n").expect("a section")..];
    let lines: Vec<String> =
        own.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "",
            "Settings of the file server:",
            "--root ROOT Directory to serve; required [FILE_BOX_ROOT]",
            "--api-key API_KEY Key of the service; required [FILE_BOX_API_KEY]",
            "--retries RETRIES Attempts per request; by default 5 [FILE_BOX_RETRIES]",
            "--verbose [FILE_BOX_VERBOSE]",
            "--language LANGUAGE Language of all texts; en or no [TEXT_LANGUAGE]",
            "--extension EXTENSION Extension of files that are served; may be repeated [FILE_BOX_EXTENSION]",
            "",
            "Database of the server:",
            "--database-url DATABASE_URL Address of the database; by default sqlite::memory: [STORE_DATABASE_URL]",
            "--cache CACHE Folder for temporary files; by default cache [STORE_CACHE]",
            "",
            "Other folders:",
            "--folder FOLDER Folder with further files; may be repeated [FILE_BOX_FOLDER]",
            "--rules RULES File of the user's own rules [FILE_BOX_RULES]",
            "--links Whether links are followed [FILE_BOX_LINKS]",
            "--most MOST Largest number of bytes in a file; by default 9223372036854775807 [FILE_BOX_MOST]",
            "",
            "Settings of another server of the package:",
            "--office OFFICE Office that issues the tickets; required [FILE_BOX_OFFICE]",
            "--offset OFFSET Hours from UTC; by default -5 [FILE_BOX_OFFSET]",
            "--token TOKEN Tokens of the office; may be repeated [FILE_BOX_TOKEN]",
        ]
    );
}

#[support::test]
fn commands_that_need_no_state_need_no_values() {
    for arguments in [
        &["list"][..],
        &["check"],
        &["schema"],
        &["help"],
        &["version"],
        &["list", "--help"],
        &["--root", "/srv", "list"],
    ] {
        ended(&[], arguments, 0);
    }
}

#[support::test]
fn wrong_options_are_explained() {
    for (arguments, part) in [
        (&["--rot", "/"][..], "unknown option `--rot`; did you mean `--root`?"),
        (&["--rot", "/"], "A field of a struct with `#[config]` declares an option"),
        (&["--root"], "`--root` needs a value, as in `--root ROOT`"),
        (&["list", "--root", "/"], "`--root` goes before the command: `--root ROOT list …`"),
        (&["call", "values", "--retries=1"], "`--retries` goes before the command"),
        (
            &["call", "values", "--retires=1"],
            "`call` has no option `--retires`; did you mean `--retries`? It goes before the command",
        ),
        (&["complete", "values", "-5"], "a word that begins with `-` follows `--`"),
        (&["--root", "--verbose"], "a value that looks like an option follows `=`"),
        (&["--root", "-h"], "`--root` needs a value"),
        (&["--root", "", "list"], "`--root` needs a value"),
        (&["--root=", "list"], "`--root` needs a value"),
        (&["install", "cursor", "--name", ""], "`--name` needs a value"),
        (&["--help=all"], "`--help` takes no value: write `--help` alone"),
    ] {
        let (_, stderr) = ended(&[], arguments, 2);
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// Returns the entry that `config` prints, and what it says on stderr beside the warning of a debug build.
#[track_caller]
fn entry(variables: &[(&str, &str)], arguments: &[&str]) -> (Value, String) {
    let (stdout, stderr) = ended(variables, arguments, 0);
    let notes: Vec<_> = stderr.lines().filter(|line| !line.contains("debug build")).collect();
    (serde_json::from_str(&stdout).expect("JSON"), notes.join("\n"))
}

#[support::test]
fn the_entry_of_a_client_has_the_values_that_were_given() {
    let arguments = ["--root", "/srv", "--verbose", "--api-key", KEY.1, "config", "cursor"];
    let variables = [("FILE_BOX_RETRIES", "7"), ("FILE_BOX_EXTENSION", "md,txt")];
    let (printed, notes) = entry(&variables, &[&arguments[..], &["--", "--more"]].concat());
    let entry = &printed["mcpServers"]["file-box"];
    assert_eq!(
        entry["args"],
        json!(["--root", "/srv", "--verbose", "--cache", absolute("cache"), "--more"])
    );
    let env = json!({ "FILE_BOX_API_KEY": KEY.1, "FILE_BOX_RETRIES": "7", "FILE_BOX_EXTENSION": "md,txt" });
    assert_eq!(entry["env"], env);
    assert!(
        notes.starts_with("note: the entry belongs in /") && notes.ends_with("/.cursor/mcp.json"),
        "{notes}"
    );
    let (_, stderr) = ended(&[], &["--root", "/srv", "config", "cursor", "--url=http://a"], 2);
    assert!(stderr.contains("a client passes no options"), "{stderr}");
}

fn absolute(path: &str) -> std::path::PathBuf {
    std::env::current_dir().expect("a folder").join(path)
}

#[support::test]
fn a_path_in_the_entry_of_a_client_is_absolute() {
    let (printed, _) = entry(&[KEY], &["--root", "data", "config", "cursor"]);
    let args = json!(["--root", absolute("data"), "--cache", absolute("cache")]);
    assert_eq!(printed["mcpServers"]["file-box"]["args"], args);
}

#[support::test]
fn a_value_that_begins_with_dashes_reaches_the_server() {
    let given = ["--root", "/srv", "--extension=--md", "--extension", "-txt"];
    let (printed, _) = entry(&[KEY], &[&given[..], &["config", "cursor"]].concat());
    let args = printed["mcpServers"]["file-box"]["args"].as_array().expect("a list");
    let args: Vec<&str> = args.iter().map(|word| word.as_str().expect("a text")).collect();
    assert_eq!(args[2..5], ["--extension=--md", "--extension", "-txt"]);
    check(&[KEY], &args, "/srv 14 5 false none [\"--md\", \"-txt\"] pool of sqlite::memory:");
}

#[support::test]
fn the_placeholder_of_a_variable_stays_one_in_another_entry() {
    let variables =
        [("FILE_BOX_ROOT", "<FILE_BOX_ROOT>"), ("FILE_BOX_RULES", "${user_config.rules}"), KEY];
    let (printed, notes) = entry(&variables, &["config", "cursor"]);
    let env = json!({ "FILE_BOX_ROOT": "<FILE_BOX_ROOT>", "FILE_BOX_API_KEY": KEY.1 });
    assert_eq!(printed["mcpServers"]["file-box"]["env"], env);
    assert!(notes.contains("note: `FILE_BOX_ROOT` has no value yet"), "{notes}");
}

#[support::test]
fn a_value_that_is_missing_has_a_placeholder_and_a_note() {
    let (printed, notes) = entry(&[], &["config", "cursor"]);
    let env =
        json!({ "FILE_BOX_ROOT": "<FILE_BOX_ROOT>", "FILE_BOX_API_KEY": "<FILE_BOX_API_KEY>" });
    assert_eq!(printed["mcpServers"]["file-box"]["env"], env);
    for name in ["FILE_BOX_ROOT", "FILE_BOX_API_KEY"] {
        let note = format!("note: `{name}` has no value yet: replace `<{name}>` in the entry");
        assert!(notes.contains(&note), "{notes}");
    }
}

#[support::test]
fn vs_code_asks_for_secrets_and_for_values_that_are_missing() {
    let (printed, notes) = entry(&[KEY], &["config", "vscode"]);
    let env = json!({
        "FILE_BOX_ROOT": "${input:file-box-root}",
        "FILE_BOX_API_KEY": "${input:file-box-api-key}",
    });
    assert_eq!(printed["servers"]["file-box"]["env"], env);
    let inputs = json!([
        { "type": "promptString", "id": "file-box-root", "description": "Directory to serve" },
        { "type": "promptString", "id": "file-box-api-key", "description": "Key of the service", "password": true },
    ]);
    assert_eq!(printed["inputs"], inputs);
    assert!(notes.contains("note: VS Code asks for `FILE_BOX_API_KEY`"), "{notes}");
}

#[support::test]
fn complete_knows_the_items_and_arguments_of_the_server() {
    let (values, _) = ended(&[ROOT, KEY], &["complete", "code:review", "language"], 0);
    assert_eq!(values, "rust\nc\n");
    // The text of an argument may contain `=`.
    let (values, stderr) = ended(&[ROOT, KEY], &["complete", "code:review", "language", "a=b"], 0);
    assert_eq!((&*values, &*stderr), ("", "no values\n"));
    let arguments = ["complete", "code:review", "language", "", "file=x"];
    let (_, stderr) = ended(&[ROOT, KEY], &arguments, 2);
    let problem = "`code:review` has no argument `file`; the only argument is `language`\n";
    assert!(stderr.contains(problem), "{stderr}");
}

#[support::test]
fn words_after_two_dashes_are_left_alone() {
    let arguments = ["--root", "/srv", "--", "--frobnicate", "call", "--root", "/other"];
    let mut command = server(&[KEY], &arguments);
    command.stdin(Stdio::piped());
    let mut server = Server::start_as(prepared(command));
    let values = server.ask("values", "values", json!({}));
    assert_eq!(values, "/srv 14 5 false none [] pool of sqlite::memory:");
}

#[cfg(unix)]
#[support::test]
fn a_variable_that_is_not_text_is_reported_and_never_changed() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let mut command = server(&[KEY], &["call", "values"]);
    let output = command.env(ROOT.0, OsStr::from_bytes(b"/data/\xff")).output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("`root` at tests/stdio/configured.rs:13"), "{stderr}");
    assert!(stderr.contains("the variable `FILE_BOX_ROOT` is not UTF-8"), "{stderr}");
}

#[support::test]
fn the_placeholder_in_the_entry_of_a_client_is_no_value() {
    let (_, stderr) = ended(&[("FILE_BOX_ROOT", "<FILE_BOX_ROOT>"), KEY], &["call", "values"], 1);
    assert!(stderr.contains("`root` at tests/stdio/configured.rs:13 has no value"), "{stderr}");
}

#[support::test]
fn empty_elements_of_a_list_are_left_out() {
    check(
        &[ROOT, KEY, ("FILE_BOX_EXTENSION", "md,, txt,")],
        &[],
        "/data 14 5 false none [\"md\", \"txt\"] pool of sqlite::memory:",
    );
}

#[support::test]
fn options_of_the_server_are_not_passed_on_behind_two_dashes() {
    let arguments = ["config", "cursor", "--", "--api-key", "hunter2hunter2"];
    let (stdout, stderr) = ended(&[ROOT], &arguments, 2);
    assert_eq!(stdout, "");
    assert!(stderr.contains("`--api-key` goes before the command"), "{stderr}");
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

#[support::test]
fn a_secret_with_a_comma_does_not_become_two_secrets_of_a_list() {
    let (printed, _) = entry(&[KEY, ROOT], &["--token", "t1", "--token", "t2", "config", "cursor"]);
    assert_eq!(printed["mcpServers"]["file-box"]["env"]["FILE_BOX_TOKEN"], "t1,t2");
    for command in [&["config", "cursor"][..], &["record", "/nowhere/a.jsonl"]] {
        let arguments = [&["--token", "t1,t2"], command].concat();
        let (stdout, stderr) = ended(&[KEY, ROOT], &arguments, 2);
        let problem =
            "a value of `--token` has a comma, which the variable `FILE_BOX_TOKEN` cannot contain";
        assert!(stdout.is_empty() && stderr.contains(problem), "{stderr}");
        assert!(!stderr.contains("t1"), "{stderr}");
    }
}

#[support::test]
fn the_recording_server_gets_no_options_behind_two_dashes() {
    for arguments in [
        &["record", "/nowhere/a.jsonl", "--", "--api-key", "hunter2hunter2"][..],
        &["config", "cursor", "--", "record", "a.jsonl", "--", "--api-key=hunter2hunter2"],
    ] {
        let (stdout, stderr) = ended(&[ROOT], arguments, 2);
        assert_eq!(stdout, "");
        assert!(stderr.contains("`--api-key` goes before the command"), "{stderr}");
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
}

#[support::test]
fn a_recording_of_an_entry_has_an_absolute_path() {
    let (printed, _) = entry(&[ROOT, KEY], &["config", "cursor", "--", "record", "bug.jsonl"]);
    let file = std::path::absolute("bug.jsonl").expect("a path");
    let args = printed["mcpServers"]["file-box"]["args"].as_array().expect("a list");
    assert!(args.ends_with(&[json!("record"), json!(file)]), "{printed}");

    let words = ["config", "cursor", "--", "record", "--show-removed", "bug.jsonl"];
    let (printed, _) = entry(&[ROOT, KEY], &words);
    let args = printed["mcpServers"]["file-box"]["args"].as_array().expect("a list");
    assert!(args.ends_with(&[json!("--show-removed"), json!(file)]), "{printed}");
}

#[support::test]
fn a_server_without_its_values_is_not_recorded() {
    let file = folder("recorded").join("a.jsonl");
    let (stdout, stderr) = ended(&[KEY], &["record", file.to_str().expect("UTF-8")], 1);
    assert_eq!(stdout, "");
    assert!(stderr.contains("has no value: set") && !stderr.contains("note:"), "{stderr}");
    assert!(!file.exists());
}

/// Returns a new folder for the files of a test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("configuration").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for tests is writable");
    folder
}

#[cfg(unix)]
#[support::test]
fn only_the_owner_of_a_new_file_can_read_the_secrets_in_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let file = folder("owner").join("mcp.json");
    let path = file.to_str().expect("UTF-8");
    ended(&[ROOT, KEY], &["install", "cursor", "--file", path], 0);
    assert!(std::fs::read_to_string(&file).expect("a file").contains(KEY.1));
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[support::test]
fn only_the_owner_of_a_file_can_read_its_copies() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let folder = folder("copies");
    let file = folder.join("mcp.json");
    let path = file.to_str().expect("UTF-8");
    fs::write(&file, "{}\n").expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("own file");
    let (_, stderr) = ended(&[ROOT, KEY], &["install", "cursor", "--file", path], 0);
    let warning = format!(
        "warning: other users of this machine can read {path}, which has the value of `FILE_BOX_API_KEY`: run `chmod 600` on it\n"
    );
    assert!(stderr.contains(&warning), "{stderr}");
    let (_, stderr) = ended(&[], &["uninstall", "cursor", "--file", path], 0);
    assert!(!stderr.contains("other users"), "{stderr}");
    let copies = ["mcp.json.bak", "mcp.json.bak.2"].map(|copy| folder.join(copy));
    assert!(fs::read_to_string(&copies[1]).expect("a copy").contains(KEY.1));
    for copy in copies {
        let mode = fs::metadata(&copy).expect("a copy").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", copy.display());
    }
    // Without a value of the secret, there is nothing to warn of.
    let (_, stderr) = ended(&[ROOT], &["install", "cursor", "--file", path], 0);
    assert!(!stderr.contains("other users"), "{stderr}");
}

#[cfg(unix)]
#[support::test]
fn a_pipe_or_a_folder_is_no_configuration_file() {
    let folder = folder("special");
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is part of the system");
    assert!(made.success());
    for path in [&folder, &pipe] {
        for command in ["install", "uninstall"] {
            let path = path.to_str().expect("UTF-8");
            let (stdout, stderr) = ended(&[ROOT, KEY], &[command, "cursor", "--file", path], 1);
            let problem =
                format!("{path} is not a file: name the configuration file of the client");
            assert!(stdout.is_empty() && stderr.contains(&problem), "{stderr}");
        }
    }
}

#[support::test]
fn a_file_that_is_not_valid_stays_and_the_error_has_the_fix() {
    let file = folder("invalid").join("mcp.json");
    let path = file.to_str().expect("UTF-8");
    std::fs::write(&file, "{\"mcpServers\": {").expect("a file");
    for (command, fix) in [
        (
            "install",
            "the file is unchanged: correct it, or write what `config cursor` prints into it\n",
        ),
        ("uninstall", "the file is unchanged: correct it\n"),
    ] {
        let (stdout, stderr) = ended(&[ROOT, KEY], &[command, "cursor", "--file", path], 1);
        assert!(stdout.is_empty() && stderr.ends_with(fix), "{stderr}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{\"mcpServers\": {");
}

#[support::test]
fn a_note_about_a_missing_value_is_about_the_own_entry() {
    let file = folder("others").join("mcp.json");
    let path = file.to_str().expect("UTF-8");
    let install = |variables: &[(&str, &str)], client, name| {
        let (_, notes) = ended(variables, &["install", client, "--file", path, "--name", name], 0);
        notes
    };
    let notes = install(&[KEY], "cursor", "other");
    assert!(notes.contains("`FILE_BOX_ROOT` has no value yet"), "{notes}");
    let notes = install(&[ROOT, KEY], "cursor", "mine");
    assert!(!notes.contains("has no value yet"), "{notes}");
    // The user has written a value into the file.
    std::fs::write(&file, r#"{"servers": {"mine": {"env": {"FILE_BOX_ROOT": "/data"}}}}"#)
        .expect("a file");
    let notes = install(&[KEY], "vscode", "mine");
    assert!(notes.contains("VS Code asks for `FILE_BOX_API_KEY`"), "{notes}");
    assert!(!notes.contains("`FILE_BOX_ROOT`"), "{notes}");
    let text = std::fs::read_to_string(&file).expect("a file");
    assert!(text.contains("/data") && !text.contains("mine-root"), "{text}");
}

#[support::test]
fn a_server_that_moves_to_a_url_takes_its_variables_out_of_the_file() {
    let file = folder("moved").join("config.toml");
    let path = file.to_str().expect("UTF-8");
    ended(&[ROOT, KEY], &["install", "codex-cli", "--file", path], 0);
    let url = "http://127.0.0.1:8000/mcp";
    ended(&[], &["install", "codex-cli", "--file", path, "--url", url], 0);
    let text = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(text, format!("[mcp_servers.file-box]\nurl = \"{url}\"\n"));
}

#[support::test]
fn the_file_of_a_project_gets_no_secret() {
    let folder = folder("project");
    let mut command = server(&[ROOT, KEY], &["install", "claude-code", "--project"]);
    let output = command.current_dir(&folder).output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{stderr}");
    let text = std::fs::read_to_string(folder.join(".mcp.json")).expect("a file");
    assert!(!text.contains(KEY.1) && text.contains("<FILE_BOX_API_KEY>"), "{text}");
    assert!(stderr.contains("`FILE_BOX_API_KEY` has no value yet"), "{stderr}");
}

#[support::test]
fn an_entry_with_a_value_that_the_server_cannot_read_is_not_written() {
    let file = folder("wrong").join("mcp.json");
    let path = file.to_str().expect("UTF-8");
    let arguments = ["--retries", "many", "install", "cursor", "--file", path];
    let (_, stderr) = ended(&[], &arguments, 1);
    assert!(
        stderr.contains("`retries` at tests/stdio/configured.rs:19 cannot be `many`"),
        "{stderr}"
    );
    assert!(!stderr.contains("`root`"), "{stderr}");
    assert!(!file.exists());
}

/// The test searches for an error text of this code, about a field with the name of an option of every server.
#[cfg(target_os = "linux")]
#[support::test]
fn a_server_without_config_structs_does_not_contain_the_code_that_reads_them() {
    let contains_code = |program: &str| {
        let program = std::fs::read(program).expect("the fixture is built");
        let text = b", which every server has: ";
        program.windows(text.len()).any(|part| part == &text[..])
    };
    assert!(contains_code(env!("CARGO_BIN_EXE_configured-fixture")));
    assert!(!contains_code(env!("CARGO_BIN_EXE_stdio-fixture")));
}
