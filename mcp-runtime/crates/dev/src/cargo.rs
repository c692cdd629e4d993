//! Runs a build with cargo, and collects the errors of the compiler.

use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
    pin::pin,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::Command,
    time::timeout,
};

use crate::project::Project;

/// Maximum length of the errors that an answer contains, in bytes. Models have to read them.
const REPORT: usize = 16 * 1024;

/// Time after the end of cargo in which the rest of its output arrives. A program that the build has started may keep the pipe open.
const REST: Duration = Duration::from_secs(1);

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
    let (status, output) = match run(command, project, is_offline).await {
        Ok(ended) => ended,
        Err(error) => {
            return Attempt::Ended(Built::Failed(format!("cargo cannot be started: {error}")));
        }
    };
    Attempt::Ended(match (status, output.program) {
        (Ok(status), Some(program)) if status.success() => Built::Program(program),
        (Ok(status), None) if status.success() => Built::Failed(format!(
            "cargo has not built a program with the name `{}`",
            project.name()
        )),
        _ if !output.errors.is_empty() => Built::Failed(shortened(&output.errors)),
        _ if is_offline => return Attempt::NotBegun,
        _ => Built::Failed(shortened(&[output.said])),
    })
}

/// Output of cargo.
#[derive(Default)]
struct Output {
    /// Path of the program.
    program: Option<PathBuf>,
    /// Errors of the compiler.
    errors: Vec<String>,
    /// Text on stderr.
    said: String,
}

/// Runs cargo until it ends. Programs that it has started may go on.
///
/// # Errors
/// Fails if cargo cannot be started.
async fn run(
    mut command: Command,
    project: &Project,
    is_offline: bool,
) -> io::Result<(io::Result<ExitStatus>, Output)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut cargo = command.spawn()?;
    #[cfg(unix)]
    let mut group = BuildGroup(cargo.id());
    let (stdout, stderr) = (cargo.stdout.take(), cargo.stderr.take());
    let Output { mut program, mut errors, mut said } = Output::default();
    let status = {
        let mut reading = pin!(async {
            tokio::join!(
                messages(stdout, project, &mut program, &mut errors),
                pass_on(stderr, is_offline, &mut said)
            )
        });
        tokio::select! {
            biased;
            _ = &mut reading => cargo.wait().await,
            status = cargo.wait() => {
                let _ = timeout(REST, reading).await;
                status
            }
        }
    };
    #[cfg(unix)]
    let _ = group.0.take();
    Ok((status, Output { program, errors, said }))
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

/// Reads the messages of cargo: the path of the program, and the errors of the compiler.
async fn messages(
    stdout: Option<impl AsyncRead + Unpin>,
    project: &Project,
    program: &mut Option<PathBuf>,
    errors: &mut Vec<String>,
) {
    let Some(stdout) = stdout else { return };
    let mut lines = BufReader::new(stdout).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let Ok(message) = serde_json::from_slice::<BuildMessage>(&line) else { continue };
        if message.reason == "compiler-artifact" {
            let is_this = message.target.is_some_and(|target| {
                target.name == project.name()
                    && target.kind.iter().any(|kind| kind == project.kind())
            });
            if let (Some(built), true) = (message.executable, is_this) {
                *program = Some(built);
            }
        } else if let Some(Diagnostic { level, rendered: Some(text) }) = message.message {
            // If stderr is closed, the text has no reader, so an error does not matter.
            let _ = std::io::stderr().write_all(text.as_bytes());
            if level.starts_with("error") {
                errors.push(text);
            }
        }
    }
}

/// Passes the stderr of cargo on, and collects its text. Errors of the first attempt are not passed on, because the second attempt repeats them.
async fn pass_on(stderr: Option<impl AsyncRead + Unpin>, is_first: bool, said: &mut String) {
    let Some(stderr) = stderr else { return };
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
        *said += line;
        said.push('\n');
    }
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

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn a_build_ends_with_cargo_although_another_program_keeps_its_pipes_open() {
        use std::path::Path;

        let project = Project::new(
            Path::new("/t/debug/a"),
            Path::new(env!("CARGO_MANIFEST_DIR")),
            Vec::new(),
        );
        let mut command = Command::new("sh");
        let error = r#"{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\",\"rendered\":\"$!\"}}"#;
        command.args(["-c", &format!("sleep 1000 & echo \"{error}\"; echo said >&2; exit 3")]);
        let (status, output) = run(command, &project.unwrap(), true).await.unwrap();
        let helper = rustix::process::Pid::from_raw(output.errors[0].parse().unwrap());
        // The program goes on.
        rustix::process::kill_process(helper.unwrap(), rustix::process::Signal::KILL).unwrap();
        assert_eq!((status.unwrap().code(), &*output.said), (Some(3), "said\n"));
    }
}
