//! Home folder of a user, for commands that read and write files.

use std::{
    env, fs,
    path::PathBuf,
    process::{self, Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::server::fixture;

/// Home folder, in which the commands also run.
pub(crate) struct HomeFolder {
    pub(crate) folder: PathBuf,
    program: fn() -> Command,
}

impl HomeFolder {
    /// Creates the folder for commands of the usual fixture.
    pub(crate) fn new() -> Self {
        Self::of(fixture)
    }

    /// Creates the folder for commands of this program.
    pub(crate) fn of(program: fn() -> Command) -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-home-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self { folder: folder.canonicalize().expect("the folder"), program }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is writable");
        fs::write(path, text).expect("the folder is writable");
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
    }

    /// Returns a command of the program, whose environment does not move the files of clients.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = (self.program)();
        command.current_dir(&self.folder).env("HOME", &self.folder).args(arguments);
        for variable in [
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "GOOSE_PATH_ROOT",
        ] {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the fixture starts")
    }

    /// Runs a command that succeeds. Returns its stdout.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs a command that fails. Returns its stderr.
    #[track_caller]
    pub(crate) fn fail(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        stderr
    }
}

impl Drop for HomeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
