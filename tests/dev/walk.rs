//! The way of an author from a template to a bundle, in one new folder.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    client::Client,
    generated::Generated,
    programs::{chromium, python, validated},
    workshop::DOUBLE,
};

/// Lets the client of the Python SDK carry out steps with a server that it starts in this folder.
fn client(
    generated: &Generated,
    folder: &Path,
    server: &[String],
    steps: &Value,
) -> Result<Value, Missing> {
    let environment: BTreeMap<_, _> = generated.environment().into_iter().collect();
    let plan = json!({ "environment": environment, "steps": steps });
    let report = python(folder, "auto", server, &plan)?;
    Ok(report["steps"].clone())
}

/// Calls the tool that the author has added. The client starts the server from a folder outside of the crate.
fn check_double(generated: &Generated, server: &[String]) -> Result<(), Missing> {
    let call = json!([{ "do": "call", "name": "double", "arguments": { "number": 21 } }]);
    let steps = client(generated, &generated.home, server, &call)?;
    assert_eq!(steps[0]["result"]["content"][0]["text"], "42", "{server:?}: {steps:#}");
    Ok(())
}

fn walk() -> Result<(), Missing> {
    // The template becomes a crate with a server that runs.
    let generated = Generated::new("stdio", "template-walk")?;
    let listed = generated.run("cargo workbench list");
    assert!(listed.contains("greet name=<"), "{listed}");

    // The client starts `dev` as the project's configuration says. The author adds a tool while the client stays connected.
    let dev = generated.entry("template-walk/.mcp.json", "/mcpServers");
    assert_eq!(generated.entry("template-walk/.vscode/mcp.json", "/servers"), dev);
    let program = format!("{}\n{DOUBLE}", generated.text("src/main.rs"));
    let save =
        json!({ "do": "save", "path": generated.folder.join("src/main.rs"), "text": program });
    let steps = json!([
        { "do": "call", "name": "greet", "arguments": { "name": "Ada" } },
        { "do": "hear", "list": "tools", "trigger": save },
        { "do": "call", "name": "double", "arguments": { "number": 21 } },
    ]);
    let steps = client(&generated, &generated.folder, &dev, &steps)?;
    assert_eq!(steps[0]["result"]["content"][0]["text"], "Hello, Ada!", "{steps:#}");
    assert_eq!(steps[1]["result"]["changed"], "tools", "{steps:#}");
    assert_eq!(steps[2]["result"]["content"][0]["text"], "42", "{steps:#}");

    // The playground tries the tool out.
    let mut served = generated.command("cargo");
    served.args(["workbench", "dev", "--http", "127.0.0.1:0", "--playground"]);
    let served = Client::start(served);
    chromium("double", &served.url().replace("/mcp", "/playground"), &Value::Null)?;
    drop(served);

    // Two clients get an entry, and start the server with it.
    for (name, file, servers) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "/mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", "/servers"),
    ] {
        generated.run(&format!("cargo workbench install {name}"));
        check_double(&generated, &generated.entry(file, servers))?;
    }

    // The server becomes a bundle, which the official tool validates.
    generated.run("cargo workbench bundle --out walk.mcpb");
    let unpacked = validated(&generated.folder.join("walk.mcpb"))?;
    let program = unpacked.join("server/template-walk").display().to_string();
    check_double(&generated, &[program])
}

#[support::test]
fn a_new_folder_leads_from_the_template_to_installed_clients_and_a_valid_bundle() {
    needs(walk());
}
