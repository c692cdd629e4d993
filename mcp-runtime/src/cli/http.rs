//! Command line options for serving over HTTP.

use lexopt::Parser;

use super::Stop;
use crate::builder::Builder;
#[cfg(feature = "http")]
use crate::builder::{Network, host_problem, origin_problem, path_problem};

/// HTTP options given on the command line.
#[derive(Default)]
pub(super) struct HttpOptions {
    /// Whether `--http` was given.
    wanted: bool,
    address: Option<String>,
    /// First of the given options that need `--http`.
    stray: Option<String>,
    settings: Vec<Setting>,
}

type Setting = Box<dyn FnOnce(Builder) -> Builder>;

pub(super) static OPTIONS: [(&str, &str); 6] = [
    ("--http [ADDR]", "serves over HTTP, by default at 127.0.0.1:8000"),
    ("--path PATH", "path of the endpoint, by default /mcp"),
    ("--allow-host NAME", "answers to this host too; may be repeated"),
    ("--allow-origin ORIGIN", "lets pages of this origin call; may be repeated"),
    (
        "--trust-proxy NET",
        "takes the addresses of callers from proxies at this address or in this network; may be repeated",
    ),
    ("--legacy-sse", "also serves the HTTP+SSE transport of the oldest revision, at /sse"),
];

impl HttpOptions {
    pub(super) fn knows(option: &str) -> bool {
        let mut names = OPTIONS.iter().filter_map(|it| it.0.split(' ').next());
        names.any(|it| it.strip_prefix("--") == Some(option))
    }

    /// Stores a known option and its value.
    ///
    /// # Errors
    /// Fails if the value is missing or wrong.
    #[cfg(feature = "http")]
    pub(super) fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), Stop> {
        if option == "http" {
            self.wanted = true;
            let given = parser.optional_value().map(|it| it.to_string_lossy().into_owned());
            self.address = given.or_else(|| self.address.take());
            return Ok(());
        }
        self.stray.get_or_insert_with(|| option.to_owned());
        if option == "legacy-sse" {
            self.settings.push(Box::new(|it| it.legacy_sse(true)));
            return Ok(());
        }
        let value = parser.value().map_err(|error| Stop::usage(error.to_string()))?;
        let value = value
            .into_string()
            .map_err(|it| Stop::usage(format!("`--{option}`: {it:?} is not UTF-8")))?;
        let (problem, setting): (_, Setting) = match option {
            "allow-host" => (host_problem(&value), Box::new(move |it| it.allow_host(&value))),
            "allow-origin" => (origin_problem(&value), Box::new(move |it| it.allow_origin(&value))),
            "trust-proxy" => {
                (Network::parse(&value).err(), Box::new(move |it| it.trust_proxy(&value)))
            }
            _ => (path_problem(&value), Box::new(move |it| it.path(value))),
        };
        if let Some(problem) = problem {
            return Err(Stop::usage(format!("`--{option}`: {problem}")));
        }
        self.settings.push(setting);
        Ok(())
    }

    /// Reports that the server was built without HTTP.
    ///
    /// # Errors
    /// Always, because the server cannot listen.
    #[cfg(not(feature = "http"))]
    pub(super) fn take(&mut self, option: &str, _: &mut Parser) -> Result<(), Stop> {
        Err(Stop::usage(format!(
            "`--{option}`: this server was built without HTTP: run `cargo add mcp-runtime --features http`, and build it again"
        )))
    }

    /// Takes a separate word as the address of `--http`, as in `--http 8000`. Returns whether it did.
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
    /// Fails if an option was given that needs `--http`.
    pub(super) fn chosen(self) -> Result<Option<Listening>, Stop> {
        match self.stray {
            _ if self.wanted => {
                Ok(Some(Listening { address: self.address, settings: self.settings }))
            }
            Some(option) => {
                Err(Stop::usage(format!("`--{option}` goes with `--http`; see `help`")))
            }
            None => Ok(None),
        }
    }
}

/// Address and settings of a server that listens.
pub(super) struct Listening {
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "`take` refuses all"))]
    address: Option<String>,
    settings: Vec<Setting>,
}

impl Listening {
    pub(super) fn run(self, builder: Builder) -> Result<(), Stop> {
        let builder = self.settings.into_iter().fold(builder, |it, set| set(it));
        #[cfg(feature = "http")]
        {
            use crate::transport::http;
            let address = self
                .address
                .map_or(http::DEFAULT_ADDRESS.to_owned(), |it| http::complete_address(&it));
            http::run(builder.bind_http(&*address))
                .map_err(|error| Stop::failure(format!("{address}: {error}")))
        }
        #[cfg(not(feature = "http"))]
        {
            drop(builder);
            Ok(())
        }
    }
}
