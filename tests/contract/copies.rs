//! Changes of an argument in copies of `quickstart`: whether they break clients, and the source line that the report names.

use std::process::Command;

use crate::locks::{lock, text};

const ORIGINAL: &str = include_str!("../../examples/quickstart.rs");

/// Program, source and workspace path of a copy.
macro_rules! copy {
    ($name:literal) => {
        (
            env!(concat!("CARGO_BIN_EXE_quickstart-", $name)),
            include_str!(concat!("copies/", $name, ".rs")),
            concat!("tests/contract/copies/", $name, ".rs"),
        )
    };
}

/// Runs `check --against` with the lock of the original. `changed` lists the lines that only the copy has. `report` lists texts that
/// the report must contain. In these texts, `⟨` stands for the path and the number of the source line `line`.
#[track_caller]
fn check(
    (program, source, path): (&str, &str, &str),
    changed: &[&str],
    status: i32,
    line: &str,
    report: &[&str],
) {
    let is_in = |all: &str, line: &str| all.lines().any(|other| other.trim() == line.trim());
    let new: Vec<&str> =
        source.lines().filter(|line| !is_in(ORIGINAL, line)).map(str::trim).collect();
    assert_eq!(new, changed, "it is not a copy with this change alone");

    let lock = lock("quickstart");
    let output = Command::new(program)
        .args(["check", "--against", &lock.to_string_lossy()])
        .output()
        .expect("the copy starts");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{printed}{}", text(&output.stderr));
    let at = source.lines().position(|other| other.trim() == line).expect("the line is there") + 1;
    for part in report {
        let part = part.replace('⟨', &format!("{path}:{at}: "));
        assert!(printed.contains(&part), "no {part:?} in\n{printed}");
    }
    for class in ["breaking", "additive"] {
        let is_expected = report.iter().any(|part| part.contains(class));
        assert_eq!(printed.contains(class), is_expected, "{class} in\n{printed}");
    }
}

#[support::test]
fn removing_an_argument_is_a_breaking_change() {
    check(
        copy!("removed"),
        &["progress.over([a]).sum()"],
        1,
        // A removed argument has no line of its own, so the report names the line of the attribute.
        "#[tool(read_only, idempotent)]",
        &["1 breaking change\n  ⟨tool `add`: argument `b` is gone\n      keep it"],
    );
}

#[support::test]
fn adding_a_required_argument_is_a_breaking_change() {
    check(
        copy!("required"),
        &["/// Number to add on top", "top: i64,", "progress.over([a, b, top]).sum()"],
        1,
        "top: i64,",
        &[
            "1 breaking change\n  ⟨tool `add`: argument `top` is new and must be given\n      make it an `Option`",
        ],
    );
}

#[support::test]
fn widening_a_type_is_an_additive_change() {
    check(
        copy!("widened"),
        &["a: f64,", ") -> f64 {", "progress.over([a, b as f64]).sum()"],
        0,
        "a: f64,",
        &[
            "1 additive change\n  ⟨tool `add`: argument `a` was integer, is number\n",
            "Nothing breaks.",
        ],
    );
}

#[support::test]
fn narrowing_a_type_is_a_breaking_change() {
    check(
        copy!("narrowed"),
        &["#[arg(range(0..=9))]"],
        1,
        "a: i64,",
        &[
            "2 breaking changes\n  ⟨tool `add`: argument `a` has a `minimum` of 0 now\n",
            "  ⟨tool `add`: argument `a` has a `maximum` of 9 now\n",
        ],
    );
}
