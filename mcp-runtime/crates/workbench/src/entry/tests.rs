//! Entries that replace older ones of the same name.

use crate::{
    ClientApp, ServerEntry,
    tests::{configured, http, http_with_header, process},
};

/// Codex refuses its whole file if an entry has keys of both kinds. Source: `TryFrom<RawMcpServerConfig>` in codex-rs/config/src/mcp_types.rs of
/// openai/codex, read on 2026-11-27.
#[test]
fn an_entry_for_codex_has_keys_of_one_kind_only() {
    let url = "[mcp_servers.notes]\nurl = \"http://127.0.0.1:8000/mcp\"\n";
    let started = ClientApp::CodexCli.add(&configured(), "").unwrap();
    assert_eq!(ClientApp::CodexCli.add(&http(), &started).unwrap(), url);
    let started = format!("{started}cwd = \"/srv\"\nenv_vars = [\"HOME\"]\n");
    assert_eq!(ClientApp::CodexCli.add(&http(), &started).unwrap(), url);
    let connected = format!(
        "{url}enabled_tools = [\"a\"]\nbearer_token_env_var = \"TOKEN\"\nenv_http_headers = {{ a = \"B\" }}\n\n[mcp_servers.notes.http_headers]\nauthorization = \"hunter2\"\n"
    );
    let started = ClientApp::CodexCli.add(&process(), &connected).unwrap();
    assert_eq!(
        started,
        "[mcp_servers.notes]\nenabled_tools = [\"a\"]\ncommand = \"/opt/notes\"\nargs = [\"--root=/data\"]\n"
    );
}

/// Returns `{ LIST: { "notes": { MEMBERS } } }`.
fn file(list: &str, members: &str) -> String {
    format!(r#"{{ "{list}": {{ "notes": {{ {members} }} }} }}"#)
}

#[test]
fn a_server_that_moves_to_a_url_leaves_no_secret_and_no_question_behind() {
    for client in ClientApp::ALL {
        let Ok(connected) = client.add(&http(), "") else { continue };
        let started = client.add(&configured(), "").unwrap();
        let text = client.add(&http(), &started).unwrap();
        for part in ["hunter2", "NOTES_", "input", "/opt/notes"] {
            assert!(!text.contains(part), "{client:?}: {part}:\n{text}");
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&text).len(), words(&connected).len(), "{client:?}:\n{text}");
    }
}

#[test]
fn a_server_that_becomes_a_process_leaves_no_header_behind() {
    for (client, list, url) in [
        (ClientApp::ClaudeCode, "mcpServers", "url"),
        (ClientApp::VsCode, "servers", "url"),
        (ClientApp::Cursor, "mcpServers", "url"),
        (ClientApp::GeminiCli, "mcpServers", "httpUrl"),
        (ClientApp::Zed, "context_servers", "url"),
        (ClientApp::Windsurf, "mcpServers", "serverUrl"),
    ] {
        let headers = r#""headers": { "Authorization": "hunter2" }"#;
        let before = file(list, &format!(r#""{url}": "http://old", {headers}, "disabled": false"#));
        let text = client.add(&configured(), &before).unwrap();
        assert!(!text.contains("headers") && !text.contains("http://old"), "{client:?}:\n{text}");
        assert!(
            text.contains("disabled") && text.contains("NOTES_LANGUAGE"),
            "{client:?}:\n{text}"
        );
        // The headers stay if a URL replaces a URL.
        let text = client.add(&http(), &before).unwrap();
        assert!(text.contains(headers) && !text.contains("http://old"), "{client:?}:\n{text}");
    }
    // Goose inserts values of `envs` into headers.
    let before = "extensions:\n  notes:\n    uri: http://old\n    envs: {KEY: \"1\"}\n";
    let text = ClientApp::Goose.add(&http(), before).unwrap();
    assert!(text.contains("envs: {KEY: \"1\"}"), "{text}");
    let before =
        "extensions:\n  notes:\n    uri: http://old\n    headers: {a: b}\n    bundled: true\n";
    let text = ClientApp::Goose.add(&process(), before).unwrap();
    assert!(text.contains("bundled: true") && !text.contains("headers"), "{text}");
}

/// Keys of the headers: the same pages as in the tests of all entries, read on 2026-12-01.
#[test]
fn an_entry_for_a_url_has_its_headers() {
    for client in ClientApp::ALL {
        let Ok(text) = client.add(&http_with_header(), "") else { continue };
        let key = if client == ClientApp::CodexCli { "http_headers" } else { "headers" };
        let line = text.lines().find(|line| line.contains("Authorization"));
        assert!(line.is_some_and(|line| line.contains("Bearer hunter2")), "{client:?}:\n{text}");
        assert!(text.contains(key), "{client:?}:\n{text}");
        assert_eq!(http_with_header().secrets(client), ["Authorization"]);
        let again = client.add(&http_with_header(), &text).unwrap();
        assert_eq!(again, text, "{client:?}");
        assert!(!client.add(&process(), &text).unwrap().contains("hunter2"), "{client:?}");
    }
}

#[test]
fn vs_code_asks_only_for_values_that_the_file_lacks() {
    let before = file("servers", r#""env": { "NOTES_ROOT": "/data" }"#);
    let text = ClientApp::VsCode.add(&configured(), &before).unwrap();
    assert!(text.contains(r#""NOTES_ROOT": "/data""#), "{text}");
    assert!(!text.contains("notes-root"), "{text}");
    assert_eq!(configured().asked(ClientApp::VsCode, &text), ["NOTES_KEY"]);
    let key = ServerEntry { name: "a \"key\"".to_owned(), ..configured() };
    let text = ClientApp::VsCode.add(&key, "").unwrap();
    assert_eq!(key.asked(ClientApp::VsCode, &text), ["NOTES_KEY", "NOTES_ROOT"]);
    assert!(text.contains("\"id\": \"notes-root\""), "{text}");
}

#[test]
fn a_value_is_missing_only_if_the_own_entry_has_its_placeholder() {
    for client in [ClientApp::Cursor, ClientApp::CodexCli, ClientApp::Goose] {
        let once = client.add(&configured(), "").unwrap();
        assert_eq!(configured().unset(client, &once), ["NOTES_ROOT"], "{client:?}");
        let mine = once.replace("<NOTES_ROOT>", "/mine");
        let other = ServerEntry { name: "other".to_owned(), ..configured() };
        let both = client.add(&other, &mine).unwrap();
        let again = client.add(&configured(), &both).unwrap();
        assert!(configured().unset(client, &again).is_empty(), "{client:?}:\n{again}");
        assert_eq!(other.unset(client, &again), ["NOTES_ROOT"], "{client:?}:\n{again}");
        let marked = format!("\u{feff}{once}");
        assert_eq!(configured().unset(client, &marked), ["NOTES_ROOT"], "{client:?}");
    }
}
