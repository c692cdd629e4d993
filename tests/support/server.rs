//! A server for a client that runs as a separate process, and the folder that the server may write to.

use std::{
    env,
    ffi::OsStr,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{examples::example, process::HttpServer};

/// Names and passwords of the users of the example `notes`.
pub const PASSWORDS: [(&str, &str); 2] = [("ada", "correct horse"), ("bob", "battery & <staple>")];

/// API key of the example `issues`.
pub const API_KEY: &str = "key-that-must-stay-secret";

/// A server that clients start over stdio, or connect to over HTTP.
#[derive(Debug)]
pub struct Server {
    /// Name of the server, for messages.
    pub name: &'static str,
    program: &'static Path,
    /// Folder of the server: empty at first, and removed with the value.
    pub folder: PathBuf,
    /// URL of a server over HTTP. `None` over stdio, where each client starts a process of its own.
    url: Option<String>,
    process: Option<HttpServer>,
    tracker: String,
}

impl Server {
    /// Prepares the example of this name.
    ///
    /// # Panics
    ///
    /// When there is no such example, or its folder cannot be created.
    pub fn new(name: &'static str) -> Self {
        Self::of(name, example(name))
    }

    /// Prepares `program`, a server that is not an example.
    ///
    /// # Panics
    ///
    /// When its folder cannot be created.
    pub fn of(name: &'static str, program: &'static Path) -> Self {
        // A gateway may keep the process of an earlier server running, so each server has a folder of its own.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // The thread of a test has the name of the test.
        let test = thread::current().name().unwrap_or("test").replace("::", "-");
        let folder = format!("{test}-{name}-{}-{number}", process::id());
        let folder = target().join("tmp").join(folder);
        fs::create_dir_all(&folder).expect("target is writable");
        if name == "database" {
            // SQLite opens an empty file as an empty database.
            fs::write(folder.join("shop.db"), "").expect("target is writable");
        }
        // Nothing listens at the port 9.
        let tracker = "http://127.0.0.1:9".to_owned();
        Self { name, program, folder, url: None, process: None, tracker }
    }

    /// Starts the example of this name as one process for all clients, over HTTP and over HTTP+SSE.
    ///
    /// # Panics
    ///
    /// When there is no such example, or the process does not start.
    pub fn over_http(name: &'static str) -> Self {
        Self::new(name).served()
    }

    /// Starts one process for all clients, over HTTP and over HTTP+SSE.
    ///
    /// # Panics
    ///
    /// When the process does not start.
    pub fn served(mut self) -> Self {
        let http = HttpServer::start(self.program, &["--legacy-sse"], &self.environment());
        self.url = Some(http.url.clone());
        self.process = Some(http);
        self
    }

    /// Ends the process and starts another at the same address. The new process has no sessions of the first one.
    ///
    /// # Panics
    ///
    /// When the server does not run over HTTP, or does not start again.
    pub fn restart(&mut self) {
        let address = self.socket();
        self.process = None;
        let environment = self.environment();
        let again = HttpServer::start_at(address, self.program, &["--legacy-sse"], &environment);
        self.process = Some(again);
    }

    /// Sets another address to which clients connect, such as that of a proxy in front of the server.
    pub fn found_at(mut self, address: SocketAddr) -> Self {
        self.url = Some(format!("http://{address}/mcp"));
        self
    }

    /// Address in the URL of clients: the one that the server listens on, unless [`found_at`](Self::found_at) has set another.
    ///
    /// # Panics
    ///
    /// When the server does not run over HTTP.
    pub fn socket(&self) -> SocketAddr {
        let url = self.url.as_ref().expect("the server is there over HTTP");
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        address.and_then(|address| address.parse().ok()).expect("the usual URL")
    }

    /// Whether clients connect to the server over HTTP.
    pub fn is_http(&self) -> bool {
        self.url.is_some()
    }

    /// Program that clients start, or URL that they connect to.
    pub fn address(&self) -> &OsStr {
        self.url.as_ref().map_or(self.program.as_ref(), AsRef::as_ref)
    }

    /// URL of the HTTP+SSE transport.
    ///
    /// # Panics
    ///
    /// When the server does not run over HTTP.
    pub fn sse(&self) -> String {
        let url = self.url.as_ref().expect("the server is there over HTTP");
        url.strip_suffix("/mcp").expect("the usual path").to_owned() + "/sse"
    }

    /// Sets the URL of the tracker for the example `issues`. By default nothing listens at its URL.
    pub fn with_tracker(mut self, url: &str) -> Self {
        url.clone_into(&mut self.tracker);
        self
    }

    /// Environment of the process: the databases of `memory` and of `database`, the root `tree` of `files`, the passwords of `notes`, and the
    /// API key and the tracker of `issues`. The file of `database` has no tables.
    pub fn environment(&self) -> [(&'static str, PathBuf); 7] {
        let [(_, ada), (_, bob)] = PASSWORDS;
        [
            ("ISSUES_KEY", API_KEY.into()),
            ("ISSUES_URL", self.tracker.clone().into()),
            ("DATABASE_FILE", self.folder.join("shop.db")),
            ("MEMORY_DB", self.folder.join("memory.db")),
            ("FILES_ROOT", self.folder.join("tree")),
            ("NOTES_ADA", ada.into()),
            ("NOTES_BOB", bob.into()),
        ]
    }

    /// Path of a file in the root of `files`. The directories above it are created.
    ///
    /// # Panics
    ///
    /// When the folder is not writable.
    pub fn file(&self, path: &str) -> PathBuf {
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

/// Returns cargo's target directory, which is an ancestor of the running test.
///
/// # Panics
///
/// When the running program is not a test that cargo has built.
pub fn target() -> PathBuf {
    let test = env::current_exe().expect("a running program has a path");
    let target = test.ancestors().nth(3).expect("tests are in target/PROFILE/deps");
    target.to_owned()
}
