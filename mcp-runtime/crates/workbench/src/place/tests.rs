//! The places of all files on all systems.

use std::{env, fs, path::PathBuf, process};

use crate::{ClientApp, Home, Scope, System};

/// Returns the home folder of a user whose environment has these variables.
fn home(system: System, variables: &[(&str, &str)]) -> Home {
    let own: &[_] = match system {
        System::Windows => &[
            ("USERPROFILE", "/Users/ada"),
            ("APPDATA", "/Users/ada/AppData/Roaming"),
            ("LOCALAPPDATA", "/Users/ada/AppData/Local"),
        ],
        System::MacOs => &[("HOME", "/Users/ada")],
        System::Linux => &[("HOME", "/home/ada")],
    };
    let all: Vec<_> = own.iter().chain(variables).copied().collect();
    Home::of_system(system, |name| {
        let (_, value) = all.iter().find(|(other, _)| *other == name)?;
        Some(PathBuf::from(value))
    })
    .expect("a home folder")
}

fn path(client: ClientApp, scope: Scope, home: &Home) -> Option<String> {
    client.file(scope, home).map(|path| path.display().to_string().replace('\\', "/"))
}

/// Sources, read on 2026-11-27: Claude Code: the answer of its developers in anthropics/claude-code#4193. Claude Desktop: anthropics/claude-code
/// #26073 for Windows; it is an Electron program, whose settings are in a folder with its name. VS Code: code.visualstudio.com/docs/
/// agents/reference/mcp-configuration. Cursor: userjot.com/docs/mcp-cursor
/// and docs/configuring-cursor.md of confluentinc/mcp-confluent, which refer to cursor.com/docs/mcp. Gemini CLI: docs/reference/configuration.md of google-gemini/gemini-cli at
/// 5411f113. Codex CLI: developers.openai.com/codex/mcp. Goose: crates/goose/src/config/paths.rs of block/goose at 0780e228. Zed:
/// crates/paths/src/paths.rs of zed-industries/zed at 010c9b6f. Windsurf: docs.devin.ai/desktop/cascade/mcp.
/// Devin: docs.devin.ai/cli/extensibility/mcp/configuration, upstash/context7#3090 (checked with Devin CLI 3000.6.2), and vaadin.com/docs/latest/
/// building-apps/agentic-development/mcp/supported-tools/devin-desktop.
#[test]
fn each_client_has_its_place_on_each_system() {
    for (client, linux, mac_os, windows, project) in [
        (
            ClientApp::ClaudeCode,
            "/home/ada/.claude.json",
            "/Users/ada/.claude.json",
            "/Users/ada/.claude.json",
            Some(".mcp.json"),
        ),
        (
            ClientApp::ClaudeDesktop,
            "/home/ada/.config/Claude/claude_desktop_config.json",
            "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
            "/Users/ada/AppData/Roaming/Claude/claude_desktop_config.json",
            None,
        ),
        (
            ClientApp::VsCode,
            "/home/ada/.config/Code/User/mcp.json",
            "/Users/ada/Library/Application Support/Code/User/mcp.json",
            "/Users/ada/AppData/Roaming/Code/User/mcp.json",
            Some(".vscode/mcp.json"),
        ),
        (
            ClientApp::Cursor,
            "/home/ada/.cursor/mcp.json",
            "/Users/ada/.cursor/mcp.json",
            "/Users/ada/.cursor/mcp.json",
            Some(".cursor/mcp.json"),
        ),
        (
            ClientApp::GeminiCli,
            "/home/ada/.gemini/settings.json",
            "/Users/ada/.gemini/settings.json",
            "/Users/ada/.gemini/settings.json",
            Some(".gemini/settings.json"),
        ),
        (
            ClientApp::CodexCli,
            "/home/ada/.codex/config.toml",
            "/Users/ada/.codex/config.toml",
            "/Users/ada/.codex/config.toml",
            Some(".codex/config.toml"),
        ),
        (
            ClientApp::Goose,
            "/home/ada/.config/goose/config.yaml",
            "/Users/ada/.config/goose/config.yaml",
            "/Users/ada/AppData/Roaming/Block/goose/config/config.yaml",
            None,
        ),
        (
            ClientApp::Zed,
            "/home/ada/.config/zed/settings.json",
            "/Users/ada/.config/zed/settings.json",
            "/Users/ada/AppData/Roaming/Zed/settings.json",
            Some(".zed/settings.json"),
        ),
        (
            ClientApp::Windsurf,
            "/home/ada/.codeium/windsurf/mcp_config.json",
            "/Users/ada/.codeium/windsurf/mcp_config.json",
            "/Users/ada/.codeium/windsurf/mcp_config.json",
            None,
        ),
        (
            ClientApp::Devin,
            "/home/ada/.config/devin/mcp_config.json",
            "/Users/ada/.config/devin/mcp_config.json",
            "/Users/ada/AppData/Roaming/devin/mcp_config.json",
            Some(".devin/mcp_config.json"),
        ),
    ] {
        for (system, place) in
            [(System::Linux, linux), (System::MacOs, mac_os), (System::Windows, windows)]
        {
            let home = home(system, &[]);
            assert_eq!(path(client, Scope::User, &home).as_deref(), Some(place), "{system:?}");
            assert_eq!(path(client, Scope::Project, &home).as_deref(), project, "{system:?}");
        }
    }
    let home = home(System::Linux, &[]);
    for client in ClientApp::ALL {
        assert_eq!(ClientApp::named(client.name()), Some(client));
        let file = path(client, Scope::User, &home);
        assert_eq!(file.is_some(), client != ClientApp::Plain, "{client:?}");
    }
    assert_eq!(path(ClientApp::Plain, Scope::Project, &home), None);
}

/// Sources, read on 2026-11-27, beside those of the places: `XDG_CONFIG_HOME` of Goose on Linux and macOS comes from `choose_app_strategy` of the
/// crate etcetera, which ignores relative paths; Zed reads it on Linux only. `CLAUDE_CONFIG_DIR`: anthropics/claude-code#48448, in which
/// `claude mcp add-json --scope user` writes `$CLAUDE_CONFIG_DIR/.claude.json`. `CODEX_HOME`:
/// codex-rs/utils/home-dir/src/lib.rs of openai/codex. `GEMINI_CLI_HOME`: packages/core/src/utils/paths.ts of google-gemini/gemini-cli at
/// 5411f113.
#[cfg(unix)]
#[test]
fn variables_move_the_files_of_some_clients() {
    let variables = [
        ("XDG_CONFIG_HOME", "/xdg"),
        ("CLAUDE_CONFIG_DIR", "/claude"),
        ("CODEX_HOME", "/codex"),
        ("GEMINI_CLI_HOME", "/gemini"),
    ];
    let everywhere = [
        (ClientApp::ClaudeCode, "/claude/.claude.json"),
        (ClientApp::CodexCli, "/codex/config.toml"),
        (ClientApp::GeminiCli, "/gemini/.gemini/settings.json"),
    ];
    for (system, places) in [
        (
            System::Linux,
            &[
                (ClientApp::Goose, "/xdg/goose/config.yaml"),
                (ClientApp::Zed, "/xdg/zed/settings.json"),
                (ClientApp::VsCode, "/xdg/Code/User/mcp.json"),
                (ClientApp::ClaudeDesktop, "/xdg/Claude/claude_desktop_config.json"),
                (ClientApp::Cursor, "/home/ada/.cursor/mcp.json"),
            ][..],
        ),
        (
            System::MacOs,
            &[
                (ClientApp::Goose, "/xdg/goose/config.yaml"),
                (ClientApp::Zed, "/Users/ada/.config/zed/settings.json"),
            ],
        ),
        (
            System::Windows,
            &[
                (ClientApp::Goose, "/Users/ada/AppData/Roaming/Block/goose/config/config.yaml"),
                (ClientApp::Zed, "/Users/ada/AppData/Roaming/Zed/settings.json"),
            ],
        ),
    ] {
        let home = home(system, &variables);
        for (client, place) in places.iter().chain(&everywhere) {
            assert_eq!(path(*client, Scope::User, &home).as_deref(), Some(*place), "{system:?}");
        }
    }
    let root = home(System::Windows, &[("GOOSE_PATH_ROOT", "/goose")]);
    let goose = path(ClientApp::Goose, Scope::User, &root);
    assert_eq!(goose.as_deref(), Some("/goose/config/config.yaml"));
    let relative = home(System::Linux, &[("XDG_CONFIG_HOME", "xdg"), ("GOOSE_PATH_ROOT", "goose")]);
    let goose = path(ClientApp::Goose, Scope::User, &relative);
    assert_eq!(goose.as_deref(), Some("/home/ada/.config/goose/config.yaml"));
}

/// Sources, read on 2026-11-27: anthropics/claude-code#26073 (Claude Desktop 1.1.3189, package `Claude_pzs8sxrjxfjjc`), and the same
/// observation in akitaonrails/ai-memory#250 (version 1.24012.1) and hannesill/m4#54.
#[test]
fn claude_desktop_has_another_folder_if_windows_runs_it_as_a_package() {
    let local = env::temp_dir().join(format!("mcp-packages-{}", process::id()));
    let folder = |package: &str| {
        local.join("Packages").join(package).join("LocalCache").join("Roaming").join("Claude")
    };
    let file = || {
        let home = Home::of_system(System::Windows, |name| match name {
            "USERPROFILE" => Some("/Users/ada".into()),
            "LOCALAPPDATA" => Some(local.clone()),
            _ => None,
        });
        ClientApp::ClaudeDesktop.file(Scope::User, &home.expect("a home folder")).expect("a file")
    };
    let name = "claude_desktop_config.json";
    let usual = PathBuf::from("/Users/ada/AppData/Roaming/Claude").join(name);
    for package in ["Microsoft.Terminal_8wekyb3d8bbwe", "Claudette_1"] {
        fs::create_dir_all(folder(package)).expect("a folder");
    }
    assert_eq!(file().components().collect::<PathBuf>(), usual);
    fs::create_dir_all(folder("Claude_a")).expect("a folder");
    assert_eq!(file(), folder("Claude_a").join(name));
    fs::create_dir_all(folder("Claude_b")).expect("a folder");
    fs::write(folder("Claude_b").join(name), "{}").expect("a file");
    assert_eq!(file(), folder("Claude_b").join(name));
    fs::remove_dir_all(&local).expect("own folder");
}
