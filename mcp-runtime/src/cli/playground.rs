//! The command `playground`: serves the server beside a page that tries it out, and opens the page in the browser.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use super::{
    command::CommandWords,
    exit::CommandError,
    http::{self, OPTIONS},
};
use crate::{
    builder::Builder,
    transport::http::{HttpServer, address_problem, complete_address},
};

/// Address of the command, with a port that the system chooses.
const ADDRESS: &str = "127.0.0.1:0";

/// Serves until the process receives a signal to stop.
///
/// # Errors
/// Fails if a word is wrong, or if the server cannot start at the address.
pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let (address, opens) = read(given.words)?;
    http::serve(builder.playground(true), &address, |server| announce(server, opens))
}

/// Returns the address of the server, and whether a browser opens the page.
fn read(words: Vec<String>) -> Result<(String, bool), CommandError> {
    let (mut address, mut opens) = (None, true);
    for word in words {
        if word == "--no-open" {
            opens = false;
        } else if word.starts_with('-') {
            let is_of_http =
                OPTIONS.iter().any(|option| option.0.split(' ').next() == Some(&*word));
            let hint = match is_of_http {
                true => "use `--http --playground` with it",
                false => "it has `--no-open`",
            };
            return Err(CommandError::usage(format!(
                "`playground` has no option `{word}`: {hint}"
            )));
        } else if let Some(problem) = address_problem(&word) {
            return Err(CommandError::usage(format!("`playground`: {problem}")));
        } else if address.is_some() {
            return Err(CommandError::usage("`playground` takes one address; see `help`"));
        } else {
            address = Some(complete_address(&word));
        }
    }
    Ok((address.unwrap_or_else(|| ADDRESS.to_owned()), opens))
}

/// Prints the addresses, and opens the page.
fn announce(server: &HttpServer, opens: bool) {
    let Some(url) = server.playground_url() else { return };
    let identity = server.identity();
    let opened = opens && open(&url);
    let hint = match opens && !opened {
        true => "no browser could be opened: open the address yourself\n",
        false => "",
    };
    // If stderr is closed, the text has no reader, so an error does not matter.
    let _ = writeln!(
        std::io::stderr(),
        "{} {}: try it at {url}\n{hint}the endpoint for clients is {}\nCtrl-C ends the server",
        identity.name,
        identity.version,
        server.url()
    );
}

/// Opens a URL with the program that the system has for this. Returns whether that program was started.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut opener = Command::new(program);
    opener.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut opener) = opener.spawn() else { return false };
    // The opener may be the browser itself, which runs on. A thread waits for it, so that it does not become a zombie process.
    std::thread::spawn(move || drop(opener.wait()));
    true
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_command_takes_an_address_and_one_option() {
        let read = |words: &[&str]| {
            read(words.iter().map(|&word| word.to_owned()).collect()).map_err(|error| error.text)
        };
        assert_eq!(read(&[]), Ok(("127.0.0.1:0".to_owned(), true)));
        assert_eq!(read(&["--no-open", "8000"]), Ok(("127.0.0.1:8000".to_owned(), false)));
        for (words, problem) in [
            (&["--open"] as &[_], "`playground` has no option `--open`: it has `--no-open`"),
            (&["--path"], "`playground` has no option `--path`: use `--http --playground` with it"),
            (&["1", "2"], "`playground` takes one address; see `help`"),
            (&["70000"], "`playground`: `70000` is not a port: a port is a number up to 65535"),
        ] {
            assert_eq!(read(words), Err(problem.to_owned()));
        }
    }
}
