//! The commands `bundle` and `server-json`. The official tool for bundles validates and unpacks the bundle, and a linter that contains the
//! official schema checks the entry.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use support::{
    node::Node,
    python::Python,
    requirement::{Missing, needs, success_of},
};

use crate::{
    home::HomeFolder,
    server::{Server, fixture, prepared},
};

const PACKAGE: &str = include_str!("publishing/package.json");
const LOCK: &str = include_str!("publishing/package-lock.json");
const REQUIREMENTS: &str = include_str!("publishing/requirements.txt");
const LIBRARY: &str = "node_modules/@anthropic-ai/mcpb";
const LAUNCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/stdio/publishing/launch.mjs");

/// Returns the folder for programs of others, in `target`.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("publishing")
}

/// Returns the command of a server with settings, which cargo seems to have started.
fn published() -> Command {
    let mut command = without_cargo();
    for (name, value) in [
        ("NAME", env!("CARGO_PKG_NAME")),
        ("VERSION", "0.3.1"),
        ("AUTHORS", "Ada Lovelace <ada@example.com>:Bob"),
        ("LICENSE", "MIT OR Apache-2.0"),
        ("REPOSITORY", "https://github.com/ada/file-box.git"),
        ("README", "README.md"),
    ] {
        command.env(format!("CARGO_PKG_{name}"), value);
    }
    command.env("CARGO_MANIFEST_DIR", ".");
    command
}

/// Returns the command of a server with settings, without the variables of the test.
fn without_cargo() -> Command {
    let mut command = prepared(Command::new(env!("CARGO_BIN_EXE_configured-fixture")));
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_")) {
        command.env_remove(name);
    }
    command
}

/// Puts the server into `notes.mcpb`, and unpacks it into the folder `unpacked` with the official tool.
fn unpacked(home: &HomeFolder, node: &Node) -> Result<PathBuf, Missing> {
    home.succeed(&["bundle", "--out", "notes.mcpb"]);
    let folder = home.path("unpacked");
    let mut unpack = node.run(format!("{LIBRARY}/dist/cli/cli.js"));
    success_of(unpack.arg("unpack").arg(home.path("notes.mcpb")).arg(&folder))?;
    Ok(folder)
}

/// Starts the server of a bundle as a client does, with the values that its user has chosen. Returns the texts of both tools.
fn values(folder: &Path, node: &Node, chosen: &Value) -> Result<[String; 2], Missing> {
    let mut command = node.run(LAUNCH);
    command.arg(node.folder.join(LIBRARY).join("dist/node.js"));
    let config = success_of(command.arg(folder).arg(chosen.to_string()))?;
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let mut command = Command::new(config["command"].as_str().expect("a command"));
    let texts = |list: &Value| -> Vec<String> {
        serde_json::from_value(list.clone()).expect("a list of texts")
    };
    command.args(texts(&config["args"])).env_clear();
    for (name, value) in config["env"].as_object().expect("variables") {
        command.env(name, value.as_str().expect("a text"));
    }
    let mut server = Server::start_as(prepared(command));
    Ok(["values", "folders"].map(|tool| server.ask(tool, tool, json!({}))))
}

fn check_bundle() -> Result<(), Missing> {
    let node = Node::locked(&programs(), "mcpb-2.1.2", PACKAGE, LOCK)?;
    let home = HomeFolder::of(published);
    let folder = unpacked(&home, &node)?;
    let mut validate = node.run(format!("{LIBRARY}/dist/cli/cli.js"));
    let said = success_of(validate.arg("validate").arg(&folder))?;
    assert!(said.contains("Manifest schema validation passes!"), "{said}");
    assert!(said.contains("Icon validation passed"), "{said}");
    let mode = fs::metadata(folder.join("server/file-box")).expect("a program").permissions();
    assert_eq!(mode.mode() & 0o777, 0o755);

    let text = home.text("unpacked/manifest.json");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    for (pointer, value) in [
        ("/manifest_version", json!("0.3")),
        ("/name", json!("file-box")),
        ("/display_name", json!("File box")),
        ("/description", json!("Serves the files of a directory")),
        ("/author", json!({ "name": "Ada Lovelace", "email": "ada@example.com" })),
        ("/license", json!("MIT OR Apache-2.0")),
        ("/repository/url", json!("https://github.com/ada/file-box.git")),
        ("/icon", json!("icon.png")),
        ("/server/type", json!("binary")),
        (
            "/tools/0",
            json!({ "name": "folders", "description": "Returns the other folders, and the settings for them." }),
        ),
        ("/tools/1/name", json!("values")),
        (
            "/prompts",
            json!([
                {
                    "name": "code:review",
                    "description": "Reviews code.",
                    "arguments": ["language"],
                    "text": "Review this ${arguments.language} code."
                },
                {
                    "name": "explain",
                    "description": "Explains a file.",
                    "arguments": ["file", "language"],
                    "text": "Explain ${arguments.file} in ${arguments.language}."
                },
            ]),
        ),
        // The texts of the other prompts depend on state, on a number, on whether an argument is there, and on its text.
        ("/prompts_generated", json!(true)),
        ("/user_config/root/required", json!(true)),
        ("/user_config/api_key/sensitive", json!(true)),
        // Its default is a relative path, which means another folder in each client.
        (
            "/user_config/cache",
            json!({
                "type": "string",
                "title": "Cache",
                "description": "Folder for temporary files",
                "required": true,
            }),
        ),
        ("/user_config/retries/default", json!(5)),
        ("/user_config/verbose/default", json!(false)),
        ("/user_config/folder/multiple", json!(true)),
        ("/user_config/rules/type", json!("file")),
        // A client would read the number as a float, and change its last digits.
        ("/user_config/most/type", json!("string")),
        ("/user_config/most/default", json!("9223372036854775807")),
        // A manifest has no lists of values.
        ("/user_config/language/description", json!("Language of all texts: en, no")),
    ] {
        assert_eq!(manifest.pointer(pointer), Some(&value), "{pointer}: {text}");
    }
    assert_eq!(manifest.get("tools_generated"), None);
    // The server knows its default, and the manifest cannot.
    assert_eq!(manifest["user_config"]["links"].get("default"), None, "{text}");
    // No item of this server takes these settings.
    for other in ["office", "offset", "token"] {
        assert_eq!(manifest["user_config"].get(other), None, "{text}");
    }

    let mut chosen = json!({ "root": "/data", "api_key": "hunter2hunter2", "cache": "/tmp" });
    let [texts, folders] = values(&folder, &node, &chosen)?;
    assert_eq!(texts, "/data 14 5 false none [] pool of sqlite::memory:");
    assert_eq!(folders, "[] None true 9223372036854775807");
    chosen["folder"] = json!(["/a", "/b, c"]);
    chosen["rules"] = json!("/etc/rules");
    chosen["language"] = json!("no");
    chosen["retries"] = json!(7);
    chosen["verbose"] = json!(true);
    chosen["links"] = json!(false);
    chosen["most"] = json!("5");
    chosen["extension"] = json!("md,txt");
    let [texts, folders] = values(&folder, &node, &chosen)?;
    assert_eq!(texts, "/data 14 7 true Norwegian [\"md\", \"txt\"] pool of sqlite::memory:");
    assert_eq!(folders, "[\"/a\", \"/b, c\"] Some(\"/etc/rules\") false 5");
    Ok(())
}

#[support::test]
fn a_client_starts_the_server_of_a_bundle_with_the_values_that_its_user_chooses() {
    needs(check_bundle());
}

/// Runs `bundle --validate` where the official tool is installed, and out of reach of any registry.
fn validated(author: &str) -> Result<(bool, String), Missing> {
    let node = Node::locked(&programs(), "mcpb-2.1.2", PACKAGE, LOCK)?;
    let home = HomeFolder::of(published);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::split_paths(&path);
    let path = env::join_paths([node.folder.join("node_modules/.bin")].into_iter().chain(path));
    let mut command = published();
    command.args(["bundle", "--validate", "--author", author, "--out"]).arg(home.path("a.mcpb"));
    command.current_dir(&node.folder).env("PATH", path.expect("a path"));
    // npm keeps its logs in the user's home otherwise.
    command.env("npm_config_offline", "true").env("npm_config_cache", programs().join("npm-cache"));
    let output = command.output().expect("the fixture starts");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.success(), home.path("a.mcpb").exists(), "{stderr}");
    Ok((output.status.success(), stderr))
}

#[support::test]
fn the_official_validator_decides_whether_a_bundle_is_written() {
    let check = || {
        let (is_valid, stderr) = validated("Ada")?;
        assert!(is_valid && !stderr.contains("not validated"), "{stderr}");
        let (is_valid, stderr) = validated("Ada <nowhere>")?;
        assert!(!is_valid && stderr.contains("author.email: Invalid email"), "{stderr}");
        Ok(())
    };
    needs(check());
}

#[support::test]
fn without_npx_a_bundle_is_not_validated() {
    let home = HomeFolder::of(|| {
        let mut command = published();
        command.env("PATH", "");
        command
    });
    let why = home.fail(&["bundle", "--validate"], 1);
    assert!(why.contains("`--validate` needs `npx` of Node.js"), "{why}");
}

#[support::test]
fn bundle_names_missing_parts_with_their_fix() {
    let home = HomeFolder::of(without_cargo);
    let why = home.fail(&["bundle"], 1);
    assert_eq!(
        why,
        "error: a bundle needs an author: give one with `--author`, or add `authors = …` to Cargo.toml, and start the program with `cargo run`\n"
    );
    home.write("icon.png", "<svg/>");
    for (arguments, status, part) in [
        (&["bundle", "--author=Ada", "--icon", "icon.png"][..], 1, "icon.png is no PNG file"),
        (&["bundle", "--author=Ada", "--icon", "none.png"], 1, "none.png: "),
        (&["bundle", "--file", "a"], 2, "`bundle` has no option `--file`; it has --out, --icon"),
        (&["bundle", "--out"], 2, "`--out` needs a value, as in `--out FILE`"),
        (&["--root", "/", "bundle"], 2, "leave `--root` out"),
        (&["--all-of", "root", "/", "list"], 2, "`--root` takes a single value"),
        (&["--all-of", "roots", "/", "list"], 2, "there is no such option"),
    ] {
        let why = home.fail(arguments, status);
        assert!(why.contains(part), "{arguments:?}: {why}");
    }
    let files = fs::read_dir(&home.folder).expect("the folder").count();
    assert_eq!(files, 1, "no bundle is written");
}

/// Note about a setting of the fixture.
const RELATIVE: &str = "note: the default of `--cache` is a relative path, which means another file in each client, so clients ask for this path";

#[support::test]
fn bundle_notes_what_clients_will_not_see() {
    let home = HomeFolder::of(published);
    let output = home.run(&["bundle"]);
    let file = format!("file-box-{}-{}.mcpb", env::consts::OS, env::consts::ARCH);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{file} is written\n"));
    assert!(home.path(&file).exists());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.contains("this is a debug build"), cfg!(debug_assertions), "{stderr}");
    assert!(
        stderr.contains(
            "do more than insert required texts: count, greet, overview, shout, translate"
        ),
        "{stderr}"
    );
    assert!(stderr.contains("note: `--root` is a path"), "{stderr}");
    assert!(stderr.contains("note: the bundle is not validated: `--validate`"), "{stderr}");
    assert!(stderr.contains(RELATIVE), "{stderr}");
}

/// Returns what the linter says about an entry.
fn linted(home: &HomeFolder, entry: &str) -> Result<String, Missing> {
    let python = Python::installed(&programs(), "skillsaw-0.22.0", REQUIREMENTS)?;
    home.write("registry/server.json", entry);
    let mut lint = python.run("-m");
    let output = lint.args(["skillsaw", "lint"]).arg(home.path("registry")).output();
    let output = output.map_err(|why| Missing::new(why.to_string()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

const LINE: &str = "- MCP Registry: `mcp-name: io.github.ada/box`\n";

#[support::test]
fn an_entry_of_the_registry_follows_the_official_schema() {
    let home = HomeFolder::of(published);
    home.write("README.md", &format!("# File box\n\n{LINE}"));
    let package = home.succeed(&["server-json"]);
    let stderr = home.run(&["server-json"]).stderr;
    assert!(String::from_utf8_lossy(&stderr).contains(RELATIVE));
    let remote = home.succeed(&[
        "server-json",
        "--name=com.example/box",
        "--url=https://example.com/mcp",
        "--description=Files of example.com",
    ]);
    let check = || {
        for entry in [&package, &remote] {
            let said = linted(&home, entry)?;
            assert!(said.contains("Repo type: mcp-registry"), "{said}");
            assert!(said.contains("Errors:   0") && said.contains("Warnings: 0"), "{said}");
        }
        // The linter finds a value that the schema does not allow.
        let wrong = package.replace(r#""format": "filepath""#, r#""format": "path""#);
        let said = linted(&home, &wrong)?;
        assert!(said.contains("must be one of string, number, boolean, filepath"), "{said}");
        Ok(())
    };
    needs(check());

    let entry: Value = serde_json::from_str(&package).expect("JSON");
    for (pointer, value) in [
        ("/name", json!("io.github.ada/box")),
        ("/title", json!("File box")),
        ("/repository", json!({ "url": "https://github.com/ada/file-box", "source": "github" })),
        ("/packages/0/registryType", json!("cargo")),
        ("/packages/0/identifier", json!(env!("CARGO_PKG_NAME"))),
        ("/packages/0/version", json!("0.3.1")),
        ("/packages/0/packageArguments/0/name", json!("--root")),
        ("/packages/0/packageArguments/1/name", json!("--cache")),
        ("/packages/0/packageArguments/1/isRequired", json!(true)),
        ("/packages/0/environmentVariables/0/name", json!("FILE_BOX_API_KEY")),
        ("/packages/0/environmentVariables/0/isSecret", json!(true)),
    ] {
        assert_eq!(entry.pointer(pointer), Some(&value), "{pointer}: {package}");
    }
    assert_eq!(entry["packages"][0]["packageArguments"][1].get("default"), None, "{package}");
    assert!(!package.contains("OFFICE") && !package.contains("--office"), "{package}");
    let variables = entry["packages"][0]["environmentVariables"].as_array().expect("variables");
    let language = variables.iter().find(|variable| variable["name"] == "TEXT_LANGUAGE");
    let expected = json!({
        "name": "TEXT_LANGUAGE",
        "description": "Language of all texts",
        "format": "string",
        "choices": ["en", "no"],
    });
    assert_eq!(language, Some(&expected), "{package}");
    let entry: Value = serde_json::from_str(&remote).expect("JSON");
    let remotes = json!([{ "type": "streamable-http", "url": "https://example.com/mcp" }]);
    assert_eq!((&entry["remotes"], &entry["packages"]), (&remotes, &Value::Null));
}

#[support::test]
fn the_readme_has_to_show_the_name_of_the_server() {
    let home = HomeFolder::of(published);
    // Without a name in the README, the owner of the repository names the server.
    let line = format!("- MCP Registry: `mcp-name: io.github.ada/{}`\n", env!("CARGO_PKG_NAME"));
    let why = home.fail(&["server-json"], 1);
    assert!(
        why.contains("create the file with this line, name another file with `--readme`"),
        "{why}"
    );
    assert!(why.contains(&format!("\n\n{line}")), "{why}");
    let why = home.fail(&["server-json", "--name", "com.example/box"], 1);
    assert!(why.contains("\n\n- MCP Registry: `mcp-name: com.example/box`\n"), "{why}");
    let unnamed = home.command(&["server-json"]).env_remove("CARGO_PKG_REPOSITORY").output();
    let why = String::from_utf8(unnamed.expect("it runs").stderr).expect("UTF-8");
    assert!(why.contains("\n\n- MCP Registry: `mcp-name: io.github.USER/NAME`\n"), "{why}");
    for (readme, problem) in [
        ("# File box\n".to_owned(), "has no name of the server"),
        (format!("<!-- {} -->\n", line.trim()), "has the name in a comment"),
        ("Write mcp-name: <name> here.\n".to_owned(), "has no name of the server"),
        (
            "mcp-name: box\n".to_owned(),
            "rejects: `box` is no name in the registry: it needs a namespace",
        ),
    ] {
        home.write("README.md", &readme);
        let why = home.fail(&["server-json"], 1);
        assert!(why.contains(problem) && why.ends_with(&format!("\n\n{line}\n")), "{why}");
    }
    home.write("README.md", "mcp-name: box\n");
    let unnamed = home.command(&["server-json"]).env_remove("CARGO_PKG_REPOSITORY").output();
    let why = String::from_utf8(unnamed.expect("it runs").stderr).expect("UTF-8");
    assert!(why.contains("rejects: `box` is no name in the registry"), "{why}");
    home.write("README.md", LINE);
    let why = home.fail(&["server-json", "--name", "io.github.ada/other"], 1);
    assert!(why.contains("has the name `io.github.ada/box` instead"), "{why}");
    assert!(why.contains("mcp-name: io.github.ada/other"), "{why}");
    home.write("docs/readme.md", "mcp-name: io.github.ada/other\n");
    let given = ["server-json", "--name", "io.github.ada/other", "--readme", "docs/readme.md"];
    assert!(home.succeed(&given).contains("\"name\": \"io.github.ada/other\""));
}

#[support::test]
fn server_json_names_problems_of_the_registry_with_their_fix() {
    let home = HomeFolder::of(published);
    home.write("README.md", LINE);
    let long = format!("--description={}", "a".repeat(101));
    for (arguments, status, part) in [
        (&["server-json", "--name", "box"][..], 2, "`box` is no name in the registry"),
        (
            &["server-json", &long],
            1,
            "the description has 101 characters, and the registry takes 100",
        ),
        (&["server-json", "--url=http://localhost:8000/mcp"], 1, "is no public URL"),
        (&["server-json", "--out", "a"], 2, "`server-json` has no option `--out`; it has --name"),
        (&["--api-key", "hunter2hunter2", "server-json"], 2, "leave `--api-key` out"),
    ] {
        let why = home.fail(arguments, status);
        assert!(why.contains(part) && !why.contains("hunter2"), "{arguments:?}: {why}");
    }
    let home = HomeFolder::of(without_cargo);
    let why = home.fail(&["server-json", "--url=https://example.com/mcp"], 2);
    assert!(why.contains("give it with `--name`, as in `--name io.github.USER/NAME`"), "{why}");
}

#[support::test]
fn a_server_without_settings_has_neither_arguments_nor_variables() {
    let home = HomeFolder::of(fixture);
    home.write("README.md", "mcp-name: io.github.ada/misbehaving\n");
    let entry = home.succeed(&["server-json", "--description=Misbehaves"]);
    let entry: Value = serde_json::from_str(&entry).expect("JSON");
    let package = entry["packages"][0].as_object().expect("a package");
    assert_eq!(
        package.keys().collect::<Vec<_>>(),
        ["identifier", "registryType", "transport", "version"]
    );
}
