//! Files that stay beside a configuration file, and those that do not.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

use super::{Replaced, Replacement};

/// Folder of a test, which is removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("mcp-replacement-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder for tests is writable");
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("mcp.json")
    }

    /// Returns the names of all files, in order.
    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).expect("a folder").filter_map(Result::ok);
        let mut names: Vec<_> =
            files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Replaces the text of a file that no other program changes.
fn write(file: &Path, old: Option<&str>, new: &str) -> Replacement {
    match Replacement::write(file, old, new).expect("it is written") {
        Replaced::Written(replacement) => replacement,
        Replaced::Overtaken => panic!("no other program changes the file"),
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_replacement_that_fails_leaves_no_file_with_the_new_text() {
    let folder = Folder::new("fails");
    // No file can take the name of a folder.
    fs::create_dir(folder.file()).expect("a folder");
    Replacement::write(&folder.file(), None, "hunter2").expect_err("a folder is in the way");
    assert_eq!(folder.names(), ["mcp.json"]);
}

#[test]
fn two_replacements_at_once_have_files_of_their_own() {
    let folder = Folder::new("at-once");
    // File of another process at work.
    fs::write(folder.0.join("mcp.json.new"), "other").expect("a file");
    write(&folder.file(), None, "mine");
    assert_eq!(text(&folder.file()), "mine");
    assert_eq!(text(&folder.0.join("mcp.json.new")), "other");
}

#[test]
fn a_file_that_another_program_has_changed_keeps_its_text() {
    let folder = Folder::new("overtaken");
    fs::write(folder.file(), "of the client").expect("a file");
    for old in [Some("old"), None] {
        let replaced = Replacement::write(&folder.file(), old, "hunter2").expect("no error");
        assert_eq!((replaced, &*text(&folder.file())), (Replaced::Overtaken, "of the client"));
    }
    assert_eq!(folder.names(), ["mcp.json", "mcp.json.bak"], "no file has the new text");
}

#[cfg(unix)]
#[test]
fn a_copy_that_other_users_can_read_is_not_used_again() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = Folder::new("copies");
    let (open, linked) = (folder.0.join("mcp.json.bak"), folder.0.join("mcp.json.bak.2"));
    for path in [folder.file(), open.clone()] {
        fs::write(&path, "old").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("own file");
    }
    symlink(&open, &linked).expect("a link");
    let saved = write(&folder.file(), Some("old"), "new");
    let copy = saved.copy.expect("a copy");
    assert_eq!(copy.file_name().expect("a name"), "mcp.json.bak.3");
    let mode = fs::metadata(&copy).expect("a copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The private copy is used again.
    fs::write(folder.file(), "old").expect("a file");
    let saved = write(&folder.file(), Some("old"), "new");
    assert_eq!(saved.copy, Some(copy));
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let folder = Folder::new("owner");
    fs::write(folder.file(), "old").expect("a file");
    // Only root can give a file to another user. The files of others have the owner of the process.
    let _ = chown(folder.file(), Some(65534), Some(65534));
    let file = fs::metadata(folder.file()).expect("a file");
    let owner = (file.uid(), file.gid());
    write(&folder.file(), Some("old"), "new");
    let file = fs::metadata(folder.file()).expect("a file");
    assert_eq!(((file.uid(), file.gid()), &*text(&folder.file())), (owner, "new"));
}
