//! Lock files of the examples: each must describe exactly the items that its example publishes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use support::examples::example;

const EXAMPLES: [&str; 11] = [
    "book",
    "cluster",
    "database",
    "everything",
    "files",
    "issues",
    "memory",
    "notes",
    "quickstart",
    "rig",
    "time",
];

/// Command that regenerates all lock files.
const REGENERATE: &str = "MCP_LOCK=update cargo test --workspace --test contract every_example";

pub(crate) fn lock(name: &str) -> PathBuf {
    let locks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/locks");
    locks.join(name).with_extension("json")
}

pub(crate) fn run(name: &str, arguments: &[&str]) -> Output {
    Command::new(example(name)).args(arguments).output().expect("the example starts")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

/// Compares all bytes, not only breaking changes, so that each lock describes exactly the items that its example publishes.
#[support::test]
fn every_example_publishes_what_its_lock_says() {
    let mut differ = String::new();
    for name in EXAMPLES {
        let (lock, published) = (lock(name), run(name, &["schema"]));
        assert!(published.status.success(), "{name}: {}", text(&published.stderr));
        if env::var("MCP_LOCK").is_ok_and(|mode| mode == "update") {
            fs::write(&lock, &published.stdout).expect("the lock can be written");
        } else if fs::read(&lock).unwrap_or_default() != published.stdout {
            let lock = lock.to_string_lossy();
            let report = run(name, &["check", "--against", &lock]);
            differ.push_str(&format!("{name}:\n{}{}", text(&report.stdout), text(&report.stderr)));
        }
    }
    assert!(differ.is_empty(), "{differ}\n`{REGENERATE}` writes the locks again");
}

#[support::test]
fn every_lock_belongs_to_an_example() {
    let folder = lock("any");
    let files = fs::read_dir(folder.parent().expect("a folder")).expect("the folder is there");
    let mut names: Vec<_> = files
        .map(|entry| entry.expect("an entry").path().with_extension(""))
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, EXAMPLES);
}

/// Locks change only when the published items change. A version would change with every release, and a line number with every line inserted
/// above an item.
#[support::test]
fn locks_contain_no_versions_and_no_line_numbers() {
    for name in EXAMPLES {
        let text = fs::read_to_string(lock(name)).expect("the lock is there");
        for part in ["\"version\"", env!("CARGO_PKG_VERSION"), ".rs:", "\"line\""] {
            assert!(!text.contains(part), "{name}: {part}");
        }
    }
}
