//! Command line options for serving over HTTP.

use lexopt::Parser;

use super::exit::CommandError;
#[cfg(all(feature = "workbench", feature = "http"))]
use super::ready::announce;
use crate::builder::Builder;
#[cfg(feature = "http")]
use crate::{
    error::ServeError,
    server::{Network, host_problem, origin_problem, parse_time, path_problem},
    transport::http,
};

#[cfg(all(feature = "http", not(feature = "workbench")))]
use http::hint as announce;

/// HTTP options given on the command line.
#[derive(Default)]
pub(super) struct HttpOptions {
    /// Whether `--http` was given.
    wanted: bool,
    address: Option<String>,
    /// First of the given options that require `--http`.
    stray: Option<String>,
    settings: Vec<Setting>,
}

type Setting = Box<dyn FnOnce(Builder) -> Builder>;

pub(super) static OPTIONS: &[(&str, &str)] = &[
    ("--http [ADDR]", "serves over HTTP, by default at 127.0.0.1:8000"),
    ("--path PATH", "path of the endpoint, by default /mcp"),
    ("--allow-host NAME", "also accepts requests for this host; may be repeated"),
    ("--allow-origin ORIGIN", "accepts requests from pages of this origin; may be repeated"),
    (
        "--trust-proxy NET",
        "takes client addresses from proxies at this address or in this network; may be repeated",
    ),
    ("--drain TIME", "accepts connections for this time after SIGTERM, such as 5s; by default 0s"),
    ("--legacy-sse", "also serves the HTTP+SSE transport of the oldest revision, at /sse"),
    #[cfg(feature = "playground")]
    ("--playground", "also serves a page that tries the server out, at /playground"),
    #[cfg(feature = "playground")]
    ("--allow-remote-playground", "serves that page on addresses that other machines reach, too"),
];

/// Options of the feature `playground`.
pub(super) const PLAYGROUND: [&str; 2] = ["playground", "allow-remote-playground"];

impl HttpOptions {
    pub(super) fn knows(option: &str) -> bool {
        let mut names = OPTIONS.iter().filter_map(|option| option.0.split(' ').next());
        names.any(|name| name.strip_prefix("--") == Some(option)) || PLAYGROUND.contains(&option)
    }

    /// Stores a known option and its value.
    ///
    /// # Errors
    /// Fails if the value is missing or wrong.
    #[cfg(feature = "http")]
    pub(super) fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), CommandError> {
        if option == "http" {
            self.wanted = true;
            let given = parser.optional_value().map(|text| text.to_string_lossy().into_owned());
            self.address = given.or_else(|| self.address.take());
            return Ok(());
        }
        self.stray.get_or_insert_with(|| option.to_owned());
        if option == "legacy-sse" {
            self.settings.push(Box::new(|builder| builder.legacy_sse(true)));
            return Ok(());
        }
        if PLAYGROUND.contains(&option) {
            return self.take_playground(option);
        }
        let value = parser.value().map_err(|error| CommandError::usage(error.to_string()))?;
        let value = value
            .into_string()
            .map_err(|text| CommandError::usage(format!("`--{option}`: {text:?} is not UTF-8")))?;
        let (problem, setting): (_, Setting) = match option {
            "allow-host" => {
                (host_problem(&value), Box::new(move |builder| builder.allow_host(&value)))
            }
            "allow-origin" => {
                (origin_problem(&value), Box::new(move |builder| builder.allow_origin(&value)))
            }
            "trust-proxy" => {
                (Network::parse(&value).err(), Box::new(move |builder| builder.trust_proxy(&value)))
            }
            "drain" => match parse_time(&value) {
                Ok(time) => (None, Box::new(move |builder| builder.drain(time))),
                Err(problem) => (Some(problem), Box::new(|builder| builder)),
            },
            _ => (path_problem(&value), Box::new(move |builder| builder.path(value))),
        };
        if let Some(problem) = problem {
            return Err(CommandError::usage(format!("`--{option}`: {problem}")));
        }
        self.settings.push(setting);
        Ok(())
    }

    #[cfg(feature = "playground")]
    fn take_playground(&mut self, option: &str) -> Result<(), CommandError> {
        self.settings.push(match option {
            "playground" => Box::new(|builder| builder.playground(true)),
            _ => Box::new(|builder| builder.allow_remote_playground(true)),
        });
        Ok(())
    }

    #[cfg(all(feature = "http", not(feature = "playground")))]
    #[expect(clippy::unused_self, reason = "the feature `playground` adds a setting")]
    fn take_playground(&mut self, option: &str) -> Result<(), CommandError> {
        Err(super::command::without_feature(&format!("--{option}"), "playground"))
    }

    /// Reports that the server was built without HTTP.
    ///
    /// # Errors
    /// Always fails.
    #[cfg(not(feature = "http"))]
    pub(super) fn take(&mut self, option: &str, _: &mut Parser) -> Result<(), CommandError> {
        if PLAYGROUND.contains(&option) {
            return Err(super::command::without_feature(&format!("--{option}"), "playground"));
        }
        Err(CommandError::usage(format!(
            "`--{option}`: this server was built without HTTP: run `cargo add mcp-runtime --features http`, and build it again"
        )))
    }

    /// Takes a separate word as the address of `--http`, as in `--http 8000`. Returns whether the word was taken.
    pub(super) fn take_address(&mut self, word: &str) -> bool {
        let takes = self.wanted && self.address.is_none();
        if takes {
            self.address = Some(word.to_owned());
        }
        takes
    }

    /// Returns the server to run if `--http` was given.
    ///
    /// # Errors
    /// Fails if the address is wrong, or if `--http` was not given, but an option that requires it was.
    pub(super) fn chosen(self) -> Result<Option<HttpLaunch>, CommandError> {
        #[cfg(feature = "http")]
        if let Some(problem) = self.address.as_deref().and_then(http::address_problem) {
            return Err(CommandError::usage(format!("`--http`: {problem}")));
        }
        match self.stray {
            _ if self.wanted => {
                Ok(Some(HttpLaunch { address: self.address, settings: self.settings }))
            }
            Some(option) => {
                Err(CommandError::usage(format!("`--{option}` requires `--http`; see `help`")))
            }
            None => Ok(None),
        }
    }
}

/// Address and settings of a server that listens for HTTP.
pub(super) struct HttpLaunch {
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "`take` refuses all"))]
    address: Option<String>,
    settings: Vec<Setting>,
}

impl HttpLaunch {
    pub(super) fn run(self, builder: Builder) -> Result<(), CommandError> {
        let builder = self.settings.into_iter().fold(builder, |builder, set| set(builder));
        #[cfg(all(feature = "auth", feature = "workbench"))]
        let builder = super::kept::keep_logins(builder);
        #[cfg(feature = "http")]
        {
            let address = self.address.map_or(http::DEFAULT_ADDRESS.to_owned(), |address| {
                http::complete_address(&address)
            });
            serve(builder, &address, announce)
        }
        #[cfg(not(feature = "http"))]
        {
            drop(builder);
            Ok(())
        }
    }
}

/// Serves at an address until the process receives a signal to stop. `announce` is called as soon as the server listens.
#[cfg(feature = "http")]
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

#[cfg(all(test, feature = "http"))]
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
