//! The sources of the page, in a folder with the packages that they use.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use support::{node::Node, requirement::Missing};

const PACKAGE: &str = include_str!("../../mcp-runtime/playground/package.json");
const LOCK: &str = include_str!("../../mcp-runtime/playground/package-lock.json");

/// Files and folders beside the packages.
const COPIED: [&str; 4] = ["build.mjs", "host_sources.json", "src", "tsconfig.json"];

/// Returns the folder of the sources in the repository.
pub(crate) fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-runtime/playground")
}

/// Installs the packages, and copies the sources beside them. The tests run at the same time, and share what the first one does.
pub(crate) fn installed() -> Result<&'static Node, Missing> {
    static INSTALLED: OnceLock<Result<Node, String>> = OnceLock::new();
    let install = || {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("playground");
        let node = Node::locked(&parent, "npm", PACKAGE, LOCK)?;
        for name in COPIED {
            copy(&committed().join(name), &node.folder.join(name));
        }
        Ok(node)
    };
    let installed = INSTALLED.get_or_init(|| install().map_err(|why: Missing| why.to_string()));
    installed.as_ref().map_err(Missing::new)
}

/// Copies a file, or a folder with everything in it. A folder that was there before is removed.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).expect("the folder is writable");
        return;
    }
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("the folder is writable");
    for file in fs::read_dir(from).expect("the sources can be listed") {
        let file = file.expect("the sources can be listed");
        copy(&file.path(), &to.join(file.file_name()));
    }
}
