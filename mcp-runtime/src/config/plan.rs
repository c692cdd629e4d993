//! The structs that a server reads when it starts, and where their values come from.

use std::{collections::BTreeMap, env, ffi::OsString};

#[cfg(feature = "stdio")]
use super::reader::ConfigShape;
use super::{
    definition::ConfigDef,
    reader::{ConfigField, ConfigReader, ConfigSource, GivenValues, upper_snake},
};
use crate::call::context::States;

/// Options of every server, which a field cannot have.
pub(crate) const RESERVED: [&str; 15] = [
    "all-of",
    "allow-host",
    "allow-origin",
    "allow-remote-playground",
    "answer",
    "arguments",
    "drain",
    "help",
    "http",
    "json",
    "legacy-sse",
    "path",
    "playground",
    "trust-proxy",
    "version",
];

/// Structs with `#[config]` that a server knows.
#[derive(Default)]
pub(crate) struct ConfigPlan {
    server: String,
    structs: Vec<PlannedConfig>,
    given: Option<GivenValues>,
}

#[derive(Clone, Copy)]
struct PlannedConfig {
    def: &'static ConfigDef,
    /// Whether a handler or a `setup` takes the struct, so that the server cannot start without it.
    is_needed: bool,
}

impl ConfigPlan {
    /// Creates the plan of a server. `structs` are the definitions, each with whether the server needs it.
    pub(crate) fn new(
        server: &str,
        structs: impl Iterator<Item = (&'static ConfigDef, bool)>,
        given: Option<GivenValues>,
    ) -> Self {
        let structs = structs.map(|(def, is_needed)| PlannedConfig { def, is_needed });
        let mut structs: Vec<_> = structs.collect();
        // The linker returns the structs in arbitrary order.
        structs.sort_by_key(|planned| (planned.def.origin.file, planned.def.origin.line));
        Self { server: server.to_owned(), structs, given }
    }

    fn prefix(&self, def: &ConfigDef) -> String {
        let prefix = def.prefix.map_or_else(|| upper_snake(&self.server), str::to_owned);
        // No shell accepts the name of a variable that begins with a digit.
        if prefix.starts_with(|c: char| c.is_ascii_digit()) { format!("_{prefix}") } else { prefix }
    }

    /// Reads all structs into the state of a server.
    ///
    /// # Errors
    /// Fails with all problems at once. A value that is missing is no problem if nothing takes its struct.
    pub(crate) fn read(self, states: &mut States) -> Result<(), String> {
        self.read_with(states, &|name| env::var_os(name))
    }

    /// Checks the values that are given. Missing values are no problem.
    ///
    /// # Errors
    /// Fails with all problems at once.
    #[cfg(feature = "workbench")]
    pub(crate) fn check_given(mut self) -> Result<(), String> {
        self.structs.iter_mut().for_each(|planned| planned.is_needed = false);
        self.read(&mut States::default())
    }

    fn read_with(
        self,
        states: &mut States,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<(), String> {
        let source = ConfigSource { given: self.given.as_ref(), environment };
        let mut problems = Vec::new();
        for PlannedConfig { def, is_needed } in &self.structs {
            let mut reader = ConfigReader::new(def.origin, self.prefix(def), Some(&source));
            (def.read)(&mut reader);
            if let Some(insert) = reader.made {
                insert(states);
            }
            let found = reader.problems.into_iter();
            let found = found.filter(|problem| *is_needed || !problem.is_missing);
            problems.extend(found.map(|problem| problem.text));
        }
        let hint = match self.given {
            Some(_) => "",
            None => "\na test gives the whole struct with `.state(…)`",
        };
        match problems.as_slice() {
            [] => Ok(()),
            [problem] => Err(format!("{problem}{hint}")),
            _ => Err(format!(
                "the configuration has {} problems:\n- {}{hint}",
                problems.len(),
                problems.join("\n- ")
            )),
        }
    }

    /// Returns the problems of the names: two fields with the same option, or an option that every server has. Structs that nothing takes do
    /// not count, because they may belong to another server of the package.
    pub(crate) fn problems(&self) -> Vec<String> {
        let (mut problems, mut known) = (Vec::new(), BTreeMap::new());
        for PlannedConfig { def, .. } in self.structs.iter().filter(|planned| planned.is_needed) {
            for field in fields_of(def) {
                let place = field.place(&def.origin);
                let fix = "give it another option with `#[config(name = \"…\")]`";
                if RESERVED.contains(&field.option) {
                    problems.push(format!(
                        "{place} has the option `--{}`, which every server has: {fix}",
                        field.option
                    ));
                }
                if let Some(other) = known.insert(field.option, place.clone()) {
                    problems.push(format!(
                        "{other} and {place} have the same option `--{}`: {}",
                        field.option,
                        fix.replace(" it ", " one of them ")
                    ));
                }
            }
        }
        problems
    }
}

fn fields_of(def: &ConfigDef) -> Vec<ConfigField> {
    let mut reader = ConfigReader::new(def.origin, String::new(), None);
    (def.read)(&mut reader);
    reader.fields
}

/// Field as the command line sees it.
#[cfg(feature = "stdio")]
pub(crate) struct ConfigFieldView {
    pub(crate) field: ConfigField,
    /// Name of the environment variable.
    pub(crate) variable: String,
    /// Description of the struct.
    pub(crate) owner: &'static str,
    #[cfg_attr(not(feature = "workbench"), allow(dead_code, reason = "for clients that ask"))]
    origin: PlannedConfig,
}

#[cfg(feature = "stdio")]
impl ConfigFieldView {
    pub(crate) fn is_flag(&self) -> bool {
        self.field.shape == ConfigShape::Flag
    }

    pub(crate) fn is_list(&self) -> bool {
        self.field.shape == ConfigShape::List
    }
}

/// Facts that a client needs to ask its user for a value.
#[cfg(feature = "workbench")]
impl ConfigFieldView {
    /// Returns the type of a value, such as `u8`.
    pub(crate) fn element(&self) -> &str {
        &self.field.element
    }

    /// Whether the server needs a value to start.
    pub(crate) fn is_needed(&self) -> bool {
        self.field.is_required && self.is_taken()
    }

    /// Whether a handler or a `setup` of the server takes the struct. Otherwise it may belong to another server of the package.
    pub(crate) fn is_taken(&self) -> bool {
        self.origin.is_needed
    }

    /// Returns the default, if its text in the source is also a value that the server reads. `5_000` is not.
    pub(crate) fn readable_default(&self) -> Option<&'static str> {
        let default = self.field.default?;
        let given = GivenValues::from([(self.field.option.to_owned(), vec![default.to_owned()])]);
        let source = ConfigSource { given: Some(&given), environment: &|_| None };
        let def = self.origin.def;
        let mut reader = ConfigReader::new(def.origin, String::new(), Some(&source));
        (def.read)(&mut reader);
        reader.problems.iter().all(|problem| problem.is_missing).then_some(default)
    }
}

#[cfg(feature = "stdio")]
impl ConfigPlan {
    /// Returns the fields of all structs, in the order of the source.
    pub(crate) fn fields(&self) -> Vec<ConfigFieldView> {
        let structs = self.structs.iter();
        let all = structs.flat_map(|planned| {
            let (origin, prefix) = (*planned, self.prefix(planned.def));
            fields_of(origin.def).into_iter().map(move |field| {
                let variable = field.variable_after(&prefix);
                ConfigFieldView { field, variable, owner: origin.def.about, origin }
            })
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{ConfigProbe, ConfigValueLevel as _, Configuration},
        item::SourceLocation,
    };

    struct Files;
    struct Pages;

    impl Configuration for Files {
        fn read(from: &mut ConfigReader<'_>) -> Option<Self> {
            let root = ConfigField::new("root", "root", 5);
            let root = ConfigProbe::<String>::new().parser().read::<String>(from, root, None);
            let key = ConfigField::new("key", "api-key", 6).secret();
            let key = ConfigProbe::<u8>::new().parser().read::<u8>(from, key, None);
            root.and(key).map(|_| Self)
        }
    }

    impl Configuration for Pages {
        fn read(from: &mut ConfigReader<'_>) -> Option<Self> {
            let path = ConfigField::new("path", "path", 8);
            let path = ConfigProbe::<String>::new().parser().read::<String>(from, path, None);
            let root = ConfigField::new("root", "root", 9).variable("PAGES");
            let root = ConfigProbe::<String>::new().parser().read::<String>(from, root, None);
            root.and(path).map(|_| Self)
        }
    }

    const fn place(line: u32) -> SourceLocation {
        SourceLocation::new("own", "own", "src/main.rs", line, "Config")
    }

    static FILES: ConfigDef = ConfigDef::new::<Files>(place(4), "", None);
    static PAGES: ConfigDef = ConfigDef::new::<Pages>(place(7), "", None);

    /// Returns the outcome of a server that knows `Files`, with one variable.
    fn read(
        is_needed: bool,
        given: Option<GivenValues>,
        variable: (&str, &str),
    ) -> Result<bool, String> {
        let plan = ConfigPlan::new("file-box 2", [(&FILES, is_needed)].into_iter(), given);
        let mut states = States::default();
        plan.read_with(&mut states, &|name| (name == variable.0).then(|| variable.1.into()))?;
        Ok(states.get::<Files>().is_some())
    }

    #[test]
    fn names_that_two_fields_or_every_server_have_are_problems() {
        let plan = |structs: &[&'static ConfigDef]| {
            ConfigPlan::new("own", structs.iter().map(|def| (*def, true)), None).problems()
        };
        let untaken = [(&FILES, true), (&PAGES, false)].into_iter();
        assert_eq!(ConfigPlan::new("own", untaken, None).problems(), Vec::<String>::new());
        assert_eq!(plan(&[&FILES]), Vec::<String>::new());
        assert_eq!(
            plan(&[&PAGES, &FILES]),
            [
                "`path` at src/main.rs:8 has the option `--path`, which every server has: give it another option with `#[config(name = \"…\")]`",
                "`root` at src/main.rs:5 and `root` at src/main.rs:9 have the same option `--root`: give one of them another option with \
                 `#[config(name = \"…\")]`",
            ]
        );
    }

    #[cfg(feature = "stdio")]
    #[test]
    fn no_variable_begins_with_a_digit() {
        let plan = ConfigPlan::new("3d box", [(&FILES, true)].into_iter(), None);
        let variables: Vec<_> = plan.fields().into_iter().map(|view| view.variable).collect();
        assert_eq!(variables, ["_3D_BOX_ROOT", "_3D_BOX_API_KEY"]);
    }

    #[test]
    fn a_struct_that_nothing_takes_may_lack_values_but_not_have_wrong_ones() {
        assert_eq!(read(false, None, ("", "")), Ok(false));
        let why = read(false, None, ("FILE_BOX_2_API_KEY", "secret")).unwrap_err();
        assert!(
            why.starts_with(
                "`key` at src/main.rs:6: the value of the variable `FILE_BOX_2_API_KEY` is not a whole number from 0 to 255; it is not shown"
            ),
            "{why}"
        );
        assert!(!why.contains("`secret`") && !why.contains("`root`"), "{why}");
        let why = read(true, None, ("FILE_BOX_2_API_KEY", "7")).unwrap_err();
        assert!(
            why.starts_with(
                "`root` at src/main.rs:5 has no value: set the variable `FILE_BOX_2_ROOT`"
            ),
            "{why}"
        );
        let given = GivenValues::from([("root".to_owned(), vec!["/".to_owned()])]);
        assert_eq!(read(true, Some(given), ("FILE_BOX_2_API_KEY", "7")), Ok(true));
    }
}
