//! Commands of the command line, and `run`, which executes them.

use std::{
    ffi::OsString,
    io::Write as _,
    pin::{Pin, pin},
};

use mcp_runtime_contract::suggest::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::{
    arguments::{self, option_name},
    check,
    exit::{CommandError, CommandOutput, Exit, ExitStatus},
    http::{self, HttpOptions},
    manifest,
    questions::{self, QuestionAnswers},
    show,
};
use crate::{
    builder::{Builder, CallSite},
    model::ListKind,
    protocol::Revision,
    storage::MemoryStore,
    testing::{Called, Prompted, ReadContents, TestClient},
    transport::{
        block_on,
        stdio::{StdioGuard, StdioInput},
    },
};

static COMMANDS: [(&str, &str); 8] = [
    ("list", "lists tools, resources and prompts"),
    ("call TOOL [NAME=VALUE …]", "calls a tool"),
    ("read URI", "reads a resource"),
    ("get PROMPT [NAME=VALUE …]", "shows a prompt"),
    ("schema", "prints the manifest as JSON, to be committed as mcp.lock.json"),
    ("check [--strict] [--against FILE]", "reports what known clients reject or handle badly"),
    ("help", "prints this help"),
    ("version", "prints the name and the version of the server"),
];

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
    /// A program with options of its own removes them from the arguments, and passes the others to [`run_from`](Self::run_from).
    #[track_caller]
    pub fn run(self) -> Exit {
        self.run_with(std::env::args_os().skip(1).collect())
    }

    /// Runs the command line of the server with these arguments, instead of those of the process. Otherwise like [`run`](Self::run).
    ///
    /// Use it in a program that has options of its own. `arguments` are those that the program leaves to the server, without the name of
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
    fn run_with(self, arguments: Vec<OsString>) -> Exit {
        #[cfg(feature = "client-log")]
        crate::observe::install();
        let place = CallSite::here();
        let result = if tokio::runtime::Handle::try_current().is_ok() {
            Err(CommandError::failure(format_args!("`.run()` at {place}: {ON_A_RUNTIME}")))
        } else if arguments.is_empty() {
            self.run_stdio()
        } else {
            self.command(arguments)
        };
        match result {
            Ok(()) => ExitStatus::Success.into(),
            Err(stop) => {
                // If stderr cannot be written, the exit code still reports the failure.
                let _ = writeln!(std::io::stderr(), "error: {}", stop.text);
                stop.code.into()
            }
        }
    }

    fn run_stdio(self) -> Result<(), CommandError> {
        let server = self.build().map_err(CommandError::failure)?;
        crate::transport::stdio::run(server).map_err(CommandError::failure)
    }

    fn command(self, arguments: Vec<OsString>) -> Result<(), CommandError> {
        let mut texts = Vec::new();
        let mut http = HttpOptions::default();
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) =
            parser.next().map_err(|error| CommandError::usage(error.to_string()))?
        {
            use lexopt::Arg::{Long, Short, Value};
            match argument {
                Long(option) if HttpOptions::knows(option) => {
                    let option = option.to_owned();
                    http.take(&option, &mut parser)?;
                }
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
                    return Err(unknown_option(&option_name(&other)));
                }
            }
        }
        match (http.chosen()?, texts.first().map(String::as_str)) {
            (Some(chosen), None) => return chosen.run(self),
            (None, _) | (Some(_), Some("help" | "version")) => {}
            (Some(_), Some(command)) => {
                return Err(CommandError::usage(format!(
                    "`{command}` cannot be used with `--http`; see `help`"
                )));
            }
        }
        let asks = texts.first().is_some_and(|text| matches!(&**text, "call" | "read" | "get"));
        let answers =
            if asks { QuestionAnswers::take(&mut texts)? } else { QuestionAnswers::default() };
        let (command, rest) =
            texts.split_first().ok_or_else(|| CommandError::usage("no command; see `help`"))?;
        let asks_for_help = rest.first().is_some_and(|rest| rest == "--help" || rest == "-h");
        match (command.as_str(), rest) {
            ("list" | "call" | "read" | "get" | "schema" | "check" | "help" | "version", _)
                if asks_for_help =>
            {
                print(&show::help(&self.identity, &COMMANDS, &options()));
                Ok(())
            }
            ("help", _) => {
                print(&show::help(&self.identity, &COMMANDS, &options()));
                Ok(())
            }
            ("version", _) => {
                print(&format!("{} {}\n", self.identity.name, self.identity.version));
                Ok(())
            }
            ("list" | "schema", [_, ..]) => {
                Err(CommandError::usage(format!("`{command}` takes no argument; see `help`")))
            }
            ("call" | "get" | "read", []) => {
                let usage = COMMANDS.iter().find(|listed| listed.0.starts_with(command.as_str()));
                let usage = usage.map_or(command.as_str(), |usage| usage.0);
                Err(CommandError::usage(format!(
                    "`{command}` needs an argument: `{usage}`; see `list`"
                )))
            }
            ("read", [_, _, ..]) => {
                Err(CommandError::usage("`read` takes one argument; see `help`"))
            }
            ("list", _) => apart(Box::new(|_| Box::pin(list(self)))),
            ("call" | "get" | "read", [target, given @ ..]) => {
                self.try_out(command, target, given, answers)
            }
            ("schema", _) => apart(Box::new(|_| Box::pin(async move { manifest::print(self) }))),
            ("check", given) => {
                let options = check::Options::read(given)?;
                apart(Box::new(|_| Box::pin(async move { check::run(self, &options).await })))
            }
            (other, _) => Err(unknown_command(other, self)),
        }
    }

    /// Runs a command that uses an item of the server.
    fn try_out(
        self,
        command: &str,
        target: &str,
        given: &[String],
        mut answers: QuestionAnswers,
    ) -> Result<(), CommandError> {
        let is_somebody_there = QuestionAnswers::is_somebody_there();
        let tried = async move |input| {
            let can = json!({ "elicitation": { "form": {}, "url": {} } });
            // Keeps the tasks of a trial call out of the configured store. A running server may also have locked that store.
            let server = self.store(MemoryStore::new());
            let client = TestClient::connect_capable(server, Revision::MODERN[0], can).await;
            let mut client = client.map_err(CommandError::failure)?;
            client.wait_without_end();
            if is_somebody_there {
                answers.ask(input);
            }
            let result = run_command(&mut client, command, target, given, &mut answers).await;
            client.close().await;
            result.map(CommandOutput::from)
        };
        apart(Box::new(|input| Box::pin(tried(input))))
    }
}

/// Future of a command that needs the server.
type CommandFuture<'a> = Pin<Box<dyn Future<Output = Result<CommandOutput, CommandError>> + 'a>>;

/// Runs a command with stdout reserved for its output, so that text printed by tools does not mix with that output.
fn apart<'a>(
    command: Box<dyn FnOnce(StdioInput) -> CommandFuture<'a> + 'a>,
) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::failure)?;
    let result = pin!(async {
        let (_guard, input, mut output) = StdioGuard::install().map_err(CommandError::failure)?;
        let printed = command(input).await?;
        // Errors are ignored, because the reader of stdout may have exited already (`… | head`).
        let _ = output.write_all(printed.text.as_bytes()).await;
        let _ = output.shutdown().await;
        let _ = std::io::stderr().write_all(printed.aside.as_bytes());
        printed.end
    });
    block_on(runtime, result)
}

/// Prints a text to stdout. Errors are ignored, because the reader of stdout may have exited already (`… | head`).
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Returns the names of all commands.
fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter_map(|command| command.0.split(' ').next())
}

fn unknown_option(given: &str) -> CommandError {
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
            let options = http::OPTIONS.iter().filter_map(|option| option.0.split(' ').next());
            match nearest(given, options.chain(["--help", "--version"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see `help`".to_owned(),
            }
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

/// Lists the items of the server. Creating the state may have side effects, so `setup` runs only if it may add items. If it fails, the other
/// items are listed, and stderr has the error: a list is useful before the server is configured.
async fn list(builder: Builder) -> Result<CommandOutput, CommandError> {
    let identity = builder.identity.clone();
    let (mut client, problem) =
        TestClient::looking(builder).await.map_err(CommandError::failure)?;
    client.wait_without_end();
    let everything = show::ServerLists::ask(&mut client).await.map_err(CommandError::failure)?;
    let text = show::list(&identity, &everything, &client.snapshot());
    client.close().await;
    let aside = problem
        .map(|problem| format!("not every item is listed, because `setup` failed: {problem}\n"));
    Ok(CommandOutput { aside: aside.unwrap_or_default(), ..text.into() })
}

/// Returns the text that the command prints.
async fn run_command(
    client: &mut TestClient,
    command: &str,
    target: &str,
    given: &[String],
    answers: &mut QuestionAnswers,
) -> Result<String, CommandError> {
    let everything = show::ServerLists::ask(client).await.map_err(CommandError::failure)?;
    match command {
        "call" => {
            let tool =
                arguments::find(&everything.tools, target, "tool", (&everything.prompts, "get"))?;
            let given = arguments::for_tool(tool, &client.snapshot(), given)?;
            let params = json!({ "name": target, "arguments": given });
            let called: Called = typed(answers.call(client, "tools/call", params).await?)?;
            if called.is_error {
                return Err(CommandError::failure(called.text()));
            }
            Ok(show::content(&called.content))
        }
        "get" => {
            let prompt = arguments::find(
                &everything.prompts,
                target,
                "prompt",
                (&everything.tools, "call"),
            )?;
            let given = arguments::for_prompt(prompt, given)?;
            let params = json!({ "name": target, "arguments": given });
            let prompted: Prompted = typed(answers.call(client, "prompts/get", params).await?)?;
            Ok(show::messages(&prompted.messages))
        }
        _ => {
            let params = json!({ "uri": target });
            let read: ReadReply = typed(answers.call(client, "resources/read", params).await?)?;
            Ok(show::contents(&read.contents))
        }
    }
}

fn typed<T: DeserializeOwned>(result: Value) -> Result<T, CommandError> {
    serde_json::from_value(result).map_err(CommandError::failure)
}

#[derive(serde::Deserialize)]
struct ReadReply {
    contents: Vec<ReadContents>,
}

/// Returns all options, in the form that `help` prints.
fn options() -> Vec<(&'static str, &'static str)> {
    [questions::OPTION].into_iter().chain(http::OPTIONS).collect()
}
