//! Builds the program after each change of its sources.

use std::{io::Write as _, path::PathBuf, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use crate::{
    cargo::{Built, build},
    error::DevError,
    project::Project,
    watch::SourceWatch,
};

/// Time without a change after which a build starts. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(15);

/// Step of the builds.
#[derive(Debug)]
pub(crate) enum BuildStep {
    /// The sources have changed. Another step follows.
    Changed,
    /// Path of the program that the last build has written, which may be the same as before.
    Built(PathBuf),
    /// Text for the client about a build that has failed.
    Failed(String),
}

/// Builds after each change, until the receiver of the steps is dropped. A change during a build starts a further build, and only the last
/// build counts.
///
/// # Errors
/// Fails if the sources cannot be watched.
pub(crate) async fn build_after_changes(
    project: Project,
    steps: mpsc::UnboundedSender<BuildStep>,
) -> Result<(), DevError> {
    let mut watch = SourceWatch::start(&project)?;
    let mut program = project.program().to_owned();
    loop {
        watch.changed().await;
        if steps.send(BuildStep::Changed).is_err() {
            return Ok(());
        }
        say("the sources have changed");
        let last = loop {
            while timeout(QUIET, watch.changed()).await.is_ok() {}
            let start = Instant::now();
            let built = build(&project).await;
            if let Built::Program(built) = &built {
                program.clone_from(built);
            }
            watch.follow(&project, &program)?;
            // If there was a change during the build, the sources are built again.
            if timeout(Duration::ZERO, watch.changed()).await.is_err() {
                report(&built, start.elapsed());
                break built;
            }
        };
        let step = match last {
            Built::Program(program) => BuildStep::Built(program),
            Built::Failed(text) => BuildStep::Failed(text),
        };
        if steps.send(step).is_err() {
            return Ok(());
        }
    }
}

fn report(built: &Built, took: Duration) {
    let text = match built {
        Built::Program(_) => "built",
        Built::Failed(_) => "the build has failed",
    };
    say(&format!("{text} after {} ms", took.as_millis()));
}

fn say(text: &str) {
    // If stderr is closed, the text has no reader, so an error does not matter.
    let _ = writeln!(std::io::stderr(), "dev: {text}");
}
