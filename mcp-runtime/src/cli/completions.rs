//! The command `completions`, which prints a script with which a shell completes the command line. At each tab, the script runs the same
//! command with the words that the person has typed. The script therefore stays valid when the server gets new tools or options.

use std::{env, path::Path};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_workbench::{ClientApp, Shell, Suggestion};

use super::{
    command::{Command, CommandWords, HELP, VERSION, apart, print},
    exit::CommandError,
    http,
    option::CommandOption,
    suggestions::{ItemPlace, ItemWord, SuggestionDeadline},
    unknown::all_names,
};
use crate::{
    builder::Builder,
    config::{ConfigFieldView, GivenValues, is_option},
};

/// Prints the script for a shell, or the suggestions for the words after `--`, the last of which is at the cursor.
pub(super) fn run(
    commands: &'static [Command],
    mut builder: Builder,
    given: CommandWords,
) -> Result<(), CommandError> {
    let name = given.words.into_iter().next().unwrap_or_default();
    let shell = Shell::named(&name).ok_or_else(|| unknown_shell(&name))?;
    if given.rest.is_empty() {
        print(&shell.script(&program(&builder)?));
        return Ok(());
    }
    let words = shell.words(given.rest);
    let (word, before) = words.split_last().map_or(("", &[][..]), |(word, all)| (word, all));
    let config = builder.declared_config();
    let mut own = GivenOptions { fields: config.fields(), given: GivenValues::new() };
    let place = Place::find(commands, &mut own, before, word);
    let help = config.options().help().into_iter().flat_map(|(_, lines)| lines);
    let fixed = place.suggestions(commands, help);
    builder.given = Some(own.given);
    let wanted = move |found: Vec<Suggestion>| -> String {
        let fitting = found.into_iter().filter(|found| found.word.starts_with(word));
        fitting.filter_map(|suggestion| shell.line(&suggestion)).collect()
    };
    match place {
        Place::Item(item) => {
            let deadline = SuggestionDeadline::start();
            apart(Box::new(|_| {
                Box::pin(async move {
                    let found = item.suggestions(builder).await;
                    deadline.meet().await;
                    Ok(wanted(found).into())
                })
            }))
        }
        _ => {
            print(&wanted(fixed));
            Ok(())
        }
    }
}

fn unknown_shell(given: &str) -> CommandError {
    let names = || Shell::ALL.into_iter().map(Shell::name);
    CommandError::usage(match nearest(given, names()) {
        Some(near) => format!("unknown shell `{given}`; did you mean `{near}`?"),
        None => format!("unknown shell `{given}`; {}", all_names("shell", names(), None)),
    })
}

/// Returns the file name of this program, as the person has started it. Shells complete every program with this name, in each folder.
///
/// # Errors
/// Fails if the name begins with `-`, or has a character other than ASCII letters, digits, `.`, `_` and `-`.
fn program(builder: &Builder) -> Result<String, CommandError> {
    let path = env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(&name);
    let name = if name.is_empty() { &builder.identity.name } else { name };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match name.chars().all(is_plain) && !name.starts_with('-') {
        true => Ok(name.to_owned()),
        false => Err(CommandError::failure(format_args!(
            "a shell cannot complete a program with the name `{name}`: rename it to letters, digits, `.`, `_` and `-`"
        ))),
    }
}

/// Options that the author of the server has declared, and the values that the command line gives them before the cursor.
struct GivenOptions {
    fields: Vec<ConfigFieldView>,
    given: GivenValues,
}

impl GivenOptions {
    /// Whether a word after this option is its value. Returns `None` for an option that the author has not declared.
    fn needs_value(&self, option: &str) -> Option<bool> {
        let name = option.strip_prefix("--")?;
        let view = self.fields.iter().find(|view| view.field.option == name)?;
        Some(!view.is_flag())
    }

    /// Returns the place of the value of an option. `start` is the part of the word before the value.
    fn place_of_value(&self, option: &str, start: String) -> Place<'static> {
        let name = option.trim_start_matches('-');
        match self.fields.iter().find(|view| view.field.option == name) {
            Some(view) if !view.field.choices.is_empty() => {
                Place::Value { start, values: view.field.choices.clone() }
            }
            _ => Place::File,
        }
    }

    /// Stores the value of an option, without checks. Other options are ignored.
    fn give(&mut self, option: &str, value: Option<String>) {
        if self.fields.iter().any(|view| view.field.option == option) {
            let value = value.unwrap_or_else(|| "true".to_owned());
            self.given.entry(option.to_owned()).or_default().push(value);
        }
    }
}

/// Place of the cursor in the command line.
enum Place<'a> {
    /// File name or free text. The program suggests nothing, so the shell completes names of files.
    File,
    /// Name of a command.
    Command,
    /// Option of the server.
    ServerOption,
    /// Option of a command, with the names of the options before the cursor.
    OptionOf(&'static Command, Vec<&'a str>),
    /// Value of an option of the author, whose type has these values only.
    Value {
        /// Option and `=`, or an empty text if the value is a word of its own.
        start: String,
        values: Vec<&'static str>,
    },
    Client,
    Shell,
    Item(ItemPlace<'a>),
}

impl<'a> Place<'a> {
    /// Finds the place of the cursor. Stores the values of the author's options in `own`, because the items of some servers depend on them.
    fn find(
        commands: &'static [Command],
        own: &mut GivenOptions,
        before: &'a [String],
        word: &'a str,
    ) -> Self {
        let mut words = before.iter();
        // An address may stand after `--http`.
        let (mut is_http, mut has_address) = (false, false);
        while let Some(text) = words.next() {
            if !text.starts_with('-') {
                if let Some(command) = commands.iter().find(|command| command.name == text) {
                    return Self::in_command(command, words.as_slice(), word);
                }
                if !is_http || has_address {
                    return Self::File;
                }
                has_address = true;
                continue;
            }
            let (option, value) = match text.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (&**text, None),
            };
            is_http |= option == "--http";
            let of_http = http::find(option).map(CommandOption::needs_value);
            let value = match of_http.or_else(|| own.needs_value(option)) {
                Some(true) if value.is_none() => match words.as_slice().first() {
                    None => return own.place_of_value(option, String::new()),
                    // The next word is an option, so the parser will report a missing value.
                    Some(next) if is_option(next) => continue,
                    Some(value) => {
                        words.next();
                        Some(value.clone())
                    }
                },
                // After `--`, words belong to the program.
                None if option == "--" => return Self::File,
                _ => value,
            };
            own.give(option.trim_start_matches('-'), value);
        }
        match word.starts_with('-').then(|| word.split_once('=')) {
            Some(Some((option, _))) => own.place_of_value(option, format!("{option}=")),
            None if !is_http => Self::Command,
            _ => Self::ServerOption,
        }
    }

    fn in_command(command: &'static Command, before: &'a [String], word: &'a str) -> Self {
        let (mut places, mut given) = (Vec::new(), Vec::new());
        let mut words = before.iter();
        while let Some(text) = words.next() {
            if text == "--" {
                return Self::File;
            }
            if !text.starts_with('-') {
                places.push(&**text);
                continue;
            }
            given.push(text.split('=').next().unwrap_or(text));
            let options = command.all_options();
            let has_value =
                options.iter().any(|option| option.name == text && option.needs_value());
            match words.as_slice().first() {
                None if has_value => return Self::File,
                Some(value) if has_value && !is_option(value) => {
                    words.next();
                }
                _ => {}
            }
        }
        if word.starts_with('-') {
            return match word.contains('=') {
                true => Self::File,
                false => Self::OptionOf(command, given),
            };
        }
        let item = |kind| Self::Item(ItemPlace { kind, before: places.clone(), word });
        match (command.place(places.len()), command.name) {
            (None, _) => Self::OptionOf(command, given),
            (Some("CLIENT"), _) => Self::Client,
            (Some("SHELL"), _) => Self::Shell,
            (Some("COMMAND"), _) => Self::Command,
            (Some("TOOL"), _) => item(ItemWord::Tool),
            (Some("URI"), _) => item(ItemWord::Resource),
            (Some("PROMPT"), _) => item(ItemWord::Prompt),
            (Some("ITEM"), _) => item(ItemWord::Completable),
            (Some("ARGUMENT"), _) => item(ItemWord::Argument),
            (Some("TEXT"), _) => item(ItemWord::Text),
            (Some("NAME=VALUE"), "call") => item(ItemWord::ToolArgument),
            (Some("NAME=VALUE"), _) => item(ItemWord::TextArgument),
            _ => Self::File,
        }
    }

    /// Returns the suggestions that do not depend on the items of the server. `own` yields the help lines of the
    /// author's options.
    fn suggestions(
        &self,
        commands: &'static [Command],
        own: impl Iterator<Item = (String, String)>,
    ) -> Vec<Suggestion> {
        let described =
            |option: &CommandOption| Suggestion::new(option.name, &option.description());
        match self {
            Self::File | Self::Item(_) => Vec::new(),
            Self::Command => {
                let all = commands.iter();
                all.map(|command| Suggestion::new(command.name, command.about)).collect()
            }
            Self::ServerOption => {
                let own = own.map(|(usage, about)| {
                    Suggestion::new(usage.split(' ').next().unwrap_or_default(), &about)
                });
                own.chain(http::OPTIONS.iter().chain([&HELP, &VERSION]).map(described)).collect()
            }
            Self::OptionOf(command, given) => {
                let all = command.all_options().into_iter();
                let free =
                    all.filter(|option| option.is_repeatable || !given.contains(&option.name));
                free.map(described).collect()
            }
            Self::Value { start, values } => {
                let words = values.iter().map(|value| format!("{start}{value}"));
                words.map(|word| Suggestion::new(word, "")).collect()
            }
            Self::Client => {
                let all = ClientApp::ALL.into_iter();
                all.map(|client| Suggestion::new(client.name(), client.description())).collect()
            }
            Self::Shell => {
                Shell::ALL.into_iter().map(|shell| Suggestion::new(shell.name(), "")).collect()
            }
        }
    }
}
