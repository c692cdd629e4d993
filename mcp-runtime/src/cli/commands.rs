//! Table of all commands.

use mcp_runtime_contract::suggest::nearest;

#[cfg(feature = "workbench")]
use super::{bundle, clients, complete, completions, dev, record, server_json};
use super::{
    check,
    command::{ANSWER, ARGUMENTS, Command, CommandWords},
    exit::CommandError,
    help, manifest,
    missing::missing,
    option::CommandOption,
    trial,
    unknown::all_names,
};
#[cfg(feature = "playground")]
use super::{http, playground};
use crate::{builder::Builder, model::ListKind};

/// Option of the commands whose handlers may ask.
static ASKS: &[CommandOption] = &[ANSWER];

static CALLS: &[CommandOption] = &[ARGUMENTS, ANSWER];

pub(super) static COMMANDS: &[Command] = &[
    Command::new("list", "", "lists tools, resources and prompts", trial::list).json(),
    Command::new("call", "TOOL [NAME=VALUE …]", "calls a tool", trial::call).options(CALLS).json(),
    Command::new("read", "URI", "reads a resource", trial::read).options(ASKS).json(),
    Command::new("get", "PROMPT [NAME=VALUE …]", "shows a prompt", trial::get).options(ASKS).json(),
    Command::new(
        "schema",
        "",
        "prints the manifest as JSON, to be committed as mcp.lock.json",
        manifest::run,
    )
    .json(),
    Command::new("check", "", "reports what known clients reject or handle badly", check::run)
        .options(check::OPTIONS)
        .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "complete",
        "ITEM ARGUMENT [TEXT] [NAME=VALUE …]",
        "suggests values of an argument of a prompt or a template",
        complete::run,
    )
    .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "completions",
        "SHELL",
        "prints the script that completes these commands in bash, zsh, fish or powershell",
        |builder, given| completions::run(COMMANDS, builder, given),
    )
    .rest("[-- WORDS]"),
    #[cfg(feature = "workbench")]
    Command::new(
        "config",
        "CLIENT",
        "prints the entry for the configuration of a client",
        clients::config,
    )
    .options(&[
        clients::NAME,
        clients::URL,
        clients::HEADER,
        clients::DEV,
        dev::FEATURES,
        dev::NO_DEFAULT_FEATURES,
    ])
    .rest("[-- ARGUMENTS]")
    .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "install",
        "CLIENT",
        "adds this server to the configuration of a client",
        clients::install,
    )
    .options(&[
        clients::NAME,
        clients::URL,
        clients::HEADER,
        clients::DEV,
        dev::FEATURES,
        dev::NO_DEFAULT_FEATURES,
        clients::FILE,
        clients::PROJECT,
        clients::PRINT,
    ])
    .rest("[-- ARGUMENTS]")
    .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "uninstall",
        "CLIENT",
        "removes this server from the configuration of a client",
        clients::uninstall,
    )
    .options(&[clients::NAME, clients::FILE, clients::PROJECT, clients::PRINT])
    .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "bundle",
        "",
        "puts this program into a bundle (.mcpb), which clients install",
        bundle::run,
    )
    .options(bundle::OPTIONS)
    .json(),
    #[cfg(feature = "workbench")]
    Command::new("server-json", "", "prints the entry for the MCP Registry", server_json::run)
        .options(server_json::OPTIONS)
        .json(),
    #[cfg(feature = "workbench")]
    Command::new(
        "dev",
        "",
        "serves a client, and replaces the server after each change of its sources",
        dev::run,
    )
    .options(dev::OPTIONS)
    .passes(dev::PASSED)
    .rest("[-- ARGUMENTS]"),
    #[cfg(feature = "workbench")]
    Command::new(
        "record",
        "FILE",
        "serves a client on stdin and stdout, and records the session",
        |builder, given| record::record(COMMANDS, builder, given),
    )
    .options(&[record::SHOW_REMOVED])
    .rest("[-- ARGUMENTS]"),
    #[cfg(feature = "workbench")]
    Command::new(
        "replay",
        "FILE",
        "plays a recorded session again, and reports what differs",
        record::replay,
    )
    .json(),
    #[cfg(feature = "playground")]
    Command::new(
        "playground",
        "[ADDR]",
        "opens a page that tries the server out in the browser",
        playground::run,
    )
    .options(&[playground::NO_OPEN, http::ALLOW_REMOTE_PLAYGROUND]),
    Command::new("help", "[COMMAND]", "prints this help, or the options of a command", print_help)
        .json(),
    Command::new("version", "", "prints the name and the version of the server", help::version)
        .json(),
];

pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// Prints the help of the command that the first word names, or of the server.
pub(super) fn print_help(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    match given.words.first() {
        None => help::general(COMMANDS, &builder, &given),
        Some(name) => match find(name) {
            Some(command) => help::of_command(command, &given),
            None => return Err(unknown_command(name, builder)),
        },
    }
    Ok(())
}

/// Returns the error for a word that is no command of this build. The user may have left out the command before the name of an item or an
/// address.
pub(super) fn unknown_command(given: &str, builder: Builder) -> CommandError {
    if let Some(error) = missing(given) {
        return error;
    }
    let names = || COMMANDS.iter().map(|command| command.name);
    let meant = match nearest(given, names()) {
        Some(near) => Some(near.to_owned()),
        None if given.contains("://") => Some(format!("read {given}")),
        None if given.parse::<u16>().is_ok() => Some(format!("--http {given}")),
        None => builder.build().ok().and_then(|server| {
            let snapshot = server.catalog.snapshot();
            let commands = [(ListKind::Tools, "call"), (ListKind::Prompts, "get")];
            let command = commands.iter().find(|(kind, _)| snapshot.find(*kind, given).is_some());
            command.map(|(_, command)| format!("{command} {given}"))
        }),
    };
    CommandError::usage(match meant {
        Some(meant) => format!("unknown command `{given}`; did you mean `{meant}`?"),
        None => format!(
            "unknown command `{given}`; {}; without a command the program serves a client on stdin and stdout",
            all_names("command", names(), Some("help"))
        ),
    })
}
