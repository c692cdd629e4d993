//! The sentences of ARCHITECTURE.md that must stay true, checked against the sources.
//!
//! Each rule is a function over sources and runs twice. In the tree it must find nothing. It must find a planted violation, which shows
//! that the rule still works.

#[cfg(unix)]
mod ci;
mod clocks;
mod codes;
mod crates;
mod layers;
mod packages;
mod rules;
mod sources;
mod threats;
mod traits;

use sources::{Source, Text, planted};

fn check(rule: fn(&[Source]) -> Vec<String>, sources: &[Source], planted: &[Source]) {
    let found = rule(planted);
    assert!(!found.is_empty(), "the rule does not see a planted violation");
    let violations = rule(sources);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn revision_dates_are_spelled_once() {
    let violation =
        planted("mcp-runtime/src/extract/call.rs", r#"if revision == "2025-11-25" { }"#);
    check(rules::dates, &sources::library(), &[violation]);
}

#[test]
fn a_date_in_a_comment_or_a_test_is_no_violation() {
    let comment = planted("mcp-runtime/src/model/meta.rs", "/// Since \"2025-06-18\".\nfn x() {}");
    let test = planted(
        "mcp-runtime/src/model/meta.rs",
        "#[cfg(test)]\nmod tests { const X: &str = \"2025-06-18\"; }",
    );
    assert_eq!(rules::dates(&[comment, test]), Vec::<String>::new());
}

#[test]
fn only_transports_and_stores_do_io() {
    let violation = planted("mcp-runtime/src/protocol/peer.rs", "let file = std::fs::read(path);");
    check(rules::io, &sources::runtime(), &[violation]);
}

#[test]
fn generated_code_names_only_the_private_door() {
    let violation = planted("x.out.rs", "const _: () = { ::serde_json::to_string(&1); };");
    check(rules::generated_paths, &sources::expansions(), &[violation]);
}

#[test]
fn no_value_between_the_transport_and_the_user() {
    let violation = planted(
        "mcp-runtime/src/dispatch/mod.rs",
        "let arguments: serde_json::Value = parse(text);",
    );
    check(rules::values, &sources::runtime(), &[violation]);
}

#[test]
fn nothing_prints_to_stdout() {
    let violation = planted("mcp-runtime/src/dispatch/mod.rs", "println!(\"called\");");
    check(rules::prints, &sources::library(), &[violation]);
}

#[test]
fn a_file_is_one_noun() {
    let violation = planted("mcp-runtime/src/everything.rs", &"fn x() {}\n".repeat(500));
    check(rules::lengths, &sources::library(), &[violation]);
}

#[test]
fn a_layer_uses_only_those_above_it() {
    let violation = planted("mcp-runtime/src/model/content.rs", "use crate::protocol::Revision;");
    check(layers::violations, &sources::runtime(), &[violation]);
}

#[test]
fn every_room_has_a_layer() {
    assert_eq!(layers::unknown_rooms(&sources::runtime()), Vec::<String>::new());
}

#[test]
fn there_is_no_unsafe_code_but_in_the_guard() {
    let violation =
        planted("mcp-runtime/src/wire/raw.rs", "unsafe { std::str::from_utf8_unchecked(bytes) }");
    check(rules::unsafe_code, &sources::library(), &[violation]);
}

#[test]
fn every_public_trait_says_what_is_missing() {
    let violation = planted(
        "mcp-runtime/src/reply/tool.rs",
        "#[diagnostic::on_unimplemented(message = \"no\")]\npub trait Told {}\n\npub trait Untold {}",
    );
    let violations = [violation];
    assert_eq!(traits::silent(&violations).len(), 1, "the first of both says it");
    check(traits::silent, &sources::runtime(), &violations);
    check(traits::stale, &sources::runtime(), &violations);
}

#[test]
fn no_code_of_a_rule_is_published() {
    let text = |path: &str, text: &str| Text { path: path.to_owned(), text: text.to_owned() };
    let violations = [
        text(
            "mcp-runtime/src/model/client.rs",
            "/// What the client is (META-03).\n#[derive(Debug)]\npub struct Client;",
        ),
        text(
            "mcp-runtime/src/limits.rs",
            "/// A limit.\npub enum Limit {\n    /// Calls (PROG-05).\n    Calls,\n}",
        ),
        text(
            "mcp-runtime/src/reply/tool.rs",
            "pub trait Reply {\n    /// Answers (TOOLS-18).\n    fn reply(self);\n}",
        ),
        text("mcp-runtime/src/lib.rs", "//! Servers (LIFE-04)."),
        text("mcp-runtime/src/error.rs", "fn f() -> &'static str {\n    \"refused by RPC-12\"\n}"),
        text("README.md", "Prompts are listed (PROMPT-04)."),
    ];
    for violation in &violations {
        let found = codes::published(std::slice::from_ref(violation));
        assert_eq!(found.len(), 1, "{}: {found:?}", violation.path);
    }
    let internal = text(
        "mcp-runtime/src/wire/id.rs",
        "//! An id (RPC-02).\n\n/// As sent (RPC-01).\nfn f() {}",
    );
    assert_eq!(codes::published(&[internal]), Vec::<String>::new());
    let found = codes::published(&sources::texts());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_is_done_about_each_threat_is_shown() {
    let planted =
        "| a threat | something | nothing | `faults::no_such_test` |\n| another | x | y | |";
    assert_eq!(threats::unshown(planted).len(), 2);
    assert_eq!(threats::unshown(include_str!("../../SECURITY.md")), Vec::<String>::new());
}

#[test]
fn tests_wait_for_conditions_and_not_for_a_while() {
    let sleeping = planted("tests/faults/new.rs", "sleep(Duration::from_millis(5)).await;");
    let mixed = planted(
        "mcp-runtime/tests/behaviour/new.rs",
        "#[tokio::test(start_paused = true)]\nasync fn paused() {}\n#[tokio::test]\nasync fn x() { sleep(1) }",
    );
    for violation in [sleeping, mixed] {
        check(clocks::violations, &sources::tests(), &[violation]);
    }
    check(clocks::stale, &sources::tests(), &[]);
}

#[test]
fn the_paused_clock_may_be_waited_for_and_the_machines_may_not() {
    let test = |line: &str| {
        let text = format!("#[tokio::test(start_paused = true)]\nasync fn x() {{ {line} }}");
        clocks::violations(&[planted("mcp-runtime/tests/behaviour/new.rs", &text)]).len()
    };
    assert_eq!(test("tokio::time::sleep(SECOND).await;"), 0);
    assert_eq!(test("std::thread::sleep(SECOND);"), 1);
    assert_eq!(test("let now = SystemTime::now();"), 1);
}

#[test]
fn packages_bring_a_readme_and_their_licences() {
    let planted = packages::Package {
        files: "Cargo.toml\nREADME.md\nLICENSE-MIT".to_owned(),
        readme: "See [the limits](SECURITY.md), and [the site](https://docs.rs).".to_owned(),
        manifest: "[package]\n\n[features]\n".to_owned(),
        licences: [String::new(), String::new()],
    };
    assert_eq!(packages::problems(&planted).len(), 5);
    for name in ["mcp-macros", "mcp-runtime"] {
        assert_eq!(packages::problems(&packages::read(name)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_server_brings_few_crates() {
    crates::check("stdio,client-log", 50);
    crates::check("stdio,client-log,http", 63);
    crates::check("stdio,client-log,auth", 63 + 15);
    crates::check("stdio,client-log,auth-server", 63 + 15);
    crates::check("stdio,client-log,state-key", 50 + 14);
    crates::check("stdio,client-log,sqlite", 50 + 11);
}

#[cfg(unix)]
#[test]
fn ci_skips_no_test_in_silence() {
    let planted = ci::script().replace("export CI=1", "");
    assert!(!ci::without_ci(&ci::calls("ci-planted", &planted)).is_empty());
    let calls = ci::calls("ci", &ci::script());
    assert!(calls.contains(" cargo test --workspace"), "{calls}");
    assert_eq!(ci::without_ci(&calls), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn ci_tests_the_runtime_with_every_set_of_features() {
    let planted =
        ci::script().replace("run_own_tests --no-default-features", ": --no-default-features");
    assert!(!ci::untested_features(&ci::calls("ci-features-planted", &planted)).is_empty());
    let calls = ci::calls("ci-features", &ci::script());
    assert_eq!(ci::untested_features(&calls), Vec::<String>::new(), "{calls}");
}
