//! Checks that the example `quickstart` has one item of each kind, in at most 23 lines of code and without words of the protocol.

const SOURCE: &str = include_str!("../quickstart.rs");

fn code() -> Vec<&'static str> {
    let lines = SOURCE.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).collect()
}

#[test]
fn the_quickstart_is_short() {
    let code = code();
    assert!(code.len() <= 23, "{} lines:\n{}", code.len(), code.join("\n"));
}

#[test]
fn the_quickstart_names_no_part_of_the_protocol() {
    let code = code().join("\n").to_lowercase();
    for word in ["json", "schema", "router", "capabilit", "serde", "value", "handler"] {
        assert!(!code.contains(word), "`{word}` in\n{code}");
    }
}

#[test]
fn the_quickstart_has_every_kind_of_item_completion_and_progress() {
    let code = code().join("\n");
    for part in ["#[tool", "#[resource", "#[prompt]", "#[complete(", "progress."] {
        assert!(code.contains(part), "no `{part}` in\n{code}");
    }
}
