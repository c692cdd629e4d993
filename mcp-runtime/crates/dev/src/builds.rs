//! Builds the program after each change of its sources.

use std::{io::Write as _, mem, path::PathBuf, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use crate::{
    cargo::{Built, build},
    copies,
    error::DevError,
    project::Project,
    watch::SourceWatch,
};

/// Time without a change after which a build starts. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(15);

/// Number of builds without an end in a row, after which a build may take its time.
const ENDED_IN_A_ROW: u32 = 2;

/// Time that such a build has before a change ends it. Build scripts may write sources, and a change of their own would end each build.
const PATIENCE: Duration = Duration::from_secs(60);

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
    let mut watch = SourceWatch::start(&project)?;
    let mut program = project.program().to_owned();
    let mut is_first = true;
    loop {
        if !is_first {
            watch.changed().await;
            say("the sources have changed");
        }
        // On Windows, the first build has a target folder of its own, and takes long. Calls do not wait for it.
        if !(is_first && cfg!(windows)) && steps.send(BuildStep::Changed).is_err() {
            return Ok(());
        }
        let start = Instant::now();
        let built = build_until_quiet(&project, &mut watch, &mut program, !is_first).await?;
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

/// Builds until there is no change during the build. A change ends the build, because a build that hangs must not keep its mend from being built.
/// After [`ENDED_IN_A_ROW`] such builds, the next build counts even if there is a change. `waits` tells whether the editor may still write.
async fn build_until_quiet(
    project: &Project,
    watch: &mut SourceWatch,
    program: &mut PathBuf,
    mut waits: bool,
) -> Result<Built, DevError> {
    let mut ended = 0;
    loop {
        while waits && timeout(QUIET, watch.changed()).await.is_ok() {}
        waits = true;
        let is_patient = ended >= ENDED_IN_A_ROW;
        let change = async {
            sleep(if is_patient { PATIENCE } else { Duration::ZERO }).await;
            watch.changed().await;
        };
        let built = tokio::select! {
            biased;
            () = change => {
                ended += 1;
                continue;
            }
            built = build(project) => built,
        };
        ended = 0;
        if let Built::Program(built) = &built {
            program.clone_from(built);
        }
        // A new folder may have changed before it was watched.
        let has_new = watch.follow(project, program)?;
        let is_quiet = !has_new && timeout(Duration::ZERO, watch.changed()).await.is_err();
        if is_quiet || is_patient {
            return Ok(built);
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
