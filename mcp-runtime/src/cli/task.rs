//! A call that goes on as a task: its status goes to stderr, what it asks is answered like any question, and its result is the command's.

use std::{io::Write as _, time::Duration};

use serde_json::{Value, json};

use super::{Stop, member, questions::Answers};
use crate::testing::{Client, RpcError};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How long until the next look: the server is this very process.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether a call was refused because it must be a task. Nothing has run then.
pub(super) fn is_wanted(error: &RpcError) -> bool {
    let data = error.data.as_ref();
    data.is_some_and(|it| !it["requiredCapabilities"]["extensions"][EXTENSION].is_null())
}

/// Says that this client looks after tasks.
pub(super) fn look_after(client: &mut Client) {
    client.declare_extension(EXTENSION);
}

/// Looks after a task to its end.
///
/// # Errors
/// What it ended with, or the questions that nobody answers.
pub(super) async fn follow(
    client: &mut Client,
    answers: &mut Answers,
    created: &Value,
) -> Result<Value, Stop> {
    let which = json!({ "taskId": created["taskId"] });
    let mut said = String::new();
    loop {
        let mut task = client.request("tasks/get", which.clone()).await.map_err(Stop::failure)?;
        let status = member(&task, "statusMessage").to_owned();
        match member(&task, "status") {
            "completed" => return Ok(task["result"].take()),
            "failed" => {
                let error: RpcError =
                    serde_json::from_value(task["error"].take()).map_err(Stop::failure)?;
                return Err(Stop::failure(error));
            }
            "cancelled" => return Err(Stop::failure(format!("the task was cancelled: {status}"))),
            "input_required" => {
                let answers = answers.answer(&task["inputRequests"]).await?;
                let update = json!({ "taskId": created["taskId"], "inputResponses": answers });
                client.request("tasks/update", update).await.map_err(Stop::failure)?;
            }
            _ => {
                if status != said {
                    // Whoever reads this may have gone; that is no reason to fail.
                    let _ = writeln!(std::io::stderr(), "… {status}");
                    said = status;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
