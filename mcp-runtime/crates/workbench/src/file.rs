//! Changes of configuration files that keep everything else in them.

pub(crate) mod json;
pub(crate) mod toml;
pub(crate) mod yaml;

use std::fmt;

use crate::client_app::ClientApp;

/// Reason why a configuration file is not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The configuration of this client has no entries for servers that are reached over HTTP.
    NoHttp(ClientApp),
    /// The text cannot be parsed, for this reason.
    Invalid(String),
    /// The value of this key, or the whole file if the key is empty, is no list of servers.
    NoList(&'static str),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHttp(client) => write!(
                f,
                "the configuration file of {} has no entry for a URL: add the URL in the settings of the program",
                client.title()
            ),
            Self::Invalid(why) => write!(f, "the file is not valid: {why}"),
            Self::NoList("") => f.write_str("the file is not an object with keys"),
            Self::NoList(key) => write!(f, "`{key}` in the file is not an object with keys"),
        }
    }
}

impl std::error::Error for EditError {}
