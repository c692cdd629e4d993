//! Issues of a tracker behind a REST API: an API key, time limits, retries and pages.
//!
//! `ISSUES_URL=https://tracker.example/api ISSUES_KEY=… cargo run -p example-issues` serves the issues of any tracker that answers the
//! requests in the table of `api.rs`. All clients of the server use the same key, so do not share a server with other users. Times are in
//! seconds. Each setting but the last is an option, too, such as `--retry-delay`:
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ISSUES_URL` | URL of the API; begins with https, except on this machine | none |
//! | `ISSUES_KEY` | API key of the user | none |
//! | `ISSUES_TIMEOUT` | time limit of each request to the API | 10 |
//! | `ISSUES_RETRY_DELAY` | wait before a request is repeated; doubles with each attempt, up to 20 | 0.5 |
//! | `ISSUES_DEADLINE` | time limit of each call of a tool, with all of its requests and waits | 60 |

mod api;

use std::env;

use api::{Api, Config, Seconds, no_tracker};
use mcp_runtime::prelude::*;
use serde_json::json;

#[data]
#[serde(rename_all = "lowercase")]
enum Status {
    Open,
    Closed,
}

/// An issue in a list.
#[data]
struct Summary {
    number: u64,
    title: String,
    state: Status,
    labels: Vec<String>,
}

/// An issue with its comments.
#[data]
struct Issue {
    number: u64,
    title: String,
    state: Status,
    labels: Vec<String>,
    /// Markdown
    body: String,
    /// Oldest first
    comments: Vec<Comment>,
}

#[data]
struct Comment {
    author: String,
    /// Markdown
    body: String,
}

#[data]
struct IssueList {
    /// Newest first
    issues: Vec<Summary>,
    /// `null` at the end of the list
    more: Option<More>,
}

/// How to get the rest of a list.
#[data]
struct More {
    cursor: String,
    hint: String,
}

/// Lists issues, newest first.
#[tool(read_only)]
async fn list_issues(
    /// Only issues in this state
    state: Option<Status>,
    /// Only issues with this label
    label: Option<&str>,
    /// Maximum number of pages to read, with up to 50 issues each
    #[arg(default = 1, range(1..=10))]
    pages: u32,
    /// The `cursor` of an earlier result, whose list continues; `state` and `label` are then those of the earlier call
    mut cursor: Option<String>,
    progress: Progress,
    api: &Api,
) -> Result<Json<IssueList>> {
    let mut filter = vec![("per_page", "50")];
    filter.extend(label.map(|label| ("label", label)));
    filter.extend(state.map(|state| match state {
        Status::Open => ("state", "open"),
        Status::Closed => ("state", "closed"),
    }));
    let mut issues = Vec::new();
    for _ in progress.over(0..pages) {
        let (page, next) = api.page("issues", &filter, cursor.as_deref()).await?;
        issues.extend::<Vec<_>>(page);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    let hint = "there are more issues: call `list_issues` again with this `cursor`".to_owned();
    Ok(Json(IssueList { issues, more: cursor.map(|cursor| More { cursor, hint }) }))
}

/// Reads an issue and its comments.
#[tool(read_only)]
async fn read_issue(
    /// Number of the issue
    number: u64,
    api: &Api,
) -> Result<Json<Issue>> {
    let issue = api.get(&format!("issues/{number}")).await?;
    issue.map(Json).ok_or_else(|| no_issue(number))
}

/// Creates an issue.
#[tool(destructive = false)]
async fn create_issue(
    /// A single line
    #[arg(len(1..=200))]
    title: &str,
    /// Markdown
    #[arg(default)]
    body: &str,
    /// Labels that the tracker has
    #[arg(default)]
    labels: &[String],
    api: &Api,
) -> Result<Json<Issue>> {
    let draft = json!({ "title": title, "body": body, "labels": labels });
    // All attempts have the same key, so the tracker creates at most one issue.
    let key = format!("{:032x}", fastrand::u128(..));
    let issue = api.post("issues", &draft, Some(key)).await?;
    issue.map(Json).ok_or_else(no_tracker)
}

/// Adds a comment to an issue.
#[tool(destructive = false)]
async fn add_comment(
    /// Number of the issue
    number: u64,
    /// Markdown
    #[arg(len(1..))]
    body: &str,
    api: &Api,
) -> Result<Json<Comment>> {
    let comment = json!({ "body": body });
    let comment = api.post(&format!("issues/{number}/comments"), &comment, None).await?;
    comment.map(Json).ok_or_else(|| no_issue(number))
}

/// An issue and its comments.
#[resource("issue://{number}", mime_type = "application/json")]
async fn issue(#[complete(open_issues)] number: u64, api: &Api) -> Result<Option<Json<Issue>>> {
    Ok(api.get(&format!("issues/{number}")).await?.map(Json))
}

/// Numbers of the newest open issues.
#[completion]
async fn open_issues(api: &Api) -> Result<Vec<String>> {
    let filter = [("state", "open"), ("per_page", "50")];
    let (issues, _) = api.page::<Summary>("issues", &filter, None).await?;
    Ok(issues.iter().map(|issue| issue.number.to_string()).collect())
}

fn no_issue(number: u64) -> Error {
    Error::msg(format!("there is no issue {number}: find its number with `list_issues`"))
}

fn main() -> Result<Exit, String> {
    // The server has this limit before it reads its options.
    let deadline = env::var("ISSUES_DEADLINE").unwrap_or_else(|_| "60".to_owned());
    let Seconds(time) =
        deadline.parse().map_err(|why| format!("ISSUES_DEADLINE is `{deadline}`: {why}"))?;
    Ok(server!().timeout(time).setup(async |config: State<Config>| Api::open(&config)).run())
}
