//! Servers over stdio that read and write nothing.

use std::future::ready;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, duplex, empty};

use super::*;

/// Program that reads nothing and writes nothing.
const SILENT: &str = "/bin/sleep";

struct Silent {
    servers: PipedServers,
    conversation: Conversation,
    events: mpsc::Receiver<ServerEvent>,
    folder: std::path::PathBuf,
}

impl Silent {
    /// Starts a silent server, and answers its greeting instead of it.
    fn start(name: &str) -> Self {
        let name = format!("mcp-runtime-stdio-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let (sender, events) = mpsc::channel(AHEAD);
        let program = folder.join("debug/silent");
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = Project::new(&program, package, Vec::new()).unwrap();
        let launch = Launch { args: vec!["1000".into()], env: Vec::new() };
        let servers = PipedServers::new(&project, launch, sender);
        let conversation = Conversation::default();
        let mut silent = Self { servers, conversation, events, folder };
        silent.start_next();
        let greeting = silent.steps().remove(0);
        let Step::ToServer(1, greeting) = greeting else { panic!("{greeting:?}") };
        let answer = json!({ "jsonrpc": "2.0", "id": greeting.id(), "result": {} });
        silent.conversation.server_sent(1, &answer.into());
        silent
    }

    fn start_next(&mut self) {
        for _ in 0..1000 {
            match self.servers.start(&mut self.conversation, Path::new(SILENT)) {
                // A process that another test starts at this moment still has the new copy open for writing.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
                started => return started.unwrap(),
            }
        }
        panic!("the copy stays open");
    }

    /// Reports the end of a server.
    fn end(&mut self, server: ServerNumber) {
        self.servers.ended(&mut self.conversation, server, String::new());
    }

    /// Reports that a server has had its time.
    fn late(&mut self, server: ServerNumber) {
        self.servers.late(&mut self.conversation, server);
    }

    fn steps(&mut self) -> Vec<Step> {
        self.conversation.steps()
    }

    /// Carries out all steps, and handles the next event. Returns the server that has ended, if that is the event.
    async fn next(&mut self) -> Option<ServerNumber> {
        for step in self.steps() {
            self.servers.carry_out(step);
        }
        // There is no limit, because the paused clock does not wait for processes.
        let event = self.events.recv().await.unwrap();
        let ended = match &event {
            ServerEvent::Ended(server, _) => Some(*server),
            _ => None,
        };
        self.servers.handle(&mut self.conversation, event).unwrap();
        ended
    }

    /// Waits until this server has ended.
    async fn wait_for_end(&mut self, server: ServerNumber) {
        while self.next().await != Some(server) {}
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reads_nothing_is_killed_after_its_stdin_is_closed() {
    let mut silent = Silent::start("deaf");
    // More than the pipe takes.
    let message = json!({ "method": "a", "params": "a".repeat(1 << 20) });
    silent.servers.carry_out(Step::ToServer(1, message.into()));
    silent.servers.carry_out(Step::Close(1));
    silent.wait_for_end(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_never_ready_ends_the_last_one_and_then_gives_way_to_its_program() {
    let mut silent = Silent::start("late");
    silent.start_next();
    while silent.conversation.current().is_some() {
        silent.next().await;
    }
    assert!(silent.conversation.is_starting(2), "the new server goes on alone");
    while !silent.conversation.is_starting(3) {
        silent.next().await;
    }
    let Some(Step::ToServer(3, _)) = silent.steps().pop() else { panic!("no greeting") };
    // The last program is not ready either. The requests that wait are answered.
    while silent.conversation.is_starting(3) {
        silent.next().await;
    }
    assert!(!silent.servers.running.contains_key(&3));
}

#[tokio::test]
async fn a_server_that_is_left_alone_has_the_time_of_a_server_that_starts_alone() {
    let mut silent = Silent::start("left");
    silent.start_next();
    silent.end(1);
    silent.late(2);
    let is_open = |silent: &Silent| silent.servers.running[&2].lines.is_some();
    assert!(is_open(&silent), "the server has more time");
    silent.late(2);
    assert!(!is_open(&silent), "the program of the last server starts instead");
}

#[tokio::test]
async fn the_program_of_a_server_that_has_crashed_counts_as_the_last_that_has_answered() {
    let mut silent = Silent::start("crashed");
    assert!(silent.servers.good.is_none());
    silent.end(1);
    assert!(silent.servers.good.is_some());
}

#[tokio::test]
async fn no_server_starts_after_all_were_closed() {
    let mut silent = Silent::start("closed");
    silent.start_next();
    silent.end(2);
    assert!(matches!(silent.servers.attempt, StartAttempt::Held(_)));
    silent.servers.close_all();
    silent.end(1);
    assert!(silent.servers.running.is_empty());
}

#[tokio::test]
async fn a_line_that_is_not_utf8_does_not_end_the_reading() {
    let (sender, mut events) = mpsc::channel(AHEAD);
    read_lines(&b"\xff\n{\"id\":1,\"result\":{}}\n"[..], 1, sender).await;
    let Some(ServerEvent::Said(1, message)) = events.recv().await else { panic!("no message") };
    assert_eq!(message.id(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_gets_whole_lines_after_this_process_was_asked_to_end() {
    let (output, mut read) = duplex(10);
    let lines = "a line\n".repeat(1000);
    let (input, _open) = duplex(10);
    let mut client = PipedClient::new(input, output, ready(()));
    let mut text = String::new();
    let written = async {
        let written = client.write(&lines).await.unwrap();
        assert!(client.leaving.is_some(), "the process ends afterwards");
        drop(client);
        written
    };
    let (written, _) = tokio::join!(written, read.read_to_string(&mut text));
    assert!(written && text == lines, "{} of {} bytes", text.len(), lines.len());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_does_not_keep_this_process_from_ending() {
    let (input, _open) = duplex(10);
    let (output, _unread) = duplex(10);
    let mut client = PipedClient::new(input, output, ready(()));
    assert!(!client.write(&"a".repeat(100)).await.unwrap());
    let (output, _unread) = duplex(10);
    let mut client = PipedClient::new(empty(), output, pending());
    assert!(!client.write(&"a".repeat(100)).await.unwrap());
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_by_the_server() {
    let mut silent = Silent::start("line");
    silent.servers.read_client(&mut silent.conversation, br#"{"jsonrpc":"2.0","id":5}"#);
    let answer = Message::from(json!({ "jsonrpc": "2.0", "id": 5, "error": { "code": -32600 } }));
    silent.conversation.server_sent(1, &answer);
    assert_eq!(silent.steps(), [Step::ToClient(answer)]);
}
