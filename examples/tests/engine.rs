//! The tests of the engine are in other packages, because `cargo run --example quickstart` compiles with the features that all default packages need.

use std::process::Command;

#[test]
#[ignore = "`cargo test-engine` runs the tests of the engine; CONTRIBUTING.md names all others"]
fn the_engine() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let status = Command::new(env!("CARGO")).arg("test-engine").current_dir(folder).status();
    assert!(status.expect("cargo starts").success());
}
