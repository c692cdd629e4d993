//! Programs that cargo builds from crates.io.

use std::path::{Path, PathBuf};

use crate::{
    install::installed,
    process::cargo,
    requirement::{Missing, output_of},
};

/// Builds the program of the crate `name` without its default features, and returns its path. The program has a folder of its own in `parent`,
/// and is built once.
///
/// The program is not optimized, because it runs less than a second in a test.
///
/// # Errors
///
/// [`Missing`] when the crate cannot be downloaded or built.
pub fn program(parent: &Path, name: &str, version: &str) -> Result<PathBuf, Missing> {
    let folder = installed(parent, &format!("{name}-{version}"), version, |folder| {
        let build = folder.join("build");
        output_of(
            cargo()
                .args(["install", "--quiet", "--locked", "--no-default-features", "--debug"])
                .arg(format!("{name}@{version}"))
                .arg("--root")
                .arg(folder)
                .arg("--target-dir")
                .arg(&build)
                .envs([("CARGO_PROFILE_DEV_DEBUG", "false"), ("CARGO_INCREMENTAL", "0")]),
        )?;
        let removed = std::fs::remove_dir_all(build);
        removed.map_err(|error| Missing::new(format!("installing {name}: {error}")))
    })?;
    Ok(folder.join("bin").join(name))
}
