//! Runs the suite: `conformance server --url URL --requirements REVISION --output-dir FOLDER`, and for authorization servers
//! `conformance authorization --url ISSUER --spec-version REVISION --port PORT --output-dir FOLDER`.
//!
//! The suite first prints how many scenarios there will be. For each of them it writes `FOLDER/server-SCENARIO-TIME/checks.json`, or
//! `FOLDER/authorization-server-SCENARIO-TIME/checks.json`. When a user has to log in, the suite prints a URL, and waits on the port for
//! the redirect of the browser.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use support::{clock::Stopwatch, node::Node, process::Running, requirement::Missing};

const PACKAGE: &str = include_str!("package.json");
const CLI: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// Maximum time for a run. A run takes about ten seconds, and the suite stops a scenario that hangs after thirty seconds.
const MOST: Duration = Duration::from_secs(300);

/// Lock that is held during a run. The suite measures time, so two runs must not overlap.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) struct Suite {
    node: Node,
    results: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

/// Results of a scenario.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

/// A check of a scenario.
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
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("conformance");
        let node = Node::installed(&folder, "suite-0.2.0-alpha.12", PACKAGE)?;
        Ok(Self { node, results: folder.join("results"), _alone: alone })
    }

    /// Runs every scenario of the revision, including scenarios that the suite does not score.
    pub(crate) fn run(&self, url: &str, revision: &str) -> Vec<Scenario> {
        let mut command = self.node.run(CLI);
        command.args(["server", "--url", url, "--requirements", revision]);
        self.carry_out(&mut command, revision, "server-", |_| {})
    }

    /// Runs the scenarios for authorization servers. `browse` opens a URL in a browser, and returns after the redirect to the suite.
    pub(crate) fn authorize(
        &self,
        issuer: &str,
        revision: &str,
        port: u16,
        options: &[&str],
        browse: impl Fn(&str),
    ) -> Vec<Scenario> {
        let mut command = self.node.run(CLI);
        command.args(["authorization", "--url", issuer, "--spec-version", revision]);
        command.args(["--port", &port.to_string()]).args(options);
        let results = format!("authorization-{revision}");
        let mut has_browsed = false;
        self.carry_out(&mut command, &results, "authorization-server-", |said| {
            // The suite prints the URL before it listens for the browser.
            let listens = said.contains("Callback server started");
            let url = said
                .lines()
                .find(|line| line.starts_with(issuer) && line.contains("redirect_uri="));
            if let Some(url) = url.filter(|_| listens && !has_browsed) {
                has_browsed = true;
                browse(url);
            }
        })
    }

    fn carry_out(
        &self,
        command: &mut Command,
        results: &str,
        prefix: &str,
        mut hear: impl FnMut(&str),
    ) -> Vec<Scenario> {
        let results = self.results.join(results);
        let _ = fs::remove_dir_all(&results);
        fs::create_dir_all(&results).expect("target is writable");
        let said = results.join("said.txt");
        let file = fs::File::create(&said).expect("target is writable");
        let mut process = Running::start(
            command
                .arg("--output-dir")
                .arg(&results)
                .current_dir(&results)
                .stdin(Stdio::null())
                .stdout(file.try_clone().expect("a file can be shared"))
                .stderr(file),
        );
        let (begun, mut ended) = (Stopwatch::start(), None);
        while ended.is_none() && begun.elapsed() < MOST {
            ended = process.wait(Duration::from_millis(100));
            hear(&fs::read_to_string(&said).unwrap_or_default());
        }
        let said = fs::read_to_string(said).unwrap_or_default();
        assert!(ended.is_some(), "the suite does not end:\n{said}");
        let scenarios = read(&results, prefix);
        // An interrupted scenario leaves no results, so the numbers would differ.
        assert_eq!(Some(scenarios.len()), announced(&said), "not all scenarios ran:\n{said}");
        scenarios
    }
}

/// Returns the number in `Running requirements REVISION (33 scenarios) against URL`, or `Running test (2 scenarios) …`.
fn announced(said: &str) -> Option<usize> {
    let (before, _) = said.lines().next()?.split_once(" scenarios)")?;
    before.rsplit_once('(')?.1.parse().ok()
}

fn read(results: &Path, prefix: &str) -> Vec<Scenario> {
    let entries = fs::read_dir(results).expect("target is readable");
    let mut folders: Vec<_> =
        entries.map(|entry| entry.expect("target is readable").path()).collect();
    folders.sort();
    folders
        .iter()
        .filter_map(|folder| Some((scenario(folder, prefix)?, folder)))
        .map(|(name, folder)| {
            let text = fs::read_to_string(folder.join("checks.json")).unwrap_or_default();
            let checks = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{name} left no results: {error}\n{text}"));
            Scenario { name, checks }
        })
        .collect()
}

/// Returns the name in `server-NAME-2026-07-28T12-00-00-000Z`.
fn scenario(folder: &Path, prefix: &str) -> Option<String> {
    let name = folder.file_name()?.to_str()?.strip_prefix(prefix)?;
    Some(name.get(..name.len().checked_sub("-2026-07-28T12-00-00-000Z".len())?)?.to_owned())
}

#[support::test]
fn the_output_of_the_conformance_suite_is_parsed() {
    let folder = Path::new("x/server-tools-list-2026-07-28T12-00-00-000Z");
    assert_eq!(scenario(folder, "server-").as_deref(), Some("tools-list"));
    assert_eq!(scenario(Path::new("x/said.txt"), "server-"), None);
    assert_eq!(announced("Running requirements 2025-11-25 (33 scenarios) against x\n"), Some(33));
    assert_eq!(announced("Running test (2 scenarios) against x\n"), Some(2));
    assert_eq!(announced("Unknown spec revision"), None);
}
