//! A server with options of its own.

use std::{path::PathBuf, str::FromStr};

use mcp_runtime::prelude::*;

/// Settings of the file server.
///
/// This paragraph is not in the help.
#[config]
struct Config {
    /// Directory to serve
    root: PathBuf,
    /// Key of the service
    #[config(secret)]
    api_key: Key,
    /// Attempts per request.
    #[config(default = 5)]
    retries: u8,
    verbose: bool,
    /// Language of all texts
    #[config(env = "TEXT_LANGUAGE")]
    language: Option<Language>,
    /// Extension of files that are served
    extension: Vec<String>,
}

/// Key with at least four letters. The error shows the text, as those of many crates do.
struct Key(String);

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.len() {
            0..4 => Err(format!("`{text}` is too short")),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

#[data]
enum Language {
    #[serde(rename = "en")]
    English,
    #[serde(rename = "no")]
    Norwegian,
}

/// Database of the server
#[config(env = "STORE")]
struct Database {
    /// Address of the database
    #[config(name = "database-url", default = "sqlite::memory:")]
    url: String,
    /// Folder for temporary files
    #[config(default = "cache")]
    cache: PathBuf,
}

/// Other folders
#[config]
struct Folders {
    /// Folder with further files.
    #[config(directory)]
    folder: Vec<PathBuf>,
    /// File of the user's own rules
    #[config(file)]
    rules: Option<PathBuf>,
    /// Whether links are followed
    #[config(default = cfg!(unix))]
    links: bool,
    /// Largest number of bytes in a file
    #[config(default = 9223372036854775807)]
    most: i64,
}

/// Settings of another server of the package
#[config]
#[expect(dead_code, reason = "no item of this server takes the struct")]
struct Tickets {
    /// Office that issues the tickets
    office: String,
    /// Hours from UTC
    #[config(default = -5)]
    offset: i32,
    /// Tokens of the office
    #[config(secret)]
    token: Vec<String>,
}

/// Connections that `setup` has opened.
struct Pool(String);

/// Returns all values.
#[tool(read_only)]
fn values(config: &Config, pool: &Pool) -> String {
    let language = match config.language {
        None => "none",
        Some(Language::English) => "English",
        Some(Language::Norwegian) => "Norwegian",
    };
    format!(
        "{} {} {} {} {language} {:?} {}",
        config.root.display(),
        config.api_key.0.len(),
        config.retries,
        config.verbose,
        config.extension,
        pool.0
    )
}

/// Returns the other folders, and the settings for them.
#[tool(read_only)]
fn folders(folders: &Folders) -> String {
    format!("{:?} {:?} {} {}", folders.folder, folders.rules, folders.links, folders.most)
}

/// Explains a file.
#[prompt]
fn explain(file: &str, language: &str) -> String {
    format!("Explain {file} in {language}.")
}

/// Translates a file.
#[prompt]
fn translate(file: &str, language: Option<&str>) -> String {
    format!("Translate {file} into {}.", language.unwrap_or("English"))
}

/// Shouts the name of a file.
#[prompt]
fn shout(file: &str) -> String {
    file.to_uppercase()
}

/// Greets in some languages.
#[prompt]
fn greet(language: &str) -> String {
    if language == "de" { "Guten Tag" } else { "Hello" }.to_owned()
}

/// Reviews code.
#[prompt(name = "code:review")]
fn review(#[complete("rust", "c")] language: &str) -> String {
    format!("Review this {language} code.")
}

/// Counts the files, some times.
#[prompt]
fn count(times: u8) -> String {
    format!("Count the files {times} times.")
}

/// Says which folders there are.
#[prompt]
fn overview(folders: &Folders) -> String {
    format!("There are {} folders.", folders.folder.len())
}

const PIXEL: &str = "data:image/png;base64,\
    iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

fn main() -> Exit {
    server!(name = "file-box")
        .title("File box")
        .description("Serves the files of a directory")
        .icon(Icon::new(PIXEL))
        .setup(async |database: State<Database>| {
            let _ = &database.cache;
            Ok::<_, Error>(Pool(format!("pool of {}", database.url)))
        })
        .run()
}
