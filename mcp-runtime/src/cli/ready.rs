//! Tells the command `dev` of another process that this server listens, and ends this process together with that process.

use std::{io::Read as _, net::TcpStream, thread};

use mcp_runtime_dev::{ServerAddress, Supervisor};

use crate::transport::http::{HttpServer, hint};

/// Finds the `dev` that has started this server, and returns the function that reports the address of the server to it. A server that `dev` has
/// not started prints its address for the user instead. If `dev` ends before the report, this process has another parent, and still has to end.
pub(super) fn announcement() -> impl FnOnce(&HttpServer) {
    let supervisor = Supervisor::find();
    move |server| match supervisor {
        Some(supervisor) => report(supervisor, server),
        None => hint(server),
    }
}

fn report(supervisor: Supervisor, server: &HttpServer) {
    let address = ServerAddress {
        process: std::process::id(),
        url: server.url(),
        #[cfg(feature = "playground")]
        playground: server.playground_url(),
        #[cfg(not(feature = "playground"))]
        playground: None,
    };
    match supervisor.report(address) {
        Ok(stream) => drop(thread::spawn(move || end_with(stream))),
        // The supervisor has ended.
        Err(_) => end(),
    }
}

/// Ends this process as soon as the supervisor closes the connection.
fn end_with(mut stream: TcpStream) {
    while matches!(stream.read(&mut [0; 64]), Ok(1..)) {}
    end();
}

/// Ends this process in the way of a signal, which lets calls finish.
#[cfg(unix)]
fn end() {
    use rustix::process::{Signal, getpid, kill_process};

    if kill_process(getpid(), Signal::TERM).is_err() {
        std::process::exit(1);
    }
}

#[cfg(not(unix))]
fn end() {
    std::process::exit(0);
}
