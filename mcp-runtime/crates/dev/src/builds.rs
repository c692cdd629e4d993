//! Builds the program after each change of its sources.

use std::{
    collections::BTreeMap,
    io::Write as _,
    mem,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    cargo::{Built, build},
    copies,
    error::DevError,
    project::Project,
    watch::{ChangedFiles, SourceWatch},
};

/// Time without a change after which a build starts. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(15);

/// Number of builds in a row that changes have ended, after which the next build may take its time.
const ENDED_IN_A_ROW: u32 = 2;

/// Time that such a build has before a change ends it. Build scripts may write sources, and a change of their own would end each build.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of whole builds in a row that have to change a file before it counts as written by the builds.
const WRITTEN_IN_A_ROW: u32 = 2;

/// Number of whole builds without a result that counts, after which the next one counts even if sources have changed meanwhile. A build script may
/// give its files a new name each time.
const UNSETTLED: u32 = 5;

/// Time in which a new server has to be ready before the last server ends.
pub(crate) const BESIDE: Duration = Duration::from_secs(10);

/// Time in which a server that starts alone has to be ready.
pub(crate) const ALONE: Duration = Duration::from_secs(60);

/// Line for the user when a new server is not ready within [`BESIDE`].
pub(crate) const LAST_ENDS: &str = "the new server is not ready after 10 s, so the last server ends: both may need the same lock or port";

/// Text for clients about a server that was not ready within [`ALONE`].
pub(crate) const NEVER_READY: &str = "the server has started, but was not ready to answer after 60 s; the next change that compiles starts it again";

/// Step of the builds.
#[derive(Debug)]
pub(crate) enum BuildStep {
    /// The sources have changed, or may have changed. Another step follows.
    Changed,
    /// The program that runs already belongs to the sources.
    Fresh,
    /// Path of the program that the last build has written, which may be the same as before.
    Built(PathBuf),
    /// Text for the client about a build that has failed.
    Failed(String),
}

/// Builds once, because the sources may have changed before they were watched, and then after each change, until the receiver of the steps is
/// dropped. A change during a build ends it and starts a further build, and only the last build counts.
///
/// # Errors
/// Fails if the sources cannot be watched.
pub(crate) async fn build_after_changes(
    project: Project,
    steps: mpsc::UnboundedSender<BuildStep>,
) -> Result<(), DevError> {
    let first = copies::stamp(project.program());
    let watch = SourceWatch::start(&project)?;
    let mut program = project.program().to_owned();
    let mut site = ProjectSite { project, watch };
    let mut written = WrittenFiles::default();
    let mut is_first = true;
    loop {
        if !is_first {
            written.edited(site.changed().await);
            say("the sources have changed");
        }
        // On Windows, the first build has a target folder of its own, and takes long. Calls do not wait for it.
        if !(is_first && cfg!(windows)) && steps.send(BuildStep::Changed).is_err() {
            return Ok(());
        }
        let start = Instant::now();
        let built = build_until_quiet(&mut site, &mut written, &mut program, !is_first).await?;
        let is_fresh = mem::take(&mut is_first) && first == copies::stamp(&program);
        let step = match built {
            Built::Program(_) if is_fresh => BuildStep::Fresh,
            Built::Program(program) => {
                report("built", start);
                BuildStep::Built(program)
            }
            Built::Failed(text) => {
                report("the build has failed", start);
                BuildStep::Failed(text)
            }
        };
        if steps.send(step).is_err() {
            return Ok(());
        }
    }
}

/// Sources and their builds.
trait BuildSite {
    /// Waits for a change since the last call.
    async fn changed(&self) -> ChangedFiles;

    async fn build(&self) -> Built;

    /// Watches the sources of the newest build. Returns whether there are folders that were not watched before.
    fn follow(&mut self, program: &Path) -> Result<bool, DevError>;
}

struct ProjectSite {
    project: Project,
    watch: SourceWatch,
}

impl BuildSite for ProjectSite {
    async fn changed(&self) -> ChangedFiles {
        self.watch.changed().await
    }

    async fn build(&self) -> Built {
        build(&self.project).await
    }

    fn follow(&mut self, program: &Path) -> Result<bool, DevError> {
        self.watch.follow(&self.project, program)
    }
}

/// Files that change during builds. A build script that writes sources does so in each build, and no editor does.
#[derive(Default)]
struct WrittenFiles {
    /// Number of whole builds in a row that have changed each file.
    counts: BTreeMap<PathBuf, u32>,
    /// Files that have changed before the builds: the author writes them.
    edited: ChangedFiles,
}

impl WrittenFiles {
    /// Notes the files whose changes start the next builds.
    fn edited(&mut self, files: ChangedFiles) {
        self.counts.retain(|file, _| !files.contains(file));
        self.edited = files;
    }

    /// Notes all files that have changed during a whole build.
    fn note(&mut self, changed: ChangedFiles) {
        self.counts.retain(|file, _| changed.contains(file));
        for file in changed {
            *self.counts.entry(file).or_default() += 1;
        }
    }

    /// Whether this number of whole builds in a row have changed this file, and not the author.
    fn is_written(&self, file: &Path, builds: u32) -> bool {
        let count = self.counts.get(file).copied().unwrap_or_default();
        count >= builds && !self.edited.contains(file)
    }
}

/// Builds until no file has changed during the build, except for files that the builds write. A change ends the build, because a build that hangs must
/// not keep its mend from being built. After [`ENDED_IN_A_ROW`] such builds, the next build may take its time, and shows which files it writes. The
/// changes of other files lead to a further build. `waits` tells whether the editor may still write.
async fn build_until_quiet(
    site: &mut impl BuildSite,
    written: &mut WrittenFiles,
    program: &mut PathBuf,
    mut waits: bool,
) -> Result<Built, DevError> {
    let (mut ended, mut unsettled) = (0, 0);
    loop {
        while waits && timeout(QUIET, site.changed()).await.is_ok() {}
        waits = true;
        let is_patient = ended >= ENDED_IN_A_ROW;
        let mut changed = ChangedFiles::new();
        let built = tokio::select! {
            biased;
            () = change(site, written, is_patient, &mut changed) => {
                ended += 1;
                continue;
            }
            built = site.build() => built,
        };
        ended = 0;
        if let Built::Program(built) = &built {
            program.clone_from(built);
        }
        // A new folder may have changed before it was watched.
        let has_new = site.follow(program)?;
        changed.extend(timeout(Duration::ZERO, site.changed()).await.unwrap_or_default());
        written.note(changed);
        let is_quiet = written.counts.keys().all(|file| written.is_written(file, WRITTEN_IN_A_ROW));
        unsettled += 1;
        if is_quiet && !has_new || unsettled >= UNSETTLED {
            return Ok(built);
        }
    }
}

/// Waits for a change that ends a build. Collects all files that change meanwhile.
async fn change(
    site: &impl BuildSite,
    written: &WrittenFiles,
    is_patient: bool,
    changed: &mut ChangedFiles,
) {
    let end = Instant::now() + PATIENCE;
    let mut has_changed = false;
    loop {
        tokio::select! {
            files = site.changed() => {
                let are_all = |builds| files.iter().all(|file| written.is_written(file, builds));
                has_changed |= !are_all(WRITTEN_IN_A_ROW);
                let ends = !is_patient && !are_all(1);
                changed.extend(files);
                if ends {
                    return;
                }
            }
            () = sleep_until(end), if has_changed => return,
        }
    }
}

fn report(text: &str, start: Instant) {
    say(&format!("{text} after {} ms", start.elapsed().as_millis()));
}

/// Writes a line for the user.
pub(crate) fn say(text: &str) {
    // If stderr is closed, the text has no reader, so an error does not matter.
    let _ = writeln!(std::io::stderr(), "dev: {text}");
}

#[cfg(test)]
mod tests;
