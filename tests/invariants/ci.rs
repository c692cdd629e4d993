//! The calls that `.ci/run` makes. The tests run a copy of the script, with stand-ins for its tools that only record their arguments.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::sources::root;

/// Programs that the script uses. With all of them present, it installs no packages.
const TOOLS: [&str; 12] = [
    "caddy",
    "cargo",
    "chromium",
    "curl",
    "nginx",
    "node",
    "npm",
    "pkg-config",
    "python3",
    "redis-server",
    "rustup",
    "systemd-analyze",
];

/// Script that appends the value of `CI` and the call to a file, on one line.
const STAND_IN: &str = "#!/bin/sh\necho \"CI=$CI ${0##*/} $*\" >> \"$CALLS\"\n";

pub(crate) fn script() -> String {
    fs::read_to_string(root().join(".ci/run")).expect("the script is there")
}

/// Runs a script and returns its calls, one per line. `name` is the name of a folder that no other test uses.
pub(crate) fn calls(name: &str, script: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the folder for tests can be written");
    };
    let (tools, calls) = (folder.join("tools"), folder.join("calls"));
    for tool in TOOLS {
        write(&tools.join(tool), STAND_IN);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(tools.join(tool), executable).expect("the file is ours");
    }
    write(&folder.join(".ci/run"), script);
    write(&folder.join("mcp-runtime/Cargo.toml"), &manifest());
    write(&calls, "");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths: Vec<PathBuf> = [tools].into_iter().chain(std::env::split_paths(&path)).collect();
    let output = Command::new("bash")
        .arg(folder.join(".ci/run"))
        .env("PATH", std::env::join_paths(paths).expect("a path without colons"))
        .env("CALLS", &calls)
        .env_remove("CI")
        .output()
        .expect("bash starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(calls).expect("the stand-ins write there")
}

fn manifest() -> String {
    fs::read_to_string(root().join("mcp-runtime/Cargo.toml")).expect("the manifest is there")
}

/// Returns the calls that the script makes without setting `CI`. Without this variable a test passes even if a tool that it needs is
/// missing.
pub(crate) fn without_ci(calls: &str) -> Vec<String> {
    calls.lines().filter(|call| !call.starts_with("CI=1 ")).map(str::to_owned).collect()
}

/// Returns the feature sets with which `.ci/run` should run the crate's own tests, but does not. The sets are the default features, each
/// feature alone, and all features.
pub(crate) fn untested_features(calls: &str) -> Vec<String> {
    let manifest = manifest();
    let features = manifest.split("[features]\n").nth(1).expect("the crate has features");
    let features = features.lines().take_while(|line| !line.starts_with('['));
    let names = features.filter_map(|line| line.split_once(" = ")).map(|parts| parts.0);
    let names = names.filter(|name| name.starts_with(char::is_lowercase) && *name != "default");
    let alone = names.map(|name| format!(" --no-default-features --features {name}"));
    let sets = alone.chain([String::new(), " --all-features".to_owned()]);
    let is_run = |set: &str| {
        let call = format!("cargo test -p mcp-runtime --lib --test behaviour{set}");
        calls.lines().any(|line| line.split_once(' ').is_some_and(|parts| parts.1 == call))
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
