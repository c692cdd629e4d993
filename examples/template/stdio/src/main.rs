//! An MCP server. `cargo run -- help` lists its commands, options and environment variables.

use mcp_runtime::{Builder, prelude::*};

/// Settings of the server.
///
/// Each field is an option of the command line and an environment variable. Clients ask their users for the values. Handlers take
/// the struct as `&Config`.
#[config]
struct Config {
    /// Mark at the end of each greeting
    #[config(default = "!")]
    mark: String,
}

/// Greets a person by name.
// The first line above is the description that models read, and the comments of the parameters describe the arguments. `read_only` tells
// clients that the tool changes nothing, so they need not ask their users. An error of a tool is a text for the model.
#[tool(read_only)]
fn greet(
    /// Name of the person
    #[arg(len(1..=80))]
    name: &str,
    /// Language of the greeting
    #[arg(default = "en", example = "fi")]
    language: &str,
    config: &Config,
) -> Result<String> {
    let Some(word) = greeting(language) else {
        return Err(Error::msg(format!(
            "there is no greeting in `{language}`: use `de`, `en` or `fi`"
        )));
    };
    Ok(format!("{word}, {name}{}", config.mark))
}

/// The word of greeting in a language.
// A client reads a resource by its URI, such as `greetings://fi`. `None` means that there is no such resource.
#[resource("greetings://{language}")]
fn greeting(#[complete("de", "en", "fi")] language: &str) -> Option<&'static str> {
    match language {
        "de" => Some("Hallo"),
        "en" => Some("Hello"),
        "fi" => Some("Hei"),
        _ => None,
    }
}

/// Returns the server that `main` runs and that the tests call.
fn server() -> Builder {
    server!(instructions = "Greet people in their own language.")
}

fn main() -> Exit {
    // stdout belongs to the protocol: write messages for yourself with `eprintln!`.
    server().run()
}

#[cfg(test)]
mod tests;
