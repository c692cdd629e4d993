//! The invariants of ARCHITECTURE.md, checked against the sources.
//!
//! Each rule is a function over sources and runs twice. A rule must find no violation in the sources of the workspace. It must also report
//! a planted violation, which shows that the rule still works.

mod arrows;
#[cfg(unix)]
mod ci;
mod circles;
mod clocks;
mod codes;
mod crates;
mod defaults;
mod fences;
mod harness;
mod layers;
mod lengths;
mod names;
mod packages;
mod rules;
mod shown;
mod sources;
mod traits;

use std::{sync::LazyLock, thread};

use arrows::Crate;
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
        planted("mcp-runtime/src/call/extract/call.rs", r#"if revision == "2025-11-25" { }"#);
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
    check(rules::values, &sources::library(), &[violation]);
}

#[test]
fn nothing_prints_to_stdout() {
    let violation = planted("mcp-runtime/src/dispatch/mod.rs", "println!(\"called\");");
    check(rules::prints, &sources::library(), &[violation]);
}

#[test]
fn a_file_is_as_long_as_its_subject() {
    let code = "fn x() {}\n// Comments and empty lines do not count.\n\n";
    let file = |lines| planted("mcp-runtime/src/model/new.rs", &code.repeat(lines));
    assert_eq!(lengths::violations(&[file(500), file(60)]), Vec::<String>::new());
    check(lengths::violations, &sources::library(), &[file(501)]);
    check(lengths::violations, &sources::library(), &[file(59)]);
    assert_eq!(lengths::stale(&sources::library()), Vec::<String>::new());
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

const RUNTIME: &str = "mcp-runtime/src";

/// The published crates. They are parsed once for all rules, each in a thread of its own, because that takes seconds.
static CRATES: LazyLock<Vec<Crate>> = LazyLock::new(|| {
    let texts = sources::texts();
    let folders = [
        RUNTIME,
        "mcp-macros/src",
        "mcp-runtime/crates/wire/src",
        "mcp-runtime/crates/contract/src",
        "mcp-runtime/crates/authorization-server/src",
        "mcp-runtime/crates/redis/src",
        "mcp-runtime/crates/workbench/src",
        "mcp-runtime/crates/dev/src",
    ];
    thread::scope(|scope| {
        let threads = folders.map(|folder| scope.spawn(|| Crate::read(&texts, folder)));
        threads.map(|thread| thread.join().expect("the sources can be parsed")).into()
    })
});

fn sources_of(files: &[(&str, &str)]) -> Vec<Text> {
    let text = |(path, text): &(&str, &str)| Text {
        path: format!("{RUNTIME}/{path}"),
        text: (*text).to_owned(),
    };
    files.iter().map(text).collect()
}

#[track_caller]
fn check_circles(graph: &arrows::Graph) {
    let found = circles::arrows_back(graph);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_uses_a_file_that_leads_back_to_it() {
    let files = |files: &[(&str, &str)]| {
        circles::arrows_back(&Crate::read(&sources_of(files), RUNTIME).graph())
    };
    let (a, b) = ("a/first.rs", "a/second.rs");
    let root = ("lib.rs", "mod a;");
    let circles = [
        [(a, "use super::second::B;\npub struct A;"), (b, "use super::first::A;\npub struct B;")],
        // These cycles go through a re-export of the folder, through its private import, and through a path without `use`.
        [(a, "use super::B;\npub struct A;"), (b, "use crate::a::A;\npub struct B;")],
        [(a, "pub struct A(super::second::B);"), (b, "fn b(a: super::A) {}\npub struct B;")],
    ];
    for [first, second] in circles {
        for imports in ["pub use first::A;\nuse second::B;", "use first::*;\npub use second::*;"] {
            let folder = ("a/mod.rs", format!("mod first;\nmod second;\n{imports}"));
            let found = files(&[root, (folder.0, &folder.1), first, second]);
            assert_eq!(found.len(), 2, "{imports}: {first:?}, {second:?}: {found:?}");
            assert!(found[0].contains("uses `B`, which leads back"), "{found:?}");
        }
    }
    let straight = [
        root,
        // A folder's `mod.rs` may re-export the items of its files, and the files may use the items that `mod.rs` itself defines.
        ("a/mod.rs", "mod first;\npub use first::A;\npub struct Common;"),
        (a, "use super::Common;\npub struct A(Common);"),
        ("b.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests { use crate::c::C; }"),
        ("c.rs", "pub(in crate::b) struct C(crate::a::Common, std::fmt::Error);\nuse crate::b;"),
    ];
    assert_eq!(files(&straight), Vec::<String>::new());
    for parsed in CRATES.iter() {
        check_circles(&parsed.graph());
    }
}

#[test]
fn no_room_uses_a_room_that_leads_back_to_it() {
    let planted = sources_of(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a/mod.rs", "mod one;\npub(crate) mod two;"),
        ("a/one.rs", "use crate::b::B;"),
        ("a/two.rs", "pub struct Two;"),
        ("b.rs", "use crate::a::two::Two;\npub struct B;"),
    ]);
    let between_files = Crate::read(&planted, RUNTIME).graph();
    assert_eq!(circles::arrows_back(&between_files), Vec::<String>::new());
    let found = circles::arrows_back(&circles::rooms(&between_files, RUNTIME));
    assert_eq!(found.len(), 2, "{found:?}");
    // Cycles are also found between the rooms inside a room.
    let planted = sources_of(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b;\nmod c;"),
        ("a/b/mod.rs", "pub(crate) mod one;\npub(crate) mod two;"),
        ("a/b/one.rs", "use crate::a::c::C;"),
        ("a/b/two.rs", "pub struct Two;"),
        ("a/c.rs", "use crate::a::b::two::Two;\npub struct C;"),
    ]);
    let between_files = Crate::read(&planted, RUNTIME).graph();
    assert_eq!(circles::arrows_back(&between_files), Vec::<String>::new());
    let folder = format!("{RUNTIME}/a");
    assert_eq!(circles::arrows_back(&circles::rooms(&between_files, &folder)).len(), 2);
    assert!(circles::folders(&between_files, RUNTIME).contains(&folder));
    for parsed in CRATES.iter() {
        let between_files = parsed.graph();
        for folder in circles::folders(&between_files, &parsed.folder) {
            check_circles(&circles::rooms(&between_files, &folder));
        }
    }
}

#[test]
fn no_two_types_of_a_crate_have_the_same_name() {
    let planted = sources_of(&[
        ("a.rs", "struct Place;\nmod inner { enum Kind {} }\ntype Alone = u8;"),
        ("b.rs", "trait Place {}\nstruct Kind;\n#[cfg(test)]\nstruct Alone;\nfn place() {}"),
    ]);
    assert_eq!(names::repeated(&Crate::read(&planted, RUNTIME)).len(), 2);
    for parsed in CRATES.iter() {
        let found = names::repeated(parsed);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn only_the_stdio_guard_has_unsafe_code() {
    let violation = planted(
        "mcp-runtime/crates/wire/src/raw.rs",
        "unsafe { std::str::from_utf8_unchecked(bytes) }",
    );
    check(rules::unsafe_code, &sources::library(), &[violation]);
}

#[test]
fn every_public_trait_has_a_custom_error_message() {
    let violation = planted(
        "mcp-runtime/src/call/reply/tool.rs",
        "#[diagnostic::on_unimplemented(message = \"no\")]\npub trait Told {}\n\npub trait Untold {}",
    );
    let violations = [violation];
    assert_eq!(traits::silent(&violations).len(), 1, "the first of both says it");
    check(traits::silent, &sources::runtime(), &violations);
    check(traits::stale, &sources::runtime(), &violations);
}

#[test]
fn texts_for_users_contain_no_rule_codes() {
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
            "mcp-runtime/src/call/reply/tool.rs",
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
        "mcp-runtime/src/model/client.rs",
        "//! An id (RPC-02).\n\n/// As sent (RPC-01).\nfn f() {}",
    );
    assert_eq!(codes::published(&[internal]), Vec::<String>::new());
    let found = codes::published(&sources::texts());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_referenced_rule_is_in_the_list() {
    let planted = [
        ("a.rs", "// The id comes back (rule RPC-02)."),
        ("b.jsonl", "{\"#\": \"RPC-99: no such rule\"}"),
    ];
    let planted = sources_of(&planted);
    let rules = include_str!("../../docs/rules.md");
    assert_eq!(codes::unknown(&planted, rules), ["mcp-runtime/src/b.jsonl:1: RPC-99"]);
    let everything = sources::everything();
    assert!(everything.len() > 900, "only {} files", everything.len());
    let unknown = codes::unknown(&everything, rules);
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn a_test_reads_each_code_block_of_the_documentation() {
    let text = |path: &str, text: &str| Text { path: path.to_owned(), text: text.to_owned() };
    let problems = |path: &str, planted: &str, listed: &[(&str, &str, &str)]| {
        fences::Documents::new(vec![text(path, planted)], "(\"SKILL.md\", ").problems(listed)
    };
    let lib = "mcp-runtime/src/lib.rs";
    let tested = [
        (lib, "/// ```no_run\n/// f();\n/// ```\nfn f() {}"),
        (lib, "//! ```json\n//! {}\n//! ```\n\n//! ```\n//! f();\n//! ```"),
        ("SKILL.md", "```rust\nfn main() {}\n```\n```console\n$ cargo test\n```"),
        ("README.md", "```toml\n[dependencies]\ntokio = \"1\"\n```"),
        ("README.md", "```sh\ncargo test -p mcp-tests --test guide\nbash .ci/run\n```"),
    ];
    for (path, planted) in tested {
        assert_eq!(problems(path, planted, &[]), Vec::<String>::new());
    }
    let untested = [
        (lib, "/// ```ignore\n/// f();\n/// ```\nfn f() {}"),
        (lib, "#[cfg_attr(not(feature = \"http\"), doc = \"```ignore\")]\n/// f();\n/// ```"),
        (lib, "/// ```text\n/// f();\n/// ```"),
        ("tests/support/lib.rs", "//! ```\n//! f();\n//! ```"),
        ("README.md", "```\nf();\n```"),
        (lib, &format!("/// ```\n/// {}\n/// ```", "f();".repeat(23))),
        ("README.md", "```rust\nfn main() {}\n```"),
        ("README.md", "```console\n$ cargo test\n```"),
        ("README.md", "```json\n{\n```"),
        ("README.md", "```jsonl\n{}\n{\n```"),
        ("README.md", "```toml\n[dependencies]\ntokio = 1\n```"),
        ("README.md", "```sh\ncargo test -p mcp-tests --test guides\n```"),
        ("README.md", "```sh\nbash .ci/walk\n```"),
    ];
    for (path, planted) in untested {
        assert_eq!(problems(path, planted, &[]).len(), 1, "{planted}");
    }
    let listed = [(lib, "f();", "a reason")];
    assert_eq!(problems(lib, untested[0].1, &listed), Vec::<String>::new());
    assert_eq!(problems(lib, tested[0].1, &listed).len(), 1, "the entry is stale");
    let documents =
        fences::Documents::new(sources::documents(), include_str!("../guide/outside.rs"));
    assert!(documents.count() > 350, "only {} code blocks", documents.count());
    let found = documents.problems(&fences::UNTESTED);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_threat_in_the_security_tables_names_existing_tests() {
    let planted =
        "| a threat | something | nothing | `faults::no_such_test` |\n| another | x | y | |";
    assert_eq!(shown::unshown(planted).len(), 2);
    assert_eq!(shown::unshown(include_str!("../../SECURITY.md")), Vec::<String>::new());
}

#[test]
fn every_promise_names_existing_tests() {
    for missing in [
        "",
        "`unit::no_such_test`",
        "`no_such_suite::help_lists_commands_and_options`",
        "`wire/no_such.jsonl`",
        "`.ci/full: cargo no-such-step`",
        "`stdio::help_lists_commands_and_options`, `stdio::no_such_test`",
    ] {
        assert_eq!(shown::unshown(&format!("| it works | {missing} |")).len(), 1, "{missing}");
    }
    let shown =
        "| it works | `stdio::help_lists_commands_and_options`, `.ci/full: on_oldest build` |";
    assert_eq!(shown::unshown(shown), Vec::<String>::new());
    let promises = include_str!("../../docs/promises.md");
    let count = shown::count(promises);
    assert!(count > 200, "only {count} promises");
    assert_eq!(shown::unshown(promises), Vec::<String>::new());
}

#[test]
fn the_guide_names_the_default_of_each_limit() {
    let source = include_str!("../../mcp-runtime/src/limits.rs");
    let page = include_str!("../../mcp-runtime/docs/guide/17-limits.md");
    assert_eq!(defaults::wrong(page, source), Vec::<String>::new());
    for (from, to) in [
        ("message: 16 << 20", "message: 17 << 20"),
        ("session_idle: Duration::from_secs(30 * 60)", "session_idle: Duration::from_secs(60)"),
        ("depth: 128", "fresh: 1"),
    ] {
        assert_eq!(defaults::wrong(page, &source.replace(from, to)).len(), 1, "{to}");
    }
}

#[test]
fn the_fixed_numbers_of_the_guide_are_those_of_the_sources() {
    let planted = ("17-limits", "no such text", "src/limits.rs", "no such line");
    assert_eq!(defaults::changed(&[planted]).len(), 2);
    assert_eq!(defaults::changed(&defaults::FIXED), Vec::<String>::new());
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
fn tests_may_wait_on_the_paused_clock_but_not_on_the_machines() {
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
    for (name, folder) in [
        ("mcp-macros", "mcp-macros"),
        ("mcp-runtime", "mcp-runtime"),
        ("mcp-runtime-wire", "mcp-runtime/crates/wire"),
        ("mcp-runtime-contract", "mcp-runtime/crates/contract"),
        ("mcp-runtime-authorization-server", "mcp-runtime/crates/authorization-server"),
        ("mcp-runtime-redis", "mcp-runtime/crates/redis"),
        ("mcp-runtime-workbench", "mcp-runtime/crates/workbench"),
        ("mcp-runtime-dev", "mcp-runtime/crates/dev"),
    ] {
        let package = packages::read(name, folder);
        assert_eq!(packages::problems(&package), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_server_brings_few_crates() {
    crates::check("stdio,client-log", 48);
    crates::check("stdio,client-log,contract", 48);
    crates::check("stdio,client-log,http", 60);
    crates::check("stdio,client-log,auth", 60 + 16);
    crates::check("stdio,client-log,state-key", 48 + 14);
    crates::check("stdio,client-log,sqlite", 48 + 11);
}

/// With this feature, syn takes half a second longer to compile (docs/decisions/0099).
#[test]
fn a_first_server_does_not_enable_the_feature_full_of_syn() {
    let enabled = crates::enabled_features();
    let is =
        |name: &str| enabled.iter().any(|line| line.starts_with(&format!("syn feature {name:?}")));
    assert!(is("derive"), "the tree has no features of syn: {enabled:?}");
    assert!(
        !is("full"),
        "`cargo tree -p mcp-runtime -e no-dev,features -i syn` shows which crate enables `full`"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_guide_names_the_cost_of_each_feature() {
    let manifest = include_str!("../../mcp-runtime/Cargo.toml");
    let planted = "| `stdio` (default) | the command line | 0 |";
    assert_eq!(crates::wrong_costs(planted, "\n[features]\nstdio = []\nhttp = []\n").len(), 2);
    let page = include_str!("../../mcp-runtime/docs/guide/README.md");
    assert_eq!(crates::wrong_costs(page, manifest), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn ci_does_not_skip_tests_silently() {
    let planted = ci::script().replace("export CI=1", "CI=1");
    assert!(!ci::without_ci(&ci::commands("ci-planted", &planted, &[])).is_empty());
    for (name, arguments) in [("ci", &[][..]), ("ci-full", &["--full"])] {
        let commands = ci::commands(name, &ci::script(), arguments);
        assert!(commands.contains("CI=1 cargo test-engine\n"), "{commands}");
        assert_eq!(ci::without_ci(&commands), Vec::<String>::new());
    }
}

#[cfg(unix)]
#[test]
fn ci_installs_the_programs_of_the_deployment_tests() {
    let (script, suite) = (ci::script(), ci::deploy_suite());
    let planted = script.replace("(nginx caddy ", "(nginx ");
    assert!(ci::uninstalled_programs(&planted, &suite).contains(&"caddy".to_owned()));
    assert_eq!(ci::uninstalled_programs(&script, &suite), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn ci_checks_each_feature_of_the_runtime_and_the_full_tier_tests_it() {
    const CHECK: &str = "cargo check -p mcp-runtime";
    const TEST: &str = "cargo test -p mcp-runtime --lib --test behaviour";
    let planted = ci::script().replace("for feature in $(features)", "for feature in http");
    let planted = ci::commands("ci-features-planted", &planted, &["--full"]);
    assert!(!ci::missing_features(&planted, CHECK, &[]).is_empty());
    assert!(!ci::missing_features(&planted, TEST, &[]).is_empty());
    let quick = ci::commands("ci-features", &ci::script(), &[]);
    let none = [" --no-default-features"];
    assert_eq!(ci::missing_features(&quick, CHECK, &none), Vec::<String>::new(), "{quick}");
    let full = ci::commands("ci-features-full", &ci::script(), &["--full"]);
    let all = ["", " --all-features"];
    assert_eq!(ci::missing_features(&full, TEST, &all), Vec::<String>::new(), "{full}");
}

#[cfg(unix)]
#[test]
fn the_full_tier_tests_each_target_of_each_package() {
    let quick = ci::commands("ci-targets", &ci::script(), &[]);
    assert!(ci::untested_targets(&quick).contains(&"mcp-tests: guide".to_owned()), "{quick}");
    let full = ci::commands("ci-targets-full", &ci::script(), &["--full"]);
    assert_eq!(ci::untested_targets(&full), Vec::<String>::new(), "{full}");
    for (word, excluded, untested) in [
        ("--lib", "mcp-runtime-workbench", "mcp-runtime-workbench: mcp_runtime_workbench"),
        ("--doc", "mcp-macros-doctests", "mcp-macros: documentation"),
    ] {
        let fewer = full.replace(&format!(" {word}"), &format!(" --exclude {excluded} {word}"));
        assert_eq!(ci::untested_targets(&fewer), [untested]);
    }
}

/// rustc drops a function with `#[test]` from a suite without its test runner, and the runner of the other suites never learns of a function
/// with `#[support::test]`.
#[test]
fn each_test_has_the_attribute_of_its_runner() {
    let violations = |path: &str, text: &str| harness::violations(&[planted(path, text)]);
    let suite = "mod a;\n#[test]\nfn x() {}\n#[tokio::test(start_paused = true)]\nstore_suite!(all, new());";
    assert_eq!(violations("tests/stdio/new.rs", suite).len(), 3);
    assert_eq!(violations("tests/wire/new.rs", "#[support::test]\nfn x() {}").len(), 1);
    assert_eq!(harness::violations(&sources::tests()), Vec::<String>::new());
}
