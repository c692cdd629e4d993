//! Things outside the repository that a test needs: programs, interpreters and packages.

use std::{fmt, panic, process::Command};

/// A requirement of a test that is missing on this machine.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    /// Creates the value for a missing requirement. `what` names it, and gives the cause if that is known.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// Returns what a test needs.
///
/// If it is missing, the test ends here, and `support::harness` shows it as ignored, with the reason. With `CI` set, the test fails.
pub fn needs<T>(requirement: Result<T, Missing>) -> T {
    // The payload is for the harness, so no hook prints it as a panic.
    requirement.unwrap_or_else(|missing| panic::resume_unwind(Box::new(missing)))
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs a command to its end and returns what it wrote to stdout.
///
/// # Errors
///
/// [`Missing`], with the end of stderr, when the command cannot be started or fails.
pub fn output_of(command: &mut Command) -> Result<String, Missing> {
    run(command)?.map_err(Missing)
}

/// Like [`output_of`], for a program that checks or uses something of this repository: if the program fails, the test fails.
///
/// # Errors
///
/// [`Missing`] when the command cannot be started.
///
/// # Panics
///
/// When the command fails.
#[track_caller]
pub fn success_of(command: &mut Command) -> Result<String, Missing> {
    Ok(run(command)?.unwrap_or_else(|why| panic!("{why}")))
}

/// Runs a command to its end. Returns what it wrote to stdout, or how it failed, with the end of stderr.
fn run(command: &mut Command) -> Result<Result<String, String>, Missing> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Missing::new(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = stderr.lines().collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    Ok(Err(format!("{name}: {}\n{tail}", output.status)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_that_is_not_there_is_missing() {
        assert!(success_of(&mut Command::new("/nowhere/program")).is_err());
        assert!(output_of(&mut Command::new("false")).is_err());
        assert_eq!(success_of(Command::new("echo").arg("a")).unwrap(), "a\n");
    }

    #[test]
    #[should_panic(expected = "sh: exit status: 3\nthe bundle is wrong")]
    fn a_program_that_fails_fails_its_test() {
        let _ = success_of(Command::new("sh").args(["-c", "echo the bundle is wrong >&2; exit 3"]));
    }
}
