//! The names of the keys that each attribute accepts, in the order in which errors show them.

/// The keys that one attribute accepts.
pub(crate) struct Table {
    /// The attribute as the user writes it: `#[tool]`.
    pub(crate) owner: &'static str,
    pub(crate) names: &'static [&'static str],
    /// Keys that users may expect here, each with the reason why the attribute does not have it.
    pub(crate) refused: &'static [(&'static str, &'static str)],
    /// Advice for a key that no attribute has.
    pub(crate) hint: Option<&'static str>,
}

/// Lists names of keys, in the order in which errors show them.
macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}

pub(crate) const TOOL: Table = Table {
    owner: "#[tool]",
    names: names! {
        name title description icon read_only destructive idempotent open_world blocking timeout rate concurrency scopes auth asks single_use task
        order group meta strict lenient schema input_schema crate
    },
    refused: &[],
    hint: None,
};

pub(crate) const RESOURCE: Table = Table {
    owner: "#[resource]",
    names: names! {
        name title description icon mime_type size blocking timeout rate concurrency scopes auth asks order group cache subscribe audience priority
        meta crate
    },
    refused: &[],
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
        ("asks", "what a function asks is its own: write it at the item"),
        ("single_use", "what a function asks is its own: write it at the item"),
    ],
    hint: None,
};
const OWN: &str = "each item has one of its own: write it at the item";

pub(crate) const DATA: Table = Table {
    owner: "#[data]",
    names: names![crate],
    refused: &[],
    hint: Some(
        "attributes of serde and schemars stand below it: `#[serde(rename_all = \"camelCase\")]`",
    ),
};

pub(crate) const FORM: Table = Table {
    owner: "#[form]",
    names: names![enum_names crate],
    refused: &[
        ("title", "a form as a whole has none; the message it is sent with says what it is for"),
        (
            "description",
            "a form as a whole has none; the message it is sent with says what it is for",
        ),
    ],
    hint: Some(
        "attributes of serde stand below it: `#[serde(rename_all = \"camelCase\")]`, and what a field takes is said at the field: `#[arg(range(1..=10))]`",
    ),
};

pub(crate) const ITEMS: Table =
    Table { owner: "items!", names: names![crate], refused: &[], hint: None };

pub(crate) const ARG: Table = Table {
    owner: "#[arg]",
    names: names![name title description default range len pattern example header complete],
    refused: &[(
        "format",
        "the schema of an argument has none beside its type's; say it in the `description`, or write `pattern`",
    )],
    hint: None,
};

pub(crate) const FORM_FIELD: Table = Table {
    owner: "#[arg] on a field of a #[form]",
    names: names![title description default range len format],
    refused: &[
        ("name", "the name of a field is serde's; write `#[serde(rename = \"…\")]`"),
        (
            "pattern",
            "no revision can tell a person's client of a pattern; write `format = \"email\"` or `len(..=10)`, and look at the answer yourself",
        ),
        ("example", "a form shows none; write `default`, or say it in the description"),
        ("header", "the answer to a form travels in no header"),
        (
            "complete",
            "a form completes nothing; write an enum with `#[form]`, whose variants are the choices",
        ),
    ],
    hint: None,
};

pub(crate) const FORM_VARIANT: Table = Table {
    owner: "#[arg] on a variant of a #[form]",
    names: names![title],
    refused: &[
        ("name", "the name of a variant is serde's; write `#[serde(rename = \"…\")]`"),
        ("description", "a choice has only a title; write `title`"),
        ("default", "the default is said at the field, `#[arg(default = Size::Small)]`"),
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
pub(crate) const ALL: [&Table; 10] =
    [&TOOL, &RESOURCE, &PROMPT, &ARG, &FORM, &FORM_FIELD, &SERVER, &CACHE, &TASK, &RATE];
