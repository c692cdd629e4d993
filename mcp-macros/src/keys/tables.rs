//! Which attribute accepts which key.

use super::arg::{Completer, Default, Example, Header};
use super::asks::Asks;
use super::nested::{Cache, Icon, Meta};
use super::number::{Duration, Order, Pattern, Priority, Size, SizeExpr};
use super::range::{Len, Range};
use super::text::{Audience, CratePath, Expression, Flag, FullSchema, Name, Text, With};
use super::{Given, Table, keys};

keys! {
    /// The keys of everything that is registered: tools, resources, prompts, completions, `#[server]`, `#[data]`.
    struct ItemKeys {
        name: Option<Given<Name>>,
        title: Option<Given<Text>>,
        description: Option<Given<Text>>,
        icon: Vec<Given<Icon>>,
        read_only: Option<Given<Flag>>,
        destructive: Option<Given<Flag>>,
        idempotent: Option<Given<Flag>>,
        open_world: Option<Given<Flag>>,
        mime_type: Option<Given<Name>>,
        size: Option<Given<Size>>,
        blocking: Option<Given<Flag>>,
        timeout: Option<Given<Duration>>,
        asks: Option<Given<Asks>>,
        order: Option<Given<Order>>,
        group: Option<Given<Name>>,
        cache: Option<Given<Cache>>,
        subscribe: Option<Given<Flag>>,
        audience: Option<Given<Audience>>,
        priority: Option<Given<Priority>>,
        meta: Option<Given<Meta>>,
        strict: Option<Given<Flag>>,
        lenient: Option<Given<Flag>>,
        schema: Option<Given<FullSchema>>,
        input_schema: Option<Given<Expression>>,
        crate_path = "crate": Option<Given<CratePath>>,
    }
}

pub(crate) const TOOL: Table = Table {
    owner: "#[tool]",
    names: &[
        "name",
        "title",
        "description",
        "icon",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "blocking",
        "timeout",
        "asks",
        "order",
        "group",
        "meta",
        "strict",
        "lenient",
        "schema",
        "input_schema",
        "crate",
    ],
    hint: None,
};

pub(crate) const RESOURCE: Table = Table {
    owner: "#[resource]",
    names: &[
        "name",
        "title",
        "description",
        "icon",
        "mime_type",
        "size",
        "blocking",
        "timeout",
        "asks",
        "order",
        "group",
        "cache",
        "subscribe",
        "audience",
        "priority",
        "meta",
        "crate",
    ],
    hint: None,
};

pub(crate) const PROMPT: Table = Table {
    owner: "#[prompt]",
    names: &[
        "name",
        "title",
        "description",
        "icon",
        "blocking",
        "timeout",
        "asks",
        "order",
        "group",
        "meta",
        "crate",
    ],
    hint: None,
};

pub(crate) const COMPLETION: Table =
    Table { owner: "#[completion]", names: &["blocking", "timeout", "crate"], hint: None };

pub(crate) const SERVER_IMPL: Table =
    Table { owner: "#[server]", names: &["group", "crate"], hint: None };

pub(crate) const DATA: Table = Table {
    owner: "#[data]",
    names: &["crate"],
    hint: Some(
        "attributes of serde and schemars stand below it: `#[serde(rename_all = \"camelCase\")]`",
    ),
};

pub(crate) const ITEMS: Table = Table { owner: "items!", names: &["crate"], hint: None };

keys! {
    /// The keys of `#[arg(…)]` on a parameter.
    struct ArgKeys {
        name: Option<Given<Name>>,
        title: Option<Given<Text>>,
        description: Option<Given<Text>>,
        default: Option<Given<Default>>,
        range: Option<Given<Range>>,
        len: Option<Given<Len>>,
        pattern: Option<Given<Pattern>>,
        example: Option<Given<Example>>,
        header: Option<Given<Header>>,
        complete: Option<Given<Completer>>,
    }
}

pub(crate) const ARG: Table = Table {
    owner: "#[arg]",
    names: &[
        "name",
        "title",
        "description",
        "default",
        "range",
        "len",
        "pattern",
        "example",
        "header",
        "complete",
    ],
    hint: None,
};

keys! {
    /// The keys of `server!(…)`.
    struct ServerKeys {
        with: Option<Given<With>>,
        group: Option<Given<Text>>,
        instructions: Option<Given<Text>>,
        title: Option<Given<Text>>,
        name: Option<Given<Text>>,
        version: Option<Given<Text>>,
        icon: Vec<Given<Icon>>,
        website: Option<Given<Text>>,
        max_result: Option<Given<SizeExpr>>,
        crate_path = "crate": Option<Given<CratePath>>,
    }
}

pub(crate) const SERVER: Table = Table {
    owner: "server!",
    names: &[
        "with",
        "group",
        "instructions",
        "title",
        "name",
        "version",
        "icon",
        "website",
        "max_result",
        "crate",
    ],
    hint: None,
};

pub(crate) const ICON: Table = Table { owner: "icon", names: &["mime_type", "sizes"], hint: None };

pub(crate) const CACHE: Table = Table { owner: "cache", names: &["public", "ttl"], hint: None };

/// Where to look for a key that is at home elsewhere.
pub(crate) const ALL: [&Table; 6] = [&TOOL, &RESOURCE, &PROMPT, &ARG, &SERVER, &CACHE];

#[cfg(test)]
mod tests {
    use super::super::nested::IconKeys;
    use super::super::{Keys, Table};
    use super::*;

    /// A table that names a key its struct lacks would panic in the user's build.
    #[test]
    fn every_table_names_keys_that_exist() {
        fn check<K: Keys>(tables: &[Table]) {
            for name in tables.iter().flat_map(|it| it.names) {
                assert!(K::NAMES.contains(name), "{name}");
            }
        }
        check::<ItemKeys>(&[TOOL, RESOURCE, PROMPT, COMPLETION, SERVER_IMPL, DATA, ITEMS]);
        check::<ArgKeys>(&[ARG]);
        check::<ServerKeys>(&[SERVER]);
        check::<IconKeys>(&[ICON]);
        check::<Cache>(&[CACHE]);
    }
}
