//! Hint on stderr for a person who starts a server at a terminal: what the server is, and how to end it.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    sync::mpsc::{Receiver, channel},
    thread,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use support::clock::LIMIT;

use crate::server::{Server, echo, fixture};

/// Opens a pseudo-terminal and returns the person's side and the program's side.
pub(crate) fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program =
        OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
    (File::from(person), program)
}

/// Returns a channel that receives the text of the screen as it appears.
pub(crate) fn screen(person: &File) -> Receiver<String> {
    let mut person = person.try_clone().unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        // On Linux, reading fails when the program closes its side of the terminal.
        while let Ok(count @ 1..) = person.read(&mut chunk) {
            let text = String::from_utf8_lossy(&chunk[..count]).into_owned();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads the screen until it shows this text.
#[track_caller]
pub(crate) fn wait_for(screen: &Receiver<String>, seen: &mut String, text: &str) {
    while !seen.contains(text) {
        let more = screen.recv_timeout(LIMIT);
        seen.push_str(&more.unwrap_or_else(|error| panic!("no {text:?} ({error}) in {seen:?}")));
    }
}

#[support::test]
fn a_person_at_a_terminal_gets_a_hint_and_ctrl_d_ends_the_server() {
    let (mut person, program) = terminal();
    let clone = || OwnedFd::from(program.try_clone().unwrap());
    let mut command = fixture();
    command.stdin(clone()).stdout(clone()).stderr(clone());
    let server = Server::start_as(command);
    drop(program);
    let (screen, mut seen) = (screen(&person), String::new());
    wait_for(&screen, &mut seen, "Ctrl-D ends it");
    wait_for(&screen, &mut seen, "help");
    assert!(seen.lines().count() <= 6, "{seen}");

    // A person who types JSON is answered like any client.
    writeln!(person, "{}", echo("typed")).unwrap();
    wait_for(&screen, &mut seen, "{\"jsonrpc\":\"2.0\",\"id\":\"typed\",\"result\"");
    person.write_all(&[4]).unwrap();
    server.wait().check_soon();
}

/// The hint goes to stderr. Whether it is printed depends only on stdin, because a person may type while stdout goes to another program.
#[support::test]
fn the_hint_does_not_go_to_the_wire() {
    let (mut person, program) = terminal();
    let mut command = fixture();
    command.stdin(OwnedFd::from(program.try_clone().unwrap()));
    let server = Server::start_as(command);
    person.write_all(&[4]).unwrap();
    let ended = server.wait();
    ended.check_soon();
    assert!(ended.stderr.contains("Ctrl-D ends it"), "{ended:?}");
    assert!(ended.rest.is_empty(), "{ended:?}");
}

#[support::test]
fn without_a_terminal_there_is_no_hint() {
    let ended = Server::start().finish();
    ended.check_soon();
    assert_eq!(ended.stderr, "");
}
