//! Running the suite: `conformance server --url URL --requirements REVISION --output-dir FOLDER`.
//!
//! It writes `FOLDER/server-SCENARIO-TIME/checks.json` for each scenario, and says first how many scenarios there will be.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::Deserialize;
use support::{node::Node, process::Running, requirement::Missing};

const PACKAGE: &str = include_str!("package.json");
const CLI: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// A run takes about ten seconds; a scenario that hangs is given up by the suite after the thirty of its own.
const MOST: Duration = Duration::from_secs(300);

pub(crate) struct Suite {
    node: Node,
    results: PathBuf,
}

/// What a scenario found.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    pub(crate) id: String,
    pub(crate) description: String,
    /// `SUCCESS`, `FAILURE`, `WARNING`, `INFO` or `SKIPPED`
    pub(crate) status: String,
    pub(crate) error_message: Option<String>,
    #[serde(default)]
    pub(crate) details: serde_json::Value,
}

impl Suite {
    pub(crate) fn installed() -> Result<Self, Missing> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("conformance");
        let node = Node::installed(&folder, "suite-0.2.0-alpha.12", PACKAGE)?;
        Ok(Self { node, results: folder.join("results") })
    }

    /// Every scenario of the revision, also those that are not scored.
    pub(crate) fn run(&self, url: &str, revision: &str) -> Vec<Scenario> {
        let results = self.results.join(revision);
        let _ = fs::remove_dir_all(&results);
        fs::create_dir_all(&results).expect("target is writable");
        let said = results.join("said.txt");
        let file = fs::File::create(&said).expect("target is writable");
        let mut process = Running::start(
            self.node
                .run(CLI)
                .args(["server", "--url", url, "--requirements", revision, "--output-dir"])
                .arg(&results)
                .current_dir(&results)
                .stdin(Stdio::null())
                .stdout(file.try_clone().expect("a file can be shared"))
                .stderr(file),
        );
        let ended = process.wait(MOST);
        let said = fs::read_to_string(said).unwrap_or_default();
        assert!(ended.is_some(), "the suite does not end:\n{said}");
        let scenarios = read(&results);
        // A scenario that broke off has left nothing.
        assert_eq!(Some(scenarios.len()), announced(&said), "not all scenarios ran:\n{said}");
        scenarios
    }
}

/// The number in `Running requirements REVISION (33 scenarios) against URL`.
fn announced(said: &str) -> Option<usize> {
    let (before, _) = said.lines().next()?.split_once(" scenarios)")?;
    before.rsplit_once('(')?.1.parse().ok()
}

fn read(results: &Path) -> Vec<Scenario> {
    let entries = fs::read_dir(results).expect("target is readable");
    let mut folders: Vec<_> = entries.map(|it| it.expect("target is readable").path()).collect();
    folders.sort();
    folders
        .iter()
        .filter_map(|it| Some((scenario(it)?, it)))
        .map(|(name, folder)| {
            let text = fs::read_to_string(folder.join("checks.json")).unwrap_or_default();
            let checks = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{name} left no results: {error}\n{text}"));
            Scenario { name, checks }
        })
        .collect()
}

/// The name in `server-NAME-2026-07-28T12-00-00-000Z`.
fn scenario(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?.strip_prefix("server-")?;
    Some(name.get(..name.len().checked_sub("-2026-07-28T12-00-00-000Z".len())?)?.to_owned())
}

#[test]
fn its_words_are_understood() {
    let folder = Path::new("x/server-tools-list-2026-07-28T12-00-00-000Z");
    assert_eq!(scenario(folder).as_deref(), Some("tools-list"));
    assert_eq!(scenario(Path::new("x/said.txt")), None);
    assert_eq!(announced("Running requirements 2025-11-25 (33 scenarios) against x\n"), Some(33));
    assert_eq!(announced("Unknown spec revision"), None);
}
