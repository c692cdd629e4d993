//! Client that makes all calls over the pipes of its server.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Write as _},
    process::ChildStdin,
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use crate::{
    Failure, MESSAGE,
    server::{PATIENCE, Server},
};

struct Pipes {
    stdin: ChildStdin,
    lines: Receiver<String>,
}

pub(crate) fn call(server: &mut Server, in_flight: usize, calls: usize) -> Result<(), Failure> {
    let mut pipes = Pipes::of(server)?;
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#;
    pipes.exchange(&format!("{hello}\n"), 1, "serverInfo")?;
    pipes.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
    let mut next = 1;
    while next <= calls {
        let last = calls.min(next + in_flight - 1);
        let mut text = String::new();
        for id in next..=last {
            // All ids have the same length, so that all calls have the same length.
            let id = 1_000_000 + id;
            writeln!(
                text,
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{MESSAGE}"}}}}}}"#
            )?;
        }
        pipes.exchange(&text, last + 1 - next, MESSAGE)?;
        next = last + 1;
    }
    // Stdin stays open until the last response has come, because the server ends when its stdin is closed.
    server.child.stdin = Some(pipes.stdin);
    Ok(())
}

impl Pipes {
    fn of(server: &mut Server) -> Result<Self, Failure> {
        let stdin = server.child.stdin.take().ok_or("stdin is a pipe")?;
        let stdout = server.child.stdout.take().ok_or("stdout is a pipe")?;
        let (sender, lines) = sync_channel(1024);
        // The thread ends with the server.
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines();
            lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Ok(Self { stdin, lines })
    }

    fn send(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.stdin.write_all(text.as_bytes())?)
    }

    /// Sends lines and reads their responses, which must all contain `expected`.
    fn exchange(&mut self, text: &str, answers: usize, expected: &str) -> Result<(), Failure> {
        self.send(text)?;
        for _ in 0..answers {
            let line = self.lines.recv_timeout(PATIENCE)?;
            if !line.contains(expected) {
                return Err(format!("`{expected}` is not in the answer: {line}").into());
            }
        }
        Ok(())
    }
}
