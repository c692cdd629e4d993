//! Replaces the text of a configuration file, and keeps the old text beside it.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
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

/// Largest number in the name of a copy.
const MOST_COPIES: u32 = 999;

impl Replacement {
    /// Writes the text of a file. The new text gets its name at once, so that a client never reads a part of it. A new file and all
    /// copies can be read by their owner only, because an entry may contain secrets. An old file keeps its permissions.
    ///
    /// The copy of the old text gets the ending `.bak`, or the first free one of `.bak.2`, `.bak.3` and so on. A copy is never overwritten, so
    /// the text from before the first change stays. A copy that has the same text already is used again.
    ///
    /// # Errors
    /// Fails if a folder or a file cannot be written, or if there are 999 copies with other texts already.
    pub fn write(file: &Path, old: Option<&str>, new: &str) -> io::Result<Self> {
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
        let part = beside(&file, ".new");
        // A file that another run has left there may be a link, or other users may be able to read it.
        match fs::remove_file(&part) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => {}
        }
        write_private(&part, new)?;
        if old.is_some() {
            fs::set_permissions(&part, fs::metadata(&file)?.permissions())?;
        }
        fs::rename(&part, &file)?;
        let is_open_to_others = is_open_to_others(&fs::metadata(&file)?);
        Ok(Self { file, copy, is_open_to_others })
    }
}

/// Writes a copy of the old text. Returns its path.
fn keep(file: &Path, old: &str) -> io::Result<PathBuf> {
    for number in 1..=MOST_COPIES {
        let copy = match number {
            1 => beside(file, ".bak"),
            _ => beside(file, &format!(".bak.{number}")),
        };
        match write_private(&copy, old) {
            Ok(()) => return Ok(copy),
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(why),
            Err(_) if fs::read(&copy).is_ok_and(|text| text == old.as_bytes()) => return Ok(copy),
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("{MOST_COPIES} copies are beside the file: remove some of them")))
}

/// Returns the path of a file with this ending after the whole name of `file`.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    file.with_file_name(name)
}

/// Creates a file that only its owner can read, and writes it to the disk, so that a power cut loses neither the old text nor the new text.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(unix)]
fn is_open_to_others(file: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o044 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}
