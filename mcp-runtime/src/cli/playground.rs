//! The command `playground`: serves the server beside a page that tries it out, and opens the page in the browser.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use super::{command::CommandWords, exit::CommandError, http, option::CommandOption};
use crate::{
    builder::Builder,
    transport::http::{HttpServer, address_problem, complete_address},
};

/// Address of the command, with a port that the system chooses.
const ADDRESS: &str = "127.0.0.1:0";

pub(super) const NO_OPEN: CommandOption =
    CommandOption::flag("--no-open", "prints the URL of the page, and opens no browser");

/// Serves until the process receives a signal to stop.
///
/// # Errors
/// Fails if a word is wrong, or if the server cannot start at the address.
pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let address = match given.words.first() {
        None => ADDRESS.to_owned(),
        Some(word) => match address_problem(word) {
            None => complete_address(word),
            Some(problem) => {
                return Err(CommandError::usage(format!("`playground`: {problem}")));
            }
        },
    };
    let opens = !given.options.has(&NO_OPEN);
    let mut builder = builder.playground(true);
    // The author may have allowed it already.
    if given.options.has(&http::ALLOW_REMOTE_PLAYGROUND) {
        builder = builder.allow_remote_playground(true);
    }
    http::serve(builder, &address, |server| announce(server, opens))
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
