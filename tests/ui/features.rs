//! Errors about disabled features.
//!
//! All programs of a package have the same features, and in this package all features are enabled. So the programs in `features/` are built
//! here as a package of their own, with the default features only. They have no `.fixed.rs` twins: `fixed` builds the same programs once
//! more with all features.

use std::{fs, path::PathBuf};
use support::requirement::needs;

use crate::cargo;

/// Returns the programs. The first line of each names the feature that it lacks: `// auth`.
pub(crate) fn programs() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("ui/features").expect("the folder is there");
    let mut programs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    programs.sort();
    programs.into_iter()
}

#[support::test]
fn a_feature_that_is_off_is_named_with_the_command_that_turns_it_on() {
    needs(crate::compiler());
    let messages = cargo::built("features", &cargo::runtime(&[]), cargo::alone(programs()));
    let mut count = 0;
    for program in programs() {
        let source = fs::read_to_string(&program).expect("the program is there");
        let feature = source.lines().next().and_then(|line| line.strip_prefix("// "));
        let feature = feature.expect("the first line names the feature");
        let name = cargo::name(&program);
        let errors = cargo::errors(&messages, &program);
        let rendered: String = errors
            .iter()
            .filter_map(|error| error["rendered"].as_str())
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(errors.len(), 1, "{name}:\n{rendered}");
        let spans = errors[0]["spans"].as_array().expect("an error has places");
        let place = spans.iter().find(|span| span["is_primary"] == true).expect("a place");
        let line =
            source.lines().position(|line| line.ends_with("// mistake")).expect("a mark") + 1;
        assert_eq!(place["line_start"], line, "{name}:\n{rendered}");
        // The stand-in for a method of a disabled feature uses the first wording, and rustc's note about a type uses the second.
        let named = [format!("the feature `{feature}`"), format!("the `{feature}` feature")];
        assert!(named.iter().any(|wording| rendered.contains(wording)), "{name}:\n{rendered}");
        // If only tests need a feature, the message proposes to turn it on for tests only.
        let commands = ["cargo add ", "cargo add --dev "]
            .map(|command| format!("{command}mcp-runtime --features {feature}"));
        let ends = |line: &str| {
            let line = line.trim_end().trim_end_matches('`');
            commands.iter().any(|command| line.ends_with(command))
        };
        assert!(rendered.lines().any(ends), "{name}:\n{rendered}");
        count += 1;
    }
    assert!(count >= 12, "only {count} programs");
}
