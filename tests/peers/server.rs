//! A server and the folder that it may fill.

use std::{
    ffi::OsStr,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process, thread,
};

use support::{examples::example, process::HttpServer};

/// Of the users of `notes`.
pub(crate) const PASSWORDS: [(&str, &str); 2] =
    [("ada", "correct horse"), ("bob", "battery & <staple>")];

pub(crate) struct Server {
    pub(crate) name: &'static str,
    program: &'static Path,
    /// Empty at first, and removed with the value.
    pub(crate) folder: PathBuf,
    /// Without one, each client starts a process of its own.
    url: Option<String>,
    _process: Option<HttpServer>,
}

impl Server {
    /// The example of this name.
    pub(crate) fn new(name: &'static str) -> Self {
        Self::of(name, example(name))
    }

    /// The server of this suite, which asks.
    pub(crate) fn asking() -> Self {
        Self::of("asking", Path::new(env!("CARGO_BIN_EXE_asking-fixture")))
    }

    fn of(name: &'static str, program: &'static Path) -> Self {
        // A test runs on a thread of its own, of its own name.
        let test = thread::current().name().unwrap_or("test").replace("::", "-");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("{test}-{name}-{}", process::id()));
        fs::create_dir_all(&folder).expect("target is writable");
        Self { name, program, folder, url: None, _process: None }
    }

    pub(crate) fn over_http(name: &'static str) -> Self {
        Self::new(name).served()
    }

    /// One process for all clients, over HTTP and over HTTP+SSE.
    pub(crate) fn served(mut self) -> Self {
        let http = HttpServer::start(self.program, &["--legacy-sse"], &self.environment());
        self.url = Some(http.url.clone());
        self._process = Some(http);
        self
    }

    /// What clients find at this address, as if it were this server.
    pub(crate) fn found_at(mut self, address: SocketAddr) -> Self {
        self.url = Some(format!("http://{address}/mcp"));
        self
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> SocketAddr {
        let url = self.url.as_ref().expect("the server is there over HTTP");
        let address = url.strip_prefix("http://").and_then(|it| it.strip_suffix("/mcp"));
        address.and_then(|it| it.parse().ok()).expect("the usual URL")
    }

    pub(crate) fn is_http(&self) -> bool {
        self.url.is_some()
    }

    /// The program, or the URL.
    pub(crate) fn address(&self) -> &OsStr {
        self.url.as_ref().map_or(self.program.as_ref(), AsRef::as_ref)
    }

    /// Where HTTP+SSE begins.
    pub(crate) fn sse(&self) -> String {
        let url = self.url.as_ref().expect("the server is there over HTTP");
        url.strip_suffix("/mcp").expect("the usual path").to_owned() + "/sse"
    }

    /// Where the servers look for what they keep, and for who may come in; `files` serves the root `tree`.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 4] {
        let [(_, ada), (_, bob)] = PASSWORDS;
        [
            ("MEMORY_DB", self.folder.join("memory.db")),
            ("FILES_ROOTS", self.folder.join("tree")),
            ("NOTES_ADA", ada.into()),
            ("NOTES_BOB", bob.into()),
        ]
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
