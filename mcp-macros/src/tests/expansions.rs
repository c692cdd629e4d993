//! Expansions of the attributes, compared as text with `tests/expand/<name>.out.rs`, and in rust-analyzer with
//! `tests/expand/<name>.editor.rs`.
//!
//! `UPDATE_EXPAND=1 cargo test -p mcp-macros` updates the files.

use super::expand;
use crate::editor::IN_TEST;
use std::path::Path;

fn check(name: &str) {
    compare(name, &format!("{name}.out.rs"));
}

/// Checks the code for rust-analyzer.
fn check_in_editor(name: &str) {
    IN_TEST.set(true);
    compare(name, &format!("{name}.editor.rs"));
}

fn compare(name: &str, output: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let source = std::fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
    let expanded = expand(&source);
    let file = syn::parse2(expanded.clone()).or_else(|_| {
        // A file that is only an expression would not parse, so a function surrounds the expression.
        syn::parse2(quote::quote!(fn main() { #expanded }))
    });
    let text =
        prettyplease::unparse(&file.unwrap_or_else(|error| panic!("{name}: {error}\n{expanded}")));
    let expected = folder.join(output);
    if std::env::var_os("UPDATE_EXPAND").is_some() {
        std::fs::write(&expected, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(text == expected, "{name} expands to something else now:\n{text}");
}

macro_rules! expansions {
    ($($name:ident)*) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

expansions! {
    tool tool_without_parameters tool_blocking tool_spread tool_all_keys tool_renamed_crate tool_configured
    tool_docs_included tool_lifetimes resource resource_template prompt completion
    config handlers server_expression items data data_enum data_held form form_enum form_enum_names
    schema_struct schema_enum schema_choice schema_generic schema_newtype
}

/// rust-analyzer gets the user's item and the expressions in its attributes, but no registration.
#[test]
fn in_an_editor_only_attributes_are_generated() {
    for name in ["tool", "tool_all_keys", "handlers", "completion", "form", "config"] {
        check_in_editor(name);
    }
}

/// Generated code refers to the runtime only through the path in `crate`.
#[test]
fn generated_code_with_another_crate_never_names_ours() {
    let sources = [
        "#[tool(crate = facade::mcp)] fn f(#[serde(rename = \"x\")] a: u8) {}",
        "#[resource(\"x:{a}\", crate = facade::mcp)] async fn f(a: u8) {}",
        "#[handlers(crate = facade::mcp)] impl N { #[prompt] fn f(&self, #[complete(Self::g)] a: &str) {} }",
        "#[data(crate = facade::mcp)] struct S { a: Inner }",
        "#[derive(Schema)] #[mcp(crate = \"facade::mcp\")] struct S<'a> { a: &'a str }",
        "#[form(crate = facade::mcp)] struct S { #[arg(default = \"x\", len(..=3))] a: String }",
        "#[form(crate = facade::mcp)] enum E { A }",
        "#[config(crate = facade::mcp, env = \"X\")] struct S { #[config(default = 1)] a: u8 }",
        "#[derive(Schema)] #[mcp(crate = \"facade::mcp\")] enum E<T> { A { b: T }, C }",
        "server!(crate = facade::mcp, icon = \"x\")",
        "items![crate = facade::mcp, a]",
    ];
    for source in sources {
        let text = expand(source).to_string();
        assert!(text.contains("facade :: mcp :: __private"), "{text}");
        assert!(!text.contains("mcp_runtime"), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }
}
