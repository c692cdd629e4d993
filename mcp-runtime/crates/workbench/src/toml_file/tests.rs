//! Forms in which a file of TOML can have a server.

use crate::{
    ClientApp,
    tests::{configured, http, process},
};

#[track_caller]
fn check_removal(before: &str, after: &str) {
    let removed = ClientApp::CodexCli.remove("notes", before).unwrap();
    assert_eq!(removed.as_deref(), Some(after), "{before}");
}

#[test]
fn a_server_is_removed_in_each_form() {
    check_removal(
        "# one\n[mcp_servers]\n# two\nnotes = { command = \"a\" } # gone\n# three\nfiles.command = \"b\"\n",
        "# one\n[mcp_servers]\n# two\n# three\nfiles.command = \"b\"\n",
    );
    check_removal(
        "mcp_servers.notes.command = \"a\"\nmcp_servers.files.command = \"b\"\nmcp_servers.notes.args = [\n  \"c\",\n]\n",
        "mcp_servers.files.command = \"b\"\n",
    );
    check_removal(
        "mcp_servers = { notes = { command = \"a\" }, files = { command = \"b\" } } # mine\n",
        "mcp_servers = { files = { command = \"b\" } } # mine\n",
    );
    check_removal(
        "# one\n[mcp_servers.notes]\n# gone\ncommand = \"a\"\n\n[mcp_servers.notes.env] # gone\nKEY = \"1\"\n\n[other]\na = 1\n\n[mcp_servers.notes.tools.read]\nenabled = true\n",
        "# one\n\n[other]\na = 1\n",
    );
    check_removal("[mcp_servers.notes.env]\nKEY = \"1\"\n\n[[list]]\na = 1\n", "[[list]]\na = 1\n");
    check_removal("[mcp_servers.notes]\n\n[mcp_servers.notes.env]\n\n[last]\n", "[last]\n");
    check_removal("a = 1\n\n[mcp_servers.notes]\ncommand = \"a\"", "a = 1\n");
    check_removal("[mcp_servers.\"notes\"]\nenv.KEY = \"\"\"\nb\n\"\"\"\n# last", "# last");
}

#[test]
fn a_server_is_added_beside_each_form() {
    for before in [
        "mcp_servers.files.command = \"b\"\n",
        "[mcp_servers]\nfiles.command = \"b\"\n# mine\n",
        "[mcp_servers]\nfiles = { command = \"b\" }\n",
        "mcp_servers = { files = { command = \"b\" } } # mine\n",
        "[[list]]\na = 1\n\n[mcp_servers.files]\ncommand = \"b\"\n\n[[list]]\na = 2\n",
        "\n",
    ] {
        let added = ClientApp::CodexCli.add(&process(), before).unwrap();
        assert!(added.contains("/opt/notes"), "{added}");
        assert_eq!(ClientApp::CodexCli.add(&process(), &added).unwrap(), added);
        check_removal(&added, before);
    }
}

#[test]
fn comments_above_keys_stay_when_the_keys_go() {
    let before = "[mcp_servers.notes]\n# all my notes\ncommand = \"a\" # gone\n# kept\nenabled = true\n\n# the last\n[mcp_servers.notes.env]\nKEY = \"1\"\n";
    let once = ClientApp::CodexCli.add(&http(), before).unwrap();
    assert_eq!(
        once,
        "[mcp_servers.notes]\n# kept\nenabled = true\n# all my notes\nurl = \"http://127.0.0.1:8000/mcp\"\n"
    );
    assert_eq!(ClientApp::CodexCli.add(&http(), &once).unwrap(), once);
}

#[test]
fn comments_stay_when_values_are_replaced() {
    let entry = "[mcp_servers.notes]\n# one\ncommand = \"a\" # two\n# three\nargs = [] # four\n\n[mcp_servers.notes.env]\n# five\nNOTES_KEY = \"old\" # six\n";
    let text = ClientApp::CodexCli.add(&configured(), entry).unwrap();
    let expected = "[mcp_servers.notes]\n# one\ncommand = \"/opt/notes\" # two\n# three\nargs = [] # four\n\n[mcp_servers.notes.env]\n# five\nNOTES_KEY = \"hunter2\" # six\nNOTES_LANGUAGE = \"no\"\nNOTES_ROOT = \"<NOTES_ROOT>\"\n";
    assert_eq!(text, expected);
}
