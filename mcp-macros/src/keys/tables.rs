//! Names of the keys that each attribute accepts.

/// Keys that one attribute accepts.
pub(crate) struct Table {
    /// The attribute as the user writes it: `#[tool]`.
    pub(crate) owner: &'static str,
    pub(crate) names: &'static [&'static str],
    /// Keys that users may expect on this attribute, each with the reason why the attribute does not have the key.
    pub(crate) refused: &'static [(&'static str, &'static str)],
    /// Advice for a key that no attribute has.
    pub(crate) hint: Option<&'static str>,
}

/// Converts identifiers to the names of keys. Errors show the names in this order.
macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}

pub(crate) const TOOL: Table = Table {
    owner: "#[tool]",
    names: names! {
        name title description icon read_only destructive idempotent open_world blocking timeout rate concurrency scopes auth asks single_use task
        order group meta strict lenient schema input_schema output_schema crate
    },
    refused: &[(
        "annotations",
        "its members are keys; write `read_only`, `destructive`, `idempotent`, `open_world` or `title`",
    )],
    hint: None,
};

pub(crate) const RESOURCE: Table = Table {
    owner: "#[resource]",
    names: names! {
        name title description icon mime_type size blocking timeout rate concurrency scopes auth asks order group cache subscribe audience priority
        meta crate
    },
    refused: &[("annotations", "its members are keys; write `audience` or `priority`")],
    hint: None,
};

pub(crate) const PROMPT: Table = Table {
    owner: "#[prompt]",
    names: names! {
        name title description icon blocking timeout rate concurrency scopes auth asks order group meta crate
    },
    refused: &[],
    hint: None,
};

pub(crate) const COMPLETION: Table = Table {
    owner: "#[completion]",
    names: names![blocking timeout crate],
    refused: &[],
    hint: None,
};

/// The keys of `#[handlers]`, which are defaults for the items of the block.
pub(crate) const HANDLERS: Table = Table {
    owner: "#[handlers]",
    names: names! {
        group icon read_only destructive idempotent open_world blocking timeout rate concurrency scopes auth task order mime_type cache subscribe
        audience priority strict lenient schema crate
    },
    refused: &[
        ("name", OWN),
        ("title", OWN),
        ("description", OWN),
        ("size", OWN),
        ("meta", OWN),
        ("input_schema", OWN),
        ("output_schema", OWN),
        ("asks", "it depends on what the function asks, so write it on the item"),
        ("single_use", "it depends on what the function asks, so write it on the item"),
    ],
    hint: None,
};
const OWN: &str = "each item has its own, so write it on the item";

pub(crate) const DATA: Table = Table {
    owner: "#[data]",
    names: names![crate],
    refused: &[],
    hint: Some(
        "write attributes of serde and schemars below it, such as `#[serde(rename_all = \"camelCase\")]`",
    ),
};

pub(crate) const FORM: Table = Table {
    owner: "#[form]",
    names: names![enum_names crate],
    refused: &[
        (
            "title",
            "a form as a whole has none; describe its purpose in the message that is sent with it",
        ),
        (
            "description",
            "a form as a whole has none; describe its purpose in the message that is sent with it",
        ),
    ],
    hint: Some(
        "write attributes of serde below it, such as `#[serde(rename_all = \"camelCase\")]`, and bounds on the field, such as `#[arg(range(1..=10))]`",
    ),
};

/// The keys of `#[config]` on a struct.
pub(crate) const CONFIG: Table = Table {
    owner: "#[config]",
    names: names![env crate],
    refused: &[
        ("prefix", "write `env`, as in `#[config(env = \"FILES\")]`"),
        ("name", "each field has an option of its own, so write it on the field"),
        ("default", "each field has a default of its own, so write it on the field"),
        ("secret", "each field is secret or not, so write it on the field"),
    ],
    hint: None,
};

pub(crate) const CONFIG_FIELD: Table = Table {
    owner: "#[config] on a field",
    names: names![name env default secret file directory],
    refused: &[
        ("description", "write a doc comment above the field"),
        ("short", "options have no short form; remove it"),
        ("long", "write `name`, as in `#[config(name = \"folder\")]`"),
        ("optional", "make the type of the field an `Option`, or write `default = …`"),
        (
            "required",
            "a field is required unless it has a `default`, or its type is `Option`, `Vec` or `bool`; remove it",
        ),
        ("range", "read a type of your own, whose `FromStr` checks the value; remove it"),
    ],
    hint: None,
};

pub(crate) const ITEMS: Table =
    Table { owner: "items!", names: names![crate], refused: &[], hint: None };

pub(crate) const ARG: Table = Table {
    owner: "#[arg]",
    names: names![name title description default range len pattern example header complete],
    refused: &[
        (
            "format",
            "the format of an argument follows from its type; describe it in the `description`, or write `pattern`",
        ),
        ("optional", "make the type of the argument an `Option`, or write `default = …`"),
    ],
    hint: None,
};

pub(crate) const FORM_FIELD: Table = Table {
    owner: "#[arg] on a field of a #[form]",
    names: names![title description default range len format],
    refused: &[
        ("name", "serde sets the name of a field; write `#[serde(rename = \"…\")]`"),
        (
            "pattern",
            "no protocol revision has patterns in forms; write `format = \"email\"` or `len(..=10)`, and check the answer yourself",
        ),
        (
            "example",
            "a form shows no examples; write `default`, or put the example into the description",
        ),
        ("header", "the answer to a form is not sent in a header; remove it"),
        (
            "complete",
            "a form has no completions; write an enum with `#[form]`, whose variants are the choices",
        ),
        ("optional", "make the type of the field an `Option`, or write `default = …`"),
    ],
    hint: None,
};

pub(crate) const FORM_VARIANT: Table = Table {
    owner: "#[arg] on a variant of a #[form]",
    names: names![title],
    refused: &[
        ("name", "serde sets the name of a variant; write `#[serde(rename = \"…\")]`"),
        ("description", "a choice has only a title; write `title`"),
        ("default", "set the default on the field, as in `#[arg(default = Size::Small)]`"),
    ],
    hint: None,
};

pub(crate) const SERVER: Table = Table {
    owner: "server!",
    names: names![with group instructions title name version icon website max_result crate],
    refused: &[],
    hint: None,
};

pub(crate) const ICON: Table =
    Table { owner: "icon", names: names![mime_type sizes], refused: &[], hint: None };

pub(crate) const CACHE: Table =
    Table { owner: "cache", names: names![public ttl], refused: &[], hint: None };

pub(crate) const TASK: Table =
    Table { owner: "task", names: names![required later ttl poll], refused: &[], hint: None };

pub(crate) const RATE: Table =
    Table { owner: "rate", names: names![burst], refused: &[], hint: None };

/// Tables to search for a key that belongs to another attribute.
pub(crate) const ALL: [&Table; 11] = [
    &TOOL,
    &RESOURCE,
    &PROMPT,
    &ARG,
    &FORM,
    &FORM_FIELD,
    &SERVER,
    &CACHE,
    &TASK,
    &RATE,
    &CONFIG_FIELD,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SOURCE: &str = include_str!("../lib.rs");
    const HANDLERS_PAGE: &str = include_str!("../../docs/shared_keys.md");
    const FORM_PAGE: &str = include_str!("../../docs/form.md");

    /// Returns the documentation of a macro in `lib.rs`, without the pages that it includes.
    fn docs(name: &str) -> String {
        let end = SOURCE.find(&format!("pub fn {name}(")).expect("the macro is in lib.rs");
        let lines = SOURCE[..end].lines().rev();
        let lines = lines.take_while(|line| line.starts_with("//") || line.starts_with("#["));
        let docs: Vec<&str> = lines.filter_map(|line| line.strip_prefix("/// ")).collect();
        docs.into_iter().rev().map(|line| format!("{line}\n")).collect()
    }

    /// Returns the identifier at the beginning of each code in backticks: `rate` for `` `rate = "10/s"` ``.
    fn codes(text: &str) -> BTreeSet<String> {
        let codes = text.split('`').skip(1).step_by(2);
        let identifier = |code: &str| -> String {
            code.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect()
        };
        codes.map(identifier).collect()
    }

    /// Returns the keys in the first column of all tables of keys.
    fn rows(text: &str) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        let mut is_in_table = false;
        for line in text.lines() {
            if line.starts_with("| key, by example |") {
                is_in_table = true;
            } else if !line.starts_with('|') {
                is_in_table = false;
            } else if is_in_table && !line.starts_with("|---") {
                let cell = line[1..].split(" | ").next().unwrap_or_default();
                keys.extend(codes(cell));
            }
        }
        keys
    }

    /// Checks that the text mentions each key of the first table, and that its tables contain only keys of these tables.
    fn check(text: &str, tables: &[&Table]) {
        let owner = tables[0].owner;
        let mentioned = codes(text);
        for name in tables[0].names {
            assert!(mentioned.contains(*name), "the docs of {owner} lack the key `{name}`");
        }
        for row in rows(text) {
            let is_key = tables.iter().any(|table| table.names.contains(&row.as_str()));
            assert!(is_key, "the docs of {owner} have a key `{row}`, which does not exist");
        }
    }

    #[test]
    fn the_documentation_has_every_key_and_no_other() {
        check(&docs("tool"), &[&TOOL, &ARG, &TASK]);
        check(&docs("tool"), &[&TASK, &TOOL, &ARG]);
        check(&docs("resource"), &[&RESOURCE]);
        check(&docs("prompt"), &[&PROMPT, &ARG]);
        check(&docs("completion"), &[&COMPLETION]);
        check(&docs("data"), &[&DATA]);
        check(&docs("config"), &[&CONFIG, &CONFIG_FIELD]);
        check(&docs("config"), &[&CONFIG_FIELD, &CONFIG]);
        check(HANDLERS_PAGE, &[&HANDLERS]);
        check(FORM_PAGE, &[&FORM, &FORM_FIELD, &FORM_VARIANT]);
        check(FORM_PAGE, &[&FORM_FIELD, &FORM, &FORM_VARIANT]);
    }

    #[test]
    fn the_tables_of_tools_are_complete() {
        let names = |table: &Table| -> BTreeSet<String> {
            table.names.iter().map(|name| (*name).to_owned()).collect()
        };
        let rows = rows(&docs("tool"));
        for name in names(&TOOL).iter().chain(&names(&TASK)) {
            assert!(rows.contains(name), "no row for `{name}`");
        }
        let arguments: BTreeSet<String> = names(&ARG).difference(&rows).cloned().collect();
        // Completion is for arguments of prompts and variables of templates.
        assert_eq!(arguments, BTreeSet::from(["complete".to_owned()]));
    }
}
