//! `run`, which serves a client or executes a command of the command line.

use std::ffi::OsString;

use lexopt::Parser;
use mcp_runtime_contract::suggest::nearest;

use super::{
    command::{CommandRun, CommandWords, HELP, JSON, VERSION},
    commands::{find, print_help, unknown_command},
    exit::{CommandError, Exit, ExitStatus},
    help,
    http::{self, HttpOptions},
    missing::missing,
    option::{CommandOption, GivenWord, next},
    screen::say,
};
use crate::{
    builder::{Builder, CallSite},
    config::{GivenValues, OwnOptions},
};

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
    /// location of the item, a fix, and public issue threads that show the problem. With `--strict` any finding that a `--baseline` does not accept is a failure.
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
    /// from `main`.
    ///
    /// Do not call `run` on a tokio runtime, as in a `main` with `#[tokio::main]`. There it prints an error, and the exit code is 1. Call
    /// `run` from a plain `fn main`, or await [`serve_stdio`](Self::serve_stdio) or `serve_http` on your runtime.
    ///
    /// **While it serves**, stdout carries only the protocol. Output that this process or its children print goes to stderr, and reading
    /// stdin returns end of file. The commands redirect output in the same way, so the output of `call` can be piped. If a call panics, the
    /// client gets an error, and the other calls continue. A program built with `panic = "abort"` ends at its first panic, and the client
    /// sees its connection close. On Unix, a client that does not read stderr misses lines of it, and still gets answers to its calls.
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
    /// A process can do this once, except for `--http`. The call takes stdin and stdout for good, so afterwards `println!` writes to stderr,
    /// and a second call returns a failure. In a test, connect a [`TestClient`](crate::testing::TestClient) to the server instead.
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
        let mut http = HttpOptions::default();
        let mut parser = Parser::from_args(arguments);
        // Option that asks for the help or the version, and the first word that is no option.
        let (mut asked, mut word): (Option<&CommandOption>, _) = (None, None);
        let mut json = false;
        // Words after `--` belong to the program.
        while word.is_none()
            && let Some(given) = next(&mut parser)?
        {
            let option = match given {
                GivenWord::Text(given) => {
                    if find(&given).is_some() || !http.take_address(&given) {
                        word = Some(given);
                    }
                    continue;
                }
                GivenWord::Option(option) => option,
            };
            let own_name = option.strip_prefix("--").unwrap_or_default();
            match &*option {
                "--help" | "-h" => {
                    HELP.value(&mut parser)?;
                    asked = Some(&HELP);
                }
                "--version" | "-V" => {
                    VERSION.value(&mut parser)?;
                    asked = asked.or(Some(&VERSION));
                }
                "--json" if missing("--json").is_none() => {
                    JSON.value(&mut parser)?;
                    json = true;
                }
                "--all-of" => own.take_all(&mut parser).map_err(CommandError::usage)?,
                _ if own.knows(own_name) => {
                    own.take(own_name, &mut parser).map_err(CommandError::usage)?;
                }
                _ => match http::find(&option) {
                    Some(option) => http.take(option, &mut parser)?,
                    None => return Err(unknown_option(&option, &*own)),
                },
            }
        }
        if json && asked.is_none() {
            return Err(CommandError::usage("`--json` goes after the command; see `help`"));
        }
        let (run, words) = match (asked, word) {
            (None, None) => {
                self.given = Some(own.into_given());
                return match http.chosen()? {
                    Some(http) => http.run(self),
                    None => self.run_stdio(),
                };
            }
            (Some(asked), Some(word)) if *asked == VERSION => {
                return Err(CommandError::usage(format!(
                    "`{}` takes no argument, but got `{word}`; see `help`",
                    asked.name
                )));
            }
            (Some(asked), word) => {
                let run = if *asked == HELP { print_help } else { help::version };
                (run as CommandRun, CommandWords::new(word.into_iter().collect(), json))
            }
            (None, Some(name)) => {
                let Some(command) = find(&name) else { return Err(unknown_command(&name, self)) };
                if let Some(option) = http.given_of(&command.all_options()) {
                    return Err(CommandError::usage(format!(
                        "`{option}` goes after the command: `{name} {option}`"
                    )));
                }
                if http.chosen()?.is_some() {
                    return Err(CommandError::usage(format!(
                        "`{name}` cannot be used with `--http`; see `help`"
                    )));
                }
                match asks_for_help(&mut parser)? {
                    Some(json) => (print_help as CommandRun, CommandWords::new(vec![name], json)),
                    None => (command.run, command.read(&mut parser, &*own)?),
                }
            }
        };
        self.given = Some(own.into_given());
        run(self, words)
    }
}

/// Whether the words of a command ask for its help, which then replaces the command. The value says whether the help is JSON. `None` if the
/// words do not ask for the help.
///
/// # Errors
/// Fails if the words ask for JSON in a build without it.
fn asks_for_help(parser: &mut Parser) -> Result<Option<bool>, CommandError> {
    let Some(words) = parser.try_raw_args() else { return Ok(None) };
    // Words after `--` belong to the server.
    let words = words.as_slice().iter().take_while(|word| *word != "--");
    let has = |name: &str| words.clone().any(|word| word == name);
    let json = has(JSON.name);
    match (has(HELP.name) || has("-h")).then_some(json) {
        Some(true) => missing(JSON.name).map_or(Ok(Some(true)), Err),
        asked => Ok(asked),
    }
}

fn unknown_option(given: &str, own: &dyn OwnOptions) -> CommandError {
    if let Some(error) = missing(given) {
        return error;
    }
    let hint = match given {
        "--answer" => {
            return CommandError::usage(
                "`--answer` goes after `call`, `read` or `get`; see `help`",
            );
        }
        "--port" | "--host" | "--bind" | "--listen" | "--address" => {
            "the address follows `--http`, as in `--http 127.0.0.1:8000`".to_owned()
        }
        _ => {
            let own = own.names();
            let options = http::OPTIONS.iter().chain([&HELP, &VERSION]).map(|option| option.name);
            let hint = match nearest(given, options.chain(own.iter().map(String::as_str))) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see `help`.".to_owned(),
            };
            format!("{hint} A field of a struct with `#[config]` declares an option")
        }
    };
    CommandError::usage(format!("unknown option `{given}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::{
            command::{ANSWER, ARGUMENTS},
            missing::MISSING,
        },
        config::RESERVED,
    };

    #[test]
    fn fields_cannot_have_the_options_of_every_server() {
        let own = [ANSWER, ARGUMENTS, JSON, HELP, VERSION];
        let own = own.iter().chain(http::OPTIONS).map(|option| option.name).chain(["--all-of"]);
        let missing = MISSING.iter().filter(|(feature, _)| *feature != "contract");
        let missing = missing.flat_map(|(_, names)| names.split(' '));
        let mut names: Vec<_> =
            own.chain(missing).filter_map(|name| name.strip_prefix("--")).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, RESERVED);
    }
}
