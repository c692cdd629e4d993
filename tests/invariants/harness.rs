//! The attributes of tests. The suites of `tests/` with `support::harness` need `#[support::test]`, and all other tests need the runner of rustc.

use crate::sources::Source;

/// Folders of `tests/` whose packages use the test runner of rustc.
const OF_RUSTC: [&str; 4] = ["attribute", "invariants", "support", "wire"];

/// Returns tests that would never run, each with its file and line.
pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let suite = source.path.strip_prefix("tests/").and_then(|path| path.split('/').next());
        let Some(suite) = suite else { continue };
        let is_of_rustc = OF_RUSTC.contains(&suite);
        for (number, line) in (1..).zip(&source.lines) {
            let line = line.trim();
            let is_lost = if is_of_rustc {
                line.starts_with("#[support::test")
            } else {
                let is_plain = line == "#[test]" || line.starts_with("#[tokio::test");
                let is_suite =
                    line.starts_with("store_suite!(") && !line.contains("#[support::test]");
                is_plain || is_suite
            };
            if is_lost {
                found.push(format!("{}:{number}: {line}", source.path));
            }
        }
    }
    found
}
