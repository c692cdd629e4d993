//! Commands of the command line. The declaration of a command has its arguments and its options as data. The parser, `help` and the
//! completions of shells use the same declaration.

use std::{
    io::Write as _,
    pin::{Pin, pin},
};

use lexopt::Parser;
use mcp_runtime_contract::suggest::nearest;
use tokio::io::AsyncWriteExt as _;

use super::{
    exit::{CommandError, CommandOutput},
    http,
    missing::missing,
    option::{CommandOption, GivenWord, OptionValues, next, rest},
    screen::{Screen, of_stdout, say},
};
use crate::{
    builder::Builder,
    config::OwnOptions,
    transport::{
        block_on,
        stdio::{StdioGuard, StdioInput},
    },
};

/// Option of the commands whose handlers may ask a question.
pub(super) const ANSWER: CommandOption =
    CommandOption::valued("--answer", "KEY=JSON", "answers a question of `call`, `read` or `get`")
        .repeatable();

/// Option of `call`.
pub(super) const ARGUMENTS: CommandOption = CommandOption::valued(
    "--arguments",
    "JSON",
    "passes this object as the arguments of `call`; `-` reads it from stdin",
);

/// Option of the commands with output.
pub(super) const JSON: CommandOption =
    CommandOption::flag("--json", "prints the output of the command as JSON");

/// Option of all commands and of the server.
pub(super) const HELP: CommandOption =
    CommandOption::flag("--help", "prints this help, or that of a command");

/// Option of the server.
pub(super) const VERSION: CommandOption =
    CommandOption::flag("--version", "prints the name and the version of the server");

/// Options that several commands share, and those of every server. The general help describes them, so the usage of a command does not
/// mention them.
pub(super) const SHARED: &[CommandOption] = &[
    ARGUMENTS,
    ANSWER,
    #[cfg(feature = "workbench")]
    JSON,
    HELP,
    VERSION,
];

/// Command of the command line.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// Placeholders of the words after the name, such as `TOOL [NAME=VALUE …]`. Optional words are in brackets, after the others.
    arguments: &'static str,
    pub(super) about: &'static str,
    options: &'static [CommandOption],
    /// Options of the server, which the command passes on to a server that it starts.
    passed: &'static [CommandOption],
    /// Placeholder of the words after `--`, such as `[-- ARGUMENTS]`, or an empty text if the command takes none.
    rest: &'static str,
    has_json: bool,
    pub(super) run: CommandRun,
}

/// Function that runs a command.
pub(super) type CommandRun = fn(Builder, CommandWords) -> Result<(), CommandError>;

/// Words after the name of a command.
pub(super) struct CommandWords {
    /// Words that are no option: as many as the placeholders require and allow.
    pub(super) words: Vec<String>,
    pub(super) options: OptionValues,
    /// Words after `--`.
    pub(super) rest: Vec<String>,
    /// Whether the output is JSON.
    pub(super) json: bool,
    /// Destination of the output, determined before the command redirects stdout.
    pub(super) screen: Screen,
}

impl Command {
    pub(super) const fn new(
        name: &'static str,
        arguments: &'static str,
        about: &'static str,
        run: CommandRun,
    ) -> Self {
        Self { name, arguments, about, options: &[], passed: &[], rest: "", has_json: false, run }
    }

    pub(super) const fn options(mut self, options: &'static [CommandOption]) -> Self {
        self.options = options;
        self
    }

    /// Declares that the command prints JSON with `--json`. Without the feature `workbench`, it has no such option.
    pub(super) const fn json(mut self) -> Self {
        self.has_json = cfg!(feature = "workbench");
        self
    }

    /// Declares options of the server, which the command passes on.
    #[cfg(feature = "workbench")]
    pub(super) const fn passes(mut self, options: &'static [CommandOption]) -> Self {
        self.passed = options;
        self
    }

    /// Declares that the command takes words after `--`.
    #[cfg(feature = "workbench")]
    pub(super) const fn rest(mut self, placeholder: &'static str) -> Self {
        self.rest = placeholder;
        self
    }

    /// Returns all options that may follow the name of the command.
    pub(super) fn all_options(&self) -> Vec<&'static CommandOption> {
        let mut all: Vec<_> = self.options.iter().chain(self.passed).collect();
        all.extend(self.has_json.then_some(&JSON));
        all.push(&HELP);
        all
    }

    /// Returns the name and the placeholders of all words that may follow it.
    pub(super) fn usage(&self) -> String {
        let is_shared = |name| SHARED.iter().any(|option| option.name == name);
        let options = match self.options.iter().all(|option| is_shared(option.name)) {
            true => "",
            false => "[OPTIONS]",
        };
        let mut parts = vec![self.name, self.arguments, options, self.rest];
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    /// Returns the placeholder for the word at index `at` after the name of the command, such as `TOOL`. Further words have the repeatable
    /// placeholder `NAME=VALUE`, if the command has it.
    #[cfg(feature = "workbench")]
    pub(super) fn place(&self, at: usize) -> Option<&'static str> {
        let words = self.arguments.split_whitespace().map(|word| word.trim_matches(['[', ']']));
        let mut words = words.filter(|word| *word != "…");
        words.clone().nth(at).or_else(|| words.find(|word| *word == "NAME=VALUE"))
    }

    /// Reads the words after the name of the command. `own` are the options that the author of the server has declared.
    ///
    /// # Errors
    /// Fails for an option that the command lacks, that is given twice, or whose value is missing. Also fails for a flag with a value, for a word
    /// that is not UTF-8, and if the number of the other words does not fit.
    pub(super) fn read(
        &self,
        parser: &mut Parser,
        own: &dyn OwnOptions,
    ) -> Result<CommandWords, CommandError> {
        let mut read = CommandWords::new(Vec::new(), false);
        let options = self.all_options();
        while let Some(word) = next(parser)? {
            match word {
                GivenWord::Text(word) => read.words.push(word),
                GivenWord::Option(name) => {
                    let option = options.iter().find(|option| option.name == name);
                    let option = option.ok_or_else(|| self.unknown_option(&name, own))?;
                    read.options.add(option, option.value_or_word(parser)?)?;
                }
            }
        }
        let after = if self.rest.is_empty() { &mut read.words } else { &mut read.rest };
        after.append(&mut rest(parser)?);
        read.json = read.options.has(&JSON);
        self.check_count(&read.words)?;
        Ok(read)
    }

    fn unknown_option(&self, given: &str, own: &dyn OwnOptions) -> CommandError {
        if let Some(error) = missing(given) {
            return error;
        }
        if let Some(problem) = own.misplaced(given, self.name) {
            return CommandError::usage(problem);
        }
        let names: Vec<_> = self.all_options().iter().map(|option| option.name).collect();
        let of_server = own.names();
        let hint = match nearest(given, names.iter().copied()) {
            _ if http::find(given).is_some() => {
                "; options of HTTP go without a command: see `help`".to_owned()
            }
            Some(near) => format!("; did you mean `{near}`?"),
            None => match nearest(given, of_server.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean `{near}`? It goes before the command"),
                None => {
                    let rest = if self.rest.is_empty() { "" } else { "; other words follow `--`" };
                    format!("; it has {}{rest}", names.join(", "))
                }
            },
        };
        let pairs = match given.strip_prefix("--") {
            Some(name) if self.arguments.contains("NAME=VALUE") => {
                format!(" (an argument of the item is written `{name}=VALUE`)")
            }
            None if self.rest.is_empty() => "; a word that begins with `-` follows `--`".to_owned(),
            _ => String::new(),
        };
        CommandError::usage(format!("`{}` has no option `{given}`{hint}{pairs}", self.name))
    }

    /// Compares the number of words that are no option with the placeholders.
    fn check_count(&self, words: &[String]) -> Result<(), CommandError> {
        let places = self.arguments.split(' ').filter(|place| !place.is_empty());
        let places: Vec<&str> = places.collect();
        let required = places.iter().take_while(|word| !word.starts_with('[')).count();
        let has_further = places.last() == Some(&"…]");
        let name = self.name;
        let problem = match words.get(places.len()) {
            Some(word) if !has_further => {
                let count = match places.len() {
                    0 => "no argument".to_owned(),
                    1 => "one argument".to_owned(),
                    most => format!("at most {most} arguments"),
                };
                format!("takes {count}, but got `{word}`")
            }
            None if words.len() < required => format!("needs `{}`", places[words.len()]),
            _ => return Ok(()),
        };
        let see = match places.first() {
            Some(&("TOOL" | "URI" | "PROMPT" | "ITEM")) => "list",
            _ => "help",
        };
        let usage = self.usage();
        Err(CommandError::usage(format!("`{name}` {problem}: `{usage}`; see `{see}`")))
    }
}

impl CommandWords {
    /// Creates the words of a command without options.
    pub(super) fn new(words: Vec<String>, json: bool) -> Self {
        let (options, rest) = (OptionValues::default(), Vec::new());
        Self { words, options, rest, json, screen: of_stdout() }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: CommandOption = CommandOption::valued("--target", "TARGET", "target of the walk");
    const STEP: CommandOption = CommandOption::valued("--step", "STEP", "a step").repeatable();
    const FAST: CommandOption = CommandOption::flag("--fast", "runs");

    fn walk() -> Command {
        Command::new("walk", "FROM [TO]", "walks", |_, _| Ok(())).options(&[TARGET, STEP, FAST])
    }

    fn read(words: &str) -> Result<CommandWords, String> {
        let own = crate::server!(crate = crate, group = "command line").declared_config().options();
        let mut parser = Parser::from_args(words.split_whitespace());
        walk().read(&mut parser, &*own).map_err(|error| error.text)
    }

    #[test]
    fn options_may_stand_before_between_and_after_the_arguments() {
        let read = read("--step=1 here --target there --step 2 --fast far").expect("fitting words");
        assert_eq!(read.words, ["here", "far"]);
        assert_eq!(read.options.all(&STEP).collect::<Vec<_>>(), ["1", "2"]);
        assert!(read.options.has(&FAST));
        assert_eq!(read.options.all(&TARGET).collect::<Vec<_>>(), ["there"]);
    }

    #[test]
    fn wrong_words_are_named() {
        for (words, problem) in [
            ("", "`walk` needs `FROM`: `walk FROM [TO] [OPTIONS]`; see `help`"),
            (
                "a b c",
                "`walk` takes at most 2 arguments, but got `c`: `walk FROM [TO] [OPTIONS]`; see `help`",
            ),
            ("a --fats", "`walk` has no option `--fats`; did you mean `--fast`?"),
            (
                "a -x",
                "`walk` has no option `-x`; it has --target, --step, --fast, --help; a word that begins with `-` follows `--`",
            ),
            ("a --fast=b", "`--fast` takes no value: write `--fast` alone"),
            ("a --target", "`--target` needs a value, as in `--target TARGET`"),
            (
                "a --target --fast",
                "`--target` needs a value, as in `--target TARGET`; a value that looks like an option follows `=`",
            ),
            ("a --target b --target=c", "`--target` is given twice"),
        ] {
            assert_eq!(read(words).err().as_deref(), Some(problem));
        }
    }

    /// Options of a server that declares every name, so all of them are misplaced after a command.
    struct AnyName;

    impl OwnOptions for AnyName {
        fn misplaced(&self, option: &str, command: &str) -> Option<String> {
            Some(format!("`{option}` goes before `{command}`"))
        }
    }

    #[test]
    fn an_option_of_a_command_may_have_the_name_of_a_field() {
        let read = |words: &str| {
            let mut parser = Parser::from_args(words.split_whitespace());
            walk().read(&mut parser, &AnyName).map(|read| read.words).map_err(|error| error.text)
        };
        assert_eq!(read("a --target b"), Ok(vec!["a".to_owned()]));
        assert_eq!(read("a --root b"), Err("`--root` goes before `walk`".to_owned()));
    }
}
