//! The command `dev`, which serves clients while the author changes the sources of the server.

use std::{env, path::PathBuf, pin::pin};

use mcp_runtime_dev::{DevError, Launch, Project};

use super::{
    command::{CommandWords, names_of},
    exit::CommandError,
    http,
    settings::EntryOptions,
};
use crate::{
    builder::Builder,
    transport::{block_on, stdio::StdioGuard},
};

pub(super) const OPTIONS: &[&str] = &["--features FEATURES", "--http [ADDR]"];

/// Features of this build. The next builds need the same features.
const FEATURES: [(&str, bool); 12] = [
    ("auth", cfg!(feature = "auth")),
    ("axum", cfg!(feature = "axum")),
    ("client-log", cfg!(feature = "client-log")),
    ("contract", cfg!(feature = "contract")),
    ("http", cfg!(feature = "http")),
    ("inventory", cfg!(feature = "inventory")),
    ("playground", cfg!(feature = "playground")),
    ("sqlite", cfg!(feature = "sqlite")),
    ("state-key", cfg!(feature = "state-key")),
    ("stdio", cfg!(feature = "stdio")),
    ("store-suite", cfg!(feature = "store-suite")),
    ("workbench", cfg!(feature = "workbench")),
];

/// Words of the command.
#[derive(Debug, Default, PartialEq, Eq)]
struct DevWords {
    /// Whether the server serves over HTTP.
    is_http: bool,
    address: Option<String>,
    /// Features of the author's package.
    features: Vec<String>,
    /// Arguments of the server.
    args: Vec<String>,
}

/// Serves until the client leaves, or until the process receives a signal to stop.
///
/// # Errors
/// Fails if a word is wrong, if cargo has not started this program, or if the sources cannot be watched.
pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let words = DevWords::read(given.words)?;
    let entry = EntryOptions::of(&builder)?;
    let (name, mut launch) = (builder.identity.name.to_string(), Launch::default());
    drop(builder);
    launch.args.extend(entry.args.into_iter().map(Into::into));
    let given = entry.variables.into_iter();
    launch.env = given.filter_map(|set| Some((set.name.into(), set.text?.into()))).collect();
    let project = project(&words)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CommandError::failure)?;
    let served = pin!(async {
        match words.is_http {
            true => serve_http(&name, project, launch, words).await,
            false => serve_stdio(&name, project, launch, words).await,
        }
    });
    block_on(runtime, served).map_err(CommandError::failure)
}

fn project(words: &DevWords) -> Result<Project, CommandError> {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).ok_or_else(|| {
        CommandError::usage(
            "`dev` builds the program with cargo: start it with `cargo run --features mcp-runtime/workbench -- dev`",
        )
    })?;
    let program = env::current_exe().map_err(|why| {
        CommandError::failure(format_args!("the path of this program is unknown: {why}"))
    })?;
    let own = FEATURES.iter().filter(|(_, is_on)| *is_on);
    let own = own.map(|(name, _)| format!("mcp-runtime/{name}"));
    let features = own.chain(words.features.iter().cloned()).collect();
    Project::new(&program, &folder, features).map_err(CommandError::failure)
}

async fn serve_stdio(
    name: &str,
    project: Project,
    mut launch: Launch,
    words: DevWords,
) -> Result<(), DevError> {
    let (_guard, input, output) = StdioGuard::install()?;
    if input.is_terminal() {
        eprintln!(
            "dev: {name} waits for a client on stdin; configure the client with the command `cargo run -q --features mcp-runtime/workbench -- dev`, or serve over HTTP with `dev --http`"
        );
    }
    launch.args.extend(words.args.into_iter().map(Into::into));
    mcp_runtime_dev::serve_stdio(project, launch, input, output).await
}

/// Serves over HTTP at a loopback address.
#[cfg(feature = "http")]
async fn serve_http(
    name: &str,
    project: Project,
    mut launch: Launch,
    words: DevWords,
) -> Result<(), DevError> {
    use crate::transport::http::{DEFAULT_ADDRESS, complete_address};

    let address =
        words.address.map_or(DEFAULT_ADDRESS.to_owned(), |given| complete_address(&given));
    launch.args.push("--http=127.0.0.1:0".into());
    launch.args.extend(words.args.into_iter().map(Into::into));
    mcp_runtime_dev::serve_http(name, project, launch, &address).await
}

#[cfg(not(feature = "http"))]
async fn serve_http(_: &str, _: Project, _: Launch, _: DevWords) -> Result<(), DevError> {
    // `DevWords::read` refuses `--http`.
    Ok(())
}

impl DevWords {
    fn read(words: Vec<String>) -> Result<Self, CommandError> {
        let mut read = Self::default();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let (option, given) = match word.split_once('=') {
                Some((option, given)) => (option, Some(given.to_owned())),
                None => (&*word, None),
            };
            match (option, http_option(option)) {
                ("--", _) => {
                    read.args.extend(words);
                    break;
                }
                ("--http", _) => {
                    read.is_http = true;
                    read.address = given.or_else(|| words.next_if(|word| !word.starts_with('-')));
                }
                ("--features", _) => {
                    let features = given.or_else(|| words.next()).ok_or_else(|| {
                        CommandError::usage("`--features` needs a value: `--features=…`")
                    })?;
                    let features = features.split([',', ' ']).filter(|name| !name.is_empty());
                    read.features.extend(features.map(str::to_owned));
                }
                (_, Some(usage)) => {
                    let has_value = usage.contains(' ') && given.is_none();
                    read.args.push(word);
                    read.args.extend(words.next_if(|_| has_value));
                }
                _ => {
                    return Err(CommandError::usage(format!(
                        "`dev` has no option `{word}`; it has {} and the options of `--http`; other arguments of the server follow `--`",
                        names_of(OPTIONS)
                    )));
                }
            }
        }
        read.check()?;
        Ok(read)
    }

    /// Fails if a word has no meaning without HTTP, or no meaning to a server that was built without it.
    fn check(&self) -> Result<(), CommandError> {
        #[cfg(feature = "http")]
        if let Some(problem) =
            self.address.as_deref().and_then(crate::transport::http::address_problem)
        {
            return Err(CommandError::usage(format!("`dev --http`: {problem}")));
        }
        if self.is_http && cfg!(not(feature = "http")) {
            return Err(CommandError::usage(
                "`dev --http`: this server was built without HTTP: run `cargo run --features mcp-runtime/workbench,mcp-runtime/http -- dev --http`",
            ));
        }
        let stray = self.args.iter().find(|word| http_option(word).is_some());
        match stray {
            Some(word) if !self.is_http => Err(CommandError::usage(format!(
                "`{word}` requires `--http`: `dev --http {word} …`"
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns the usage of an option of a server over HTTP.
fn http_option(word: &str) -> Option<&'static str> {
    let name = word.split('=').next();
    let mut usages = http::OPTIONS.iter().map(|(usage, _)| *usage);
    usages.find(|usage| usage.split(' ').next() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<DevWords, String> {
        let words = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
        DevWords::read(words.collect()).map_err(|error| error.text)
    }

    #[test]
    fn the_words_are_those_of_the_command_and_those_of_the_server() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(read(""), Ok(DevWords::default()));
        let features = texts(&["a", "b", "c"]);
        let args = texts(&["--verbose", "x"]);
        let expected = DevWords { features, args, ..DevWords::default() };
        assert_eq!(read("--features a,b --features=c -- --verbose x"), Ok(expected));
        let error = read("--fast").expect_err("no option");
        assert!(error.starts_with("`dev` has no option `--fast`"), "{error}");
        assert!(read("--path /x").expect_err("no HTTP").contains("requires `--http`"));
    }

    #[cfg(feature = "http")]
    #[test]
    fn options_of_http_reach_the_server() {
        let read = read("--http 8000 --path /x --legacy-sse --drain=1s").expect("known options");
        assert_eq!((read.is_http, read.address.as_deref()), (true, Some("8000")));
        assert_eq!(read.args, ["--path", "/x", "--legacy-sse", "--drain=1s"]);
    }

    #[test]
    fn each_feature_is_passed_on() {
        let manifest = include_str!("../../Cargo.toml");
        let features = manifest.split("\n[features]\n").nth(1).expect("features");
        let features = features.split("\n[").next().unwrap_or_default().lines();
        let mut names: Vec<_> = features
            .filter_map(|line| line.split_once(" = [").map(|(name, _)| name))
            .filter(|name| !["default", "bench"].contains(name))
            .collect();
        names.sort_unstable();
        assert_eq!(FEATURES.map(|(name, _)| name).to_vec(), names);
    }
}
