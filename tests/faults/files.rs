//! The example `files` while one of its files is replaced again and again, and with paths that do not lead to a regular file.

use std::{
    fs,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use support::examples::example;

use crate::{
    client::{plain_call, run},
    server::Server,
};

/// A folder that is served as `tree`, and is removed when the test ends.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let name = format!("files-{name}-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(path.join("tree")).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join("tree").join(name)
    }

    /// Serves the folder. `program` is the example, which must be built before the deadline of the test begins.
    fn serve(&self, program: &Path) -> Server {
        let root = self.path("");
        let root = root.to_str().expect("a path in UTF-8").trim_end_matches('/');
        Server::start_program(program, &[("FILES_ROOT", root)])
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// Calls a tool, and returns its text and whether the result is an error.
async fn call(server: &Server, tool: &str, arguments: Value) -> (String, bool) {
    let reply = plain_call(1, tool, arguments).ask(server.address()).await.json();
    let result = &reply["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply:#}"));
    (text.to_owned(), result["isError"] == true)
}

#[support::test]
fn a_file_that_is_swapped_for_a_pipe_does_not_block_a_call() {
    let program = example("files");
    run(async {
        let tree = Tree::new("swapped");
        let [file, pipe, swapped] = ["file", "pipe", "it"].map(|name| tree.path(name));
        fs::write(&file, "text").expect("the folder is writable");
        make_pipe(&pipe);
        fs::hard_link(&file, &swapped).expect("links can be made");
        let server = tree.serve(program);
        let ends = Arc::new(AtomicBool::new(false));
        let (swaps, next) = (ends.clone(), tree.path("next"));
        let swapping = thread::spawn(move || {
            while !swaps.load(Ordering::Relaxed) {
                for kind in [&pipe, &file] {
                    fs::hard_link(kind, &next).expect("links can be made");
                    fs::rename(&next, &swapped).expect("the folder is writable");
                }
            }
        });
        for _ in 0..400 {
            let which = json!({ "path": "tree/it" });
            let (text, is_error) = call(&server, "read_file", which).await;
            // While a file is written, it is empty for a short time. No call sees an empty file here, because the calls run one after the
            // other.
            assert!(if is_error { text.contains("tree/it") } else { text == "text" }, "{text}");
            let which = json!({ "path": "tree/it", "content": "text" });
            let (text, is_error) = call(&server, "write_file", which).await;
            assert!(
                if is_error { text.contains("tree/it") } else { text.starts_with("4 ") },
                "{text}"
            );
        }
        ends.store(true, Ordering::Relaxed);
        swapping.join().expect("the swapping ends");
    });
}

#[support::test]
fn pipes_sockets_and_directories_are_rejected() {
    let program = example("files");
    run(async {
        let tree = Tree::new("kinds");
        make_pipe(&tree.path("pipe"));
        let _socket = UnixListener::bind(tree.path("socket")).expect("a socket");
        fs::create_dir(tree.path("directory")).expect("a folder");
        let server = tree.serve(program);
        for name in ["pipe", "socket", "directory"] {
            let path = format!("tree/{name}");
            for (tool, arguments) in [
                ("read_file", json!({ "path": path })),
                ("write_file", json!({ "path": path, "content": "text" })),
                ("edit_file", json!({ "path": path, "old_text": "a", "new_text": "b" })),
            ] {
                let (text, is_error) = call(&server, tool, arguments).await;
                assert!(is_error && text.contains("is not a file"), "{tool} {name}: {text}");
            }
        }
        let (found, _) = call(&server, "search_files", json!({ "text": "text" })).await;
        assert_eq!(found, "nothing found");
    });
}
