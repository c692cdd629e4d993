//! The number of errors that cargo reports: "could not compile … due to 2 previous errors".
//!
//! Authors build incrementally. Without incremental compilation rustc merges two errors with the same text.

use std::path::{Path, PathBuf};
use support::requirement::needs;

use serde_json::Value;

use crate::cargo;

/// Folders whose mistakes concern types. rustc reports such a mistake for each function body that names the type.
const AREAS: [&str; 7] =
    ["argument", "lifetime", "method", "parameter", "prompt", "state", "template"];

/// Mistakes that rustc reports twice, because two generated functions contain them: one describes the argument, and the other reads it.
/// Both have to contain the default, because a third function could not name the type of the default. For an argument that borrows, both
/// have to require the trait. Otherwise rustc would report a different error for the function that does not.
const TWICE: [&str; 6] = [
    "argument/default_for_server_state",
    "argument/default_of_a_type_without_one",
    "argument/default_of_an_option",
    "argument/default_of_another_type",
    "lifetime/argument_that_borrows",
    "lifetime/spread_argument_that_borrows",
];

/// Mistake for which rustc adds an error of its own, because it does not find the attribute.
const ALSO_OF_RUSTC: &str = "method/named_as_before";

fn mistakes() -> impl Iterator<Item = PathBuf> {
    crate::fixtures()
        .filter(|path| AREAS.iter().any(|area| path.starts_with(Path::new("ui").join(area))))
}

#[support::test]
fn cargo_counts_each_mistake_once() {
    needs(crate::compiler());
    let messages = crate::mistakes::messages();
    let mut count = 0;
    for mistake in mistakes() {
        let errors: Vec<_> =
            messages[&mistake].iter().filter(|message| cargo::is_error(message)).collect();
        let is_twice = TWICE.iter().any(|name| mistake.with_extension("").ends_with(name));
        let is_of_rustc = mistake.with_extension("").ends_with(ALSO_OF_RUSTC);
        let expected = crate::marked(&mistake).len().max(1) * if is_twice { 2 } else { 1 }
            + usize::from(is_of_rustc);
        assert_eq!(errors.len(), expected, "{}:\n{}", mistake.display(), rendered(&errors));
        count += 1;
    }
    assert!(count >= 100, "only {count} mistakes");
}

/// The program does not depend on serde and schemars, so the derives of these crates could report only that their crates are missing.
/// Checks that the derives of the prelude tell the author to write `#[data]` instead.
#[support::test]
fn derives_of_the_prelude_name_data_where_serde_is_no_dependency() {
    needs(crate::compiler());
    let program = Path::new("ui/data/derives_of_the_prelude.rs");
    let messages = cargo::built(
        "alone",
        &cargo::runtime(&[]),
        cargo::alone(std::iter::once(program.to_owned())),
    );
    let errors = cargo::errors(&messages, program);
    assert_eq!(errors.len(), crate::marked(program).len(), "{}", rendered(&errors));
    for error in &errors {
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("write `#[data]` above the type"), "{}", rendered(&errors));
    }
}

fn rendered(errors: &[&Value]) -> String {
    errors.iter().filter_map(|error| error["rendered"].as_str()).collect::<Vec<_>>().join("\n")
}
