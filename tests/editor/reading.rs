//! Reading code: definitions, hovers, references, renames and completions.

use serde_json::{Value, json};

use crate::{
    project::{Project, Side},
    shops::shop,
};

/// Places with a single definition, in the shop of ours.
const PLACES: [&str; 24] = [
    "recipient: |Recipient",
    "delivery: |Delivery",
    "article: &|str",
    "fn |order(",
    "shop: &|Shop",
    "number: |u64",
    "-> |Option<String> {\n    let list",
    "fn |orders(",
    "author: &|str",
    "fn |review(",
    "fn |authors(",
    "typed: &|str, stars",
    "#[complete(|authors)]",
    "#[complete(Self::|words)]",
    "Delivery::|Standard)]",
    "default = Place::|Window",
    "default = Self::|MOST",
    "place: |Place,\n    /// Wishes",
    "people: |u8",
    "address: |Vec<String>",
    "digits: |usize",
    "key: |Option",
    "impl |Notes",
    "async fn |find(",
];

#[support::test]
fn a_name_has_one_definition_and_one_hover() {
    let mut project = Project::open();
    let text = shop(Side::Ours);
    let mut found = Vec::new();
    for place in PLACES {
        let hover = project.hover(Side::Ours, text, place);
        let is_clean =
            !["__", "mcp_runtime::call", "registration"].iter().any(|name| hover.contains(name));
        found.push((
            place,
            project.targets(Side::Ours, text, place),
            !hover.is_empty() && is_clean,
        ));
    }
    let most = found.iter().map(|(_, targets, _)| *targets).max();
    eprintln!("targets of a definition: at most {most:?} at {} places", found.len());
    let wrong: Vec<_> =
        found.iter().filter(|(_, targets, is_clean)| *targets != 1 || !is_clean).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The keys, and attributes in a block with `#[handlers]`, show documentation.
#[support::test]
fn an_attribute_and_its_keys_have_hovers() {
    let mut project = Project::open();
    let text = shop(Side::Ours);
    for (place, part) in [
        ("#[|tool(title", "Turns a function into a tool"),
        ("#[|tool(read_only", "Turns a function into a tool"),
        ("#[|handlers]", "Registers the methods"),
        ("(|read_only, timeout", "read_only"),
        ("read_only, |timeout", "timeout"),
        ("\"Order\", |destructive", "destructive"),
        ("#[arg(|pattern", "pattern"),
        ("#[arg(|default = Delivery", "default"),
        ("#[arg(default = 2, |range", "range"),
        ("server!(|title", "Sets the title"),
    ] {
        let hover = project.hover(Side::Ours, text, place);
        let has_text = hover.contains(part) && hover.trim().lines().count() > 2;
        assert!(has_text, "{place}: {hover}");
    }
}

/// A correct program has no diagnostics, also while the documentation of another text is shown.
#[support::test]
fn a_correct_program_has_no_diagnostics() {
    let mut project = Project::open();
    for side in Side::ALL {
        assert_eq!(project.diagnostics(side), [""; 0], "{side:?}");
    }
}

#[support::test]
fn a_rename_and_references_go_through_attributes() {
    let mut project = Project::open();
    let text = shop(Side::Ours);
    for (place, count) in [
        ("    |Standard,", 3),
        ("    |Window,", 2),
        ("fn |authors", 2),
        ("fn |words", 2),
        ("const |MOST", 2),
        ("struct |Recipient", 3),
        ("fn |order(", 1),
    ] {
        let renamed = project.ask_with(
            Side::Ours,
            text,
            place,
            "textDocument/rename",
            json!({"newName": "Renamed"}),
        );
        let changes = renamed["documentChanges"].as_array().cloned().unwrap_or_default();
        let edits: usize =
            changes.iter().map(|change| change["edits"].as_array().map_or(0, Vec::len)).sum();
        assert_eq!(edits, count, "{place}: {renamed:#}");
        let context = json!({"context": {"includeDeclaration": true}});
        let references =
            project.ask_with(Side::Ours, text, place, "textDocument/references", context);
        assert_eq!(references.as_array().map(Vec::len), Some(count), "{place}: {references:#}");
    }
    let calls = project.ask(Side::Ours, text, "fn |order(", "textDocument/prepareCallHierarchy");
    assert_eq!(calls.as_array().map(Vec::len), Some(1), "{calls:#}");
}

/// Places with completions: the text of the shop, its replacement with `|` at the cursor, and an offered name.
const OFFERED: [(&str, &str, &str); 14] = [
    ("person.name)\n}\n// end", "person.|)\n}\n// end", "name"),
    ("let days = match delivery", "let days = match de|", "delivery"),
    ("recipient: Recipient,\n    shop", "recipient: Rec|,\n    shop", "Recipient"),
    ("shop.orders.lock().unwrap().len();\n    let person", "shop.|;\n    let person", "orders"),
    ("self.all.iter().filter(|note| note.contains(word))", "self.|", "all"),
    ("&person.name)", "&person.|)", "address"),
    ("default = Delivery::Standard", "default = Delivery::|", "NextDay"),
    ("default = Delivery::Standard", "default = Delivery::Next|", "NextDay"),
    ("default = Delivery::Standard", "default = Deli|", "Delivery"),
    ("default = Place::Window", "default = Place::|", "Garden"),
    ("default = Self::MOST", "default = Self::MO|", "MOST"),
    ("#[complete(authors)]", "#[complete(auth|)]", "authors"),
    ("#[complete(Self::words)]", "#[complete(Self::wo|)]", "words"),
    ("let early = word.len();\n    early", "let early = wo|;\n    early", "word"),
];

/// Also no name that the macros generate is offered.
#[support::test]
fn completions_offer_what_the_author_means() {
    let mut project = Project::open();
    let text = shop(Side::Ours);
    let mut wrong = Vec::new();
    for (part, replacement, name) in OFFERED {
        let typed = text.replacen(part, &replacement.replacen('|', "", 1), 1);
        project.set_text(Side::Ours, &typed);
        let names = project.completions(Side::Ours, &typed, replacement);
        let generated: Vec<_> = names.iter().filter(|name| name.starts_with("__")).collect();
        if !generated.is_empty()
            || !names.iter().any(|offered| offered.trim_end_matches('…') == name)
        {
            wrong.push((replacement, name, names.clone()));
        }
    }
    eprintln!(
        "completions: {} of {} places offer the name",
        OFFERED.len() - wrong.len(),
        OFFERED.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    project.set_text(Side::Ours, text);
    let found = symbols(&mut project, "__mcp");
    assert!(found.is_empty(), "{found:?}");
}

/// Places of keys: the text of the shop, its replacement with `|` at the cursor, the number of offered keys, and one of them.
const KEYS: [(&str, &str, usize, &str); 10] = [
    ("#[tool(title = \"Order\", destructive = false)]", "#[tool(|)]", 25, "name"),
    ("destructive = false)]", "re|)]", 24, "name"),
    ("#[tool(title = \"Order\", destr", "#[tool(ti|, destr", 24, "title"),
    ("#[tool(read_only, timeout", "#[tool(read_only, |, timeout", 23, "name"),
    ("#[arg(pattern = \"^[A-Z]+$\")]", "#[arg(|)]", 10, "name"),
    ("#[config(secret)]", "#[config(se|)]", 6, "secret"),
    ("#[arg(default = 2, range(1..=8))]", "#[arg(default = 2, |)]", 5, "range"),
    ("{?least}\", mime", "{?least}\", |, mime", 19, "name"),
    ("server!(title", "server!(ti|, title", 7, "name"),
    ("server!(title = \"Shop\", instructions = \"Be kind.\")", "server!(|)", 9, "name"),
];

/// The attribute offers its keys, without those that it has already, and nothing else.
#[support::test]
fn a_key_is_completed_in_each_attribute() {
    let mut project = Project::open();
    let text = shop(Side::Ours);
    for (part, replacement, count, key) in KEYS {
        let typed = text.replacen(part, &replacement.replacen('|', "", 1), 1);
        project.set_text(Side::Ours, &typed);
        let names = project.completions(Side::Ours, &typed, replacement);
        let is_offered = names.iter().any(|name| name == key);
        assert!(is_offered && names.len() == count, "{replacement}: {names:?}");
        // Only the half-typed key is a mistake.
        let diagnostics = project.diagnostics(Side::Ours);
        assert!(diagnostics.iter().all(|text| text.contains(" key ")), "{diagnostics:?}");
    }
}

fn symbols(project: &mut Project, query: &str) -> Vec<String> {
    let found: Value = project.request("workspace/symbol", &json!({"query": query}));
    let found = found.as_array().cloned().unwrap_or_default();
    let of_shops = found.iter().filter(|symbol| {
        symbol["location"]["uri"].as_str().is_some_and(|uri| uri.contains("/ours/"))
    });
    of_shops.map(|symbol| symbol["name"].to_string()).collect()
}
