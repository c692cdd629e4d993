//! `check --strict` on the first program of each page, which readers copy.

use crate::{page::Page, session::Session};

/// Pages whose first program has a warning, with the reason.
const EXCEPTIONS: [(&str, &str); 1] =
    [("tasks", "it has a tool that runs only as a task, and the page shows the warning")];

/// Runs `check --strict` on the first program of a page, in the crate in which the page was followed.
///
/// # Errors
/// Fails if the command finds a problem, or finds none although the page is an exception.
pub(crate) fn check_first_program(session: &Session, page: &Page) -> Result<(), String> {
    let Some(program) = page.programs().next() else { return Ok(()) };
    session.write("src/main.rs", program);
    let output = session.run("cargo run -- check --strict && echo passed")?;
    let module = page.module();
    let exception = EXCEPTIONS.iter().find(|(page, _)| *page == module);
    match (output.trim_end().ends_with("passed"), exception) {
        (true, None) | (false, Some(_)) => Ok(()),
        (true, Some((_, why))) => {
            Err(format!("the page is an exception, because {why}, but its first program passes"))
        }
        (false, None) => {
            Err(format!("the first program does not pass `check --strict`:\n{output}"))
        }
    }
}
