//! What a command is: its line of the help, and the function that runs it with stdout reserved for its output.

#[cfg(feature = "workbench")]
use std::collections::BTreeMap;
use std::{
    io::Write as _,
    pin::{Pin, pin},
};

use tokio::io::AsyncWriteExt as _;

use super::{
    exit::{CommandError, CommandOutput},
    questions::{self, QuestionAnswers},
    screen::{Screen, of_stdout, say},
};
use crate::{
    builder::Builder,
    transport::{
        block_on,
        stdio::{StdioGuard, StdioInput},
    },
};

/// Command of the command line.
pub(super) struct Command {
    /// Name and arguments, as `help` shows them: `call TOOL [NAME=VALUE …]`. Optional arguments are in brackets, after the others.
    pub(super) usage: &'static str,
    pub(super) about: &'static str,
    /// Options that may stand anywhere after the name, beside those that the command parses.
    pub(super) options: &'static [CommandOption],
    /// Usages of the options that the command parses, such as `--url URL`. They may have the names of options that the author has declared.
    pub(super) parsed: &'static [&'static str],
    pub(super) run: fn(Builder, CommandWords) -> Result<(), CommandError>,
}

/// Option that several commands share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandOption {
    /// `--answer KEY=JSON`: a handler may ask a question while the command runs.
    Answer,
    /// `--json`: the command prints the result of the server as JSON (feature `workbench`).
    Json,
}

/// Options that several commands share, as `help` shows them.
#[cfg(feature = "workbench")]
pub(super) const SHARED: [(&str, &str); 2] =
    [questions::OPTION, ("--json", "after a command: prints the result as JSON")];
#[cfg(not(feature = "workbench"))]
pub(super) const SHARED: [(&str, &str); 1] = [questions::OPTION];

#[cfg(feature = "workbench")]
impl CommandOption {
    /// Returns the usage of the option.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Answer => SHARED[0].0,
            Self::Json => SHARED[1].0,
        }
    }
}

/// Words after the name of a command.
pub(super) struct CommandWords {
    /// At least as many words as the usage requires, and none if the usage has none.
    pub(super) words: Vec<String>,
    pub(super) answers: QuestionAnswers,
    /// Whether the output is JSON.
    pub(super) json: bool,
    /// Destination of the output, determined before the command redirects stdout.
    pub(super) screen: Screen,
}

impl Command {
    pub(super) fn name(&self) -> &'static str {
        self.usage.split(' ').next().unwrap_or_default()
    }

    /// Returns the placeholder in the usage for the word at index `at` after the name of the command, such as `TOOL`. Options do not count. For
    /// further words, a repeatable `NAME=VALUE` is returned.
    #[cfg(feature = "workbench")]
    pub(super) fn place(&self, at: usize) -> Option<&'static str> {
        let words = self.usage.split(' ').skip(1);
        let mut words = words
            .take_while(|word| !word.trim_start_matches('[').starts_with("--"))
            .map(|word| word.trim_matches(['[', ']']))
            .filter(|word| !word.starts_with('…'));
        words.clone().nth(at).or_else(|| words.find(|word| *word == "NAME=VALUE"))
    }

    /// Takes the shared options out of the words, and compares the number of the others with the usage. Optional words are parsed by the command.
    ///
    /// # Errors
    /// Fails if an answer has a wrong form, if words are missing, or if the command takes fewer words.
    pub(super) fn read(&self, mut words: Vec<String>) -> Result<CommandWords, CommandError> {
        let takes = |option| self.options.contains(&option);
        let json = takes(CommandOption::Json) && take_json(&mut words)?;
        let answers = match takes(CommandOption::Answer) {
            true => QuestionAnswers::take(&mut words)?,
            false => QuestionAnswers::default(),
        };
        let all: Vec<&str> = self.usage.split(' ').skip(1).collect();
        let required = all.iter().take_while(|word| !word.starts_with('[')).count();
        let name = self.name();
        let problem = match words.len() {
            count if count < required => {
                let see =
                    if matches!(all.first(), Some(&"CLIENT" | &"SHELL")) { "help" } else { "list" };
                format!("`{name}` needs an argument: `{}`; see `{see}`", self.usage)
            }
            1.. if all.is_empty() => format!("`{name}` takes no argument; see `help`"),
            2.. if all.len() == 1 && required == 1 => {
                format!("`{name}` takes one argument; see `help`")
            }
            _ => return Ok(CommandWords { words, answers, json, screen: of_stdout() }),
        };
        Err(CommandError::usage(problem))
    }
}

/// Returns the name of an option in its usage, or in a word such as `--url=URL`.
#[cfg(feature = "workbench")]
pub(super) fn name_of(usage: &str) -> &str {
    usage.split([' ', '=']).next().unwrap_or(usage)
}

/// Returns the names of all options, separated by commas.
#[cfg(feature = "workbench")]
pub(super) fn names_of(usages: &[&'static str]) -> String {
    usages.iter().map(|usage| name_of(usage)).collect::<Vec<_>>().join(", ")
}

/// Whether the usage of an option has a value that cannot be left out.
#[cfg(feature = "workbench")]
pub(super) fn takes_value(usage: &str) -> bool {
    usage.split_once(' ').is_some_and(|(_, value)| !value.starts_with('['))
}

/// Options that a command parses.
#[cfg(feature = "workbench")]
pub(super) struct CommandOptions {
    pub(super) command: &'static str,
    /// Usage of each option, such as `--url URL`.
    pub(super) usages: &'static [&'static str],
    /// Advice for a word that is no option, or an empty text.
    pub(super) advice: &'static str,
}

/// Values of the options of a command.
#[cfg(feature = "workbench")]
#[derive(Debug)]
pub(super) struct CommandValues(BTreeMap<&'static str, String>);

#[cfg(feature = "workbench")]
impl CommandOptions {
    /// Reads the words after the name of the command.
    ///
    /// # Errors
    /// Fails if a word is no option, if a value is missing or given to a flag, or if an option is given twice.
    pub(super) fn read(
        &self,
        words: impl IntoIterator<Item = String>,
    ) -> Result<CommandValues, CommandError> {
        let mut values = BTreeMap::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (&*word, None),
            };
            let mut usages = self.usages.iter();
            let Some(usage) = usages.find(|usage| name_of(usage) == name) else {
                return Err(CommandError::usage(format!(
                    "`{}` has no option `{name}`; it has {}{}",
                    self.command,
                    names_of(self.usages),
                    self.advice
                )));
            };
            let option = name_of(usage);
            let value = match (takes_value(usage), value) {
                (true, value) => value.or_else(|| words.next()),
                (false, None) => Some(String::new()),
                (false, Some(_)) => {
                    return Err(CommandError::usage(format!(
                        "`{option}` takes no value: leave it out, or write `{option}` alone"
                    )));
                }
            };
            let Some(value) = value else {
                return Err(CommandError::usage(format!("`{option}` needs a value: `{option}=…`")));
            };
            if values.insert(option, value).is_some() {
                return Err(CommandError::usage(format!("`{option}` is given twice")));
            }
        }
        Ok(CommandValues(values))
    }
}

#[cfg(feature = "workbench")]
impl CommandValues {
    /// Returns the value of an option. The value of a flag is empty.
    pub(super) fn take(&mut self, option: &str) -> Option<String> {
        self.0.remove(option)
    }
}

/// Removes `--json` from the words. Returns whether it was there.
#[cfg(feature = "workbench")]
fn take_json(words: &mut Vec<String>) -> Result<bool, CommandError> {
    let count = words.len();
    // Words after `--` belong to the server.
    let mut is_own = true;
    words.retain(|word| {
        is_own &= word != "--";
        !is_own || word != "--json"
    });
    Ok(words.len() < count)
}

/// Fails if `--json` is among the words, because this build prints text only.
#[cfg(not(feature = "workbench"))]
fn take_json(words: &mut [String]) -> Result<bool, CommandError> {
    match words.iter().any(|word| word == "--json") {
        true => Err(without_feature("--json", "workbench")),
        false => Ok(false),
    }
}

/// Returns the error for a command or an option of a feature that this build lacks.
#[cfg(not(all(feature = "workbench", feature = "playground")))]
pub(super) fn without_feature(given: &str, feature: &str) -> CommandError {
    CommandError::usage(format!(
        "`{given}` needs the feature `{feature}` of mcp-runtime: run `cargo run --features mcp-runtime/{feature} -- …`"
    ))
}

/// Future of a command that needs the server.
pub(super) type CommandFuture<'a> =
    Pin<Box<dyn Future<Output = Result<CommandOutput, CommandError>> + 'a>>;

/// Runs a command with stdout reserved for its output, so that text printed by tools does not mix with that output.
pub(super) fn apart<'a>(
    command: Box<dyn FnOnce(StdioInput) -> CommandFuture<'a> + 'a>,
) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::failure)?;
    let result = pin!(async {
        let (_guard, input, mut output) = StdioGuard::install().map_err(CommandError::failure)?;
        let printed = command(input).await?;
        // Errors are ignored, because the reader of stdout may have exited already (`… | head`).
        let _ = output.write_all(printed.text.as_bytes()).await;
        let _ = output.shutdown().await;
        say(format_args!("{}", printed.aside));
        printed.end
    });
    block_on(runtime, result)
}

/// Prints a text to stdout. Errors are ignored, because the reader of stdout may have exited already (`… | head`).
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

#[cfg(all(test, not(feature = "workbench")))]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_workbench_the_error_names_the_command_to_run() {
        let list = Command {
            usage: "list",
            about: "",
            options: &[CommandOption::Json],
            parsed: &[],
            run: |_, _| Ok(()),
        };
        let error = list.read(vec!["--json".to_owned()]).map(|_| ()).expect_err("no JSON");
        assert_eq!(
            error.text,
            "`--json` needs the feature `workbench` of mcp-runtime: run `cargo run --features mcp-runtime/workbench -- …`"
        );
        assert!(list.read(Vec::new()).is_ok());
    }
}
