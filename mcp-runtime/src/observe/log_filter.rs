//! Filter of the log on stderr, read from `RUST_LOG`.

use std::env::{self, VarError};

use mcp_runtime_contract::suggest::nearest;
use tracing_subscriber::filter::{LevelFilter, Targets};

const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// Filter that is used if `RUST_LOG` is not set, or if no part of it can be used.
const DEFAULT: LevelFilter = LevelFilter::INFO;

/// Filter of the log, and the complaints about the text from which it was read.
pub(super) struct LogFilter {
    pub(super) targets: Targets,
    pub(super) complaints: Vec<String>,
}

impl Default for LogFilter {
    fn default() -> Self {
        Self { targets: Targets::new().with_default(DEFAULT), complaints: Vec::new() }
    }
}

impl LogFilter {
    /// Reads the filter from `RUST_LOG`. `is_known` says whether a crate exists in the program.
    pub(super) fn of_environment(is_known: impl Fn(&str) -> bool) -> Self {
        match env::var("RUST_LOG") {
            Ok(text) => Self::read(&text, is_known),
            Err(VarError::NotPresent) => Self::default(),
            Err(VarError::NotUnicode(_)) => Self::read("\u{fffd}", is_known),
        }
    }

    /// Reads directives that are separated by commas. The filter has all directives that can be read.
    fn read(text: &str, is_known: impl Fn(&str) -> bool) -> Self {
        let directives = text.split(',').map(str::trim).filter(|directive| !directive.is_empty());
        let (used, unread): (Vec<&str>, Vec<&str>) =
            directives.partition(|directive| is_directive(directive));
        let mut complaints = Vec::new();
        let all = if used.is_empty() { DEFAULT.to_string() } else { used.join(",") };
        if !unread.is_empty() {
            complaints.push(format!(
                "RUST_LOG: `{}` cannot be read: write LEVEL, TARGET or TARGET=LEVEL; the log uses `{all}`",
                unread.join(",")
            ));
        }
        complaints.extend(used.into_iter().filter_map(|directive| doubt(directive, &is_known)));
        Self { targets: all.parse().unwrap_or_default(), complaints }
    }
}

/// Whether the log can use a directive: a level, a target, or both, perhaps with names of fields. [`Targets`] would take filters by span for
/// names of targets.
fn is_directive(directive: &str) -> bool {
    let target = directive.split('=').next().unwrap_or_default();
    let name = target.split("[{").next().unwrap_or_default();
    let is_foreign = |c: char| c.is_whitespace() || "[]{}\"'/\u{fffd}".contains(c);
    !name.contains(is_foreign) && directive.parse::<Targets>().is_ok()
}

/// Returns a complaint about a directive that can be read, but probably does not mean what it says.
fn doubt(directive: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    let target = directive.split('=').next().unwrap_or_default();
    if target.contains('-') {
        let path = target.replace('-', "_");
        return Some(format!(
            "RUST_LOG: no module is called `{target}`, because paths of modules have `_`: did you mean `{path}`?"
        ));
    }
    let is_level = LEVELS.iter().any(|level| directive.eq_ignore_ascii_case(level));
    let is_number = directive.bytes().all(|byte| byte.is_ascii_digit());
    let crate_name = target.split("::").next().unwrap_or(target);
    if directive.contains('=') || is_level || is_number || is_known(crate_name) {
        return None;
    }
    let hint = match nearest(directive, LEVELS.into_iter().chain(["warning"])) {
        Some("warning") => "did you mean `warn`?".to_owned(),
        Some(level) => format!("did you mean `{level}`?"),
        None => format!("levels are {}", LEVELS.join(", ")),
    };
    Some(format!("RUST_LOG: `{directive}` is no level, and selects a module of this name: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::LogFilter;

    #[track_caller]
    fn check(text: &str, used: &str, complaints: &[&str]) {
        let filter = LogFilter::read(text, |name| ["mine", "mcp_runtime"].contains(&name));
        assert_eq!(filter.targets, used.parse().expect("a filter"), "{text}");
        let complaints: Vec<String> =
            complaints.iter().map(|complaint| format!("RUST_LOG: {complaint}")).collect();
        assert_eq!(filter.complaints, complaints, "{text}");
    }

    #[test]
    fn directives_are_levels_and_targets() {
        for text in ["info", "DEBUG", "0", "mine", "mine=debug", "mine::db=5,warn", "other=trace"] {
            check(text, text, &[]);
        }
        check("mine[{user}]=debug", "mine[{user}]=debug", &[]);
        check("", "info", &[]);
        check(
            " warn , mine = debug ,",
            "warn",
            &[
                "`mine = debug` cannot be read: write LEVEL, TARGET or TARGET=LEVEL; the log uses `warn`",
            ],
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_together_with_what_is_used() {
        let check = |text, unread, used| {
            let complaint = format!(
                "`{unread}` cannot be read: write LEVEL, TARGET or TARGET=LEVEL; the log uses `{used}`"
            );
            check(text, used, &[&complaint]);
        };
        check("[span]=debug", "[span]=debug", "info");
        check("mine[call]=trace,mine=debug", "mine[call]=trace", "mine=debug");
        check("mine=loud,[span],warn", "mine=loud,[span]", "warn");
        check("much of it", "much of it", "info");
        check("a=b=c", "a=b=c", "info");
        check("\u{fffd}", "\u{fffd}", "info");
    }

    #[test]
    fn a_misspelt_level_is_not_mistaken_for_a_module() {
        let check = |text, hint| {
            let complaint =
                format!("`{text}` is no level, and selects a module of this name: {hint}");
            check(text, text, &[&complaint]);
        };
        check("debgu", "did you mean `debug`?");
        check("Warning", "did you mean `warn`?");
        check("verbose", "levels are error, warn, info, debug, trace, off");
    }

    #[test]
    fn a_crate_has_underscores() {
        let complaint = "no module is called `my-server`, because paths of modules have `_`: did you mean `my_server`?";
        check("my-server=debug", "my-server=debug", &[complaint]);
    }
}
