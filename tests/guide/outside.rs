//! Pages outside of the guide: READMEs and SKILL.md. They show commands without their output, so each command has to succeed.

use std::path::Path;

use crate::{
    page::{Page, Step},
    session::Session,
};

/// Paths of the pages, each with the name of its folder. The suite `invariants` reads this table, too.
pub(crate) const PAGES: [(&str, &str); 4] = [
    ("README.md", "readme"),
    ("SKILL.md", "skill"),
    ("mcp-runtime/README.md", "runtime"),
    ("mcp-runtime/crates/authorization-server/README.md", "authorization_server"),
];

/// Beginnings of commands that are not run, each with the reason.
const ELSEWHERE: [(&str, &str); 4] = [
    ("cargo new ", "the session has a crate"),
    ("cargo run --example quickstart", "the suite `contract` builds and runs the example"),
    ("cargo test-engine", "it takes minutes, and `.ci/run` runs it"),
    ("claude ", "the suite `clients` has clients that can be installed"),
];

/// URL of a server in the commands, as `--http` serves by default. Another program may use the port, so the test has a port of its own.
const SERVER: &str = "http://127.0.0.1:8000/mcp";

/// Reads a page.
pub(crate) fn read(path: &str) -> Page {
    Page::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path))
}

/// Writes the program of a page and runs its commands in a new crate. Returns the number of commands.
///
/// # Errors
/// Fails if a command fails.
pub(crate) fn follow(path: &str, name: &str) -> Result<usize, String> {
    let page = read(path);
    let mut session = Session::with_crate(name, "mine", false);
    let mut url = None;
    let mut count = 0;
    for block in &page.blocks {
        session.save(block);
        for step in block.steps() {
            if ELSEWHERE.iter().any(|(start, _)| step.command.starts_with(start)) {
                continue;
            }
            let mut command = step.command.clone();
            if command.contains(SERVER) {
                if url.is_none() {
                    let serve = "cargo run --features mcp-runtime/http -- --http 127.0.0.1:0";
                    url = Some(session.serve(serve)?);
                }
                command = command.replace(SERVER, url.as_deref().unwrap_or_default());
                // Without these options, curl writes its progress, and succeeds whatever the server answers.
                command = command.replace("curl ", "curl --silent --show-error --fail ");
            }
            session.step(&Step { command, without: None, output: vec!["…".to_owned()] })?;
            count += 1;
        }
    }
    Ok(count)
}
