//! Options of the command line that fields of structs with `#[config]` declare.

use std::collections::BTreeMap;
#[cfg(feature = "workbench")]
use std::path::Path;

use lexopt::Parser;

use super::exit::CommandError;
use crate::{
    builder::Builder,
    config::{ConfigFieldView, GivenValues, is_unchosen},
};

/// Options that the author of the server has declared, and the values that were given for them.
pub(super) struct OwnOptions {
    fields: Vec<ConfigFieldView>,
    given: GivenValues,
}

impl OwnOptions {
    pub(super) fn of(builder: &Builder) -> Self {
        Self { fields: builder.declared_config().fields(), given: BTreeMap::new() }
    }

    pub(super) fn into_given(self) -> GivenValues {
        self.given
    }

    /// Returns the options with their dashes.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|view| format!("--{}", view.field.option))
    }

    fn find(&self, option: &str) -> Option<&ConfigFieldView> {
        self.fields.iter().find(|view| view.field.option == option)
    }

    pub(super) fn knows(&self, option: &str) -> bool {
        self.find(option).is_some()
    }

    /// Stores a known option and its value. No error contains the value, because it may be secret.
    ///
    /// # Errors
    /// Fails if the value is missing or not UTF-8, or if the option is given twice and is no list.
    pub(super) fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), CommandError> {
        let Some(view) = self.find(option) else { return Ok(()) };
        let value = match view.is_flag() {
            true => parser.optional_value().unwrap_or_else(|| "true".into()),
            false => parser.value().map_err(|_| {
                let usage = view.field.usage();
                CommandError::usage(format!("`--{option}` needs a value, as in `{usage}`"))
            })?,
        };
        let value = value
            .into_string()
            .map_err(|_| CommandError::usage(format!("the value of `--{option}` is not UTF-8")))?;
        let is_list = view.is_list();
        let values = self.given.entry(option.to_owned()).or_default();
        if !is_list && !values.is_empty() {
            return Err(CommandError::usage(format!("`--{option}` is given twice")));
        }
        values.push(value);
        Ok(())
    }

    /// Stores the values of `--all-of OPTION VALUE…`, up to the next option. The manifest of a bundle starts the server with it, because a client
    /// inserts several values as words of their own, or leaves the placeholder if the user has chosen no value.
    ///
    /// # Errors
    /// Fails if there is no such option, if the option is no list, or if a value is not UTF-8.
    pub(super) fn take_all(&mut self, parser: &mut Parser) -> Result<(), CommandError> {
        let usage = |why: &str| CommandError::usage(format!("`--all-of OPTION VALUE…`: {why}"));
        let mut words =
            parser.raw_args().map_err(|error| CommandError::usage(error.to_string()))?;
        let option = words.next().and_then(|option| option.into_string().ok()).unwrap_or_default();
        let view = self.find(&option).ok_or_else(|| usage("there is no such option"))?;
        if !view.is_list() {
            return Err(usage(&format!("`--{option}` takes a single value")));
        }
        let mut values = Vec::new();
        while let Some(word) = words.next_if(|word| !word.to_string_lossy().starts_with("--")) {
            let value = word.into_string().map_err(|_| usage("a value is not UTF-8"))?;
            if !is_unchosen(&value) {
                values.push(value);
            }
        }
        // Without a value, the variable and the default apply.
        if !values.is_empty() {
            self.given.entry(option).or_default().append(&mut values);
        }
        Ok(())
    }

    /// Fails if an option of the author stands behind the name of a command, where words belong to the command. `parsed` are the options of
    /// the command.
    pub(super) fn check_place(
        &self,
        command: &str,
        words: &[String],
        parsed: &[&str],
    ) -> Result<(), CommandError> {
        let words = words.iter().take_while(|word| *word != "--");
        let words = words.map(|word| word.split('=').next().unwrap_or(word));
        let foreign = words.filter(|word| !parsed.contains(word));
        let option = foreign.filter_map(|word| word.strip_prefix("--"));
        match option.filter_map(|option| self.find(option)).next() {
            None => Ok(()),
            Some(view) => Err(CommandError::usage(format!(
                "`--{}` goes before the command: `{} {command} …`",
                view.field.option,
                view.field.usage()
            ))),
        }
    }

    /// Returns the sections of `help`: one for each struct, with its description, its options, and what they mean. No text contains a value
    /// or a default of a secret.
    pub(super) fn help(&self) -> Vec<(String, Vec<(String, String)>)> {
        let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for view in &self.fields {
            let title = match view.owner {
                "" => "Settings of this server:".to_owned(),
                about => format!("{}:", about.trim_end_matches('.')),
            };
            let line = (view.field.usage(), described(view));
            match sections.last_mut() {
                Some((last, lines)) if *last == title => lines.push(line),
                _ => sections.push((title, vec![line])),
            }
        }
        sections
    }
}

/// Returns the line of an option in the help.
fn described(view: &ConfigFieldView) -> String {
    let field = &view.field;
    let mut parts: Vec<String> = Vec::new();
    if !field.about.is_empty() {
        parts.push(field.about.trim_end_matches('.').to_owned());
    }
    if view.is_list() {
        parts.push("may be repeated".to_owned());
    }
    if field.is_required {
        parts.push("required".to_owned());
    }
    if let Some(default) = field.default {
        parts.push(format!("by default {default}"));
    }
    format!("{} [{}]", parts.join("; "), view.variable).trim_start().to_owned()
}

/// What an entry in the configuration of a client has to pass to the server: the values that were given to this process, and places for
/// those that are missing.
#[cfg(feature = "workbench")]
pub(super) struct EntryOptions {
    pub(super) args: Vec<String>,
    pub(super) variables: Vec<EntryVariable>,
}

/// Environment variable in the entry of a client.
#[cfg(feature = "workbench")]
pub(super) struct EntryVariable {
    pub(super) name: String,
    pub(super) option: &'static str,
    /// Description for the user, who may be asked for the value.
    pub(super) about: String,
    pub(super) is_secret: bool,
    /// Value, or `None` if a value is required and missing.
    pub(super) text: Option<String>,
}

#[cfg(feature = "workbench")]
impl EntryOptions {
    /// Collects the values of the command line and of the environment. A secret becomes a variable in either case.
    ///
    /// # Errors
    /// Fails if a value is given that the server could not read at its start.
    pub(super) fn of(builder: &Builder) -> Result<Self, CommandError> {
        builder.declared_config().check_given().map_err(CommandError::failure)?;
        let (mut args, mut variables) = (Vec::new(), Vec::new());
        let given = builder.given.as_ref();
        for view in builder.declared_config().fields() {
            let field = &view.field;
            let of_option = given.and_then(|given| given.get(field.option));
            let text = match of_option {
                Some(texts) if !field.is_secret => {
                    args.extend(texts.iter().flat_map(|text| view.words(text)));
                    continue;
                }
                Some(texts) => Some(texts.join(",")),
                None => variable(&view.variable).map(|text| view.all_absolute(&text)),
            };
            if text.is_none() && !field.is_required {
                // A client starts the server in a folder of its own.
                if field.is_path && field.default.is_some_and(|path| Path::new(path).is_relative())
                {
                    args.extend(view.words(field.default.unwrap_or_default()));
                }
                continue;
            }
            let about = if field.about.is_empty() { field.option } else { field.about };
            variables.push(EntryVariable {
                name: view.variable.clone(),
                option: field.option,
                about: about.to_owned(),
                is_secret: field.is_secret,
                text,
            });
        }
        Ok(Self { args, variables })
    }
}

/// Returns the text of a variable, unless it is empty. Text that is not Unicode was reported before.
#[cfg(feature = "workbench")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

#[cfg(feature = "workbench")]
impl ConfigFieldView {
    /// Returns the words of the command line that give this value.
    fn words(&self, text: &str) -> Vec<String> {
        let option = self.field.option;
        match (self.is_flag(), text) {
            (true, "true") => vec![format!("--{option}")],
            (true, _) => vec![format!("--{option}={text}")],
            (false, _) => vec![format!("--{option}"), self.absolute(text)],
        }
    }

    /// Returns the text of a variable with absolute paths. A list has several, with commas between them.
    fn all_absolute(&self, text: &str) -> String {
        match self.is_list() {
            true => {
                let all = text.split(',').map(|text| self.absolute(text.trim()));
                all.collect::<Vec<_>>().join(",")
            }
            false => self.absolute(text),
        }
    }

    /// Returns a path as an absolute path, because a client starts the server in a folder of its own. Other texts stay as they are.
    fn absolute(&self, text: &str) -> String {
        let path = self.field.is_path.then(|| std::path::absolute(text).ok()).flatten();
        path.and_then(|path| path.into_os_string().into_string().ok())
            .unwrap_or_else(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{http, questions},
        *,
    };
    use crate::{
        config::{
            ConfigDef, ConfigField, ConfigPlan, ConfigProbe, ConfigReader, ConfigValueLevel as _,
            Configuration, RESERVED,
        },
        item::SourceLocation,
    };

    struct Service;

    impl Configuration for Service {
        fn read(from: &mut ConfigReader<'_>) -> Option<Self> {
            let url = ConfigField::new("url", "url", 5);
            let url = ConfigProbe::<String>::new().parser().read(from, url, None);
            let root = ConfigField::new("root", "root", 6);
            let root = ConfigProbe::<String>::new().parser().read(from, root, None);
            url.and(root).map(|_| Self)
        }
    }

    static SERVICE: ConfigDef = ConfigDef::new::<Service>(
        SourceLocation::new("own", "own", "src/main.rs", 4, "Config"),
        "",
        None,
    );

    #[test]
    fn an_option_of_a_command_may_have_the_name_of_a_field() {
        let plan = ConfigPlan::new("own", [(&SERVICE, true)].into_iter(), None);
        let own = OwnOptions { fields: plan.fields(), given: BTreeMap::new() };
        let check = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            own.check_place("install", &words, &["--url"]).map_err(|why| why.text)
        };
        assert_eq!(check(&["cursor", "--url", "http://127.0.0.1"]), Ok(()));
        assert_eq!(check(&["cursor", "--url=http://127.0.0.1", "--", "--root"]), Ok(()));
        let why = check(&["cursor", "--url", "x", "--root=y"]).unwrap_err();
        assert_eq!(why, "`--root` goes before the command: `--root ROOT install …`");
    }

    #[test]
    fn fields_cannot_have_the_options_of_every_server() {
        let http = http::OPTIONS.iter().map(|option| option.0);
        let own = [questions::OPTION.0, "--all-of", "--json", "--help", "--version"];
        let all = http.chain(own);
        let mut names: Vec<_> = all
            .map(|usage| usage.split(' ').next().unwrap_or(usage).trim_start_matches("--"))
            .collect();
        names.extend(http::PLAYGROUND);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, RESERVED);
    }
}
