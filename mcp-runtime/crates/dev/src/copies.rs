//! Copies of the program, in a folder that belongs to this process.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Name of the file that a process locks in its folder. The operating system releases the lock when the process ends.
const LOCK: &str = "lock";

/// Age after which a folder without a lock is removed. A process that starts needs less time between the folder and the lock.
const STARTING: Duration = Duration::from_secs(60);

/// State of the program that cargo has written, which changes with each build.
pub(crate) type ProgramStamp = Option<(SystemTime, u64)>;

/// Copies of the program, which cargo does not overwrite while they run.
pub(crate) struct Copies {
    folder: PathBuf,
    count: u64,
    /// Lock on the folder. `None` if the folder cannot be locked, for example on a file system without locks.
    lock: Option<File>,
}

impl Copies {
    /// Creates a folder for the copies of this process. Removes the folders of processes that were killed.
    pub(crate) fn new(folder: &Path) -> Self {
        remove_abandoned(folder);
        let process = std::process::id();
        let mut own = folder.join(process.to_string());
        let mut number = 1;
        let lock = loop {
            match lock(&own, true) {
                // A process in another container can have the same id.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    number += 1;
                    own = folder.join(format!("{process}-{number}"));
                }
                lock => break lock.ok(),
            }
        };
        // A killed process with the same id may have left copies, and logins of its users.
        for entry in fs::read_dir(&own).into_iter().flatten().flatten() {
            if entry.file_name() != LOCK {
                let path = entry.path();
                let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(path));
            }
        }
        Self { folder: own, count: 0, lock }
    }

    /// Returns the path of a file that is removed together with the copies.
    #[cfg(feature = "http")]
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Copies the program. Returns the path of the copy, and the state of the program.
    ///
    /// # Errors
    /// Fails if the program cannot be read, or if the copy cannot be written.
    pub(crate) fn make(&mut self, program: &Path) -> io::Result<(Arc<ProgramCopy>, ProgramStamp)> {
        let stamp = stamp(program);
        self.count += 1;
        // The copy has the name of the program, which is the name of the server by default.
        let folder = self.folder.join(self.count.to_string());
        fs::create_dir_all(&folder)?;
        let copy = ProgramCopy(folder.join(program.file_name().unwrap_or_default()));
        fs::copy(program, &copy.0)?;
        Ok((Arc::new(copy), stamp))
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        // Older versions of Windows do not remove a file that is open.
        self.lock = None;
        // A copy that remains only takes space in the target folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Copy of a program, which is removed when no server needs it any longer.
pub(crate) struct ProgramCopy(PathBuf);

impl ProgramCopy {
    /// Copy for a server that has no program.
    #[cfg(all(test, feature = "http"))]
    pub(crate) fn of_test() -> Arc<Self> {
        Arc::new(Self(PathBuf::new()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ProgramCopy {
    fn drop(&mut self) {
        let _ = self.0.parent().map(fs::remove_dir_all);
    }
}

/// Returns the state of the program.
pub(crate) fn stamp(program: &Path) -> ProgramStamp {
    let metadata = fs::metadata(program).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Removes the folders of processes that have ended without removing them.
fn remove_abandoned(folder: &Path) {
    for other in fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = other.metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|time| time.elapsed().ok());
        if age.is_none_or(|age| age < STARTING) {
            continue;
        }
        // The lock is held during the removal, so that no process with the same id takes the folder.
        let lock = lock(&other.path(), false);
        // Errors other than a missing file may mean that the process still runs.
        let may_run = lock.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::NotFound);
        if !may_run {
            let _ = fs::remove_dir_all(other.path());
        }
    }
}

/// Locks the folder of a process.
///
/// # Errors
/// Fails with `WouldBlock` if a running process holds the lock, with `NotFound` if the file is missing, or if the system cannot lock it.
fn lock(folder: &Path, creates: bool) -> io::Result<File> {
    if creates {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(creates).truncate(false);
    // Other programs can delete the file, and cannot open it.
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 4);
    let file = options.open(folder.join(LOCK));
    #[cfg(windows)]
    let file = file.map_err(|error| match error.raw_os_error() {
        // The error for a file that is in use.
        Some(32) => io::ErrorKind::WouldBlock.into(),
        _ => error,
    });
    #[cfg(unix)]
    let file = file.and_then(|file| {
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    });
    file
}

#[cfg(all(test, unix))]
mod tests {
    use std::mem;

    use super::*;

    #[test]
    fn only_the_folder_of_a_process_that_has_ended_is_removed() {
        let root = std::env::temp_dir().join(format!("mcp-runtime-copies-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let long_ago = || SystemTime::now() - 100_000 * STARTING;
        let age = |folder: &Path| File::open(folder).unwrap().set_modified(long_ago()).unwrap();
        let program = root.join("program");
        let first = Copies::new(&root);
        fs::write(first.folder.join("kept.jsonl"), "a").unwrap();
        fs::write(&program, "a").unwrap();
        age(&first.folder);
        // A process with the same id, as in another container.
        let mut second = Copies::new(&root);
        let (copy, _) = second.make(&program).unwrap();
        assert!(copy.path().starts_with(&second.folder) && first.folder != second.folder);
        assert_eq!(fs::read_to_string(first.folder.join("kept.jsonl")).unwrap(), "a");
        // The first process is killed.
        let Copies { folder, lock, .. } = &mut *mem::ManuallyDrop::new(first);
        *lock = None;
        age(folder);
        let third = Copies::new(&root);
        assert!(!third.folder.join("kept.jsonl").exists() && copy.path().exists());
        drop((copy, second, third));
        fs::remove_file(program).unwrap();
        fs::remove_dir(root).unwrap();
    }
}
