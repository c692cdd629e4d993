//! The committed files, and the folders for what the tests make of them.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Name that stands for the public host in all files.
pub(crate) const HOST: &str = "mcp.example.com";

/// Returns the text of a committed file.
pub(crate) fn committed(name: &str) -> String {
    let path = path(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the path of a committed file.
pub(crate) fn path(name: &str) -> PathBuf {
    root().join("examples/deploy").join(name)
}

/// Returns the folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// Returns the folder where programs from npm and PyPI are installed.
pub(crate) fn tools() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("deploy")
}

/// Replaces words of a committed file.
///
/// # Panics
///
/// When the words occur less or more often than `times`.
#[track_caller]
pub(crate) fn replace(text: &str, words: &str, new: &str, times: usize) -> String {
    assert_eq!(text.matches(words).count(), times, "`{words}` in\n{text}");
    text.replace(words, new)
}

/// Returns the options of the command line that begins with `program` in a committed file, without the address that the server listens on.
///
/// # Panics
///
/// When there is no such line, or the server listens at a different address from `127.0.0.1:8000`.
#[track_caller]
pub(crate) fn options(text: &str, program: &str) -> Vec<String> {
    let line =
        text.lines().find_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix(program));
    let line = line.unwrap_or_else(|| panic!("no line begins with `{program}`:\n{text}"));
    let rest = line.trim().strip_prefix("--http 127.0.0.1:8000 ");
    let rest = rest.unwrap_or_else(|| panic!("another address: {line}"));
    rest.split(' ').map(str::to_owned).collect()
}

/// Folder of one test. It is removed when the test ends, and kept if the test fails, because it has the log of the proxy.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("deploy-{}-{number}", process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("the folder is writable");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if thread::panicking() {
            support::note!("the files of the test are in {}", self.0.display());
        } else {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
