//! Lock that lets one process at a time change the configuration files in a folder.

use std::{fs::File, io, path::Path, thread, time::Duration};

/// Maximum number of attempts to take the lock. A process holds it only while it writes a file.
const ATTEMPTS: u32 = 100;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Exclusive lock on a folder, until it is dropped. Programs that do not ask for the lock can still write files, and the lock leaves no file
/// behind.
#[derive(Debug)]
pub struct FolderLock {
    _held: Option<File>,
}

impl FolderLock {
    /// Waits for the lock, up to five seconds. A file system without locks gives a lock that keeps no process out, and so does a process that
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
    const ERROR_SHARING_VIOLATION: i32 = 32;
    error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)
}

#[cfg(not(any(unix, windows)))]
fn try_lock(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(unix, windows)))]
fn is_taken(_: &io::Error) -> bool {
    false
}
