//! Command line options for serving over HTTP.

use lexopt::Parser;

#[cfg(feature = "workbench")]
use super::ready::announcement;
use super::{
    exit::CommandError,
    option::{CommandOption, OptionValues},
};
#[cfg(not(feature = "workbench"))]
use crate::transport::http::hint as announce;
use crate::{
    builder::Builder,
    error::ServeError,
    server::{Network, host_problem, origin_problem, parse_time, path_problem},
    transport::http,
};

pub(super) const HTTP: CommandOption =
    CommandOption::valued("--http", "[ADDR]", "serves over HTTP, by default at 127.0.0.1:8000");

const PATH: CommandOption =
    CommandOption::valued("--path", "PATH", "path of the endpoint, by default /mcp");
const ALLOW_HOST: CommandOption =
    CommandOption::valued("--allow-host", "NAME", "also accepts requests for this host")
        .repeatable();
const ALLOW_ORIGIN: CommandOption =
    CommandOption::valued("--allow-origin", "ORIGIN", "accepts requests from pages of this origin")
        .repeatable();
const TRUST_PROXY: CommandOption = CommandOption::valued(
    "--trust-proxy",
    "NET",
    "takes client addresses from proxies at this address or in this network",
)
.repeatable();
const DRAIN: CommandOption = CommandOption::valued(
    "--drain",
    "TIME",
    "accepts connections for this time after SIGTERM, such as 5s; by default 0s",
);
const LEGACY_SSE: CommandOption = CommandOption::flag(
    "--legacy-sse",
    "also serves the HTTP+SSE transport of the oldest revision, at /sse",
);
#[cfg(feature = "playground")]
const PLAYGROUND: CommandOption = CommandOption::flag(
    "--playground",
    "also serves a page that tries the server out, at /playground",
);
#[cfg(feature = "playground")]
pub(super) const ALLOW_REMOTE_PLAYGROUND: CommandOption = CommandOption::flag(
    "--allow-remote-playground",
    "serves that page on addresses that other machines reach, too",
);

/// `--http`, and the options that require it.
pub(super) const OPTIONS: &[CommandOption] = &[
    HTTP,
    PATH,
    ALLOW_HOST,
    ALLOW_ORIGIN,
    TRUST_PROXY,
    DRAIN,
    LEGACY_SSE,
    #[cfg(feature = "playground")]
    PLAYGROUND,
    #[cfg(feature = "playground")]
    ALLOW_REMOTE_PLAYGROUND,
];

/// Returns the option with this name. The name includes the dashes.
pub(super) fn find(name: &str) -> Option<&'static CommandOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// HTTP options given on the command line.
#[derive(Default)]
pub(super) struct HttpOptions {
    given: OptionValues,
    address: Option<String>,
    settings: Vec<Setting>,
}

type Setting = Box<dyn FnOnce(Builder) -> Builder>;

impl HttpOptions {
    /// Stores an option and its value.
    ///
    /// # Errors
    /// Fails if the value is missing or wrong, or if the option is given twice and may not be repeated.
    pub(super) fn take(
        &mut self,
        option: &'static CommandOption,
        parser: &mut Parser,
    ) -> Result<(), CommandError> {
        let value = option.value(parser)?;
        self.given.add(option, value.clone())?;
        if *option == HTTP {
            self.address = Some(value).filter(|address| !address.is_empty());
            return Ok(());
        }
        self.settings.push(
            setting(option, value)
                .map_err(|problem| CommandError::usage(format!("`{}`: {problem}", option.name)))?,
        );
        Ok(())
    }

    /// Takes a separate word as the address of `--http`, as in `--http 8000`. Returns whether the word was taken.
    pub(super) fn take_address(&mut self, word: &str) -> bool {
        let takes = self.given.has(&HTTP) && self.address.is_none();
        if takes {
            self.address = Some(word.to_owned());
        }
        takes
    }

    /// Returns the name of a given option that is among these options of a command.
    pub(super) fn given_of(&self, options: &[&'static CommandOption]) -> Option<&'static str> {
        options.iter().find(|option| self.given.has(option)).map(|option| option.name)
    }

    /// Returns the server to run if `--http` was given.
    ///
    /// # Errors
    /// Fails if the address is wrong, or if `--http` was not given, but an option that requires it was.
    pub(super) fn chosen(self) -> Result<Option<HttpLaunch>, CommandError> {
        if let Some(problem) = self.address.as_deref().and_then(http::address_problem) {
            return Err(CommandError::usage(format!("`--http`: {problem}")));
        }
        if self.given.has(&HTTP) {
            return Ok(Some(HttpLaunch { address: self.address, settings: self.settings }));
        }
        match OPTIONS.iter().find(|option| self.given.has(option)) {
            Some(CommandOption { name, .. }) => {
                Err(CommandError::usage(format!("`{name}` requires `--http`; see `help`")))
            }
            None => Ok(None),
        }
    }
}

/// Returns the change of the builder for the value of an option, or the problem of the value.
fn setting(option: &CommandOption, value: String) -> Result<Setting, String> {
    let (problem, setting): (_, Setting) = match *option {
        ALLOW_HOST => (host_problem(&value), Box::new(move |builder| builder.allow_host(&value))),
        ALLOW_ORIGIN => {
            (origin_problem(&value), Box::new(move |builder| builder.allow_origin(&value)))
        }
        TRUST_PROXY => {
            (Network::parse(&value).err(), Box::new(move |builder| builder.trust_proxy(&value)))
        }
        DRAIN => {
            let time = parse_time(&value)?;
            (None, Box::new(move |builder| builder.drain(time)))
        }
        LEGACY_SSE => (None, Box::new(|builder| builder.legacy_sse(true))),
        #[cfg(feature = "playground")]
        PLAYGROUND => (None, Box::new(|builder| builder.playground(true))),
        #[cfg(feature = "playground")]
        ALLOW_REMOTE_PLAYGROUND => {
            (None, Box::new(|builder| builder.allow_remote_playground(true)))
        }
        PATH => (path_problem(&value), Box::new(move |builder| builder.path(value))),
        _ => unreachable!("`take` keeps the address, and there are no other options"),
    };
    problem.map_or(Ok(setting), Err)
}

/// Address and settings of a server that listens for HTTP.
pub(super) struct HttpLaunch {
    address: Option<String>,
    settings: Vec<Setting>,
}

impl HttpLaunch {
    pub(super) fn run(self, builder: Builder) -> Result<(), CommandError> {
        #[cfg(feature = "workbench")]
        let announce = announcement();
        let builder = self.settings.into_iter().fold(builder, |builder, set| set(builder));
        #[cfg(all(feature = "auth", feature = "workbench"))]
        let builder = super::kept::keep_logins(builder);
        let address = self
            .address
            .map_or(http::DEFAULT_ADDRESS.to_owned(), |address| http::complete_address(&address));
        serve(builder, &address, announce)
    }
}

/// Serves at an address until the process receives a signal to stop. `announce` is called as soon as the server listens.
pub(super) fn serve(
    builder: Builder,
    address: &str,
    announce: impl FnOnce(&http::HttpServer),
) -> Result<(), CommandError> {
    http::run(builder.bind_http(address), announce).map_err(|error| {
        CommandError::failure(match error {
            ServeError::Bind(_) => format!("{address}: {error}"),
            // The address has nothing to do with other errors, such as that of `setup`.
            _ => error.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn only_an_error_of_the_address_begins_with_the_address() {
        let said = |address: &str| {
            let server = crate::server!(crate = crate, group = "command line");
            let server = server.setup(async || Err::<u32, _>(Error::msg("the disk is full")));
            let address = Some(address.to_owned());
            let launch = HttpLaunch { address, settings: Vec::new() };
            launch.run(server).expect_err("the server cannot start").text
        };
        assert_eq!(said("127.0.0.1:0"), "setup failed: the disk is full");
        let text = said("nobody.invalid:1");
        assert!(text.starts_with("nobody.invalid:1: cannot listen on this address"), "{text}");
    }
}
