//! Requests about tasks that another node runs: this node asks that node, and waits until the record of the task shows the outcome.

use std::time::Duration;

use mcp_runtime_wire::Raw;
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    message::TaskMessage,
    task_node::{TaskNode, TaskWatch},
    tasks::{TaskAnswers, Tasks, Viewer},
};
use crate::{
    error::Result,
    model::{TaskEnd, TaskState, TaskView},
};

/// Time for which a client waits until another node has cancelled its task. A node that has died is replaced within this time.
const CANCEL_LIMIT: Duration = Duration::from_secs(20);

/// Time for which a client waits until another node has taken its answers. They are in the log of the nodes by then, so they are not lost.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Time after which the node of a task is asked again to cancel it.
const ASK_AGAIN: Duration = Duration::from_secs(5);

impl Tasks {
    /// Asks the node of a task to cancel it, and waits until the record of the task shows an end. If the node dies meanwhile, the node that
    /// takes the task is asked.
    pub(super) async fn cancel_elsewhere(
        &self,
        node: &TaskNode,
        watch: &TaskWatch,
        id: &str,
        viewer: &Viewer,
    ) -> Result<(TaskView, bool)> {
        let (until, mut asked) = (Instant::now() + CANCEL_LIMIT, None);
        let mut has_asked = false;
        loop {
            let (view, runs_at) = self.kept(id, viewer).await?;
            if let TaskState::Ended(end) = &view.state {
                let had_ended = !has_asked || !matches!(**end, TaskEnd::Cancelled);
                return Ok((view, had_ended));
            }
            if Instant::now() >= until {
                return Ok((view, false));
            }
            if asked != Some(runs_at) {
                node.send(&TaskMessage::Cancel { id: id.into() }).await?;
                (asked, has_asked) = (Some(runs_at), true);
            }
            if timeout(ASK_AGAIN, watch.next()).await.is_err() {
                asked = None;
            }
        }
    }

    /// Sends answers to the node of a task, and waits until the record of the task shows that they were taken, but at most [`ANSWER_LIMIT`].
    pub(super) async fn update_elsewhere(
        &self,
        watch: &TaskWatch,
        id: &str,
        viewer: &Viewer,
        mut answers: TaskAnswers,
    ) -> Result<()> {
        // Only answers that fit open questions are sent, so that a client cannot fill the store.
        let TaskState::InputRequired(open) = self.view(id, viewer).await?.state else {
            return Ok(());
        };
        answers.retain(|(key, json)| {
            let asked = open.iter().find(|(asked, _)| asked == key);
            asked.is_some_and(|(_, question)| question.check(Raw::trusted(json)).is_ok())
        });
        if answers.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = answers.iter().map(|(key, _)| key.clone()).collect();
        let answers = answers.into_iter().map(|(key, json)| (key.into(), Ok(json.into())));
        self.send_answers(viewer.owner(), id, &answers.collect(), false).await?;
        let until = Instant::now() + ANSWER_LIMIT;
        loop {
            let (view, _) = self.kept(id, viewer).await?;
            let TaskState::InputRequired(open) = &view.state else { return Ok(()) };
            let is_open = |key| open.iter().any(|(asked, _)| asked == key);
            if !keys.iter().any(is_open) || Instant::now() >= until {
                return Ok(());
            }
            let _ = timeout_at(until, watch.next()).await;
        }
    }
}
