//! The Dockerfile, checked by a linter from npm, because the tests have no engine for images.

use std::{path::Path, sync::OnceLock};

use serde::Deserialize;
use support::{
    node::Node,
    requirement::{Missing, needs, success_of},
};

use crate::files::{Folder, committed, path, replace, root, tools};

const FILE: &str = "Dockerfile";
const PACKAGE: &str = include_str!("dockerfile.json");

/// Debian releases of the base images, by the names that the image `rust` and the distroless images use.
const RELEASES: [(&str, &str); 2] = [("bookworm", "debian12"), ("trixie", "debian13")];

#[derive(Debug, Deserialize)]
struct Linted {
    instructions: Vec<Instruction>,
    problems: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Instruction {
    keyword: String,
    arguments: Vec<String>,
    content: String,
}

/// Returns what the linter finds in a Dockerfile.
fn lint(file: &Path) -> Result<Linted, Missing> {
    // The tests run at the same time, and share what the first one installs.
    static LINTER: OnceLock<Result<Node, String>> = OnceLock::new();
    let install = || Node::installed(&tools(), "node-dockerfile", PACKAGE);
    let node = LINTER.get_or_init(|| install().map_err(|missing| missing.to_string()));
    let node = node.as_ref().map_err(Missing::new)?;
    let script = root().join("tests/deploy/dockerfile.cjs");
    let said = success_of(node.run(script).arg(&node.folder).arg(file))?;
    Ok(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")))
}

impl Linted {
    /// Returns the arguments of the only instruction of this kind.
    #[track_caller]
    fn only(&self, keyword: &str) -> &Instruction {
        let mut found =
            self.instructions.iter().filter(|instruction| instruction.keyword == keyword);
        match (found.next(), found.next()) {
            (Some(only), None) => only,
            found => panic!("{keyword}: {found:?}"),
        }
    }

    fn all(&self, keyword: &str) -> Vec<&[String]> {
        let all = self.instructions.iter().filter(|instruction| instruction.keyword == keyword);
        all.map(|instruction| &*instruction.arguments).collect()
    }
}

#[support::test]
fn the_linter_finds_nothing_wrong() {
    let folder = Folder::new();
    let planted = folder.write(FILE, &replace(&committed(FILE), "ENTRYPOINT ", "ENTRYPIONT ", 1));
    let linted = needs(lint(&planted));
    assert_eq!(linted.problems.len(), 1, "a mistake is seen: {linted:?}");
    let linted = needs(lint(&path(FILE)));
    assert!(linted.problems.is_empty(), "{:?}", linted.problems);
}

#[support::test]
fn the_stages_have_pinned_images_of_one_debian_release() {
    let linted = needs(lint(&path(FILE)));
    let stages = linted.all("FROM");
    let [[build, _, name], [last]] = stages[..] else { panic!("{stages:?}") };
    assert_eq!(name, "build");
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = oldest.expect("the oldest compiler").trim_matches('"');
    let of_rust = build.strip_prefix(&format!("rust:{oldest}-"));
    let of_last = last.strip_prefix("gcr.io/distroless/cc-").and_then(|rest| rest.split_once(':'));
    let (debian, user) = of_last.unwrap_or_else(|| panic!("{last}"));
    assert!(RELEASES.contains(&(of_rust.unwrap_or_default(), debian)), "{build}, {last}");
    // Without this tag, the server would run as root.
    assert_eq!(user, "nonroot");
}

#[support::test]
fn the_image_starts_the_program_that_cargo_has_built() {
    let linted = needs(lint(&path(FILE)));
    assert_eq!(linted.only("ARG").arguments, ["BIN=mine"]);
    let workdir = &linted.only("WORKDIR").arguments[0];
    let run = &linted.only("RUN").content;
    let cache = format!("--mount=type=cache,target={workdir}/target");
    assert!(committed(FILE).contains(&cache), "{cache}");
    for part in
        ["cargo build --release --locked --bin \"$BIN\"", "cp \"target/release/$BIN\" /mcp-server"]
    {
        assert!(run.contains(part), "{part}: {run}");
    }
    let copied = linted.all("COPY");
    let [[all, here], [built, program]] = copied[..] else { panic!("{copied:?}") };
    assert_eq!((&**all, &**here, &**built), (".", ".", "/mcp-server"));
    assert_eq!(linted.only("ENTRYPOINT").content, format!("[\"{program}\"]"));
    let arguments: Vec<String> = serde_json::from_str(&linted.only("CMD").content).expect("JSON");
    let port = &linted.only("EXPOSE").arguments[0];
    assert_eq!(arguments, ["--http", &format!("0.0.0.0:{port}")]);
}
