//! The command `check --against` compares the server with its lock file.

use std::{env, fs, path::Path};

use super::exit::{CommandError, CommandOutput};
use crate::{builder::Builder, contract};

/// Compares the server with the lock file. Fails if a change breaks clients; with `strict` it fails for every difference.
pub(super) fn compare(
    builder: Builder,
    file: &Path,
    strict: bool,
) -> Result<CommandOutput, CommandError> {
    let server = builder.build().map_err(CommandError::failure)?;
    let published = contract::published(&server.identity, &server.catalog.snapshot());
    let shown = file.display();
    let lock = fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => CommandError::failure(format!(
            "{shown} does not exist: create it with `{}`, then commit it",
            regenerate(file)
        )),
        _ => CommandError::failure(format!("{shown} cannot be read: {error}")),
    })?;
    let report = published.against(&lock).map_err(|problem| {
        CommandError::failure(format!(
            "{shown}: {problem}\nwrite it again with `{}`",
            regenerate(file)
        ))
    })?;
    let text = report.text(&shown.to_string(), &regenerate(file));
    let end = if report.breaks() {
        Err(CommandError::failure(format!("the server breaks the contract in {shown}")))
    } else if strict && !report.is_empty() {
        Err(CommandError::failure(format!(
            "{shown} is out of date, and `--strict` requires it to match the server"
        )))
    } else {
        Ok(())
    };
    Ok(CommandOutput { end, ..text.into() })
}

/// The command that writes the lock file, with the program name of this invocation.
fn regenerate(file: &Path) -> String {
    let program = env::args_os().next().unwrap_or_default();
    format!("{} schema > {}", program.to_string_lossy(), file.display())
}
