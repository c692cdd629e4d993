use std::collections::BTreeSet;

use super::{Sampling, SamplingTurn};
use crate::{
    error::shown,
    model::{Role, SampledContent, ToolChoice, tool_name},
};

impl Sampling {
    /// Checks whether a client can be asked this question: the rules of client/sampling that the types leave open, and all values that went
    /// wrong while the question was built. Asking checks this too. Call it to know beforehand.
    ///
    /// # Errors
    /// Returns the first problem, in words for the author.
    ///
    /// ```
    /// use mcp_runtime::{Sampling, ToolUse};
    ///
    /// let question = Sampling::ask("Is it warm?", 100).assistant(ToolUse::new("1", "weather", [(); 0]));
    /// assert!(question.check().unwrap_err().contains("must be a JSON object"));
    /// ```
    pub fn check(&self) -> Result<(), String> {
        self.check_settings()?;
        self.check_tools()?;
        self.check_turns()
    }

    fn check_settings(&self) -> Result<(), String> {
        if self.max_tokens == 0 {
            return Err("a question needs room for an answer: `max_tokens` is 0".to_owned());
        }
        let wishes = &self.preferences;
        let numbers = [
            ("temperature", self.temperature),
            ("cost_priority", wishes.cost),
            ("speed_priority", wishes.speed),
            ("intelligence_priority", wishes.intelligence),
        ];
        for (name, number) in numbers {
            if let Some(number) = number.filter(|it| !it.is_finite()) {
                return Err(format!("`{name}` must be a number that JSON has, not {number}"));
            }
        }
        self.metadata.as_ref().map_or(Ok(()), |it| it.as_ref().map(drop).map_err(Clone::clone))
    }

    fn check_tools(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for tool in &self.tools {
            tool_name(&tool.name)?;
            if let Err(reason) = &tool.schema {
                return Err(format!("the tool `{}`: {reason}", tool.name));
            }
            if !names.insert(&tool.name) {
                return Err(format!("there are two tools `{}`", tool.name));
            }
        }
        if self.tools.is_empty() && self.tool_choice == Some(ToolChoice::Required) {
            return Err(
                "the model must use a tool, but has none: add one with `.tool(…)`".to_owned()
            );
        }
        Ok(())
    }

    /// Checks that every tool use has its result in the very next message (rule SAMP-03).
    fn check_turns(&self) -> Result<(), String> {
        if self.turns.is_empty() {
            return Err("a question needs a message: add one with `.user(…)`".to_owned());
        }
        let mut open = BTreeSet::new();
        for turn in &self.turns {
            match turn {
                SamplingTurn::Results(results) => {
                    for (id, _) in results {
                        if !open.remove(id.as_str()) {
                            return Err(format!(
                                "the tool result `{}` answers no tool use of the message before it, or answers it twice",
                                shown(id)
                            ));
                        }
                    }
                    all_answered(&open)?;
                }
                SamplingTurn::Says(role, blocks) => {
                    all_answered(&open)?;
                    open = uses(*role, blocks)?;
                }
            }
        }
        all_answered(&open)
    }
}

fn all_answered(open: &BTreeSet<&str>) -> Result<(), String> {
    match open.first() {
        None => Ok(()),
        Some(id) => Err(format!(
            "the tool use `{}` needs its result in the next message: add `.tool_result(id, …)`, or `.tool_error(id, …)`",
            shown(id)
        )),
    }
}

/// Returns the ids of the tool uses in one message.
fn uses(role: Role, blocks: &[SampledContent]) -> Result<BTreeSet<&str>, String> {
    if blocks.is_empty() {
        return Err(format!("a message of the {} is empty", role.name()));
    }
    let mut ids = BTreeSet::new();
    for block in blocks {
        let SampledContent::ToolUse(it) = block else { continue };
        if role == Role::User {
            return Err(format!(
                "the tool use `{}` is in a message of the user: only the model uses tools",
                shown(&it.id)
            ));
        }
        it.input.as_ref().map_err(Clone::clone)?;
        if !ids.insert(it.id.as_str()) {
            return Err(format!("two tool uses of one message are called `{}`", shown(&it.id)));
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Image, IncludeContext, SamplingTool, ToolUse};

    fn ask() -> Sampling {
        Sampling::ask("Hello", 10)
    }

    fn used(ids: &[&str]) -> Vec<ToolUse> {
        ids.iter().map(|id| ToolUse::new(*id, "look", serde_json::json!({}))).collect()
    }

    #[test]
    fn valid_sampling_requests_pass_the_check() {
        fn check(it: &Sampling) {
            assert_eq!(it.check(), Ok(()));
        }
        check(&ask());
        check(&ask().assistant("So").user(("x", Image::png([]))).user(vec!["a", "b"]));
        check(&ask().temperature(0.0).cost_priority(7.0).speed_priority(-1.0).stop("\n"));
        check(&ask().assistant(used(&["1"])).tool_result("1", "x"));
        check(
            &ask()
                .assistant(("Let me see", used(&["1", "2"])))
                .tool_result("2", ())
                .tool_error("1", "x")
                .assistant(used(&["1"]))
                .tool_result("1", 3)
                .user("Thanks"),
        );
        check(&ask().tool(SamplingTool::new("a")).tool_choice(ToolChoice::Required));
        check(&ask().tool_choice(ToolChoice::None));
    }

    #[test]
    fn invalid_sampling_requests_fail_the_check_with_the_reason() {
        fn check(it: &Sampling, expected: &str) {
            let reason = it.check().unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        }
        check(&Sampling::ask("Hello", 0), "`max_tokens` is 0");
        check(&Sampling::new(1), "needs a message");
        check(&ask().user(Vec::<String>::new()), "a message of the user is empty");
        check(
            &ask().temperature(f64::NAN),
            "`temperature` must be a number that JSON has, not NaN",
        );
        check(&ask().cost_priority(f64::NAN), "`cost_priority`");
        check(&ask().metadata([1]), "the metadata must be a JSON object");
        check(&ask().tool(SamplingTool::new("a b")), "`a b` is no name for a tool");
        check(&ask().tool(SamplingTool::new("a")).tool(SamplingTool::new("a")), "two tools `a`");
        check(&ask().tool(SamplingTool::new("a").input_schema("[]")), "the tool `a`: ");
        check(&ask().tool(SamplingTool::new("a").schema::<i64>()), "the tool `a`: ");
        check(&ask().tool_choice(ToolChoice::Required), "must use a tool, but has none");
        check(&ask().assistant(used(&["1"])), "the tool use `1` needs its result");
        check(&ask().assistant(used(&["1"])).user("x"), "the tool use `1` needs its result");
        check(
            &ask().assistant(used(&["1", "2"])).tool_result("1", "x").user("x"),
            "the tool use `2` needs its result",
        );
        check(&ask().tool_result("1", "x"), "the tool result `1` answers no tool use");
        check(
            &ask().assistant(used(&["1"])).tool_result("1", "x").tool_result("1", "y"),
            "or answers it twice",
        );
        check(&ask().assistant(used(&["1", "1"])), "two tool uses of one message are called `1`");
        check(&ask().user(used(&["1"])), "only the model uses tools");
        check(
            &ask().assistant(ToolUse::new("1", "look", 3)).tool_result("1", "x"),
            "the input of the tool use `1` must be a JSON object",
        );
    }

    #[test]
    fn needs() {
        fn check(it: &Sampling, tools: bool, context: bool) {
            assert_eq!((it.needs_tools(), it.needs_context()), (tools, context));
        }
        check(&ask(), false, false);
        check(&ask().tool(SamplingTool::new("a")), true, false);
        check(&ask().tool_choice(ToolChoice::None), true, false);
        check(&ask().assistant(used(&["1"])), true, false);
        check(&ask().tool_result("1", "x"), true, false);
        check(&ask().include_context(IncludeContext::None), false, false);
        check(&ask().include_context(IncludeContext::ThisServer), false, true);
        check(&ask().include_context(IncludeContext::AllServers), false, true);
    }
}
