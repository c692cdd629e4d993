//! Texts of the crates. The shop of plain functions and the shop of ours come from one template, so that both have the same places.

use std::sync::OnceLock;

use crate::project::Side;

/// `«…»` is only in our shop, and `‹…›` only in the plain shop.
pub(crate) const TEMPLATE: &str = include_str!("shops/shop.template");

const RMCP: &str = include_str!("shops/rmcp.rs");

/// Returns the text of a shop.
pub(crate) fn shop(side: Side) -> &'static str {
    static PLAIN: OnceLock<String> = OnceLock::new();
    static OURS: OnceLock<String> = OnceLock::new();
    match side {
        Side::Plain => PLAIN.get_or_init(|| rendered(TEMPLATE, side)),
        Side::Ours => OURS.get_or_init(|| rendered(TEMPLATE, side)),
        Side::Rmcp => RMCP,
    }
}

/// Returns the text of one shop from a part of the template, which may end inside of a mark.
pub(crate) fn rendered(template: &str, side: Side) -> String {
    let (shown, hidden) =
        if side == Side::Plain { (['‹', '›'], '«') } else { (['«', '»'], '‹') };
    let end = if hidden == '«' { '»' } else { '›' };
    let mut text = String::new();
    let mut is_hidden = false;
    for char in template.chars() {
        if char == hidden || char == end {
            is_hidden = char == hidden;
        } else if !is_hidden && !shown.contains(&char) {
            text.push(char);
        }
    }
    text
}

/// Returns the item between the comments `// item: name` and `// end`, with the text before and after it.
pub(crate) fn item<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let mark = format!("// item: {name}\n");
    let start = text.find(&mark)? + mark.len();
    let end = start + text[start..].find("// end\n")?;
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// Returns a crate with 60 methods, or with 60 functions for the plain side. Each has a variable `person`, whose field `email` a test completes.
pub(crate) fn sixty(side: Side) -> String {
    let (head, block, end) = match side {
        Side::Plain => ("", "", "\nfn main() {}\n"),
        Side::Ours => (
            "use mcp_runtime::prelude::*;\n",
            "struct Post {}\n\n#[handlers]\nimpl Post {\n",
            "}\n\nfn main() -> Exit {\n    server!().state(Post {}).run()\n}\n",
        ),
        Side::Rmcp => (
            "use rmcp::{handler::server::{router::tool::ToolRouter, wrapper::Parameters}, schemars, tool, tool_router};\n",
            "struct Post {\n    router: ToolRouter<Self>,\n}\n\n#[tool_router]\nimpl Post {\n",
            "}\n\nfn main() {}\n",
        ),
    };
    let derive = match side {
        Side::Plain => "",
        Side::Ours => "#[data]\n",
        Side::Rmcp => "#[derive(serde::Deserialize, schemars::JsonSchema)]\n",
    };
    let (mut types, mut methods) = (String::new(), String::new());
    for index in 0..60 {
        let fields = "person: Person, subject: String, copies: u32";
        let parameters = match side {
            Side::Plain => fields.to_owned(),
            Side::Ours => format!("&self, {fields}"),
            Side::Rmcp => {
                types += &format!("{derive}struct Write{index} {{ {fields} }}\n\n");
                format!(
                    "&self, Parameters(Write{index} {{ person, subject, copies }}): Parameters<Write{index}>"
                )
            }
        };
        let attribute = if side == Side::Plain { "" } else { "#[tool]\n" };
        methods += &format!(
            "/// Writes to a person, number {index}.\n{attribute}async fn write_{index}({parameters}) -> String {{\n    \
             let name = person.name.clone();\n    format!(\"{{name}}: {{subject}} ({{copies}})\")\n}}\n\n"
        );
    }
    format!(
        "#![allow(dead_code)]\n{head}\n/// Person.\n{derive}struct Person {{\n    name: String,\n    email: String,\n}}\n\n{types}{block}{methods}{end}"
    )
}
