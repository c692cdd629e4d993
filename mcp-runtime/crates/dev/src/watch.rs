//! Watches the folders of the sources, and reports changes that concern the build.

use std::{
    collections::BTreeSet,
    mem,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::{
    error::DevError,
    project::{Project, Sources},
};

/// Files that have changed. Without a path, the system has lost changes.
pub(crate) type ChangedFiles = BTreeSet<PathBuf>;

/// Watches the sources of a project.
pub(crate) struct SourceWatch {
    watcher: RecommendedWatcher,
    shared: Arc<WatchState>,
    /// Watched folders. The flag tells whether the folders below are watched, too.
    watched: BTreeSet<(PathBuf, bool)>,
}

/// State that the thread of the watcher shares.
#[derive(Default)]
struct WatchState {
    sources: Mutex<Sources>,
    files: Mutex<ChangedFiles>,
    changed: Notify,
    /// Whether a watched folder has been created again. The system does not watch such a folder by itself.
    is_renewed: AtomicBool,
}

impl SourceWatch {
    /// Begins to watch the sources of the last build.
    ///
    /// # Errors
    /// Fails if the system cannot watch the folders.
    pub(crate) fn start(project: &Project) -> Result<Self, DevError> {
        let shared = Arc::<WatchState>::default();
        let state = shared.clone();
        let watcher = notify::recommended_watcher(move |event| state.note(event));
        let watcher = watcher.map_err(|error| unwatched(project.folder(), &error))?;
        let mut watch = Self { watcher, shared, watched: BTreeSet::new() };
        watch.follow(project, project.program())?;
        Ok(watch)
    }

    /// Watches the sources of the newest build, which has written `program` and may have other dependencies than the build before. Returns whether
    /// there are folders that were not watched before.
    ///
    /// # Errors
    /// Fails if the system cannot watch a folder.
    pub(crate) fn follow(&mut self, project: &Project, program: &Path) -> Result<bool, DevError> {
        let sources = project.sources(program);
        if self.shared.is_renewed.swap(false, Ordering::Relaxed) {
            self.watched.clear();
        }
        let trees = sources.trees.iter().map(|tree| (tree.clone(), true));
        let folders = sources.folders.iter().map(|folder| (folder.clone(), false));
        let wanted: BTreeSet<_> = trees.chain(folders).collect();
        for (folder, _) in self.watched.difference(&wanted) {
            // A folder that was removed is not watched any longer.
            let _ = self.watcher.unwatch(folder);
        }
        for (folder, is_tree) in wanted.difference(&self.watched) {
            let mode =
                if *is_tree { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            match self.watcher.watch(folder, mode) {
                Err(error) if folder.exists() => return Err(unwatched(folder, &error)),
                // The folder may have been removed just now.
                _ => {}
            }
        }
        let has_new = !wanted.is_subset(&self.watched);
        self.watched = wanted;
        *lock(&self.shared.sources) = sources;
        Ok(has_new)
    }

    /// Waits for a change. Changes since the last call end the wait at once.
    pub(crate) async fn changed(&self) -> ChangedFiles {
        loop {
            self.shared.changed.notified().await;
            let files = mem::take(&mut *lock(&self.shared.files));
            if !files.is_empty() {
                return files;
            }
        }
    }
}

impl WatchState {
    fn note(&self, event: notify::Result<notify::Event>) {
        let sources = lock(&self.sources);
        let changed = match event {
            Ok(event) if event.need_rescan() => vec![PathBuf::new()],
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => Vec::new(),
            Ok(event) => {
                let is_folder = event.paths.iter().any(|path| sources.is_folder(path));
                self.is_renewed.fetch_or(is_folder, Ordering::Relaxed);
                let concerns = |path: &PathBuf| sources.is_folder(path) || sources.concern(path);
                event.paths.into_iter().filter(concerns).collect()
            }
            // The system may have lost changes.
            Err(_) => vec![PathBuf::new()],
        };
        if !changed.is_empty() {
            lock(&self.files).extend(changed);
            self.changed.notify_one();
        }
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unwatched(folder: &Path, error: &notify::Error) -> DevError {
    let fix = match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            ": other programs watch too many files; on Linux, raise `fs.inotify.max_user_watches`"
        }
        _ => "",
    };
    DevError::new(format_args!("changes in {} cannot be watched: {error}{fix}", folder.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    #[tokio::test]
    async fn a_folder_with_two_spellings_is_watched_with_all_of_its_files() {
        let root = std::env::temp_dir().join(format!("mcp-runtime-watch-{}", std::process::id()));
        let (package, data) = (root.join("package"), root.join("data"));
        for folder in [&package.join("target/debug"), &package.join("src"), &data] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(package.join("Cargo.toml"), "").unwrap();
        // A library of the same package may spell the path of the folder in another way.
        let files = [package.join("../data/a.txt"), package.join("src/../../data/b.txt")];
        for file in &files {
            fs::write(file, "").unwrap();
        }
        let program = package.join("target/debug/a");
        let list = format!("a: {} {}\n", files[0].display(), files[1].display());
        fs::write(program.with_extension("d"), list).unwrap();
        let project = Project::new(&program, &package, Vec::new()).unwrap();
        let watch = SourceWatch::start(&project).unwrap();
        for file in &files {
            fs::write(file, "changed").unwrap();
            let is_this = |changed: &PathBuf| changed.file_name() == file.file_name();
            let seen = async { while !watch.changed().await.iter().any(is_this) {} };
            let seen = tokio::time::timeout(Duration::from_secs(10), seen).await;
            assert!(seen.is_ok(), "{} is not watched", file.display());
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
