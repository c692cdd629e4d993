//! Files that a package contains besides the sources, and the parts of these files that registries and the documentation site read.

use std::{fs, process::Command};

use crate::sources::root;

const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// A crate as it is published.
pub(crate) struct Package {
    /// Paths of the files in the package, one per line.
    pub(crate) files: String,
    pub(crate) readme: String,
    pub(crate) manifest: String,
    /// The texts of [`LICENCES`].
    pub(crate) licences: [String; 2],
}

/// Reads the package `name`, whose manifest lies in `folder`.
pub(crate) fn read(name: &str, folder: &str) -> Package {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["package", "--list", "--allow-dirty", "--offline", "-p", name])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |file: &str| fs::read_to_string(root().join(folder).join(file)).unwrap_or_default();
    Package {
        files: String::from_utf8(output.stdout).expect("cargo prints UTF-8"),
        readme: text("README.md"),
        manifest: text("Cargo.toml"),
        licences: LICENCES.map(text),
    }
}

/// Returns missing files, and links that do not work on the page of the crate.
pub(crate) fn problems(package: &Package) -> Vec<String> {
    let mut found = Vec::new();
    for file in ["README.md", LICENCES[0], LICENCES[1]] {
        if !package.files.lines().any(|line| line == file) {
            found.push(format!("{file} is not in the package"));
        }
    }
    for (name, text) in LICENCES.iter().zip(&package.licences) {
        // Each crate has a copy of the licences, because symbolic links to files outside of the crate do not work on all systems.
        let own = fs::read_to_string(root().join(name)).expect("the repository has its licences");
        if own != *text {
            found.push(format!("{name} is not that of the repository"));
        }
    }
    // Without this setting, the documentation site shows only the default features.
    let shows_all = "\n[package.metadata.docs.rs]\nall-features = true\n";
    if package.manifest.contains("\n[features]\n") && !package.manifest.contains(shows_all) {
        found.push(
            "Cargo.toml does not tell the documentation site to show all features".to_owned(),
        );
    }
    let links = package.readme.split("](").skip(1);
    for link in links.filter(|link| !link.starts_with("https://")) {
        let link = link.split(')').next().unwrap_or_default();
        found.push(format!("README.md links to {link}, which the page of the crate does not have"));
    }
    found
}
