//! Options of the command line: their declarations, and how their values are read.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

use super::exit::CommandError;
use crate::config::{needs_value, value_of_option};

/// Option of a command or of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandOption {
    /// Name, with its dashes.
    pub(super) name: &'static str,
    /// Placeholder of the value. It is in brackets if the value may be left out, and empty for a flag.
    value: &'static str,
    about: &'static str,
    pub(super) is_repeatable: bool,
}

impl CommandOption {
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::valued(name, "", about)
    }

    /// Creates an option with a value, such as `URL`, or with a value that may be left out, such as `[ADDR]`.
    pub(super) const fn valued(
        name: &'static str,
        value: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, value, about, is_repeatable: false }
    }

    pub(super) const fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// Returns the name and the placeholder of the value, such as `--url URL`.
    pub(super) fn usage(&self) -> String {
        format!("{} {}", self.name, self.value).trim_end().to_owned()
    }

    /// Returns the description for `help` and for the completions of shells.
    pub(super) fn description(&self) -> String {
        let more = if self.is_repeatable { "; may be repeated" } else { "" };
        format!("{}{more}", self.about)
    }

    /// Whether the option has a value that cannot be left out.
    pub(super) fn needs_value(&self) -> bool {
        !self.value.is_empty() && !self.is_optional()
    }

    fn is_optional(&self) -> bool {
        self.value.starts_with('[')
    }

    /// Reads the value, after the parser has read the name. A flag has an empty value, and an optional value is the text after `=`.
    ///
    /// # Errors
    /// Fails if the value is missing, empty, not UTF-8, or given to a flag.
    pub(super) fn value(&self, parser: &mut Parser) -> Result<String, CommandError> {
        let name = self.name;
        let value = match parser.optional_value() {
            Some(_) if self.value.is_empty() => {
                return Err(CommandError::usage(format!(
                    "`{name}` takes no value: write `{name}` alone"
                )));
            }
            None if self.needs_value() => {
                value_of_option(parser, &self.usage()).map_err(CommandError::usage)?
            }
            value => value.unwrap_or_default(),
        };
        if self.needs_value() && value.is_empty() {
            return Err(CommandError::usage(needs_value(&self.usage())));
        }
        text(value)
    }

    /// Like [`value`](Self::value), but an optional value may also be the next word.
    pub(super) fn value_or_word(&self, parser: &mut Parser) -> Result<String, CommandError> {
        let value = self.value(parser)?;
        let word = match parser.try_raw_args() {
            Some(mut words) if self.is_optional() && value.is_empty() => {
                words.next_if(|word| !word.to_string_lossy().starts_with('-'))
            }
            _ => None,
        };
        word.map_or(Ok(value), text)
    }
}

/// Values of options, in the order of the command line.
#[derive(Default)]
pub(super) struct OptionValues(Vec<(&'static CommandOption, String)>);

impl OptionValues {
    /// Adds the value of an option. The value of a flag is empty.
    ///
    /// # Errors
    /// Fails if the option has a value already, and may not be repeated.
    pub(super) fn add(
        &mut self,
        option: &'static CommandOption,
        value: String,
    ) -> Result<(), CommandError> {
        if !option.is_repeatable && self.has(option) {
            return Err(CommandError::usage(format!("`{}` is given twice", option.name)));
        }
        self.0.push((option, value));
        Ok(())
    }

    pub(super) fn has(&self, option: &CommandOption) -> bool {
        self.all(option).next().is_some()
    }

    /// Returns all values of an option that may be repeated.
    pub(super) fn all(&self, option: &CommandOption) -> impl Iterator<Item = &str> {
        let name = option.name;
        self.0.iter().filter(move |given| given.0.name == name).map(|given| &*given.1)
    }

    /// Removes and returns the first value of an option.
    #[cfg(feature = "workbench")]
    pub(super) fn take(&mut self, option: &CommandOption) -> Option<String> {
        let at = self.0.iter().position(|given| given.0.name == option.name)?;
        Some(self.0.remove(at).1)
    }

    /// Returns the words that give these options to another process.
    #[cfg(feature = "workbench")]
    pub(super) fn words(&self, options: &[CommandOption]) -> impl Iterator<Item = String> {
        let passed = self.0.iter().filter(|given| options.contains(given.0));
        passed.map(|(option, value)| match option.value {
            "" => option.name.to_owned(),
            _ => format!("{}={value}", option.name),
        })
    }
}

/// Word of the command line.
pub(super) enum GivenWord {
    /// Name of an option, with its dashes.
    Option(String),
    /// Word that is no option.
    Text(String),
}

/// Returns the next option or word, up to `--`.
///
/// # Errors
/// Fails if a word is not UTF-8.
pub(super) fn next(parser: &mut Parser) -> Result<Option<GivenWord>, CommandError> {
    if parser.try_raw_args().is_some_and(|words| words.peek().is_some_and(|word| word == "--")) {
        return Ok(None);
    }
    Ok(Some(match parser.next().map_err(|error| CommandError::usage(error.to_string()))? {
        None => return Ok(None),
        Some(Arg::Long(name)) => GivenWord::Option(format!("--{name}")),
        Some(Arg::Short(letter)) => GivenWord::Option(format!("-{letter}")),
        Some(Arg::Value(word)) => GivenWord::Text(text(word)?),
    }))
}

/// Returns the words after `--`.
///
/// # Errors
/// Fails if a word is not UTF-8.
pub(super) fn rest(parser: &mut Parser) -> Result<Vec<String>, CommandError> {
    let words = parser.raw_args().map_err(|error| CommandError::usage(error.to_string()))?;
    words.skip(1).map(text).collect()
}

fn text(word: OsString) -> Result<String, CommandError> {
    word.into_string().map_err(|text| CommandError::usage(format!("{text:?} is not UTF-8")))
}
