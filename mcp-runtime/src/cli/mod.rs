//! The command line that every server has: without arguments it serves, with them it helps its author.

mod arguments;
mod show;

use std::{ffi::OsString, process::Termination};

use serde_json::Value;

use crate::{builder::Builder, error::ServeError, testing::Client};

/// What `main` returns: the process's exit code. 0 is success, 1 a failure, 2 a wrong command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Exit(u8);

impl Exit {
    const SUCCESS: Self = Self(0);
    const FAILURE: Self = Self(1);
    const USAGE: Self = Self(2);
}

impl Termination for Exit {
    fn report(self) -> std::process::ExitCode {
        self.0.into()
    }
}

const COMMANDS: [(&str, &str); 6] = [
    ("list", "what the server has"),
    ("call TOOL [NAME=VALUE …]", "calls a tool"),
    ("read URI", "reads a resource"),
    ("get PROMPT [NAME=VALUE …]", "shows a prompt"),
    ("schema", "prints the manifest as JSON"),
    ("help", "prints this"),
];

/// Something to say on stderr, and the exit code.
struct Stop {
    text: String,
    exit: Exit,
}

impl Stop {
    fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), exit: Exit::USAGE }
    }

    fn failure(text: impl std::fmt::Display) -> Self {
        Self { text: text.to_string(), exit: Exit::FAILURE }
    }
}

impl Builder {
    /// Does what the command line says: without arguments serves stdio until the client closes it; `list`, `call`, `read`, `get` and
    /// `schema` try the server out. Blocks, and brings its own runtime.
    ///
    /// What goes wrong is said on stderr, and the exit code tells.
    pub fn run(self) -> Exit {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        let result = if arguments.is_empty() { self.run_stdio() } else { self.command(arguments) };
        match result {
            Ok(()) => Exit::SUCCESS,
            Err(stop) => {
                eprintln!("error: {}", stop.text);
                stop.exit
            }
        }
    }

    fn run_stdio(self) -> Result<(), Stop> {
        #[cfg(feature = "client-log")]
        crate::observe::install();
        crate::transport::stdio::run(self).map_err(|error| match error {
            ServeError::Build(error) => Stop::failure(error),
            other => Stop::failure(other),
        })
    }

    fn command(self, arguments: Vec<OsString>) -> Result<(), Stop> {
        let mut texts = Vec::new();
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next().map_err(|error| Stop::usage(error.to_string()))? {
            use lexopt::Arg::{Long, Short, Value};
            match argument {
                Long("help") | Short('h') => texts.insert(0, "help".to_owned()),
                Long("version") | Short('V') => texts.insert(0, "version".to_owned()),
                Value(text) => {
                    let text = text
                        .into_string()
                        .map_err(|text| Stop::usage(format!("{text:?} is not UTF-8")))?;
                    texts.push(text);
                    // What follows belongs to the command: arguments of tools may look like options.
                    let rest = parser.raw_args().map_err(|error| Stop::usage(error.to_string()))?;
                    for it in rest {
                        texts.push(
                            it.into_string()
                                .map_err(|text| Stop::usage(format!("{text:?} is not UTF-8")))?,
                        );
                    }
                }
                other => {
                    return Err(Stop::usage(format!(
                        "unknown option `{}`; see `help`",
                        named(&other)
                    )));
                }
            }
        }
        let (command, rest) =
            texts.split_first().ok_or_else(|| Stop::usage("no command; see `help`"))?;
        let identity = self.identity.clone();
        match command.as_str() {
            "help" => {
                show::help(&identity, &COMMANDS);
                return Ok(());
            }
            "version" => {
                show::line(&format!("{} {}", identity.name, identity.version));
                return Ok(());
            }
            "list" | "call" | "read" | "get" | "schema" => {}
            other => return Err(unknown_command(other)),
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Stop::failure)?;
        let result = runtime.block_on(async {
            // Lists need no state, and making it may have effects nobody asked for.
            let lists = matches!(command.as_str(), "list" | "schema");
            let client = if lists { Client::unprepared(self) } else { Client::connect(self).await };
            let mut client = client.map_err(Stop::failure)?;
            let result = run_command(&mut client, command, rest, &identity).await;
            client.close().await;
            result
        });
        runtime.shutdown_background();
        result
    }
}

fn named(argument: &lexopt::Arg<'_>) -> String {
    match argument {
        lexopt::Arg::Long(it) => format!("--{it}"),
        lexopt::Arg::Short(it) => format!("-{it}"),
        lexopt::Arg::Value(it) => it.to_string_lossy().into_owned(),
    }
}

fn unknown_command(given: &str) -> Stop {
    let names: Vec<&str> = COMMANDS.iter().filter_map(|it| it.0.split(' ').next()).collect();
    match arguments::nearest(given, names.iter().copied()) {
        Some(near) => Stop::usage(format!("unknown command `{given}`; did you mean `{near}`?")),
        None => Stop::usage(format!("unknown command `{given}`; there are {}", names.join(", "))),
    }
}

async fn run_command(
    client: &mut Client,
    command: &str,
    rest: &[String],
    identity: &crate::builder::Identity,
) -> Result<(), Stop> {
    let everything = show::Everything::ask(client).await.map_err(Stop::failure)?;
    let target =
        || rest.first().ok_or_else(|| Stop::usage(format!("`{command}` of what? See `help`")));
    match command {
        "list" => show::list(identity, &everything),
        "schema" => show::schema(identity, &everything),
        "call" => {
            let tool = arguments::find(&everything.tools, "name", target()?, "tool")?;
            let given = arguments::for_tool(tool, &rest[1..])?;
            let called = client.call(&rest[0], given).await.map_err(Stop::failure)?;
            if called.is_error {
                return Err(Stop::failure(called.text()));
            }
            show::content(&called.content);
        }
        "get" => {
            let prompt = arguments::find(&everything.prompts, "name", target()?, "prompt")?;
            let given = arguments::for_prompt(prompt, &rest[1..])?;
            let prompted = client.prompt(&rest[0], given).await.map_err(Stop::failure)?;
            for message in &prompted.messages {
                show::line(&format!("[{}]", message["role"].as_str().unwrap_or_default()));
                show::content(std::slice::from_ref(&message["content"]));
            }
        }
        _ => {
            for it in client.read(target()?).await.map_err(Stop::failure)? {
                match it.text {
                    Some(text) => show::line(&text),
                    None => show::line(&format!(
                        "[{} at {}]",
                        it.mime_type.as_deref().unwrap_or("bytes"),
                        it.uri
                    )),
                }
            }
        }
    }
    Ok(())
}

/// The value a schema gives a name, where there is one.
fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
