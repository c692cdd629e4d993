//! Things outside the repository that a test needs: programs, interpreters and packages.

use std::{env, fmt, process::Command};

/// A requirement of a test that is missing on this machine.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    /// Creates the value for a missing requirement. `what` names it, and gives the cause if that is known.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// Lets the test pass with a note on a developer's machine.
    ///
    /// # Panics
    ///
    /// When `CI` is set: there, a suite that did not run is a failure.
    pub fn skip(self) {
        assert!(env::var_os("CI").is_none(), "required under CI: {self}");
        eprintln!("skipped: {self}");
    }
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
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Missing::new(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = stderr.lines().collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    Err(Missing::new(format!("{name}: {}\n{tail}", output.status)))
}
