//! Commands and options of the features that this build lacks. `help` does not list them, but their error names the feature.

use super::exit::CommandError;

/// Each feature that this build lacks, with its commands and options. Their names are a single text, because a slice would take another
/// 40 bytes of the program for each name.
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
