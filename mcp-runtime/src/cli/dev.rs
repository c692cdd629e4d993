//! The command `dev`, which serves clients while the author changes the sources of the server.

use std::{env, path::PathBuf, pin::pin};

use mcp_runtime_dev::{DevError, Launch, Project};

use super::{
    command::CommandWords,
    exit::CommandError,
    http,
    option::{CommandOption, OptionValues},
    screen::say,
    settings::EntryOptions,
};
use crate::{
    builder::Builder,
    transport::{block_on, stdio::StdioGuard},
};

pub(super) const OPTIONS: &[CommandOption] = &[
    FEATURES,
    NO_DEFAULT_FEATURES,
    #[cfg(feature = "http")]
    http::HTTP,
];

/// Options of a server over HTTP, without `--http`.
pub(super) const PASSED: &[CommandOption] = match http::OPTIONS {
    [_, others @ ..] => others,
    [] => &[],
};

pub(super) const FEATURES: CommandOption = CommandOption::valued(
    "--features",
    "FEATURES",
    "features of the package, with commas between them",
)
.repeatable();

pub(super) const NO_DEFAULT_FEATURES: CommandOption =
    CommandOption::flag("--no-default-features", "leaves out the default features of the package");

/// Features of this build. The next builds need the same features.
const BUILT: [(&str, bool); 12] = [
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

/// Features of the author's package. They are unknown to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PackageFeatures {
    names: Vec<String>,
    /// Whether the default features are left out.
    is_bare: bool,
}

impl PackageFeatures {
    pub(super) fn of(options: &OptionValues) -> Self {
        let names = options.all(&FEATURES).flat_map(|names| names.split([',', ' ']));
        let names = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Self { names, is_bare: options.has(&NO_DEFAULT_FEATURES) }
    }

    /// Returns the options that name these features.
    pub(super) fn options(&self) -> Vec<String> {
        let bare = self.is_bare.then(|| NO_DEFAULT_FEATURES.name.to_owned());
        let names = (!self.names.is_empty())
            .then(|| [FEATURES.name.to_owned(), self.names.join(",")])
            .into_iter();
        bare.into_iter().chain(names.flatten()).collect()
    }
}

/// Words of the command.
#[derive(Debug, Default, PartialEq, Eq)]
struct DevWords {
    /// Whether the server serves over HTTP.
    is_http: bool,
    address: Option<String>,
    features: PackageFeatures,
    /// Arguments of the server.
    args: Vec<String>,
}

/// Serves until the client leaves, or until the process receives a signal to stop.
///
/// # Errors
/// Fails if a word is wrong, if cargo has not started this program, or if the sources cannot be watched.
pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let words = DevWords::read(given)?;
    let entry = EntryOptions::of(&builder)?;
    let (name, mut launch) = (builder.identity.name.to_string(), Launch::default());
    drop(builder);
    launch.args.extend(entry.args.into_iter().map(Into::into));
    let given = entry.variables.into_iter();
    launch.env = given.filter_map(|set| Some((set.name.into(), set.text?.into()))).collect();
    let project = project(words.features.clone(), "dev")?;
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

/// Finds out how cargo has built this program. `command` is the command line that needs cargo.
///
/// # Errors
/// Fails if cargo has not started this program.
pub(super) fn project(features: PackageFeatures, command: &str) -> Result<Project, CommandError> {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).ok_or_else(|| {
        CommandError::usage(format!(
            "`{command}` needs to know how cargo builds this program: run `cargo run --features mcp-runtime/workbench -- {command}`"
        ))
    })?;
    let program = env::current_exe().map_err(|why| {
        CommandError::failure(format_args!("the path of this program is unknown: {why}"))
    })?;
    let own = BUILT.iter().filter(|(_, is_on)| *is_on);
    let own = own.map(|(name, _)| format!("mcp-runtime/{name}"));
    let project = Project::new(&program, &folder, own.chain(features.names).collect());
    let project = project.map_err(CommandError::failure)?;
    Ok(if features.is_bare { project.without_default_features() } else { project })
}

async fn serve_stdio(
    name: &str,
    project: Project,
    mut launch: Launch,
    words: DevWords,
) -> Result<(), DevError> {
    let (guard, input, output) = StdioGuard::install()?;
    guard.relay_stderr();
    if input.is_terminal() {
        say(format_args!(
            "note: {name} waits for a client on stdin; the command `install CLIENT --dev` configures a client, and `dev --http` serves over HTTP\n"
        ));
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
    use crate::transport::{
        http::{DEFAULT_ADDRESS, complete_address},
        relay_stderr,
    };

    relay_stderr();
    let address =
        words.address.map_or(DEFAULT_ADDRESS.to_owned(), |given| complete_address(&given));
    launch.args.push("--http=127.0.0.1:0".into());
    launch.args.extend(words.args.into_iter().map(Into::into));
    mcp_runtime_dev::serve_http(name, project, launch, &address).await
}

#[cfg(not(feature = "http"))]
async fn serve_http(_: &str, _: Project, _: Launch, _: DevWords) -> Result<(), DevError> {
    // This build has no option `--http`.
    Ok(())
}

impl DevWords {
    fn read(given: CommandWords) -> Result<Self, CommandError> {
        let features = PackageFeatures::of(&given.options);
        let args = given.options.words(PASSED).chain(given.rest).collect();
        let read = Self { features, args, ..Self::default() };
        #[cfg(feature = "http")]
        let read = read.over_http(given.options)?;
        Ok(read)
    }

    /// Reads the options of a server over HTTP.
    ///
    /// # Errors
    /// Fails if the address is wrong, or if an option has no meaning without `--http`.
    #[cfg(feature = "http")]
    fn over_http(mut self, mut options: OptionValues) -> Result<Self, CommandError> {
        use crate::transport::http::address_problem;

        self.is_http = options.has(&http::HTTP);
        self.address = options.take(&http::HTTP).filter(|address| !address.is_empty());
        if let Some(problem) = self.address.as_deref().and_then(address_problem) {
            return Err(CommandError::usage(format!("`dev --http`: {problem}")));
        }
        match PASSED.iter().find(|option| options.has(option)) {
            Some(stray) if !self.is_http => Err(CommandError::usage(format!(
                "`{0}` requires `--http`: `dev --http {0} …`",
                stray.name
            ))),
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command::Command;

    fn read(words: &str) -> Result<DevWords, String> {
        let command =
            Command::new("dev", "", "", run).options(OPTIONS).passes(PASSED).rest("[-- ARGUMENTS]");
        let own = crate::server!(crate = crate, group = "command line").declared_config().options();
        let mut parser = lexopt::Parser::from_args(words.split_whitespace());
        let read = command.read(&mut parser, &*own).and_then(DevWords::read);
        read.map_err(|error| error.text)
    }

    #[test]
    fn the_words_are_those_of_the_command_and_those_of_the_server() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(read(""), Ok(DevWords::default()));
        let features = PackageFeatures { names: texts(&["a", "b", "c"]), is_bare: true };
        let again = ["--no-default-features", "--features", "a,b,c"];
        assert_eq!(features.options(), again);
        let args = texts(&["--verbose", "x"]);
        let expected = DevWords { features, args, ..DevWords::default() };
        assert_eq!(
            read("--features a,b --no-default-features --features=c -- --verbose x"),
            Ok(expected)
        );
    }

    #[cfg(feature = "http")]
    #[test]
    fn options_of_http_reach_the_server() {
        let words = "--http 8000 --path /x --legacy-sse --drain=1s -- x";
        let read_words = read(words).expect("known options");
        assert_eq!((read_words.is_http, read_words.address.as_deref()), (true, Some("8000")));
        assert_eq!(read_words.args, ["--path=/x", "--legacy-sse", "--drain=1s", "x"]);
        let stray = read("--path /x").expect_err("no HTTP");
        assert_eq!(stray, "`--path` requires `--http`: `dev --http --path …`");
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
        assert_eq!(BUILT.map(|(name, _)| name).to_vec(), names);
    }
}
