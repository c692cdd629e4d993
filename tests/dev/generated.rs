//! Crate that cargo-generate makes from a template in `examples/template`, in a new folder.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use support::{
    process::{SHARED_BUILD, cargo, remove_builds},
    requirement::{Missing, output_of},
    server::target,
};

use crate::programs::cargo_generate;

/// Crate of an author, in a folder that contains nothing else at first.
pub(crate) struct Generated {
    name: &'static str,
    /// The new folder. It is also the home of the user.
    pub(crate) home: PathBuf,
    /// Folder of the crate.
    pub(crate) folder: PathBuf,
}

impl Generated {
    /// Generates a crate that uses the sources of this repository.
    pub(crate) fn new(template: &str, name: &'static str) -> Result<Self, Missing> {
        let generated = Self::from_source(template, name, &repository().display().to_string())?;
        // The crate uses the versions of the workspace, because the registry may be out of reach.
        fs::copy(repository().join("Cargo.lock"), generated.folder.join("Cargo.lock"))
            .expect("the workspace is locked");
        Ok(generated)
    }

    /// Generates a crate. `source` is the answer to the question about the source of mcp-runtime.
    pub(crate) fn from_source(
        template: &str,
        name: &'static str,
        source: &str,
    ) -> Result<Self, Missing> {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let program = cargo_generate()?;
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let home = env::temp_dir().join(format!("mcp-template-{}-{number}", process::id()));
        fs::create_dir_all(home.join(".cargo")).expect("a folder for the test");
        // The settings equal those of the other crates of this suite, so that cargo builds the runtime once.
        let [(_, debug), (_, of_macros)] = SHARED_BUILD;
        let settings = format!(
            "[build]\ntarget-dir = {:?}\n\n[net]\noffline = true\n\n[profile.dev]\ndebug = {debug:?}\n\n[profile.dev.build-override]\ndebug = {of_macros}\n\n[profile.dev.package.\"*\"]\nincremental = false\n",
            target()
        );
        fs::write(home.join(".cargo/config.toml"), settings).expect("the folder is ours");
        let home = home.canonicalize().expect("the folder");
        let generated = Self { name, folder: home.join(name), home };
        let mut generate = Command::new(program);
        generate.args(["generate", "--silent", "--vcs", "none", "--name", name, "--path"]);
        generate.arg(repository().join("examples/template")).arg(template);
        generate.args(["--define", &format!("source={source}")]);
        generate.env("CARGO_NAME", "Ada").env("CARGO_EMAIL", "ada@example.com");
        let made = output_of(generate.current_dir(&generated.home));
        made.unwrap_or_else(|why| panic!("{template}: {why}"));
        Ok(generated)
    }

    /// Returns a command that runs in the folder of the crate, with the new folder as its home. cargo and rustup keep their real folders.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let words = cargo();
        // Removes the variables of this test's package, and the variables that would override the settings of the new folder.
        let of_package = words.get_envs().map(|(name, _)| name);
        let decided = ["CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "XDG_CONFIG_HOME"];
        for name in of_package.chain(decided.map(AsRef::as_ref)) {
            command.env_remove(name);
        }
        command.envs(self.environment()).current_dir(&self.folder);
        command
    }

    /// Returns the variables of the author's environment, with which commands find the cargo of this test.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 4] {
        let home = PathBuf::from(env::var_os("HOME").expect("a user has a home"));
        let folder = |variable, name| env::var_os(variable).map_or(home.join(name), PathBuf::from);
        let tools = Path::new(env!("CARGO")).parent().expect("cargo lies in a folder");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [tools.to_owned()].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(path).expect("a path without colons");
        [
            ("HOME", self.home.clone()),
            ("PATH", path.into()),
            ("CARGO_HOME", folder("CARGO_HOME", ".cargo")),
            ("RUSTUP_HOME", folder("RUSTUP_HOME", ".rustup")),
        ]
    }

    /// Runs a command of a shell in the folder of the crate, and returns its stdout.
    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> String {
        support::note!("{}$ {line}", self.name);
        let output = self.command("sh").args(["-c", line]).output().expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{line}: {}\n{stdout}\n{stderr}", output.status);
        stdout
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
    }

    /// Returns the path of the built program.
    pub(crate) fn program(&self) -> PathBuf {
        target().join("debug").join(self.name)
    }

    /// Returns the command in the entry of this server in a configuration file below the new folder. `servers` is the pointer to all entries.
    pub(crate) fn entry(&self, file: &str, servers: &str) -> Vec<String> {
        let path = self.home.join(file);
        let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{file}: {why}"));
        let config: Value = serde_json::from_str(&text).expect("JSON");
        let entry = config.pointer(&format!("{servers}/{}", self.name));
        let entry = entry.unwrap_or_else(|| panic!("{text}"));
        let arguments = entry["args"].as_array().into_iter().flatten();
        let words = [&entry["command"]].into_iter().chain(arguments);
        words.map(|word| word.as_str().expect("a text").to_owned()).collect()
    }
}

/// Returns the folder of this repository.
fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the repository")
}

impl Drop for Generated {
    fn drop(&mut self) {
        remove_builds(&target(), &[self.name.to_owned()]);
        let _ = fs::remove_dir_all(&self.home);
    }
}
