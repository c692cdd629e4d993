//! Installs third-party programs into a folder of `target`, once.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, PoisonError},
};

use crate::requirement::Missing;

/// Returns the folder in `parent` for the programs that `manifest` pins. Calls `fill` to fill the folder if no earlier run has filled it.
///
/// The folder is filled under another name and renamed when complete, so that an interrupted or concurrent run cannot leave it incomplete.
/// Tests of one process wait for each other, so that each folder is filled only once.
///
/// # Errors
///
/// [`Missing`], with the cause, when the folder cannot be filled.
pub fn installed(
    parent: &Path,
    name: &str,
    manifest: &str,
    fill: impl FnOnce(&Path) -> Result<(), Missing>,
) -> Result<PathBuf, Missing> {
    static FILLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error| Missing::new(format!("installing {name}: {error}"));
    let mut hasher = DefaultHasher::new();
    manifest.hash(&mut hasher);
    let done = parent.join(format!("{name}-{:08x}", hasher.finish() >> 32));
    if done.exists() {
        return Ok(done);
    }
    let partial = parent.join(format!("{name}.partial-{}", process::id()));
    fs::create_dir_all(&partial).map_err(failed)?;
    let filled = fill(&partial).and_then(|()| match fs::rename(&partial, &done) {
        Err(_) if done.exists() => Ok(()),
        renamed => renamed.map_err(failed),
    });
    // The error is ignored, because after a successful rename there is no folder to remove.
    let _ = fs::remove_dir_all(&partial);
    filled.map(|()| done)
}
