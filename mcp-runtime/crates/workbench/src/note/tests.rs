//! Texts that clients change, and the notes for users about these texts.

use crate::{ClientApp, Launch, ServerEntry, Variable, VariableValue};

/// Returns an entry with this value of a secret, and these arguments.
fn entry(value: &str, args: &[&str]) -> ServerEntry {
    let secret = VariableValue::Asked {
        id: "notes-key".to_owned(),
        description: "The key of all notes".to_owned(),
        is_secret: true,
        otherwise: value.to_owned(),
        is_placeholder: false,
    };
    let launch = Launch::Process {
        command: "/opt/notes".to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: vec![Variable { name: "NOTES_KEY".to_owned(), value: secret }],
    };
    ServerEntry { name: "notes".to_owned(), launch }
}

impl ServerEntry {
    /// Returns the notes about this entry in a new file.
    fn notes_of(&self, client: ClientApp) -> Vec<String> {
        self.notes(client, &client.add(self, "").unwrap())
    }
}

/// Sources, read on 2026-11-27. Gemini CLI: packages/core/src/utils/envExpansion.ts of google-gemini/gemini-cli at 5411f113, which calls
/// dotenv-expand 12.0.3 for each value of `env`. That version turns each escaped text below into the text to its left. It turns
/// `pa$$word`, for example, into `pa$`. Before that, packages/cli/src/utils/envVarResolver.ts replaces the names of known variables in all
/// settings, also after a backslash.
#[test]
fn gemini_cli_gets_each_dollar_sign_of_a_value_escaped() {
    for (value, escaped) in [
        ("pa$$word", r"pa\\$\\$word"),
        ("a$HOME", r"a\\$HOME"),
        ("${HOME}", r"\\${HOME}"),
        (r"a\$b", r"a\\\\$b"),
        ("5$", r"5\\$"),
        ("plain", "plain"),
    ] {
        let text = ClientApp::GeminiCli.add(&entry(value, &["$HOME"]), "").unwrap();
        assert!(text.contains(&format!(r#""NOTES_KEY": "{escaped}""#)), "{text}");
        // dotenv-expand sees the variables only.
        assert!(text.contains(r#""$HOME""#), "{text}");
    }
    let text = ClientApp::Cursor.add(&entry("pa$$word", &[]), "").unwrap();
    assert!(text.contains(r#""NOTES_KEY": "pa$$word""#), "{text}");
}

/// Sources, read on 2026-11-27. Claude Code: microsoft.github.io/apm/reference/mcp-variable-compatibility, checked there with version 2.1.310, and
/// the experiments with version 2.1.278 at dev.to/rulestack. VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration.
/// Cursor: userjot.com/docs/mcp-cursor and syllago.dev/using-syllago/providers/cursor/mcp. Windsurf: userjot.com/docs/mcp-windsurf.
/// None of them has an escape for `${`.
#[test]
fn a_note_names_the_texts_in_which_a_client_replaces_variables() {
    for (client, title) in [
        (ClientApp::ClaudeCode, "Claude Code"),
        (ClientApp::Cursor, "Cursor"),
        (ClientApp::Windsurf, "Windsurf"),
    ] {
        let notes = entry("hunter${2}", &["--dir=${HOME}/a"]).notes_of(client);
        let expected = ["the argument `--dir=${HOME}/a`", "the value of `NOTES_KEY`"];
        for (at, place) in expected.into_iter().enumerate() {
            let beginning = format!("{title} replaces `${{…}}` in {place}");
            assert!(notes[at].starts_with(&beginning), "{notes:?}");
        }
        assert!(!notes.concat().contains("hunter"), "{notes:?}");
        let harmless = entry("pa$$word$HOME{}", &["$HOME"]).notes_of(client);
        assert!(harmless.iter().all(|note| !note.contains("replaces")), "{harmless:?}");
    }
    // VS Code asks for the secret, so its value is not in the file.
    let notes = entry("hunter${2}", &["${HOME}"]).notes_of(ClientApp::VsCode).concat();
    assert!(notes.contains("the argument `${HOME}`") && !notes.contains("NOTES_KEY"), "{notes}");
    let notes = entry("a$b", &["5$", "$x"]).notes_of(ClientApp::GeminiCli);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("the argument `$x` if its environment"), "{notes:?}");
    assert!(notes[1].contains("the value of `NOTES_KEY`"), "{notes:?}");
    for client in [ClientApp::ClaudeDesktop, ClientApp::CodexCli, ClientApp::Goose, ClientApp::Zed]
    {
        assert!(entry("${a}", &["${a}"]).notes_of(client).is_empty(), "{client:?}");
    }
    let url = "http://127.0.0.1:8000/${path}".to_owned();
    let entry =
        ServerEntry { name: "notes".to_owned(), launch: Launch::Http { url, headers: Vec::new() } };
    assert!(entry.notes_of(ClientApp::Cursor)[0].contains("in the URL"));
}

/// Source: docs/reference/configuration.md of google-gemini/gemini-cli at 5411f113, read on 2026-11-27.
#[test]
fn gemini_cli_gets_a_note_about_a_name_with_an_underscore() {
    let mut entry = entry("a", &[]);
    assert!(entry.notes_of(ClientApp::GeminiCli).is_empty());
    entry.name = "my_notes".to_owned();
    let notes = entry.notes_of(ClientApp::GeminiCli);
    assert!(notes[0].contains("use `--name my-notes`"), "{notes:?}");
    assert!(entry.notes_of(ClientApp::Cursor).is_empty());
}

/// Source: code.visualstudio.com/docs/agents/reference/mcp-configuration, read on 2026-11-27: VS Code forwards servers to Copilot sessions
/// "except servers that require interactive input, such as `${input:...}` variables".
#[test]
fn vs_code_gets_a_note_about_copilot_only_if_it_asks_for_a_value() {
    let notes = entry("a", &[]).notes_of(ClientApp::VsCode);
    assert!(notes[0].contains("Copilot") && notes[0].contains("mcp-config.json"), "{notes:?}");
    let text = VariableValue::Text("no".to_owned());
    let known = Variable { name: "NOTES_LANGUAGE".to_owned(), value: text };
    let launch =
        Launch::Process { command: "/opt/notes".to_owned(), args: Vec::new(), env: vec![known] };
    let entry = ServerEntry { name: "notes".to_owned(), launch };
    assert!(entry.notes_of(ClientApp::VsCode).is_empty());
    assert!(!ClientApp::VsCode.add(&entry, "").unwrap().contains("inputs"));
}
