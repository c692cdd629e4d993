//! Replaces the text of a configuration file, and keeps the old text beside it. A lock lets one process at a time do so in a folder.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

/// File whose text was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replacement {
    /// The file that was written. For a link, this is its target.
    pub file: PathBuf,
    /// The copy of the old text. `None` if there was no file.
    pub copy: Option<PathBuf>,
    /// Whether the permissions let other users of the machine read the file. Always `false` on Windows, where the folder of a user is closed.
    pub is_open_to_others: bool,
}

/// Outcome of [`Replacement::write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The file has the new text.
    Written(Replacement),
    /// Another program has changed the file since it was read. The file has the text of that program.
    Overtaken,
}

/// Largest number in the name of a copy, or of a file with a new text.
const MOST_FILES: u32 = 999;

impl Replacement {
    /// Writes the text of a file. The text is written to a file of its own, which then takes the name of the old file. So a client never
    /// reads a part of the text. A new file and all copies can be read by their owner only, because an entry may contain secrets. An
    /// old file keeps its owner and its permissions.
    ///
    /// The copy of the old text gets the ending `.bak`, or the first free one of `.bak.2`, `.bak.3` and so on. A copy is never overwritten, so
    /// the text from before the first change stays. A private copy that already has the same text is used again. A link is no such copy.
    ///
    /// If the file does not have the text `old` any more, it stays as it is. Only a program that writes in the instant before the file is replaced
    /// can lose its change. Hold a [`FolderLock`] to keep other calls of this function out, and read the file under it.
    ///
    /// # Errors
    /// Fails if a folder or a file cannot be written, if the new file cannot have the owner of the old one, or if 999 other copies are there
    /// already. The file then has its old text, unless only its new permissions could not be read.
    pub fn write(file: &Path, old: Option<&str>, new: &str) -> io::Result<Replaced> {
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let file = match old {
            Some(_) => fs::canonicalize(file)?,
            // The new file would take the place of the link.
            None if file.is_symlink() => {
                return Err(io::Error::other(
                    "it is a link to a file that does not exist: create that file",
                ));
            }
            None => file.to_owned(),
        };
        let copy = old.map(|old| keep(&file, old)).transpose()?;
        let part = write_part(&file, new)?;
        match take_place(&part, &file, old) {
            Ok(true) => {}
            other => {
                // The new text may contain secrets.
                let _ = fs::remove_file(&part);
                return other.map(|_| Replaced::Overtaken);
            }
        }
        let is_open_to_others = is_open_to_others(&fs::metadata(&file)?);
        Ok(Replaced::Written(Self { file, copy, is_open_to_others }))
    }
}

/// Writes a copy of the old text. Returns its path.
fn keep(file: &Path, old: &str) -> io::Result<PathBuf> {
    for number in 1..=MOST_FILES {
        let copy = match number {
            1 => beside(file, ".bak"),
            _ => beside(file, &format!(".bak.{number}")),
        };
        match write_private(&copy, old) {
            Ok(()) => return Ok(copy),
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(why),
            Err(_) if is_private_copy(&copy, old) => return Ok(copy),
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("{MOST_FILES} copies are beside the file: remove some of them")))
}

/// Whether a file has this text, and only its owner can read it. The target of a link may be replaced later, so a link is no copy.
fn is_private_copy(copy: &Path, old: &str) -> bool {
    let is_private =
        fs::symlink_metadata(copy).is_ok_and(|found| found.is_file() && !is_open_to_others(&found));
    is_private && fs::read(copy).is_ok_and(|text| text == old.as_bytes())
}

/// Writes the new text to a file of its own beside `file`. Its name contains the process id, because two processes may replace `file`
/// at once. Returns the path of the new file.
fn write_part(file: &Path, new: &str) -> io::Result<PathBuf> {
    for number in 1..=MOST_FILES {
        let part = beside(file, &format!(".{}-{number}.new", process::id()));
        match write_private(&part, new) {
            Ok(()) => return Ok(part),
            // A process with the same id was killed, or runs in another container.
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::Error::other(format!(
        "{MOST_FILES} files with the ending `.new` are beside the file: remove them"
    )))
}

/// Gives `part` the name of `file`, and the owner and the permissions of an old file. Returns `false` without that if the file does not have
/// the old text any more.
fn take_place(part: &Path, file: &Path, old_text: Option<&str>) -> io::Result<bool> {
    if old_text.is_some() {
        let old = fs::metadata(file)?;
        #[cfg(unix)]
        keep_owner(part, &old)?;
        fs::set_permissions(part, old.permissions())?;
    }
    // Before the rename, the names of the copy and of the new file go to the disk, so that a power cut loses neither. Not every file system
    // can sync a folder.
    #[cfg(unix)]
    if let Some(folder) = file.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    let is_as_read = match fs::read(file) {
        Ok(text) => old_text.is_some_and(|old| old.as_bytes() == text),
        Err(why) if why.kind() == io::ErrorKind::NotFound => old_text.is_none(),
        Err(why) => return Err(why),
    };
    if is_as_read {
        fs::rename(part, file)?;
    }
    Ok(is_as_read)
}

/// Gives a new file the owner and the group of the old one. With the permissions alone, a client of another user could not read the file.
#[cfg(unix)]
fn keep_owner(part: &Path, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let new = fs::metadata(part)?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    chown(part, Some(old.uid()), Some(old.gid())).map_err(|why| {
        io::Error::other(format!(
            "the new file cannot have the owner and the group of the old one ({why}): run the command as the owner"
        ))
    })
}

/// Returns the path of a file with this ending after the whole name of `file`.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    file.with_file_name(name)
}

/// Creates a file that only its owner can read, and writes its text to the disk. Removes the file again if the text cannot be written.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

#[cfg(unix)]
fn is_open_to_others(file: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o044 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// Maximum number of attempts to take the lock. A process holds it only while it writes a file.
const ATTEMPTS: u32 = 600;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Exclusive lock on a folder, until it is dropped. Programs that do not ask for the lock can still write files, and the lock leaves no file
/// behind.
#[derive(Debug)]
pub struct FolderLock {
    _held: Option<File>,
}

impl FolderLock {
    /// Waits for the lock, up to thirty seconds. A file system without locks gives a lock that keeps no process out, and so does a process that
    /// holds its lock for longer.
    pub fn take(folder: &Path) -> Self {
        for _ in 0..ATTEMPTS {
            match try_lock(folder) {
                Ok(held) => return Self { _held: Some(held) },
                Err(error) if is_taken(&error) => thread::sleep(PAUSE),
                Err(_) => break,
            }
        }
        Self { _held: None }
    }
}

#[cfg(unix)]
fn try_lock(folder: &Path) -> io::Result<File> {
    use rustix::fs::{FlockOperation, flock};

    let folder = File::open(folder)?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

#[cfg(unix)]
fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Opens a file of its own in the folder, which no other process can open until the system removes the file with its last handle.
#[cfg(windows)]
fn try_lock(folder: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = File::options();
    options.write(true).create(true).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(folder.join(".mcp-runtime.lock"))
}

#[cfg(windows)]
fn is_taken(error: &io::Error) -> bool {
    // The system denies access while it removes the file of the last holder.
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    matches!(error.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION))
}

#[cfg(not(any(unix, windows)))]
fn try_lock(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(unix, windows)))]
fn is_taken(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests;
