//! The form of each client, and what stays in a file.

use crate::{ClientApp, EditError, Launch, ServerEntry, Variable, VariableValue};

pub(crate) fn process() -> ServerEntry {
    let launch = Launch::Process {
        command: "/opt/notes".to_owned(),
        args: vec!["--root=/data".to_owned()],
        env: Vec::new(),
    };
    ServerEntry { name: "notes".to_owned(), launch }
}

/// A server with a known variable, a secret, and a variable without a value.
pub(crate) fn configured() -> ServerEntry {
    let asked = |name: &str, is_secret, otherwise: &str, is_placeholder| Variable {
        name: format!("NOTES_{}", name.to_uppercase()),
        value: VariableValue::Asked {
            id: format!("notes-{name}"),
            description: format!("The {name} of all notes"),
            is_secret,
            otherwise: otherwise.to_owned(),
            is_placeholder,
        },
    };
    let language =
        Variable { name: "NOTES_LANGUAGE".to_owned(), value: VariableValue::Text("no".to_owned()) };
    let env = vec![
        language,
        asked("key", true, "hunter2", false),
        asked("root", false, "<NOTES_ROOT>", true),
    ];
    let launch = Launch::Process { command: "/opt/notes".to_owned(), args: Vec::new(), env };
    ServerEntry { name: "notes".to_owned(), launch }
}

pub(crate) fn http() -> ServerEntry {
    let url = "http://127.0.0.1:8000/mcp".to_owned();
    ServerEntry { name: "notes".to_owned(), launch: Launch::Http { url, headers: Vec::new() } }
}

/// Server that is reached over HTTP with a header.
pub(crate) fn http_with_header() -> ServerEntry {
    let Launch::Http { url, .. } = http().launch else { unreachable!("it is reached over HTTP") };
    let headers = vec![("Authorization".to_owned(), "Bearer hunter2".to_owned())];
    ServerEntry { launch: Launch::Http { url, headers }, ..http() }
}

/// Forms of the entries. Sources, all read on 2026-11-27: the pages about MCP servers in the documentation of Claude Code
/// (code.claude.com), VS Code (code.visualstudio.com/docs/agents/reference/mcp-configuration), Gemini CLI
/// (geminicli.com/docs/tools/mcp-server), Codex CLI (developers.openai.com/codex/mcp), Goose (documentation/docs/guides/config-files.md of
/// aaif-goose/goose), Zed (zed.dev/docs/ai/mcp) and Windsurf (docs.windsurf.com/windsurf/cascade/mcp). Devin: docs.sevalla.com/ai-agents/
/// windsurf and vaadin.com/docs/latest/building-apps/agentic-development/mcp/supported-tools/devin-desktop. Cursor and Claude Desktop by
/// secondary sources, because their own pages could not be read: userjot.com/docs/mcp-cursor and
/// docs/configuring-cursor.md of confluentinc/mcp-confluent, which refer to cursor.com/docs/mcp; anthropics/claude-code#26073, and
/// the example at gofastmcp.com/integrations/mcp-json-configuration.
#[test]
fn each_client_has_its_own_form() {
    let stdio = r#""command": "/opt/notes", "args": ["--root=/data"]"#;
    let url = "http://127.0.0.1:8000/mcp";
    for (client, list, started, connected) in [
        (
            ClientApp::ClaudeCode,
            "mcpServers",
            format!(r#""type": "stdio", {stdio}"#),
            format!(r#""type": "http", "url": "{url}""#),
        ),
        (
            ClientApp::VsCode,
            "servers",
            format!(r#""type": "stdio", {stdio}"#),
            format!(r#""type": "http", "url": "{url}""#),
        ),
        (ClientApp::Cursor, "mcpServers", stdio.to_owned(), format!(r#""url": "{url}""#)),
        (ClientApp::GeminiCli, "mcpServers", stdio.to_owned(), format!(r#""httpUrl": "{url}""#)),
        (ClientApp::Zed, "context_servers", stdio.to_owned(), format!(r#""url": "{url}""#)),
        (ClientApp::Windsurf, "mcpServers", stdio.to_owned(), format!(r#""serverUrl": "{url}""#)),
        (ClientApp::Devin, "mcpServers", stdio.to_owned(), format!(r#""url": "{url}""#)),
        (
            ClientApp::Plain,
            "mcpServers",
            stdio.to_owned(),
            format!(r#""type": "http", "url": "{url}""#),
        ),
    ] {
        for (entry, members) in [(process(), started), (http(), connected)] {
            let text = client.add(&entry, "").unwrap();
            let words: Vec<_> = text.split_whitespace().collect();
            let expected = format!(r#"{{ "{list}": {{ "notes": {{ {members} }} }} }}"#);
            assert_eq!(words.join(" "), expected, "{client:?}");
        }
    }
    assert_eq!(
        ClientApp::CodexCli.add(&process(), "").unwrap(),
        "[mcp_servers.notes]\ncommand = \"/opt/notes\"\nargs = [\"--root=/data\"]\n"
    );
    assert_eq!(
        ClientApp::CodexCli.add(&http(), "").unwrap(),
        format!("[mcp_servers.notes]\nurl = \"{url}\"\n")
    );
    assert_eq!(
        ClientApp::Goose.add(&process(), "").unwrap(),
        "extensions:\n  notes:\n    type: stdio\n    name: notes\n    enabled: true\n    cmd: /opt/notes\n    args: [\"--root=/data\"]\n    timeout: 300\n"
    );
    assert_eq!(
        ClientApp::Goose.add(&http(), "").unwrap(),
        format!(
            "extensions:\n  notes:\n    type: streamable_http\n    name: notes\n    enabled: true\n    uri: \"{url}\"\n    timeout: 300\n"
        )
    );
    assert!(ClientApp::ClaudeDesktop.add(&process(), "").unwrap().contains("mcpServers"));
    let why = ClientApp::ClaudeDesktop.add(&http(), "").unwrap_err();
    assert!(matches!(why, EditError::NoHttp(ClientApp::ClaudeDesktop)), "{why}");
}

/// Forms of variables, from the same sources as the forms of the entries. The page of VS Code (code.visualstudio.com/docs/copilot/reference/
/// mcp-configuration, read on 2026-11-27) has the list `inputs`, with `promptString`, `password` and `${input:…}`.
#[test]
fn variables_are_in_the_entry_or_the_client_asks_for_them() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let env = r#""env": { "NOTES_LANGUAGE": "no", "NOTES_KEY": "hunter2", "NOTES_ROOT": "<NOTES_ROOT>" }"#;
    for client in [
        ClientApp::ClaudeCode,
        ClientApp::ClaudeDesktop,
        ClientApp::Cursor,
        ClientApp::GeminiCli,
        ClientApp::Zed,
        ClientApp::Windsurf,
        ClientApp::Devin,
        ClientApp::Plain,
    ] {
        let text = client.add(&configured(), "").unwrap();
        assert!(words(&text).contains(env), "{client:?}: {text}");
    }
    let text = ClientApp::CodexCli.add(&configured(), "").unwrap();
    let env =
        r#"env = { NOTES_LANGUAGE = "no", NOTES_KEY = "hunter2", NOTES_ROOT = "<NOTES_ROOT>" }"#;
    assert!(text.contains(env), "{text}");
    let text = ClientApp::Goose.add(&configured(), "").unwrap();
    let env =
        "    envs: {NOTES_LANGUAGE: \"no\", NOTES_KEY: hunter2, NOTES_ROOT: \"<NOTES_ROOT>\"}\n";
    assert!(text.contains(env), "{text}");

    let text = ClientApp::VsCode.add(&configured(), "").unwrap();
    for part in [
        r#""env": { "NOTES_LANGUAGE": "no", "NOTES_KEY": "${input:notes-key}", "NOTES_ROOT": "${input:notes-root}" }"#,
        r#"{ "type": "promptString", "id": "notes-key", "description": "The key of all notes", "password": true }"#,
        r#"{ "type": "promptString", "id": "notes-root", "description": "The root of all notes" }"#,
    ] {
        assert!(words(&text).contains(part), "{text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(ClientApp::VsCode.add(&configured(), &text).unwrap(), text);
}

#[test]
fn a_question_goes_with_the_last_server_that_uses_it() {
    let before = "{\n  \"inputs\": [\n    { \"type\": \"promptString\", \"id\": \"other\" }\n  ],\n  \"servers\": {\n    \"a\": { \"env\": { \"K\": \"${input:notes-key}\" } }\n  }\n}\n";
    let added = ClientApp::VsCode.add(&configured(), before).unwrap();
    let removed = ClientApp::VsCode.remove("notes", &added).unwrap().expect("the server");
    assert!(removed.contains("\"notes-key\"") && !removed.contains("\"notes-root\""), "{removed}");
    let removed = ClientApp::VsCode.remove("a", &removed).unwrap().expect("the server");
    assert!(removed.contains("\"other\"") && !removed.contains("notes"), "{removed}");
}

#[test]
fn a_placeholder_never_replaces_a_value_and_other_variables_stay() {
    for (client, before) in [
        (
            ClientApp::Cursor,
            r#"{"mcpServers": {"notes": {"env": {"NOTES_ROOT": "/mine", "OWN": "1", "NOTES_KEY": "old"}}}}"#,
        ),
        (
            ClientApp::CodexCli,
            "[mcp_servers.notes.env]\nNOTES_ROOT = \"/mine\"\nOWN = \"1\"\nNOTES_KEY = \"old\"\n",
        ),
        (
            ClientApp::Goose,
            "extensions:\n  notes:\n    envs:\n      NOTES_ROOT: /mine\n      OWN: \"1\"\n      NOTES_KEY: old\n",
        ),
    ] {
        let once = client.add(&configured(), before).unwrap();
        for part in ["/mine", "OWN", "hunter2", "NOTES_LANGUAGE"] {
            assert!(once.contains(part), "{client:?}: {part}:\n{once}");
        }
        assert!(!once.contains("old") && !once.contains("<NOTES_ROOT>"), "{client:?}:\n{once}");
        assert_eq!(client.add(&configured(), &once).unwrap(), once, "{client:?}");
    }
}

#[test]
fn other_names_of_clients_and_their_beginnings_are_understood() {
    for (given, meant) in [
        ("codex", &[ClientApp::CodexCli][..]),
        ("gemini", &[ClientApp::GeminiCli]),
        ("Gemini CLI", &[ClientApp::GeminiCli]),
        ("claude", &[ClientApp::ClaudeCode, ClientApp::ClaudeDesktop]),
        ("claude_code", &[ClientApp::ClaudeCode]),
        ("code", &[ClientApp::VsCode]),
        ("vs-code", &[ClientApp::VsCode]),
        ("Visual Studio Code", &[ClientApp::VsCode]),
        ("devin-desktop", &[ClientApp::Devin]),
        ("c", &[]),
        ("emacs", &[]),
        ("", &[]),
    ] {
        assert_eq!(ClientApp::meant_by(given), meant, "{given}");
    }
}

/// Source: `name_to_key` in crates/goose/src/config/extensions.rs of block/goose, read on 2026-11-27.
#[test]
fn goose_gets_the_key_that_it_writes_itself() {
    let entry = ServerEntry { name: "My Notes: new_2-ä".to_owned(), ..process() };
    let text = ClientApp::Goose.add(&entry, "").unwrap();
    assert!(text.starts_with("extensions:\n  mynotes_new_2-_:\n"), "{text}");
    assert!(text.contains("    name: \"My Notes: new_2-ä\"\n"), "{text}");
    let removed = ClientApp::Goose.remove(&entry.name, &text).unwrap().expect("the server");
    assert!(!removed.contains("notes"), "{removed}");
    let text = ClientApp::Cursor.add(&entry, "").unwrap();
    assert!(text.contains(r#""My Notes: new_2-ä": {"#), "{text}");
}

/// Files with comments and servers of others.
const JSON: &str = r#"// Settings
{
  "theme": "dark", // as always
  /* all my servers */
  "mcpServers": {
    "files": { "command": "files" },
  },
  "last": [1,2,   3]
}
"#;

const TOML: &str = r#"# Settings
model = "large" # as always

[mcp_servers.files] # all my files
command = "files"

[other]
key = 1
"#;

const YAML: &str = r#"# Settings
GOOSE_MODE: "smart_approve" # as always

# all my servers
extensions:
  files:   # the files
    type: stdio
    cmd: files
last: [1,2,   3]
"#;

#[test]
fn a_file_is_the_same_after_a_server_was_added_and_removed() {
    for (client, before) in [
        (ClientApp::Cursor, JSON),
        (ClientApp::CodexCli, TOML),
        (ClientApp::Goose, YAML),
        (ClientApp::VsCode, "{\n  \"inputs\": []\n}\n"),
        (ClientApp::CodexCli, "# mine\n"),
        (ClientApp::Goose, "# mine\n"),
    ] {
        // The questions of VS Code change the list `inputs`, which has its own test.
        let configured = (!client.asks()).then(configured);
        for entry in [process(), http()].into_iter().chain(configured) {
            let added = client.add(&entry, before).unwrap();
            let kept = before.lines().filter(|line| !line.trim().is_empty());
            for line in kept.filter(|line| !["}", "{", "},"].contains(&line.trim())) {
                let line = line.trim_end_matches(',');
                assert!(added.contains(line), "{client:?} has lost {line}:\n{added}");
            }
            let removed = client.remove("notes", &added).unwrap().expect("the server");
            assert!(!removed.contains("notes"), "{client:?}:\n{removed}");
            assert_eq!(client.remove("notes", &removed).unwrap(), None);
            assert_eq!(removed, before, "{client:?}");
        }
    }
}

#[test]
fn comments_keep_their_place_when_a_server_is_added_and_removed() {
    for (client, before, added, removed) in [
        // A comment at the beginning stays there, and an older entry goes without its blank line.
        (ClientApp::CodexCli, "# mine\n", "# mine\n\nENTRY", "# mine\n"),
        (ClientApp::CodexCli, "# mine\n\nENTRY", "# mine\n\nENTRY", "# mine\n"),
        (ClientApp::CodexCli, "# mine\nENTRY", "# mine\nENTRY", "# mine\n"),
        (ClientApp::CodexCli, "a = 1\n# last\n", "a = 1\n# last\n\nENTRY", "a = 1\n# last\n"),
        (ClientApp::CodexCli, "a = 1", "a = 1\n\nENTRY", "a = 1\n"),
        (
            ClientApp::CodexCli,
            "[mcp_servers.files]\ncommand = \"a\" # one\n# two\n\n# three\n[last]\nb = 1\n# four",
            "[mcp_servers.files]\ncommand = \"a\" # one\n# two\n\n# three\n[last]\nb = 1\n# four\n\nENTRY",
            "[mcp_servers.files]\ncommand = \"a\" # one\n# two\n\n# three\n[last]\nb = 1\n# four\n",
        ),
        (
            ClientApp::CodexCli,
            "# one\nENTRY# two\n\n# three\n[last]\n",
            "# one\nENTRY# two\n\n# three\n[last]\n",
            "# one\n# two\n\n# three\n[last]\n",
        ),
        (ClientApp::CodexCli, "ENTRY\n[last]\n", "ENTRY\n[last]\n", "[last]\n"),
        (ClientApp::Cursor, "{}\n", "{\n  \"mcpServers\": ENTRY\n}\n", "{}\n"),
        (
            ClientApp::Cursor,
            "// mine\n",
            "// mine\n{\n  \"mcpServers\": ENTRY\n}\n",
            "// mine\n{}\n",
        ),
        (
            ClientApp::Cursor,
            "{\n  // one\n  \"a\": 1 // two\n}\n",
            "{\n  // one\n  \"a\": 1, // two\n  \"mcpServers\": ENTRY\n}\n",
            "{\n  // one\n  \"a\": 1 // two\n}\n",
        ),
        (ClientApp::Goose, "# mine\n", "# mine\nextensions:\n  ENTRY", "# mine\n"),
        (
            ClientApp::Goose,
            "a: 1 # one\n# two\n",
            "a: 1 # one\n# two\nextensions:\n  ENTRY",
            "a: 1 # one\n# two\n",
        ),
    ] {
        let entry = match client {
            ClientApp::CodexCli => {
                "[mcp_servers.notes]\ncommand = \"/opt/notes\"\nargs = [\"--root=/data\"]\n"
            }
            ClientApp::Cursor => {
                "{\n    \"notes\": {\n      \"command\": \"/opt/notes\",\n      \"args\": [\"--root=/data\"]\n    }\n  }"
            }
            _ => {
                "notes:\n    type: stdio\n    name: notes\n    enabled: true\n    cmd: /opt/notes\n    args: [\"--root=/data\"]\n    timeout: 300\n"
            }
        };
        let [before, added] = [before, added].map(|text| text.replace("ENTRY", entry));
        let once = client.add(&process(), &before).unwrap();
        assert_eq!(once, added, "{client:?}: {before:?}");
        assert_eq!(client.remove("notes", &once).unwrap().as_deref(), Some(removed), "{before:?}");
    }
}

/// Windows editors write CRLF, and some of them a byte order mark.
#[test]
fn a_file_keeps_its_line_ends_and_its_byte_order_mark() {
    for (client, before) in
        [(ClientApp::Cursor, JSON), (ClientApp::CodexCli, TOML), (ClientApp::Goose, YAML)]
    {
        let windows = before.replace('\n', "\r\n");
        let mixed = before.replacen('\n', "\r\n", 4);
        for before in
            [windows.clone(), format!("\u{feff}{windows}"), format!("\u{feff}{before}"), mixed]
        {
            let added = client.add(&configured(), &before).unwrap();
            let old: Vec<_> = before.split_inclusive('\n').collect();
            let kept = added.split_inclusive('\n').filter(|line| old.contains(line)).count();
            assert!(kept + 1 >= old.len(), "{client:?} has lost a line of {before:?}:\n{added:?}");
            let removed = client.remove("notes", &added).unwrap().expect("the server");
            assert_eq!(removed, before, "{client:?}");
        }
        let added = client.add(&configured(), &windows).unwrap();
        assert_eq!(added.matches('\n').count(), added.matches("\r\n").count(), "{added:?}");
    }
}

/// The user of Goose turns a server off in its settings, and sets the time that a call may take.
#[test]
fn an_entry_of_goose_keeps_the_choices_of_its_user() {
    let text = ClientApp::Goose.add(&process(), "").unwrap();
    let chosen =
        text.replace("enabled: true", "enabled: false").replace("timeout: 300", "timeout: 5");
    for entry in [process(), http()] {
        let again = ClientApp::Goose.add(&entry, &chosen).unwrap();
        assert!(again.contains("enabled: false") && again.contains("timeout: 5\n"), "{again}");
    }
}

#[test]
fn an_empty_list_and_a_file_of_comments_take_a_server() {
    for (client, before, kept) in [
        (ClientApp::Cursor, "{\n  \"mcpServers\": null,\n  \"last\": 1\n}\n", "\"last\": 1"),
        (ClientApp::Cursor, "// mine\n", "// mine\n"),
        (ClientApp::Cursor, "\u{feff}{}\r\n", "\u{feff}{"),
        (ClientApp::Cursor, "\u{feff}", "\u{feff}"),
        (ClientApp::Cursor, r#"{"mcpServers": {"notes": null}}"#, ""),
        (ClientApp::VsCode, "{\n  \"inputs\": null,\n  \"servers\": null\n}\n", ""),
        (ClientApp::CodexCli, "# mine\n", "# mine\n"),
        (ClientApp::CodexCli, "[mcp_servers]\n", "[mcp_servers]\n"),
        (ClientApp::Goose, "extensions:\n", ""),
        (ClientApp::Goose, "a: 1\nextensions: # mine\nlast: 2\n", "last: 2\n"),
        (ClientApp::Goose, "extensions: null\nlast: 2\n", "last: 2\n"),
        (ClientApp::Goose, "extensions: ~\n", ""),
        (ClientApp::Goose, "extensions: {}\n", ""),
        (ClientApp::Goose, "# mine\n\n# all of it", "# mine\n\n# all of it\n"),
        (ClientApp::Goose, "---\n# mine\n", "---\n# mine\n"),
        (ClientApp::Goose, "---\nextensions:\n", "---\n"),
        (ClientApp::Goose, "{}\n", ""),
        (ClientApp::Goose, "extensions:\n  notes:\n", ""),
    ] {
        let added = client.add(&configured(), before);
        let added = added.unwrap_or_else(|why| panic!("{client:?}: {before:?}: {why}"));
        assert!(added.contains("/opt/notes") && added.contains(kept), "{client:?}:\n{added}");
        assert_eq!(client.add(&configured(), &added).unwrap(), added, "{client:?}");
        if !before.contains("notes") {
            assert_eq!(client.remove("notes", before).unwrap(), None, "{client:?}: {before:?}");
        }
        let removed = client.remove("notes", &added).unwrap().expect("the server");
        assert!(!removed.contains("notes") && removed.contains(kept), "{client:?}:\n{removed}");
    }
}

#[test]
fn an_entry_that_is_replaced_keeps_what_the_user_has_added() {
    for (client, before, kept) in [
        (
            ClientApp::Cursor,
            r#"{"mcpServers": {"notes": {"command": "/old", "env": {"KEY": "1"} /* mine */}}}"#,
            &[r#""env": {"KEY": "1"}"#, "/* mine */"][..],
        ),
        (
            ClientApp::CodexCli,
            "[mcp_servers.notes]\ncommand = \"/old\"\nenv = { KEY = \"1\" } # mine\n",
            &["env = { KEY = \"1\" } # mine"],
        ),
        (
            ClientApp::Goose,
            "extensions:\n  notes:\n    cmd: /old\n    envs: {KEY: \"1\"} # mine\n",
            &["envs: {KEY: \"1\"} # mine"],
        ),
    ] {
        let once = client.add(&process(), before).unwrap();
        assert!(kept.iter().all(|kept| once.contains(kept)), "{client:?}:\n{once}");
        assert!(!once.contains("/old"), "{client:?}:\n{once}");
        assert!(once.contains("/opt/notes"), "{client:?}:\n{once}");
        assert_eq!(client.add(&process(), &once).unwrap(), once, "{client:?}");
    }
}

#[test]
fn a_file_that_has_another_form_is_not_changed() {
    for (client, text) in [
        (ClientApp::Cursor, "{"),
        (ClientApp::Cursor, "[]"),
        (ClientApp::Cursor, r#"{"mcpServers": []}"#),
        (ClientApp::CodexCli, "mcp_servers = 1"),
        (ClientApp::CodexCli, "["),
        (ClientApp::Goose, "- a"),
        (ClientApp::Goose, "extensions: [a]"),
    ] {
        assert!(client.add(&process(), text).is_err(), "{client:?}: {text}");
        assert!(client.remove("notes", text).is_err(), "{client:?}: {text}");
    }
}

#[test]
fn names_and_paths_with_unusual_characters_are_quoted() {
    let launch = Launch::Process {
        command: "C:\\Program Files\\notes \"new\".exe".to_owned(),
        args: vec!["#".to_owned(), "a: b".to_owned(), String::new(), "true".to_owned()],
        env: vec![Variable {
            name: "TEXT".to_owned(),
            value: VariableValue::Text("a: \"b\" # ${c}".to_owned()),
        }],
    };
    let entry = ServerEntry { name: "my notes: new".to_owned(), launch };
    for client in [ClientApp::Cursor, ClientApp::CodexCli, ClientApp::Goose] {
        let once = client.add(&entry, "").unwrap();
        assert_eq!(client.add(&entry, &once).unwrap(), once, "{client:?}");
        assert!(client.remove(&entry.name, &once).unwrap().is_some(), "{client:?}:\n{once}");
    }
}
