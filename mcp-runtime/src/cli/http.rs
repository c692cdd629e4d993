//! The options that make a server listen.

use lexopt::Parser;

use super::Stop;
use crate::builder::Builder;

/// What the command line says of HTTP.
#[derive(Default)]
pub(super) struct HttpOptions {
    /// `--http` was there.
    wanted: bool,
    address: Option<String>,
    /// An option that makes no sense without it.
    stray: Option<String>,
    settings: Vec<Setting>,
}

enum Setting {
    Path(String),
    Host(String),
    Origin(String),
    LegacySse,
}

pub(super) const OPTIONS: [(&str, &str); 5] = [
    ("--http [ADDR]", "serves over HTTP, at 127.0.0.1:8000 unless said"),
    ("--path PATH", "the endpoint, /mcp unless said"),
    ("--allow-host NAME", "answers to this host too; may be repeated"),
    ("--allow-origin ORIGIN", "lets pages of this origin call; may be repeated"),
    ("--legacy-sse", "also serves the HTTP+SSE transport of the oldest revision, at /sse"),
];

impl HttpOptions {
    pub(super) fn knows(option: &str) -> bool {
        OPTIONS
            .iter()
            .any(|it| it.0.split(' ').next().and_then(|it| it.strip_prefix("--")) == Some(option))
    }

    /// Takes an option that it knows, and its value.
    ///
    /// # Errors
    /// A value that is missing or wrong.
    pub(super) fn take(&mut self, option: &str, parser: &mut Parser) -> Result<(), Stop> {
        if option == "http" {
            self.wanted = true;
            let given = parser.optional_value().map(|it| it.to_string_lossy().into_owned());
            self.address = given.or_else(|| self.address.take());
            return Ok(());
        }
        self.stray.get_or_insert_with(|| option.to_owned());
        if option == "legacy-sse" {
            self.settings.push(Setting::LegacySse);
            return Ok(());
        }
        let value = parser.value().map_err(|error| Stop::usage(error.to_string()))?;
        let value = value
            .into_string()
            .map_err(|it| Stop::usage(format!("`--{option}`: {it:?} is not UTF-8")))?;
        self.settings.push(match option {
            "allow-host" => Setting::Host(value),
            "allow-origin" => Setting::Origin(value),
            _ if value.starts_with('/') => Setting::Path(value),
            _ => return Err(Stop::usage(format!("`--path {value}`: a path begins with `/`"))),
        });
        Ok(())
    }

    /// Whether a word on its own is the address, as in `--http 8000`.
    pub(super) fn take_address(&mut self, word: &str) -> bool {
        let takes = self.wanted && self.address.is_none();
        if takes {
            self.address = Some(word.to_owned());
        }
        takes
    }

    /// What to do, when it is to listen.
    ///
    /// # Errors
    /// An option that has no meaning without `--http`.
    pub(super) fn chosen(self) -> Result<Option<Chosen>, Stop> {
        match self.stray {
            _ if self.wanted => Ok(Some(Chosen { address: self.address, settings: self.settings })),
            Some(option) => {
                Err(Stop::usage(format!("`--{option}` goes with `--http`; see `help`")))
            }
            None => Ok(None),
        }
    }
}

/// A server that is to listen.
pub(super) struct Chosen {
    address: Option<String>,
    settings: Vec<Setting>,
}

impl Chosen {
    #[cfg(feature = "http")]
    pub(super) fn run(self, mut builder: Builder) -> Result<(), Stop> {
        use crate::transport::http;
        for setting in self.settings {
            builder = match setting {
                Setting::Path(path) => builder.path(path),
                Setting::Host(host) => builder.allow_host(&host),
                Setting::Origin(origin) => builder.allow_origin(&origin),
                Setting::LegacySse => builder.legacy_sse(true),
            };
        }
        let address = self.address.map_or(http::DEFAULT.to_owned(), |it| http::address(&it));
        http::run(builder, &address).map_err(|error| Stop::failure(format!("{address}: {error}")))
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn run(self, _: Builder) -> Result<(), Stop> {
        let Self { address, settings } = self;
        drop((address, settings));
        Err(Stop::usage(
            "this server was built without HTTP: give mcp-runtime the feature `http` in its Cargo.toml",
        ))
    }
}
