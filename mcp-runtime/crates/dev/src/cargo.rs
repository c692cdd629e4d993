//! Runs a build with cargo, and collects the errors of the compiler.

use std::{env, ffi::OsString, io::Write as _, path::PathBuf, process::Stdio};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::Command,
};

use crate::project::Project;

/// Maximum length of the errors that an answer contains, in bytes. Models have to read them.
const REPORT: usize = 16 * 1024;

/// Result of a build.
#[derive(Debug)]
pub(crate) enum Built {
    /// Path of the program.
    Program(PathBuf),
    /// Text for the client: the errors of the compiler, or those of cargo.
    Failed(String),
}

/// Message of cargo about a part of the build.
#[derive(Deserialize)]
struct BuildMessage {
    reason: String,
    message: Option<Diagnostic>,
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Builds the program. The messages of the compiler go to stderr, too.
///
/// The first attempt asks no registry. A lock file does not contain the packages of a feature that only the command line enables, so cargo
/// would look for newer versions of them in each build. The second attempt is for new dependencies.
pub(crate) async fn build(project: &Project) -> Built {
    match attempt(project, true).await {
        Attempt::Ended(built) => built,
        Attempt::NotBegun => match attempt(project, false).await {
            Attempt::Ended(built) => built,
            Attempt::NotBegun => {
                Built::Failed(shortened(&["cargo has given no reason".to_owned()]))
            }
        },
    }
}

enum Attempt {
    Ended(Built),
    /// cargo has failed before it started the compiler. It may need a registry.
    NotBegun,
}

async fn attempt(project: &Project, is_offline: bool) -> Attempt {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(project.build_arguments()).current_dir(project.folder());
    command.args(is_offline.then_some("--offline"));
    // `cargo run` describes the package of the program in variables. Build scripts that read them would run again.
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_package(name)) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut cargo = match command.spawn() {
        Ok(cargo) => cargo,
        Err(error) => {
            return Attempt::Ended(Built::Failed(format!("cargo cannot be started: {error}")));
        }
    };
    #[cfg(unix)]
    let mut group = BuildGroup(cargo.id());
    let (stdout, stderr) = (cargo.stdout.take(), cargo.stderr.take());
    let (found, said) = tokio::join!(messages(stdout, project), pass_on(stderr, is_offline));
    let status = cargo.wait().await;
    #[cfg(unix)]
    let _ = group.0.take();
    Attempt::Ended(match (status, found) {
        (Ok(status), (Some(program), _)) if status.success() => Built::Program(program),
        (Ok(status), (None, _)) if status.success() => Built::Failed(format!(
            "cargo has not built a program with the name `{}`",
            project.name()
        )),
        (_, (_, errors)) if !errors.is_empty() => Built::Failed(shortened(&errors)),
        _ if is_offline => return Attempt::NotBegun,
        _ => Built::Failed(shortened(&[said])),
    })
}

/// Group of the processes of a build, which end together with a build that is given up. A compiler that goes on would overwrite the program of the
/// next build.
#[cfg(unix)]
struct BuildGroup(Option<u32>);

#[cfg(unix)]
impl Drop for BuildGroup {
    fn drop(&mut self) {
        let group = self.0.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        // All of its processes may have ended just now.
        let _ = group
            .map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
    }
}

fn is_of_package(name: &OsString) -> bool {
    let name = name.to_str().unwrap_or_default();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Reads the messages of cargo. Returns the path of the program, and the errors of the compiler.
async fn messages(
    stdout: Option<impl AsyncRead + Unpin>,
    project: &Project,
) -> (Option<PathBuf>, Vec<String>) {
    let (mut program, mut errors) = (None, Vec::new());
    let Some(stdout) = stdout else { return (program, errors) };
    let mut lines = BufReader::new(stdout).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let Ok(message) = serde_json::from_slice::<BuildMessage>(&line) else { continue };
        if message.reason == "compiler-artifact" {
            let is_this = message.target.is_some_and(|target| {
                target.name == project.name()
                    && target.kind.iter().any(|kind| kind == project.kind())
            });
            program = message.executable.filter(|_| is_this).or(program);
        } else if let Some(Diagnostic { level, rendered: Some(text) }) = message.message {
            // If stderr is closed, the text has no reader, so an error does not matter.
            let _ = std::io::stderr().write_all(text.as_bytes());
            if level.starts_with("error") {
                errors.push(text);
            }
        }
    }
    (program, errors)
}

/// Passes the stderr of cargo on, and returns its text. Errors of the first attempt are not passed on, because the second attempt repeats them.
async fn pass_on(stderr: Option<impl AsyncRead + Unpin>, is_first: bool) -> String {
    let mut said = String::new();
    let Some(stderr) = stderr else { return said };
    let mut lines = BufReader::new(stderr).split(b'\n');
    let mut has_failed = false;
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches('\r');
        has_failed |= line.starts_with("error");
        if !(is_first && has_failed) {
            // If stderr is closed, the line has no reader, so an error does not matter.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        said += line;
        said.push('\n');
    }
    said
}

/// Joins the errors that fit into an answer, and counts the others. The last error of rustc only says how many there are.
fn shortened(errors: &[String]) -> String {
    let mut text = "the server does not compile; tool calls work again after the next change that compiles\n\n".to_owned();
    for (index, error) in errors.iter().enumerate() {
        let rest = errors.len() - index;
        if text.len() + error.len() > REPORT {
            if index == 0 {
                let end = error.floor_char_boundary_at(REPORT - text.len());
                text += &error[..end];
            }
            text += &format!("… and {rest} more, which the terminal of `dev` shows\n");
            break;
        }
        text += error;
    }
    text
}

trait CharBoundary {
    /// Returns the last boundary of a character that is not behind `at`.
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl CharBoundary for String {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|at| self.is_char_boundary(*at)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_at_most_16_kib_of_errors() {
        let error = |size: usize| "ä".repeat(size / 2);
        let text = shortened(&[error(100), error(200)]);
        assert!(text.ends_with(&error(300)) && !text.contains("more"), "{text}");
        let text = shortened(&[error(100), error(20_000), error(10)]);
        assert!(text.len() < REPORT && text.contains("… and 2 more"), "{text}");
        let text = shortened(&[error(20_000)]);
        assert!(text.len() < REPORT + 100 && text.contains("ä\u{2026} and 1 more"), "{text}");
    }
}
