//! An example server and the folder that it may fill.

use std::{
    fs,
    path::{Path, PathBuf},
    process, thread,
};

use support::examples::example;

pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// Empty at first, and removed with the value.
    pub(crate) folder: PathBuf,
}

impl Server {
    pub(crate) fn new(name: &'static str) -> Self {
        // A test runs on a thread of its own, of its own name.
        let test = thread::current().name().unwrap_or("test").replace("::", "-");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("{test}-{name}-{}", process::id()));
        fs::create_dir_all(&folder).expect("target is writable");
        Self { name, folder }
    }

    pub(crate) fn binary(&self) -> &'static Path {
        example(self.name)
    }

    /// Where the servers look for what they keep; `files` serves the root `tree`.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [("MEMORY_DB", self.folder.join("memory.db")), ("FILES_ROOTS", self.folder.join("tree"))]
    }

    /// The path of a file in the root of `files`, in directories that exist.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        let path = self.folder.join("tree").join(path);
        path.parent().map(fs::create_dir_all).transpose().expect("the folder is writable");
        path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
