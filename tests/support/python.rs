//! Programs from PyPI. Each list of requirements has a virtual environment of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    install::installed,
    requirement::{Missing, output_of},
};

/// An installed list of requirements.
#[derive(Debug)]
pub struct Python(PathBuf);

impl Python {
    /// Installs `requirements`, the contents of a requirements file, into a folder of its own in `parent`, once.
    ///
    /// # Errors
    ///
    /// [`Missing`] when there is no Python with `venv`, or a package cannot be downloaded.
    pub fn installed(parent: &Path, name: &str, requirements: &str) -> Result<Self, Missing> {
        let folder = installed(parent, name, requirements, |folder| {
            let failed = |error| Missing::new(format!("installing {name}: {error}"));
            output_of(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            let file = folder.join("requirements.txt");
            fs::write(&file, requirements).map_err(failed)?;
            output_of(
                Command::new(folder.join("bin/python"))
                    .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                    // pip keeps its cache in the user's home.
                    .args(["--no-cache-dir", "-r"])
                    .arg(file),
            )?;
            Ok(())
        })?;
        Ok(Self(folder.join("bin/python")))
    }

    /// Returns the value of an expression, as a text. `imports` is the module that the expression needs.
    ///
    /// # Errors
    ///
    /// [`Missing`] when the module cannot be imported, or the expression fails.
    pub fn value_of(&self, imports: &str, expression: &str) -> Result<String, Missing> {
        let script = format!("import {imports}\nprint({expression}, end='')");
        output_of(Command::new(&self.0).args(["-B", "-c", &script]))
    }

    /// Returns the command that runs a script without leaving a compiled file beside it.
    pub fn run(&self, script: impl AsRef<Path>) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(script.as_ref()).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}
