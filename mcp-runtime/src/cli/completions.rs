//! The command `completions`, which prints a script with which a shell completes the command line. At each tab, the script runs the same
//! command with the words that the person has typed. The script therefore stays valid when the server gets new tools or options.

use std::{env, path::Path};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_workbench::{ClientApp, Shell, Suggestion};

use super::{
    command::{Command, CommandWords, SHARED, apart, name_of, print, takes_value},
    exit::CommandError,
    http,
    suggestions::{ItemPlace, ItemWord},
};
use crate::{
    builder::Builder,
    config::{ConfigFieldView, GivenValues},
};

/// Options of every server.
const GENERAL: [(&str, &str); 2] =
    [("--help", "prints the help"), ("--version", "prints the name and the version of the server")];

/// Prints the script for a shell, or the suggestions for the words after `--`, the last of which is at the cursor.
pub(super) fn run(
    commands: &'static [Command],
    mut builder: Builder,
    given: CommandWords,
) -> Result<(), CommandError> {
    let mut words = given.words.into_iter();
    let name = words.next().unwrap_or_default();
    let shell = Shell::named(&name).ok_or_else(|| unknown_shell(&name))?;
    match words.next() {
        None => {
            print(&shell.script(&program(&builder)?));
            return Ok(());
        }
        Some(end) if end == "--" => {}
        Some(word) => {
            return Err(CommandError::usage(format!(
                "`completions` takes one argument, and not `{word}`; the words that a shell completes follow `--`"
            )));
        }
    }
    let words = shell.words(words.collect());
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
        Place::Item(item) => apart(Box::new(|_| {
            Box::pin(async move { Ok(wanted(item.suggestions(builder).await).into()) })
        })),
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
        None => {
            let names: Vec<_> = names().collect();
            format!("unknown shell `{given}`; there are {}", names.join(", "))
        }
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
    fn usages(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|view| view.field.usage())
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
    CommandOption(&'static Command, Vec<&'a str>),
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
                if let Some(command) = commands.iter().find(|command| command.name() == text) {
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
            let usages = http::OPTIONS.iter().map(|option| (*option.0).to_owned());
            let usage = usages.chain(own.usages()).find(|usage| name_of(usage) == option);
            let value = match usage {
                Some(usage) if value.is_none() && takes_value(&usage) => match words.next() {
                    Some(value) => Some(value.clone()),
                    None => return Self::File,
                },
                // After `--`, words belong to the program.
                None if option == "--" => return Self::File,
                _ => value,
            };
            own.give(option.trim_start_matches('-'), value);
        }
        match word.starts_with('-') {
            true if word.contains('=') => Self::File,
            false if !is_http => Self::Command,
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
            given.push(name_of(text));
            let mut usages = usages(command);
            let has_value = usages.any(|usage| name_of(usage) == &**text && takes_value(usage));
            if has_value && words.next().is_none() {
                return Self::File;
            }
        }
        if word.starts_with('-') {
            return match word.contains('=') {
                true => Self::File,
                false => Self::CommandOption(command, given),
            };
        }
        let item = |kind| Self::Item(ItemPlace { kind, before: places.clone(), word });
        match (command.place(places.len()), command.name()) {
            (None, _) => Self::CommandOption(command, given),
            (Some("CLIENT"), _) => Self::Client,
            (Some("SHELL"), _) => Self::Shell,
            (Some("TOOL"), _) => item(ItemWord::Tool),
            (Some("URI"), _) => item(ItemWord::Resource),
            (Some("PROMPT"), _) => item(ItemWord::Prompt),
            (Some("ITEM"), _) => item(ItemWord::Completable),
            (Some("ARGUMENT"), _) => item(ItemWord::Argument),
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
        let suggestion = |(usage, about): (&str, &str)| Suggestion::new(name_of(usage), about);
        match self {
            Self::File | Self::Item(_) => Vec::new(),
            Self::Command => {
                let all = commands.iter().map(|command| (command.name(), command.about));
                all.map(suggestion).collect()
            }
            Self::ServerOption => {
                let all = http::OPTIONS.iter().copied().chain(GENERAL).map(suggestion);
                let own = own.map(|(usage, about)| suggestion((&usage, &about)));
                own.chain(all).collect()
            }
            Self::CommandOption(command, given) => {
                // `--answer` may be repeated.
                let is_free = |usage: &&str| {
                    let name = name_of(usage);
                    name == "--answer" || !given.contains(&name)
                };
                let free = usages(command).filter(is_free);
                free.map(|usage| suggestion((usage, about(usage)))).collect()
            }
            Self::Client => {
                let all = ClientApp::ALL.into_iter();
                all.map(|client| suggestion((client.name(), client.title()))).collect()
            }
            Self::Shell => {
                Shell::ALL.into_iter().map(|shell| suggestion((shell.name(), ""))).collect()
            }
        }
    }
}

/// Returns the usages of all options that may stand after a command.
fn usages(command: &'static Command) -> impl Iterator<Item = &'static str> {
    let shared = command.options.iter().map(|option| option.usage());
    let of_http = http::OPTIONS.iter().filter(|_| command.usage.contains("[OPTIONS]"));
    let of_http = of_http.map(|option| option.0).filter(|usage| name_of(usage) != "--http");
    command.parsed.iter().copied().chain(shared).chain(of_http)
}

/// Returns the description of an option that several commands share, or an empty text for other options.
fn about(usage: &str) -> &'static str {
    let all = http::OPTIONS.iter().copied().chain(SHARED);
    all.into_iter().find(|option| option.0 == usage).map_or("", |option| option.1)
}
