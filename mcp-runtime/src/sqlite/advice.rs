//! Finds out why a file cannot be used, and how to fix that. SQLite itself often reports only "disk I/O error".

use std::{
    error::Error,
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;

/// Advice for a path at which no file can be created.
pub(super) fn for_path(path: &Path, why: &io::Error) -> String {
    let directory = directory(path);
    let shown = directory.display();
    if directory.is_dir() && is_denied(why) {
        return closed_directory(&directory, why);
    }
    match why.kind() {
        ErrorKind::NotFound if !directory.exists() => {
            format!(
                "the directory `{shown}` does not exist: create it, or name a file in another directory"
            )
        }
        _ if directory.is_file() => {
            format!("`{shown}` is not a directory: name a file in a directory")
        }
        _ => format!(
            "{why}: name a file in a directory that exists and that this process may write to"
        ),
    }
}

/// Advice for a path that does not name a regular file. The check keeps SQLite from opening devices and sockets.
pub(super) fn for_kind(path: &Path) -> Option<&'static str> {
    let kind = fs::metadata(path).ok()?.file_type();
    if kind.is_dir() {
        Some("it is a directory: name a file in it")
    } else if kind.is_file() {
        None
    } else {
        Some("it is a device, a socket or a pipe: name a file")
    }
}

/// Advice for a file that SQLite could not open.
pub(super) fn for_opening(path: &Path, why: &rusqlite::Error) -> String {
    for_database(why, || closed_file(path).or_else(|| obstacle_beside(path)))
}

/// Advice for a file that this process has open.
///
/// The search for the cause does not open the file a second time, because closing any descriptor of a file releases all locks that the
/// process has on this file (POSIX advisory locks). A different server could then open the file.
pub(super) fn for_open_file(path: &Path, why: &rusqlite::Error) -> String {
    for_database(why, || obstacle_beside(path))
}

/// Advice for an error of SQLite. `obstacle` looks for the cause if SQLite does not report one.
fn for_database(why: &rusqlite::Error, obstacle: impl FnOnce() -> Option<String>) -> String {
    match why.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process has it open: give each server a file of its own".to_owned()
        }
        Some(ErrorCode::NotADatabase) => {
            "it is not a SQLite database: name another file, or a new one"
                .to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("{why}: replace it with an intact copy, or name another file")
        }
        Some(ErrorCode::DiskFull) => format!("{why}: free some space, or name a file on another disk"),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure,
        ) => obstacle().unwrap_or_else(|| {
            format!("{why}: check whether the disk is full, damaged or gone, or name a file on another disk")
        }),
        _ => format!("{why}: name another file, or a new one"),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Returns the reason why this process cannot write to the file, if there is one.
fn closed_file(path: &Path) -> Option<String> {
    let why = open(path).err()?;
    Some(format!(
        "this process may not write to it ({why}): change its permissions, or name another file"
    ))
}

/// Returns the reason why SQLite cannot write its journals beside the file, if there is one.
fn obstacle_beside(path: &Path) -> Option<String> {
    if let Some(why) = probe(path) {
        return Some(closed_directory(&directory(path), &why));
    }
    ["-journal", "-wal"].into_iter().find_map(|end| {
        let journal = beside(path, end);
        let why = open(&journal).err().filter(|why| why.kind() != ErrorKind::NotFound)?;
        let shown = journal.display();
        Some(format!(
            "its journal `{shown}` cannot be written ({why}): let this process write to it, and do not delete it, or name another file"
        ))
    })
}

/// Tries to create a file beside the given one, and returns the error if that fails.
fn probe(path: &Path) -> Option<io::Error> {
    let probe = beside(path, "-probe");
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => {
            // If the removal fails, an empty file remains, which does no harm.
            let _ = fs::remove_file(probe);
            None
        }
        Err(why) => Some(why).filter(|why| why.kind() != ErrorKind::AlreadyExists),
    }
}

fn closed_directory(directory: &Path, why: &dyn Error) -> String {
    format!(
        "no file can be created in `{}` ({why}), where SQLite keeps journals beside its file: let this process write to the directory, or \
         name a file in another one",
        directory.display()
    )
}

fn is_denied(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn directory(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}
