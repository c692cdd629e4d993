//! The commands of `.ci/run` and `.ci/full`. The scripts only list them here: a test runs no part of them, least of all the one that installs
//! programs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

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

/// Returns the suites of `tests/` that the commands do not run as a whole.
pub(crate) fn suites_that_are_not_run(commands: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("tests/Cargo.toml")).expect("the manifest");
    let suites = manifest.split("[[test]]\nname = \"").skip(1);
    let names = suites.filter_map(|rest| rest.split('"').next());
    let is_run = |name: &str| {
        let start = format!("CI=1 cargo test --workspace --test {name} --");
        // A filter would leave tests out.
        commands.lines().any(|line| {
            line.strip_prefix(&*start).is_some_and(|rest| ["", " --ignored"].contains(&rest))
        })
    };
    names.filter(|name| !is_run(name)).map(str::to_owned).collect()
}
