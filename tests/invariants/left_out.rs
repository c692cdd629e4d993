//! The tests that `cargo test-engine` leaves out, each as an ignored test with the command that runs it. With `--ignored`, each test here runs its
//! command. `bash .ci/run` and `bash .ci/full` run them all.

use std::process::Command;

macro_rules! left_out {
    ($($name:ident: $command:literal,)*) => {
        const COMMANDS: &[&str] = &[$($command),*];

        $(
            #[test]
            #[ignore = $command]
            fn $name() {
                let mut words = $command.split(' ');
                let mut command = Command::new(words.next().expect("a program"));
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
                let status = command.args(words).current_dir(folder).status();
                assert!(status.expect("the program starts").success(), $command);
            }
        )*
    };
}

left_out! {
    behaviour_with_all_features: "cargo test -p mcp-runtime --all-features --test behaviour",
    clients: "cargo test --workspace --test clients -- --ignored",
    cluster: "cargo test --workspace --test cluster",
    conformance: "cargo test --workspace --test conformance",
    contract: "cargo test --workspace --test contract",
    deploy: "cargo test --workspace --test deploy",
    dev: "cargo test --workspace --test dev",
    documentation: "cargo test --workspace --exclude mcp-macros --doc",
    editor: "cargo test --workspace --test editor",
    examples: "cargo test --workspace --bins --test quickstart --test engine",
    faults: "cargo test --workspace --test faults",
    guide: "cargo test --workspace --test guide",
    libraries_with_all_features: "cargo test --workspace --exclude mcp-macros-doctests --lib",
    peers: "cargo test --workspace --test peers",
    playground: "cargo test --workspace --test playground",
    redis: "cargo test --workspace --test redis",
    stdio: "cargo test --workspace --test stdio",
    ui: "cargo test --workspace --test ui",
}

#[test]
fn every_suite_is_left_out_by_name() {
    let manifest = include_str!("../Cargo.toml");
    let suites = manifest.split("[[test]]\nname = \"").skip(1);
    let mut count = 0;
    for suite in suites.filter_map(|rest| rest.split('"').next()) {
        let argument = format!("--test {suite}");
        let is_named = COMMANDS.iter().any(|command| command.contains(&argument));
        assert!(is_named, "no command runs `{suite}`");
        count += 1;
    }
    assert!(count >= 13, "only {count} suites");
}
