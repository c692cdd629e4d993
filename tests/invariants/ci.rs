//! The commands of `.ci/run` and `.ci/full`. The scripts only list their commands here, so that no test installs a program.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::sources::root;

pub(crate) fn script() -> String {
    fs::read_to_string(root().join(".ci/run")).expect("the script is there")
}

/// Returns the commands of a script, one a line, each after the value of `CI`. `name` is the name of a folder that no other test uses.
pub(crate) fn commands(name: &str, script: &str, arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the folder for tests can be written");
    };
    write(folder.join(".ci/run"), script);
    write(folder.join("mcp-runtime/Cargo.toml"), &manifest());
    let output = Command::new("bash")
        .arg(folder.join(".ci/run"))
        .arg("--list")
        .args(arguments)
        .env_remove("CI")
        .output()
        .expect("bash starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the script prints UTF-8")
}

fn manifest() -> String {
    fs::read_to_string(root().join("mcp-runtime/Cargo.toml")).expect("the manifest is there")
}

/// Returns the commands that do not set `CI`. Without this variable a test is ignored if a program that it needs is missing.
pub(crate) fn without_ci(commands: &str) -> Vec<String> {
    commands.lines().filter(|command| !command.starts_with("CI=1 ")).map(str::to_owned).collect()
}

/// Returns the feature sets with which no command has this beginning. The sets are the default features, each feature alone, and all
/// features.
pub(crate) fn missing_features(commands: &str, beginning: &str, sets: &[&str]) -> Vec<String> {
    let manifest = manifest();
    let features = manifest.split("[features]\n").nth(1).expect("the crate has features");
    let features = features.lines().take_while(|line| !line.starts_with('['));
    let names = features.filter_map(|line| line.split_once(" = ")).map(|parts| parts.0);
    let names = names.filter(|name| name.starts_with(char::is_lowercase) && *name != "default");
    let alone = names.map(|name| format!(" --no-default-features --features {name}"));
    let sets = alone.chain(sets.iter().map(|set| (*set).to_owned()));
    let is_run = |set: &str| {
        let command = format!("CI=1 {beginning}{set}");
        commands.lines().any(|line| line == command)
    };
    sets.filter(|set| !is_run(set)).collect()
}

/// Returns the programs that the suite `deploy` needs and that the script does not install.
pub(crate) fn uninstalled_programs(script: &str, suite: &str) -> Vec<String> {
    let line = script.lines().find_map(|line| line.strip_prefix("programs=("));
    let programs: Vec<_> = line.unwrap_or_default().trim_end_matches(')').split(' ').collect();
    let needed = suite.split("installed(\"").skip(1).filter_map(|rest| rest.split('"').next());
    needed.filter(|name| !programs.contains(name)).map(str::to_owned).collect()
}

/// Returns the sources of the suite `deploy`.
pub(crate) fn deploy_suite() -> String {
    let files = fs::read_dir(root().join("tests/deploy")).expect("the suite is there");
    let paths = files.map(|file| file.expect("the suite can be listed").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    sources.map(|path| fs::read_to_string(path).expect("a source")).collect()
}

/// Returns the targets with tests, and the documentation of published crates, that the commands do not test as a whole, each after its package.
pub(crate) fn untested_targets(commands: &str) -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version=1", "--offline"]).current_dir(root());
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let alias = fs::read_to_string(root().join(".cargo/config.toml")).expect("the alias");
    let mut found = Vec::new();
    // Sources of the libraries whose documentation is tested. Two packages may share a source.
    let mut documented = BTreeSet::new();
    let mut published = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        let is_of_engine = alias.contains(&format!("\"{name}\""));
        let is_run = |words: &[&str]| has_words(commands, words, name);
        for target in package["targets"].as_array().expect("targets") {
            let (kind, test) = (target["kind"][0].as_str(), target["name"].as_str());
            let (kind, test) = (kind.expect("a kind"), test.expect("a name"));
            let is_tested = match kind {
                _ if target["test"] != true => true,
                "lib" | "proc-macro" | "test" if is_of_engine => true,
                "lib" | "proc-macro" => is_run(&["--workspace", "--lib"]),
                "bin" => is_run(&["--bins"]),
                _ => is_run(&[&format!("--test {test}")]),
            };
            if !is_tested {
                found.push(format!("{name}: {test}"));
            }
            let source = target["src_path"].as_str().expect("a path");
            let source = fs::canonicalize(source).expect("the target has a source");
            if target["doctest"] == true && is_run(&["--workspace", "--doc"]) {
                documented.insert(source.clone());
            }
            // `publish` is an empty list for a crate that is never published.
            if ["lib", "proc-macro"].contains(&kind) && package["publish"].is_null() {
                published.push((name, source));
            }
        }
    }
    let undocumented = published.iter().filter(|(_, source)| !documented.contains(source));
    found.extend(undocumented.map(|(name, _)| format!("{name}: documentation")));
    found
}

/// Whether one of the commands that test has all of these words, does not exclude the package, and has no filter, which would leave tests out.
fn has_words(commands: &str, words: &[&str], package: &str) -> bool {
    commands.lines().filter(|command| command.starts_with("CI=1 cargo test ")).any(|command| {
        let command = command.trim_end_matches(" --");
        let (command, filter) = command.split_once(" -- ").unwrap_or((command, ""));
        let command = format!("{command} ");
        let has = |word: &&str| command.contains(&format!(" {word} "));
        ["", "--include-ignored"].contains(&filter)
            && !command.contains(" --no-run ")
            && !command.contains(&format!(" --exclude {package} "))
            && words.iter().all(has)
    })
}
