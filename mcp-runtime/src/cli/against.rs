//! `check --against`: compares the server with the manifest that was committed.

use std::{env, fs, path::Path};

use mcp_runtime_contract::Published;

use super::{Printed, Stop};
use crate::{builder::Builder, contract};

/// Compares the server with the lock file. Fails if a change breaks clients; with `strict` it fails for every difference.
pub(super) fn run(builder: Builder, file: &Path, strict: bool) -> Result<Printed, Stop> {
    let published = published(builder)?;
    let shown = file.display();
    let lock = fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Stop::failure(format!(
            "there is no {shown}: `{}` writes it, then commit it",
            regenerate(file)
        )),
        _ => Stop::failure(format!("{shown} cannot be read: {error}")),
    })?;
    let report = published.against(&lock).map_err(|problem| {
        Stop::failure(format!("{shown}: {problem}\n`{}` writes it again", regenerate(file)))
    })?;
    let text = report.text(&shown.to_string(), &regenerate(file));
    let end = if report.breaks() {
        Err(Stop::failure(format!("what {shown} promises is not kept")))
    } else if strict && !report.is_empty() {
        Err(Stop::failure(format!(
            "{shown} is not what is published, and `--strict` wants it to be"
        )))
    } else {
        Ok(())
    };
    Ok(Printed { end, ..text.into() })
}

fn published(builder: Builder) -> Result<Published, Stop> {
    let server = builder.build().map_err(Stop::failure)?;
    Ok(contract::published(&server.identity, &server.catalog.snapshot()))
}

/// The command that writes the lock file, with the program name of this invocation.
fn regenerate(file: &Path) -> String {
    let program = env::args_os().next().unwrap_or_default();
    format!("{} schema > {}", program.to_string_lossy(), file.display())
}
