//! The package of the program under development: how cargo builds it, and which folders have its sources.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::error::DevError;

/// Program under development that `cargo run` has started.
#[derive(Clone, Debug)]
pub struct Project {
    /// Folder of the manifest of the package.
    folder: PathBuf,
    /// Path of the program that cargo writes.
    program: PathBuf,
    /// Name of the binary or of the example.
    name: String,
    is_example: bool,
    /// Name of the folder of the profile, such as `debug`.
    profile: String,
    /// Folder that contains the folder of the profile.
    above_profile: PathBuf,
    features: Vec<String>,
    has_default_features: bool,
}

impl Project {
    /// Derives from the path of `program` how cargo has built it. `folder` is the folder of its manifest, which `cargo run` passes on in the variable
    /// `CARGO_MANIFEST_DIR`. `features` are those of the build.
    ///
    /// # Errors
    /// Fails if the path of `program` is too short for a program in a target folder, or if `folder` has no manifest.
    pub fn new(program: &Path, folder: &Path, features: Vec<String>) -> Result<Self, DevError> {
        let unknown = || {
            DevError::new(format_args!(
                "`dev` builds the program with cargo, but {} is not in a target folder: start it with `cargo run`",
                program.display()
            ))
        };
        let name = program.file_name().and_then(|name| name.to_str()).ok_or_else(unknown)?;
        let name = name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(name).to_owned();
        let mut within = program.parent().ok_or_else(unknown)?;
        let is_example = within.ends_with("examples");
        if is_example {
            within = within.parent().ok_or_else(unknown)?;
        }
        let profile = within.file_name().and_then(|name| name.to_str()).ok_or_else(unknown)?;
        let above_profile = within.parent().ok_or_else(unknown)?.to_owned();
        if !folder.join("Cargo.toml").is_file() {
            return Err(DevError::new(format_args!(
                "{} has no Cargo.toml: start `dev` with `cargo run`, which names the folder of the package",
                folder.display()
            )));
        }
        Ok(Self {
            folder: folder.to_owned(),
            program: program.to_owned(),
            name,
            is_example,
            profile: profile.to_owned(),
            above_profile,
            features,
            has_default_features: true,
        })
    }

    /// Leaves out the default features of the package.
    #[must_use]
    pub fn without_default_features(self) -> Self {
        Self { has_default_features: false, ..self }
    }

    /// Path of the program that cargo writes.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kind of the target in the messages of cargo.
    pub(crate) fn kind(&self) -> &'static str {
        if self.is_example { "example" } else { "bin" }
    }

    /// Folder for copies of the program, below that of the profile.
    pub(crate) fn copies(&self) -> PathBuf {
        self.above_profile.join(&self.profile).join("mcp-runtime-dev")
    }

    /// Returns the arguments with which cargo builds the same program from any folder and runs it. Arguments of the program follow. The
    /// toolchain, `CARGO_TARGET_DIR` and files named `.cargo/config.toml` still depend on the environment and on the current folder.
    pub fn run_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["run".into(), "--quiet".into()];
        arguments.extend(self.selection());
        arguments.push("--".into());
        arguments
    }

    /// Returns the arguments with which cargo builds the program beside the current one.
    pub(crate) fn build_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["build".into(), "--message-format=json".into()];
        arguments.extend(self.selection());
        let target = self.target();
        // Windows does not let cargo overwrite the program that runs this command.
        let target = if cfg!(windows) { target.join("mcp-runtime-dev") } else { target.to_owned() };
        arguments.extend(["--target-dir".into(), target.into()]);
        arguments
    }

    /// Returns the arguments that select the program, and how cargo builds it.
    fn selection(&self) -> Vec<OsString> {
        let mut arguments = vec!["--manifest-path".into(), self.folder.join("Cargo.toml").into()];
        arguments.extend([format!("--{}", self.kind()).into(), OsString::from(&self.name)]);
        if self.profile != "debug" {
            arguments.extend(["--profile".into(), OsString::from(&self.profile)]);
        }
        if let Some(triple) = self.triple() {
            arguments.extend(["--target".into(), triple.into()]);
        }
        if !self.has_default_features {
            arguments.push("--no-default-features".into());
        }
        if !self.features.is_empty() {
            arguments.extend(["--features".into(), self.features.join(",").into()]);
        }
        arguments
    }

    /// Returns the value of `--target`, with which cargo has built the program. The folder of the profile is then in a folder with the name of
    /// the triple. That folder has no `.rustc_info.json`, which is in the target folder.
    fn triple(&self) -> Option<&str> {
        let name = self.above_profile.file_name()?.to_str()?;
        let is_triple = name.matches('-').count() >= 2;
        (is_triple && !self.above_profile.join(".rustc_info.json").exists()).then_some(name)
    }

    /// Reads the sources of a build: its own, those of its path dependencies, and other files that the build has read. `program` is the
    /// path of the program that the build has written.
    pub(crate) fn sources(&self, program: &Path) -> Sources {
        let list = program.with_file_name(format!("{}.d", self.name));
        let text = fs::read_to_string(list).unwrap_or_default();
        let files = dependencies(&text).map(|file| canonical(&file));
        let files = files.filter(|file| !self.is_built(file, program)).collect();
        Sources::of(&canonical(&self.folder), files)
    }

    /// Whether a build has written this file. `program` is the path of the program that the build has written.
    fn is_built(&self, file: &Path, program: &Path) -> bool {
        let target = canonical(self.target());
        if canonical(&self.folder).starts_with(&target) {
            // Sources are below the target folder, too. Files of the program's own build scripts are beside the program.
            let profile = program.ancestors().find(|folder| folder.ends_with(&self.profile));
            return profile.is_some_and(|profile| file.starts_with(canonical(profile)));
        }
        file.starts_with(target)
    }

    /// Folder in which cargo writes all of its files.
    fn target(&self) -> &Path {
        let above = self.above_profile.parent().filter(|_| self.triple().is_some());
        above.unwrap_or(&self.above_profile)
    }
}

/// Returns the only spelling of a path. The system watches a folder once, and reports its files below the last spelling.
fn canonical(path: &Path) -> PathBuf {
    // On Windows, this spelling has a prefix that some programs do not understand.
    let canonical = (!cfg!(windows)).then(|| fs::canonicalize(path).ok()).flatten();
    // A file that was removed has no other spelling.
    canonical.unwrap_or_else(|| path.to_owned())
}

/// Returns the files that a dependency list of cargo names. A space in a path has a backslash in front.
fn dependencies(list: &str) -> impl Iterator<Item = PathBuf> {
    let line = list.lines().next().unwrap_or_default();
    let files = line.split_once(": ").map_or("", |(_, files)| files);
    let mut found = vec![String::new()];
    for part in files.split(' ') {
        let Some(last) = found.last_mut() else { continue };
        match part.strip_suffix('\\') {
            Some(beginning) => *last += &format!("{beginning} "),
            None => {
                *last += part;
                found.push(String::new());
            }
        }
    }
    found.into_iter().filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Files of the last build, and the folders in which changes concern it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    files: BTreeSet<PathBuf>,
    /// Folders that are watched with everything below.
    pub(crate) trees: BTreeSet<PathBuf>,
    /// Folders that are watched for the files in them.
    pub(crate) folders: BTreeSet<PathBuf>,
}

impl Sources {
    fn of(package: &Path, files: BTreeSet<PathBuf>) -> Self {
        let mut sources = Self::default();
        sources.add_package(package);
        sources.trees.insert(package.join("src"));
        for file in &files {
            let Some(parent) = file.parent() else { continue };
            let package = parent.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
            match package {
                Some(package) => {
                    sources.add_package(package);
                    // A file in the root of a package, such as build.rs, is in a folder that is watched already.
                    let inner =
                        parent.strip_prefix(package).ok().and_then(|inner| inner.iter().next());
                    sources.trees.extend(inner.map(|inner| package.join(inner)));
                }
                None => drop(sources.folders.insert(parent.to_owned())),
            }
        }
        sources.files = files;
        sources
    }

    /// Adds the folders with the manifest of a package and with that of its workspace.
    fn add_package(&mut self, package: &Path) {
        if self.folders.insert(package.to_owned()) {
            let root = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
            self.folders.extend(root.map(Path::to_owned));
        }
    }

    /// Whether this is a folder with sources.
    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.trees.contains(path)
    }

    /// Whether a change of this file may change the program. A server may write to other files in the folder of its package.
    pub(crate) fn concern(&self, file: &Path) -> bool {
        let is_code = file.extension().is_some_and(|end| end == "rs" || end == "toml");
        is_code || file.ends_with("Cargo.lock") || self.files.contains(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_program_tells_how_it_was_built() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let arguments = |program: &str| {
            let project = Project::new(Path::new(program), folder, vec!["a/b".to_owned()]).unwrap();
            let text = |arguments: Vec<OsString>| {
                let words = arguments.into_iter().skip(4).map(|word| word.into_string().unwrap());
                words.collect::<Vec<_>>().join(" ")
            };
            let built = text(project.build_arguments());
            // The same program is built from any folder.
            let run = text(project.run_arguments());
            assert_eq!(run.trim_end_matches(" --"), built.trim_end_matches(" --target-dir /t"));
            built
        };
        for (program, expected) in [
            ("/t/debug/mine", "--bin mine --features a/b --target-dir /t"),
            (
                "/t/release/examples/mine",
                "--example mine --profile release --features a/b --target-dir /t",
            ),
            (
                "/t/x86_64-unknown-linux-musl/small/mine",
                "--bin mine --profile small --target x86_64-unknown-linux-musl --features a/b --target-dir /t",
            ),
        ] {
            assert_eq!(arguments(program), expected);
        }
        let project = Project::new(Path::new("/t/debug/mine"), folder, Vec::new()).unwrap();
        let run = project.without_default_features().run_arguments();
        assert_eq!(run[6..], ["--no-default-features", "--"]);
        let error = Project::new(Path::new("/t/debug/mine"), Path::new("/nowhere"), Vec::new());
        assert!(error.unwrap_err().to_string().contains("/nowhere has no Cargo.toml"));
    }

    #[test]
    fn a_list_of_files_may_contain_spaces() {
        let list = "/t/my\\ server: /a/src/main.rs /a\\ b/c\\ d.txt\n\n/a/src/main.rs:\n";
        let expected = [PathBuf::from("/a/src/main.rs"), PathBuf::from("/a b/c d.txt")];
        assert_eq!(dependencies(list).collect::<Vec<_>>(), expected);
        assert_eq!(dependencies("").count(), 0);
    }

    #[test]
    fn no_file_below_the_target_folder_is_a_source() {
        let folder = env::temp_dir().join(format!("mcp-runtime-project-{}", std::process::id()));
        let profile = folder.join("target/x86_64-unknown-linux-musl/debug");
        fs::create_dir_all(&profile).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        let folder = folder.canonicalize().unwrap();
        let profile = folder.join("target/x86_64-unknown-linux-musl/debug");
        let files =
            ["src/main.rs", "target/debug/build/a/out/gen.rs"].map(|file| folder.join(file));
        let list = format!("a: {} {}\n", files[0].display(), files[1].display());
        fs::write(profile.join("a.d"), list).unwrap();
        let project = Project::new(&profile.join("a"), &folder, Vec::new()).unwrap();
        let sources = project.sources(project.program());
        // A target folder above the package contains all of its sources.
        let above = Project::new(&env::temp_dir().join("debug/a"), &folder, Vec::new()).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(sources.trees, BTreeSet::from([folder.join("src")]));
        assert_eq!(sources.files, BTreeSet::from([files[0].clone()]));
        assert!(!above.is_built(&files[0], above.program()));
    }

    #[test]
    fn data_that_the_build_has_not_read_concerns_no_build() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = package.join("README.md");
        let sources = Sources::of(package, [text.clone(), package.join("src/lib.rs")].into());
        assert!(sources.concern(&text) && sources.concern(&package.join("src/new.rs")));
        assert!(!sources.concern(&package.join("notes.db")));
        assert!(sources.trees.contains(&package.join("src")));
    }
}
