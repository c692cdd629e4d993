//! The commands `config`, `install` and `uninstall`, with the files of a home folder of their own.

use std::{fs, path::Path, thread};

use serde_json::{Value, json};

use crate::{home::HomeFolder, server::fixture};

/// Path of the fixture, which the entries name.
fn program() -> String {
    let path = Path::new(fixture().get_program()).canonicalize().expect("the fixture");
    path.display().to_string()
}

#[support::test]
fn config_prints_an_entry_that_starts_this_program() {
    let home = HomeFolder::new();
    let printed = home.succeed(&["config", "cursor", "--name", "mine", "--", "--verbose", "a b"]);
    let entry = json!({ "command": program(), "args": ["--verbose", "a b"] });
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed, json!({ "mcpServers": { "mine": entry } }));
    let warned = String::from_utf8(home.run(&["config", "vscode"]).stderr).expect("UTF-8");
    assert_eq!(warned.contains("this is a debug build"), cfg!(debug_assertions), "{warned}");
    let url = "http://127.0.0.1:8000/mcp";
    let printed = home.succeed(&["config", "codex-cli", "--name=mine", "--url", url]);
    assert_eq!(printed, format!("[mcp_servers.mine]\nurl = \"{url}\"\n"));
}

#[support::test]
fn install_changes_only_its_own_entry_and_uninstall_removes_it() {
    let home = HomeFolder::new();
    let (file, before) = (
        ".config/Claude/claude_desktop_config.json",
        "{\n  // mine\n  \"mcpServers\": {\n    \"files\": { \"command\": \"files\" }\n  }\n}\n",
    );
    home.write(file, before);
    let preview = home.succeed(&["install", "claude-desktop", "--name", "mine", "--print"]);
    assert!(preview.contains("+    \"mine\": {"), "{preview}");
    assert_eq!(home.text(file), before);

    let said = home.succeed(&["install", "claude-desktop", "--name", "mine"]);
    assert!(said.contains(" is changed, ") && said.contains("restart Claude Desktop"), "{said}");
    let after = home.text(file);
    assert!(after.contains("// mine\n") && after.contains(&program()), "{after}");
    assert_eq!(home.text(&format!("{file}.bak")), before);
    let said = home.succeed(&["install", "claude-desktop", "--name", "mine"]);
    assert!(said.contains("is up to date"), "{said}");

    home.succeed(&["uninstall", "claude-desktop", "--name", "mine"]);
    assert_eq!(home.text(file), before);
    let why = home.fail(&["uninstall", "claude-desktop", "--name", "mine"], 1);
    assert!(why.ends_with(" has no server `mine`; the only server is `files`\n"), "{why}");
}

#[support::test]
fn an_entry_for_a_url_has_headers() {
    let home = HomeFolder::new();
    let url = "--url=https://example.com/mcp";
    let token = "--header=Authorization=Bearer a=b";
    let printed = home.succeed(&["config", "cursor", "--name=mine", url, token, "--header=X-A="]);
    let entry = json!({
        "url": "https://example.com/mcp",
        "headers": { "Authorization": "Bearer a=b", "X-A": "" },
    });
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(printed, json!({ "mcpServers": { "mine": entry } }));
    home.succeed(&["install", "cursor", "--name=mine", url, token, "--header=X-A="]);
    let installed: Value = serde_json::from_str(&home.text(".cursor/mcp.json")).expect("JSON");
    assert_eq!(installed, printed);
    let why = home.fail(&["config", "cursor", token], 2);
    assert!(why.contains("`--header` goes with `--url`"), "{why}");
    for wrong in ["--header=hunter2", "--header=a b=hunter2", "--header==hunter2"] {
        let why = home.fail(&["config", "cursor", url, wrong], 2);
        assert!(why.contains("the name of a header and its value") && !why.contains("hunter2"));
    }
}

#[support::test]
fn twelve_installations_at_once_are_all_in_the_file() {
    let home = HomeFolder::new();
    let names: Vec<String> = (0..12).map(|number| format!("server-{number:02}")).collect();
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| home.succeed(&["install", "cursor", "--name", name]));
        }
    });
    let file: Value = serde_json::from_str(&home.text(".cursor/mcp.json")).expect("JSON");
    let mut found: Vec<_> = file["mcpServers"].as_object().unwrap().keys().cloned().collect();
    found.sort();
    assert_eq!(found, names);
}

/// The names of the servers are those of the user's file, whose values may be secret.
#[support::test]
fn uninstall_names_the_servers_that_the_file_has() {
    let home = HomeFolder::new();
    let uninstall = |client, file, name: &[&str]| {
        home.fail(&[&["uninstall", client, "--file", file], name].concat(), 1)
    };
    let why = uninstall("cursor", "own.json", &["--name", "mine"]);
    assert_eq!(why, "error: own.json does not exist, so there is no entry to remove\n");
    home.write(
        "own.json",
        r#"{"mcpServers": {"files": {"env": {"KEY": "hunter2"}}, "notes": {}}}"#,
    );
    let why = uninstall("cursor", "own.json", &["--name", "mine"]);
    assert_eq!(why, "error: own.json has no server `mine`; the servers are: files, notes\n");
    let why = uninstall("cursor", "own.json", &["--name", "nots"]);
    assert_eq!(why, "error: own.json has no server `nots`; did you mean `--name notes`?\n");
    // Without `--name`, the name is that of the program.
    let why = uninstall("cursor", "own.json", &[]);
    let end = "; the servers are: files, notes; choose one with `--name`\n";
    assert_eq!(why, format!("error: own.json has no server `stdio-fixture`{end}"));
    for (client, file, text) in [
        ("cursor", "none.json", "{\"mcpServers\": {}}"),
        ("cursor", "other.json", "{}"),
        ("goose", "none.yaml", "# mine\n"),
        ("codex-cli", "none.toml", "model = \"a\"\n"),
    ] {
        home.write(file, text);
        let why = uninstall(client, file, &[]);
        assert_eq!(why, format!("error: {file} has no servers\n"));
    }
}

#[support::test]
fn the_text_before_the_first_change_stays_in_the_first_copy() {
    let home = HomeFolder::new();
    let (file, before) = (".cursor/mcp.json", "{\n  // mine\n}\n");
    home.write(file, before);
    let said = home.succeed(&["install", "cursor", "--name", "mine"]);
    assert!(said.contains("mcp.json.bak has its old text"), "{said}");
    let once = home.text(file);
    let said = home.succeed(&["install", "cursor", "--name", "mine", "--", "--more"]);
    assert!(said.contains("mcp.json.bak.2 has its old text"), "{said}");
    assert_eq!(
        (home.text(".cursor/mcp.json.bak"), home.text(".cursor/mcp.json.bak.2")),
        (before.to_owned(), once.clone())
    );
    // A copy with the same text is used again.
    home.write(file, &once);
    let said = home.succeed(&["uninstall", "cursor", "--name", "mine"]);
    assert!(said.contains("mcp.json.bak.2 has its old text"), "{said}");
    assert!(!home.path(".cursor/mcp.json.bak.3").exists());
}

#[support::test]
fn install_creates_a_missing_file_for_a_user_or_for_a_project() {
    let home = HomeFolder::new();
    home.succeed(&["install", "vscode", "--project", "--name", "mine"]);
    let file: Value = serde_json::from_str(&home.text(".vscode/mcp.json")).expect("JSON");
    assert_eq!(file["servers"]["mine"]["type"], "stdio");
    home.succeed(&["install", "goose", "--name", "mine"]);
    assert!(home.text(".config/goose/config.yaml").contains("    cmd: "), "{:?}", home.folder);
    let said = home.succeed(&["install", "plain", "--file", "own.json", "--name", "mine"]);
    assert_eq!(said, "own.json is written; restart the client\n");
    assert!(home.text("own.json").contains("mcpServers"));
    assert!(!home.path("own.json.bak").exists());
}

#[support::test]
fn the_entry_of_a_program_under_development_starts_cargo() {
    let home = HomeFolder::new();
    let package = env!("CARGO_MANIFEST_DIR");
    let features = ["--features=a,b", "--no-default-features"];
    let words = [&["install", "cursor", "--dev", "--name", "mine"], &features[..]].concat();
    let mut command = home.command(&words);
    command.env("CARGO_MANIFEST_DIR", package);
    command.env("RUSTUP_TOOLCHAIN", "nightly").env("CARGO_TARGET_DIR", "built");
    let output = command.output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success() && !stderr.contains("debug build"), "{stderr}");
    let file: Value = serde_json::from_str(&home.text(".cursor/mcp.json")).expect("JSON");
    let entry = &file["mcpServers"]["mine"];
    let cargo = Path::new(entry["command"].as_str().expect("a path")).file_stem();
    assert_eq!(cargo.expect("a file"), "cargo", "{entry}");
    let args = entry["args"].as_array().expect("a list");
    let (first, last) = (&args[..4], &args[args.len() - 5..]);
    let manifest = Path::new(package).join("Cargo.toml");
    assert_eq!(first, [json!("run"), json!("--quiet"), json!("--manifest-path"), json!(manifest)]);
    assert_eq!(last, ["--", "dev", "--no-default-features", "--features", "a,b"]);
    // The client has another folder and another environment.
    let env = json!({ "RUSTUP_TOOLCHAIN": "nightly", "CARGO_TARGET_DIR": home.path("built") });
    assert_eq!(entry["env"], env);
    // The program is built as this program was.
    assert_eq!(args.iter().filter(|word| *word == "--no-default-features").count(), 2);
    let built = args.iter().skip_while(|word| *word != "--features").nth(1);
    let built = built.and_then(Value::as_str).expect("features");
    assert!(built.contains("mcp-runtime/workbench") && built.ends_with(",a,b"), "{built}");

    let mut command = home.command(&["config", "cursor", "--dev"]);
    command.env("CARGO_MANIFEST_DIR", package);
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO_TARGET_DIR");
    let printed = command.output().expect("it runs").stdout;
    assert!(!String::from_utf8(printed).expect("UTF-8").contains("env"));

    let mut command = home.command(&["config", "cursor", "--dev"]);
    let output = command.env_remove("CARGO_MANIFEST_DIR").output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("-- config cursor --dev`"), "{stderr}");
    for (arguments, part) in [
        (&["install", "cursor", "--", "dev"][..], "has to start cargo: run `install cursor --dev`"),
        (&["config", "zed", "--dev", "--url=http://a"], "give either `--url` or `--dev`"),
        (&["config", "zed", "--features=a"], "`--features` goes with `--dev`"),
        (&["config", "zed", "--no-default-features"], "`--no-default-features` goes with `--dev`"),
    ] {
        let why = home.fail(arguments, 2);
        assert!(why.contains(part), "{why}");
    }
}

#[cfg(unix)]
#[support::test]
fn install_follows_a_link_and_keeps_the_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let home = HomeFolder::new();
    home.write("dotfiles/mcp.json", "{}\n");
    let permissions = fs::Permissions::from_mode(0o600);
    fs::set_permissions(home.path("dotfiles/mcp.json"), permissions).expect("own file");
    fs::create_dir_all(home.path(".cursor")).expect("a folder");
    symlink(home.path("dotfiles/mcp.json"), home.path(".cursor/mcp.json")).expect("a link");
    home.succeed(&["install", "cursor"]);
    let link = fs::symlink_metadata(home.path(".cursor/mcp.json")).expect("the link");
    assert!(link.is_symlink());
    assert!(home.text("dotfiles/mcp.json").contains("mcpServers"));
    let mode = fs::metadata(home.path("dotfiles/mcp.json")).expect("the file").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    // The target may belong to a folder that is not there at the moment.
    fs::remove_file(home.path("dotfiles/mcp.json")).expect("own file");
    let why = home.fail(&["install", "cursor"], 1);
    assert!(why.contains("it is a link to a file that does not exist"), "{why}");
    assert!(home.path(".cursor/mcp.json").is_symlink());
}

#[support::test]
fn a_file_that_cannot_be_changed_and_wrong_words_are_explained() {
    let home = HomeFolder::new();
    home.write(".cursor/mcp.json", "{ \"mcpServers\": [] }");
    for (arguments, status, part) in [
        (&["install", "cursor"][..], 1, "`mcpServers` in the file is not an object with keys"),
        (&["config", "cursr"], 2, "unknown client `cursr`; did you mean `cursor`?"),
        (&["config", "codex"], 2, "unknown client `codex`; did you mean `codex-cli`?"),
        (&["install", "claude"], 2, "did you mean `claude-code` or `claude-desktop`?"),
        (&["config", "emacs"], 2, "unknown client `emacs`; the clients are: claude-code, "),
        (&["config"], 2, "`config CLIENT"),
        (&["config", "cursor", "--file", "a"], 2, "`config` has no option `--file`"),
        (&["install", "plain"], 2, "name the configuration file of the client with `--file FILE`"),
        (
            &["install", "plain", "--project"],
            2,
            "error: name the configuration file of the client with `--file FILE`\n",
        ),
        (&["install", "cursor", "--file", ""], 2, "`--file` needs a value, as in `--file FILE`"),
        (&["uninstall", "cursor", "--file="], 2, "`--file` needs a value, as in `--file FILE`"),
        (&["install", "goose", "--project"], 2, "Goose has no configuration file for a project"),
        (&["config", "cursor", "--url"], 2, "`--url` needs a value"),
        (&["config", "cursor", "--url=localhost"], 2, "`localhost` is no URL of a server"),
        (&["config", "claude-desktop", "--url=http://a"], 1, "has no entry for a URL"),
        (&["config", "cursor", "--url=http://a", "--", "b"], 2, "passes no arguments"),
    ] {
        let why = home.fail(arguments, status);
        assert!(why.contains(part), "{arguments:?}: {why}");
    }
    assert_eq!(home.text(".cursor/mcp.json"), "{ \"mcpServers\": [] }");
}
