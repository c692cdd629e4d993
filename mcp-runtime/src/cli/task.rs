//! Calls that run as tasks. The status goes to stderr, questions are answered as in any call, and the task's result is the command's
//! result.

use std::{io::Write as _, time::Duration};

use serde_json::{Value, json};

use super::{Stop, member, questions::Answers};
use crate::testing::{Client, RpcError};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Time between two polls. It is short because the server runs in this process.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether the server rejected a call because the tool runs as a task only. The handler has not run in that case.
pub(super) fn is_wanted(error: &RpcError) -> bool {
    let data = error.data.as_ref();
    data.is_some_and(|it| !it["requiredCapabilities"]["extensions"][EXTENSION].is_null())
}

/// Declares that the client supports tasks.
pub(super) fn look_after(client: &mut Client) {
    client.declare_extension(EXTENSION);
}

/// Polls a task until it has ended, and answers its questions.
///
/// # Errors
/// Returns the error that the task ended with, or the questions without an answer.
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
                    // A reader that has gone is no reason to fail.
                    let _ = writeln!(std::io::stderr(), "… {status}");
                    said = status;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
