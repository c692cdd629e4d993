//! `run`, which serves a client or executes a command of the command line, and the table of all commands.

use std::ffi::OsString;

use mcp_runtime_contract::suggest::nearest;

#[cfg(feature = "playground")]
use super::playground;
use super::{
    arguments::option_name,
    check,
    command::{Command, CommandOption, CommandWords, SHARED, print},
    exit::{CommandError, Exit, ExitStatus},
    http::{self, HttpOptions},
    manifest,
    screen::{of_stdout, say},
    show, trial,
};
#[cfg(feature = "workbench")]
use super::{bundle, clients, complete, completions, dev, overview, record, server_json};
use crate::{
    builder::{Builder, CallSite},
    config::{GivenValues, OwnOptions},
    model::ListKind,
};

/// Shared options of the commands that use an item.
const TRIAL: &[CommandOption] = &[CommandOption::Answer, CommandOption::Json];

/// Options of commands that take `--json` only with the feature `workbench`. `schema` prints JSON in any case.
const OUTPUT: &[CommandOption] =
    if cfg!(feature = "workbench") { &[CommandOption::Json] } else { &[] };

static COMMANDS: &[Command] = &[
    Command {
        usage: "list",
        about: "lists tools, resources and prompts",
        options: &[CommandOption::Json],
        parsed: &[],
        run: trial::list,
    },
    Command {
        usage: "call TOOL [NAME=VALUE …]",
        about: "calls a tool",
        options: TRIAL,
        parsed: &[],
        run: trial::call,
    },
    Command {
        usage: "read URI",
        about: "reads a resource",
        options: TRIAL,
        parsed: &[],
        run: trial::read,
    },
    Command {
        usage: "get PROMPT [NAME=VALUE …]",
        about: "shows a prompt",
        options: TRIAL,
        parsed: &[],
        run: trial::get,
    },
    Command {
        usage: "schema",
        about: "prints the manifest as JSON, to be committed as mcp.lock.json",
        options: OUTPUT,
        parsed: &[],
        run: manifest::run,
    },
    Command {
        usage: "check [--strict] [--against FILE]",
        about: "reports what known clients reject or handle badly",
        options: &[CommandOption::Json],
        parsed: &["--strict", "--against FILE"],
        run: check::run,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "complete ITEM ARGUMENT [TEXT] [NAME=VALUE …]",
        about: "suggests values of an argument of a prompt or a template",
        options: &[CommandOption::Json],
        parsed: &[],
        run: complete::run,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "completions SHELL [-- WORDS]",
        about: "prints the script that completes these commands in bash, zsh, fish or powershell",
        options: &[],
        parsed: &[],
        run: |builder, given| completions::run(COMMANDS, builder, given),
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "config CLIENT [--url URL] [--dev] [--name NAME] [-- ARGUMENTS]",
        about: "prints the entry for the configuration of a client",
        options: &[CommandOption::Json],
        parsed: clients::CONFIG_OPTIONS,
        run: clients::config,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "install CLIENT [--project] [--file FILE] [--print] …",
        about: "adds this server to the configuration of a client",
        options: &[CommandOption::Json],
        parsed: clients::INSTALL_OPTIONS,
        run: clients::install,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "uninstall CLIENT [--project] [--file FILE] [--print]",
        about: "removes this server from the configuration of a client",
        options: &[CommandOption::Json],
        parsed: clients::UNINSTALL_OPTIONS,
        run: clients::uninstall,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "bundle [--out FILE] [--icon PNG] [--author NAME] [--validate]",
        about: "puts this program into a bundle (.mcpb), which clients install",
        options: &[CommandOption::Json],
        parsed: bundle::OPTIONS,
        run: bundle::run,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "server-json [--name NAME] [--url URL] [--readme FILE] …",
        about: "prints the entry for the MCP Registry",
        options: &[CommandOption::Json],
        parsed: server_json::OPTIONS,
        run: server_json::run,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "dev [--http [ADDR]] [--features FEATURES] [OPTIONS] [-- WORDS]",
        about: "serves a client, and replaces the server after each change of its sources",
        options: &[],
        parsed: dev::OPTIONS,
        run: dev::run,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "record FILE [-- ARGUMENTS]",
        about: "serves a client on stdin and stdout, and records the session",
        options: &[],
        parsed: &[],
        run: record::record,
    },
    #[cfg(feature = "workbench")]
    Command {
        usage: "replay FILE",
        about: "plays a recorded session again, and reports what differs",
        options: &[CommandOption::Json],
        parsed: &[],
        run: record::replay,
    },
    #[cfg(feature = "playground")]
    Command {
        usage: "playground [ADDR] [--no-open]",
        about: "opens a page that tries the server out in the browser",
        options: &[],
        parsed: &["--no-open"],
        run: playground::run,
    },
    Command { usage: "help", about: "prints this help", options: OUTPUT, parsed: &[], run: help },
    Command {
        usage: "version",
        about: "prints the name and the version of the server",
        options: OUTPUT,
        parsed: &[],
        run: version,
    },
];

/// Commands of the feature `workbench`.
#[cfg(not(feature = "workbench"))]
const WORKBENCH: [&str; 10] = [
    "bundle",
    "complete",
    "completions",
    "config",
    "dev",
    "install",
    "record",
    "replay",
    "server-json",
    "uninstall",
];

/// Command of the feature `playground`.
#[cfg(not(feature = "playground"))]
const PLAYGROUND: &str = "playground";

/// Text of the error for a call of `run` inside a tokio runtime. `run` starts its own runtime, which would panic inside another one.
#[cfg(feature = "http")]
const ON_A_RUNTIME: &str = "it starts its own tokio runtime and cannot be called inside another one: call it from a plain `fn main` without \
     `#[tokio::main]`, or use `.serve_stdio().await` or `.serve_http(…).await` instead";
#[cfg(not(feature = "http"))]
const ON_A_RUNTIME: &str = "it starts its own tokio runtime and cannot be called inside another one: call it from a plain `fn main` without \
     `#[tokio::main]`, or use `.serve_stdio().await` instead";

/// Serving with the command line of the program.
impl Builder {
    /// Runs the command line of the server, until the command or the server ends. Blocks the thread, and starts a tokio runtime.
    ///
    /// ```no_run
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only, idempotent)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// fn main() -> Exit {
    ///     server!().run()
    /// }
    /// ```
    ///
    /// Without arguments the server serves stdio until the client closes it. With `--http [ADDR]` it listens for HTTP (feature `http`). The
    /// commands `list`, `call`, `read`, `get` and `schema` try the server out. `help` and `version` describe it.
    ///
    /// `check` reports what known clients reject or handle badly: names, descriptions, schemas and size. Each finding names the source
    /// location of the item, a fix, and public issue threads that show the problem. With `--strict` any finding is a failure.
    ///
    /// `list` and `check` call no handler. They create the state only if a `setup` takes the [`Handle`](crate::Handle), because such a
    /// `setup` may add items. If it fails, they show the other items and the error. `schema` never creates the state.
    ///
    /// The person at the terminal answers the elicitation requests of a call ([`Context::elicit`](crate::Context::elicit)). The option
    /// `--answer KEY=JSON` answers a request without a person: `call deploy env=prod --answer consent='{"deploy":true}'`. The option
    /// `--answer consent=decline` declines it.
    ///
    /// If stderr is a terminal, a call shows its newest [`Progress`](crate::Progress) report there, on a single line. stdout has only the
    /// result.
    ///
    /// The feature `workbench` adds the command `complete`, which suggests values of an argument as a client would show them. The option
    /// `--json` of this feature makes a command print JSON, such as the result of the protocol. `config CLIENT` prints the entry for the configuration of a
    /// client, `install CLIENT` adds it to the client's file, and `uninstall CLIENT` removes it. `bundle` puts the program into a file that
    /// clients install, and `server-json` prints the entry for the MCP Registry. `record FILE` writes a session to a file, and `replay FILE`
    /// plays it again and reports differences. `completions SHELL` prints a script for bash, zsh, fish or PowerShell. With it, the shell
    /// completes the command line, including names of tools and their arguments.
    ///
    /// With this feature, a terminal shows lists as tables and texts in colours, and the progress of a call as a bar. `NO_COLOR`
    /// and `CLICOLOR=0` turn colours off. Pipes and files get plain text, unless `CLICOLOR_FORCE` is set.
    ///
    /// `dev` of the same feature watches the sources, builds the program after each change, and replaces the running server. The client
    /// stays connected and sees the new lists. Its calls wait for a running build, and tool calls return the errors of the compiler.
    ///
    /// The feature `playground` adds the command `playground`, which serves the server and a page that tries it out at a free port, and opens
    /// the page in the browser. With `--no-open` it prints the URL only.
    ///
    /// Errors are written to stderr. The exit code is 0 for success, 1 for a failure and 2 for a wrong command line. Return the [`Exit`]
    /// from `main`. If `main` drops an `Exit` with a failure instead, the process still ends with that exit code.
    ///
    /// Do not call `run` on a tokio runtime, as in a `main` with `#[tokio::main]`. There it prints an error, and the exit code is 1. Call
    /// `run` from a plain `fn main`, or await [`serve_stdio`](Self::serve_stdio) or `serve_http` on your runtime.
    ///
    /// **While it serves**, stdout carries only the protocol. Output that this process or its children print goes to stderr, and reading
    /// stdin returns end of file. The commands redirect output in the same way, so the output of `call` can be piped. If a call panics, the
    /// client gets an error, and the other calls continue. A program built with `panic = "abort"` ends at its first panic, and the client
    /// sees its connection close.
    ///
    /// **With `--http`** (feature `http`) the server starts one thread fewer than there are processors, but at least one. Each thread
    /// serves its own connections. Mark a handler that computes for long with `blocking`. Otherwise the other connections of its thread
    /// wait for the handler. To use another runtime, call `serve_http` on it.
    ///
    /// **The server ends** when the client closes stdin or stops reading stdout, or at SIGTERM, with exit code 0. Running calls then have
    /// five seconds to finish, unless a SIGTERM ends the wait earlier. After that, calls that are still running are dropped. The server
    /// does not wait for the threads of `blocking` functions.
    ///
    /// If a handler still computes at that point without reaching an `.await`, the process ends with exit code 1, and stderr names the
    /// handler. Over stdio `on_shutdown` does not run in that case. If stdin is neither a pipe nor a socket, only SIGTERM ends a server
    /// with such a handler. On Windows the server ends when the handler ends.
    ///
    /// **Options of your own** are the fields of a struct with [`#[config]`](macro@crate::prelude::config). They stand before the command.
    /// Words after `--` are left to the program, unless a command stands before them. A program with a parser of its own passes the
    /// arguments that it leaves to the server to [`run_from`](Self::run_from).
    #[track_caller]
    pub fn run(self) -> Exit {
        self.run_with(std::env::args_os().skip(1).collect())
    }

    /// Runs the command line of the server with these arguments, instead of those of the process. Otherwise like [`run`](Self::run).
    ///
    /// Use it in a program that has a parser of its own. Other options are declared with
    /// [`#[config]`](macro@crate::prelude::config). `arguments` are those that the program leaves to the server, without the name of
    /// the program: a command such as `list`, `--http`, or nothing to serve stdio.
    ///
    /// ```no_run
    /// use mcp_runtime::prelude::*;
    ///
    /// struct Verbose(bool);
    ///
    /// /// Describes the weather.
    /// #[tool(read_only)]
    /// fn weather(verbose: &Verbose) -> &'static str {
    ///     if verbose.0 { "sunny, 21 °C, no wind" } else { "sunny" }
    /// }
    ///
    /// fn main() -> Exit {
    ///     let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    ///     let verbose = arguments.first().is_some_and(|first| first == "--verbose");
    ///     if verbose {
    ///         arguments.remove(0);
    ///     }
    ///     server!().state(Verbose(verbose)).run_from(arguments)
    /// }
    /// ```
    #[track_caller]
    pub fn run_from<T: Into<OsString>>(self, arguments: impl IntoIterator<Item = T>) -> Exit {
        self.run_with(arguments.into_iter().map(Into::into).collect())
    }

    #[track_caller]
    fn run_with(mut self, arguments: Vec<OsString>) -> Exit {
        #[cfg(feature = "client-log")]
        crate::observe::install();
        let place = CallSite::here();
        let result = if tokio::runtime::Handle::try_current().is_ok() {
            Err(CommandError::failure(format_args!("`.run()` at {place}: {ON_A_RUNTIME}")))
        } else if arguments.is_empty() {
            self.given = Some(GivenValues::new());
            self.run_stdio()
        } else {
            self.command(arguments)
        };
        match result {
            Ok(()) => ExitStatus::Success.into(),
            Err(stop) => {
                say(format_args!("error: {}\n", stop.text));
                stop.code.into()
            }
        }
    }

    fn run_stdio(self) -> Result<(), CommandError> {
        let server = self.build().map_err(CommandError::failure)?;
        crate::transport::stdio::run(server).map_err(CommandError::failure)
    }

    fn command(mut self, arguments: Vec<OsString>) -> Result<(), CommandError> {
        let mut own = self.declared_config().options();
        let mut texts = Vec::new();
        let mut http = HttpOptions::default();
        let mut parser = lexopt::Parser::from_args(arguments);
        // Words after `--` belong to the program.
        while !is_end(&mut parser)
            && let Some(argument) =
                parser.next().map_err(|error| CommandError::usage(error.to_string()))?
        {
            use lexopt::Arg::{Long, Short, Value};
            match argument {
                Long(option) if HttpOptions::knows(option) => {
                    let option = option.to_owned();
                    http.take(&option, &mut parser)?;
                }
                Long(option) if own.knows(option) => {
                    let option = option.to_owned();
                    own.take(&option, &mut parser).map_err(CommandError::usage)?;
                }
                Long("all-of") => own.take_all(&mut parser).map_err(CommandError::usage)?,
                Long("help") | Short('h') => texts.insert(0, "help".to_owned()),
                Long("version") | Short('V') => texts.insert(0, "version".to_owned()),
                Value(text) => {
                    let text = text
                        .into_string()
                        .map_err(|text| CommandError::usage(format!("{text:?} is not UTF-8")))?;
                    if !names().any(|name| name == text) && http.take_address(&text) {
                        continue;
                    }
                    texts.push(text);
                    // All further words belong to the command, because arguments of tools may look like options.
                    let rest = parser
                        .raw_args()
                        .map_err(|error| CommandError::usage(error.to_string()))?;
                    for word in rest {
                        texts.push(word.into_string().map_err(|text| {
                            CommandError::usage(format!("{text:?} is not UTF-8"))
                        })?);
                    }
                }
                other => {
                    return Err(unknown_option(&option_name(&other), &*own));
                }
            }
        }
        if let Some((name, words)) = texts.split_first() {
            let command = COMMANDS.iter().find(|command| command.name() == name);
            let parsed = command.map_or(&[][..], |command| command.parsed);
            own.check_place(name, words, parsed).map_err(CommandError::usage)?;
        }
        self.given = Some(own.into_given());
        match (http.chosen()?, texts.first().map(String::as_str)) {
            (Some(chosen), None) => return chosen.run(self),
            (None, None) => return self.run_stdio(),
            (None, _) | (Some(_), Some("help" | "version")) => {}
            (Some(_), Some(command)) => {
                return Err(CommandError::usage(format!(
                    "`{command}` cannot be used with `--http`; see `help`"
                )));
            }
        }
        let mut words = texts.into_iter();
        let name = words.next().unwrap_or_default();
        let given: Vec<String> = words.collect();
        #[cfg(not(feature = "workbench"))]
        if WORKBENCH.contains(&&*name) {
            return Err(super::command::without_feature(&name, "workbench"));
        }
        #[cfg(not(feature = "playground"))]
        if name == PLAYGROUND {
            return Err(super::command::without_feature(&name, "playground"));
        }
        let Some(command) = COMMANDS.iter().find(|command| command.name() == name) else {
            return Err(unknown_command(&name, self));
        };
        if given.first().is_some_and(|first| first == "--help" || first == "-h") {
            print_help(&self);
            return Ok(());
        }
        (command.run)(self, command.read(given)?)
    }
}

#[cfg_attr(not(feature = "workbench"), expect(unused_variables, reason = "`--json` needs it"))]
fn help(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    #[cfg(feature = "workbench")]
    if given.json {
        let own = builder.declared_config().options().help();
        print(&overview::help(&builder.identity, COMMANDS, &options(), own));
        return Ok(());
    }
    print_help(&builder);
    Ok(())
}

fn print_help(builder: &Builder) {
    let commands: Vec<_> = COMMANDS.iter().map(|command| (command.usage, command.about)).collect();
    let own = builder.declared_config().options().help();
    let page = show::help(&builder.identity, &commands, &options(), &own);
    print(&of_stdout().help(page));
}

#[cfg_attr(not(feature = "workbench"), expect(unused_variables, reason = "`--json` needs it"))]
fn version(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    #[cfg(feature = "workbench")]
    if given.json {
        print(&overview::version(&builder.identity));
        return Ok(());
    }
    print(&format!("{} {}\n", builder.identity.name, builder.identity.version));
    Ok(())
}

/// Returns all options, in the form that `help` prints.
fn options() -> Vec<(&'static str, &'static str)> {
    SHARED.into_iter().chain(http::OPTIONS.iter().copied()).collect()
}

/// Returns the names of all commands.
fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(Command::name)
}

/// Whether the next word is `--`.
fn is_end(parser: &mut lexopt::Parser) -> bool {
    parser.try_raw_args().is_some_and(|words| words.peek().is_some_and(|word| word == "--"))
}

fn unknown_option(given: &str, own: &dyn OwnOptions) -> CommandError {
    let hint = match given {
        "--answer" => {
            return CommandError::usage(
                "`--answer` goes after `call`, `read` or `get`; see `help`",
            );
        }
        "--json" => return CommandError::usage("`--json` goes after the command; see `help`"),
        "--port" | "--host" | "--bind" | "--listen" | "--address" => {
            "the address follows `--http`, as in `--http 127.0.0.1:8000`".to_owned()
        }
        _ => {
            let options = http::OPTIONS.iter().filter_map(|option| option.0.split(' ').next());
            let own = own.names();
            let options =
                options.chain(["--help", "--version"]).chain(own.iter().map(String::as_str));
            let hint = match nearest(given, options) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see `help`.".to_owned(),
            };
            format!("{hint} A field of a struct with `#[config]` declares an option")
        }
    };
    CommandError::usage(format!("unknown option `{given}`; {hint}"))
}

/// Returns the error for a word that is no command. The word may be the name of an item or an address, whose command was left out.
fn unknown_command(given: &str, builder: Builder) -> CommandError {
    let names: Vec<&str> = names().collect();
    let meant = match nearest(given, names.iter().copied()) {
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
            "unknown command `{given}`; there are {}; without a command the program serves a client on stdin and stdout",
            names.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::questions, config::RESERVED};

    #[test]
    fn fields_cannot_have_the_options_of_every_server() {
        let http = http::OPTIONS.iter().map(|option| option.0);
        let own = [questions::OPTION.0, "--all-of", "--json", "--help", "--version"];
        let all = http.chain(own);
        let mut names: Vec<_> = all
            .map(|usage| usage.split(' ').next().unwrap_or(usage).trim_start_matches("--"))
            .collect();
        names.extend(http::PLAYGROUND);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, RESERVED);
    }
}
