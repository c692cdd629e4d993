//! Programs from npm, and a Node.js new enough to run them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    install::installed,
    requirement::{Missing, output_of},
};

/// Oldest version of Node.js that runs all of the programs.
const OLDEST: (u32, u32) = (22, 19);

/// An installed `package.json`.
#[derive(Debug)]
pub struct Node {
    binary: PathBuf,
    /// Folder that contains `node_modules`.
    pub folder: PathBuf,
}

impl Node {
    /// Like [`installed`](Self::installed), but installs the versions that `lock`, the `package-lock.json` of `manifest`, pins.
    ///
    /// # Errors
    ///
    /// The same as for [`installed`](Self::installed).
    pub fn locked(parent: &Path, name: &str, manifest: &str, lock: &str) -> Result<Self, Missing> {
        Self::filled(parent, name, manifest, Some(lock))
    }

    /// Installs the packages of `manifest`, a `package.json`, into a folder of its own in `parent`, once. Install scripts are not run.
    ///
    /// The manifest should list the packages `node-linux-…` as optional dependencies: they contain Node.js. If none of them fits the
    /// machine, the `node` of the machine runs the programs.
    ///
    /// # Errors
    ///
    /// [`Missing`] when there is no npm, a package cannot be installed, or there is no Node.js that is new enough.
    pub fn installed(parent: &Path, name: &str, manifest: &str) -> Result<Self, Missing> {
        Self::filled(parent, name, manifest, None)
    }

    fn filled(
        parent: &Path,
        name: &str,
        manifest: &str,
        lock: Option<&str>,
    ) -> Result<Self, Missing> {
        let pins = [manifest, lock.unwrap_or_default()].concat();
        let folder = installed(parent, name, &pins, |folder| {
            let write = |file, text| {
                let written = fs::write(folder.join(file), text);
                written.map_err(|error| Missing::new(format!("installing {name}: {error}")))
            };
            write("package.json", manifest)?;
            let mut npm = Command::new("npm");
            match lock {
                Some(lock) => {
                    write("package-lock.json", lock)?;
                    npm.arg("ci")
                }
                None => npm.args(["install", "--no-package-lock"]),
            };
            npm.args(["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
            // npm keeps its cache and its logs in the user's home otherwise.
            npm.env("npm_config_cache", parent.join("npm-cache"));
            output_of(npm.current_dir(folder))?;
            Ok(())
        })?;
        let packaged = folder.join("node_modules/.bin/node");
        let binary = if packaged.exists() { packaged } else { PathBuf::from("node") };
        let version = output_of(Command::new(&binary).arg("--version"))?;
        if parse_version(&version) < Some(OLDEST) {
            let (major, minor) = OLDEST;
            return Err(Missing::new(format!("Node.js {major}.{minor}, this is {version}")));
        }
        Ok(Self { binary, folder })
    }

    /// Returns the command that runs a script. A relative path starts in [`folder`](Self::folder).
    pub fn run(&self, script: impl AsRef<Path>) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg(self.folder.join(script));
        // Otherwise each process compiles the modules again.
        command.env("NODE_COMPILE_CACHE", self.folder.join("cache"));
        command
    }
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().strip_prefix('v')?.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (text, fits) in
            [("v22.19.0\n", true), ("v100.2.3", true), ("v22.9.0", false), ("?", false)]
        {
            assert_eq!(parse_version(text) >= Some(OLDEST), fits, "{text}");
        }
    }
}
