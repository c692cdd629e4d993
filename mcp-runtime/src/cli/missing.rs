//! Commands and options of the features that this build lacks. `help` does not list them, but their error names the feature.

use super::exit::CommandError;

/// Each feature that this build lacks, with its commands and options. Their names are a single text, because a slice would take another
/// 40 bytes of the program for each name. The table of the commands cannot give these names, because it lacks the commands too.
pub(super) const MISSING: &[(&str, &str)] = &[
    #[cfg(not(feature = "contract"))]
    ("contract", "--against"),
    #[cfg(not(feature = "http"))]
    ("http", "--http --path --allow-host --allow-origin --trust-proxy --drain --legacy-sse"),
    #[cfg(not(feature = "playground"))]
    ("playground", "playground --playground --allow-remote-playground"),
    #[cfg(not(feature = "workbench"))]
    (
        "workbench",
        "bundle complete completions config dev install record replay server-json uninstall --json",
    ),
];

/// Returns the error for a command or an option of a feature that this build lacks.
pub(super) fn missing(given: &str) -> Option<CommandError> {
    let is_in = |names: &str| names.split(' ').any(|name| name == given);
    let (feature, _) = MISSING.iter().find(|(_, names)| is_in(names))?;
    Some(CommandError::usage(match *feature {
        // A server that serves over HTTP needs the feature in each build, and not for one run only.
        "http" => format!(
            "`{given}`: this server was built without HTTP: run `cargo add mcp-runtime --features http`, and build it again"
        ),
        _ => format!(
            "`{given}` needs the feature `{feature}` of mcp-runtime: run `cargo run --features mcp-runtime/{feature} -- …`"
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the commands in a source that a feature adds, sorted.
    fn commands<'a>(source: &'a str, feature: &str) -> Vec<&'a str> {
        let declared = format!("#[cfg(feature = \"{feature}\")]\n    Command::new(");
        let names = source.split(&*declared).skip(1).filter_map(|rest| rest.split('"').nth(1));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }

    /// Reads both sources, because each build has only one of the two tables.
    #[test]
    fn each_command_of_a_feature_is_known_without_the_feature() {
        let own = include_str!("missing.rs");
        for feature in ["playground", "workbench"] {
            let names = own.split(&format!("\"{feature}\",")).nth(1).unwrap_or_default();
            let names = names.split('"').nth(1).unwrap_or_default().split(' ');
            let names: Vec<_> = names.filter(|name| !name.starts_with("--")).collect();
            let declared = commands(include_str!("commands.rs"), feature);
            assert!(!declared.is_empty() && declared == names, "{feature}: {names:?}");
        }
    }

    #[test]
    fn an_error_names_the_feature_and_the_command_to_run() {
        let error = |given| missing(given).map(|error| error.text);
        let expected = |feature: &str, error: &str| {
            MISSING.iter().any(|missing| missing.0 == feature).then(|| error.to_owned())
        };
        assert_eq!(
            error("--json"),
            expected(
                "workbench",
                "`--json` needs the feature `workbench` of mcp-runtime: run `cargo run --features mcp-runtime/workbench -- …`"
            )
        );
        assert_eq!(
            error("--http"),
            expected(
                "http",
                "`--http`: this server was built without HTTP: run `cargo add mcp-runtime --features http`, and build it again"
            )
        );
        assert_eq!(error("list"), None);
    }
}
