//! Results of the tools that the client's model used.

use super::{ToolReply, tool_reply};
use crate::{
    error::ErrorKind,
    model::{Done, Sampling, ToolResult},
};

impl Sampling {
    /// Adds the result of a tool that the model wants to use: any value that a `#[tool]` function can return. The model sees an `Err`.
    ///
    /// Consecutive results form one message. This message must have a result for each [`tool_use`](crate::Sampled::tool_uses) of the
    /// preceding answer.
    ///
    /// ```
    /// use mcp_runtime::{Sampled, Sampling};
    ///
    /// fn add_results(mut conversation: Sampling, answer: &Sampled) -> Sampling {
    ///     conversation = conversation.assistant(answer);
    ///     for call in answer.tool_uses() {
    ///         let result = match call.name.as_str() {
    ///             "today" => Ok("Monday"),
    ///             other => Err(format!("there is no tool `{other}`")),
    ///         };
    ///         conversation = conversation.tool_result(&call.id, result);
    ///     }
    ///     conversation
    /// }
    /// # let _ = add_results;
    /// ```
    pub fn tool_result(self, id: impl Into<String>, result: impl ToolReply) -> Self {
        let result = match tool_reply(result) {
            Ok(Done::Tool(result)) => result,
            Ok(_) => ToolResult::default(),
            // As in a call, an internal error must not reach the model.
            Err(error) if error.kind() == ErrorKind::Internal => {
                tracing::error!("{}", error.message());
                ToolResult::failure("internal error")
            }
            Err(error) => ToolResult::failure(error.message()),
        };
        self.result(id.into(), result)
    }

    /// Adds the failure of a tool that the model wants to use. The model reads the `reason`.
    ///
    /// ```
    /// use mcp_runtime::{Sampled, Sampling};
    ///
    /// fn refuse(conversation: Sampling, answer: &Sampled) -> Sampling {
    ///     let all = answer.tool_uses();
    ///     all.fold(conversation.assistant(answer), |it, call| it.tool_error(&call.id, "not today"))
    /// }
    /// # let _ = refuse;
    /// ```
    pub fn tool_error(self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        self.result(id.into(), ToolResult::failure(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::reply::Json,
        error::Error,
        model::{Content, SamplingTurn},
    };

    #[test]
    fn results_are_what_tools_return() {
        fn check(it: Sampling, content: &[&str], structured: Option<&str>, is_error: bool) {
            let Some(SamplingTurn::Results(results)) = it.turns.last() else {
                panic!("no results")
            };
            let (id, result) = &results[0];
            let expected = ToolResult {
                content: content.iter().map(|it| Content::from(*it)).collect(),
                structured: structured.map(str::to_owned),
                is_error,
                meta: None,
            };
            assert_eq!((id.as_str(), results.len(), result), ("1", 1, &expected));
        }
        let ask = || Sampling::new(1);
        check(ask().tool_result("1", ("a", 2)), &["a", "2"], None, false);
        check(ask().tool_result("1", Json([1])), &["[1]"], Some("[1]"), false);
        check(ask().tool_result("1", Err::<(), _>("no")), &["no"], None, true);
        check(
            ask().tool_result("1", Err::<(), _>(Error::internal("password"))),
            &["internal error"],
            None,
            true,
        );
        check(ask().tool_error("1", "no"), &["no"], None, true);
    }
}
