//! Serves one client over stdio: holds its pipe, and runs the servers behind it.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    future::pending,
    io,
    path::Path,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, Split},
    process::{ChildStdin, ChildStdout},
    sync::{
        mpsc::{self, Sender, UnboundedReceiver, UnboundedSender},
        oneshot,
    },
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    builds::{self, ALONE, BESIDE, BuildStep, build_after_changes, say},
    conversation::{Conversation, ServerNumber, Step},
    copies::{self, Copies, ProgramCopy, ProgramStamp},
    error::DevError,
    message::Message,
    process::{self, LastWords, Launch},
    project::Project,
};

/// Time that calls of a replaced server have to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time that the servers have to end after the client has left. The client waits about as long before it kills this process.
const FAREWELL: Duration = Duration::from_secs(8);

/// Time after the end of a process in which the rest of its output arrives. A child of the server may keep the pipe open.
const REST: Duration = Duration::from_secs(1);

/// Maximum number of lines that are read from the client, and of events of the servers, while the client reads no answer.
const AHEAD: usize = 1000;

/// Event outside of the conversation.
enum ServerEvent {
    Build(BuildStep),
    /// The sources cannot be watched.
    Unwatched(DevError),
    Said(ServerNumber, Message),
    Ended(ServerNumber, String),
    /// The calls of a retired server have had their time.
    Overdue(ServerNumber),
    /// A server that starts has had its time.
    Late(ServerNumber),
}

/// Serves the client until it closes `input`, or until this process is asked to end.
///
/// # Errors
/// Fails if the program cannot be started, if the sources cannot be watched, or if `input` cannot be read.
pub async fn serve_stdio(
    project: Project,
    launch: Launch,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> Result<(), DevError> {
    let (sender, mut events) = mpsc::channel(AHEAD);
    tokio::spawn(watch(project.clone(), sender.clone()));
    let mut servers = PipedServers::new(&project, launch, sender);
    let mut conversation = Conversation::default();
    servers.start(&mut conversation, project.program())?;
    let mut client = PipedClient::new(input, output, process::asked_to_end());
    loop {
        let lines = servers.carry_out_all(&mut conversation);
        if !lines.is_empty() && !client.write(&lines).await? {
            return Ok(());
        }
        if let Some(line) = client.ahead.pop_front() {
            servers.read_client(&mut conversation, &line);
            continue;
        }
        if client.leaving.is_some() && !conversation.is_waiting() {
            servers.close_all();
            if servers.running.is_empty() {
                return Ok(());
            }
        }
        tokio::select! {
            line = client.lines.next_segment(), if client.leaving.is_none() => match line? {
                Some(line) => servers.read_client(&mut conversation, &line),
                None => client.leave(),
            },
            () = &mut client.stop, if !client.is_stopped => client.stop(),
            () = passed(client.leaving) => {
                if !conversation.is_waiting() {
                    return Ok(());
                }
                conversation.give_up_waiting();
                client.leaving = Some(Instant::now() + REST);
            }
            Some(event) = events.recv() => match event {
                ServerEvent::Unwatched(error) => return Err(error),
                // The client has left and waits for nothing, so no further server starts.
                ServerEvent::Build(_) if client.leaving.is_some() && !conversation.is_waiting() => {}
                event => servers.handle(&mut conversation, event)?,
            },
        }
    }
}

/// Pipes of the client.
struct PipedClient<I, O> {
    lines: Split<BufReader<I>>,
    output: O,
    /// Lines that the client has sent while an answer waits for its reader.
    ahead: VecDeque<Vec<u8>>,
    /// Completes when this process is asked to end.
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_stopped: bool,
    /// Time at which `dev` ends, after the client has closed its side, or after this process was asked to end.
    leaving: Option<Instant>,
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> PipedClient<I, O> {
    fn new(input: I, output: O, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        let (lines, stop) = (BufReader::new(input).split(b'\n'), Box::pin(stop));
        Self { lines, output, ahead: VecDeque::new(), stop, is_stopped: false, leaving: None }
    }

    /// Notes that the client has closed its side.
    fn leave(&mut self) {
        self.leaving = Some(Instant::now() + FAREWELL);
    }

    /// Notes that this process was asked to end.
    fn stop(&mut self) {
        self.is_stopped = true;
        // A client that has closed its side, and asks again, waits no longer.
        let rest = if self.leaving.is_some() { Duration::ZERO } else { FAREWELL };
        self.leaving = Some(Instant::now() + rest);
    }

    /// Writes lines. Returns whether the client has read them in time. Its input is read on meanwhile, because its end may follow.
    ///
    /// # Errors
    /// Fails if the input cannot be read.
    async fn write(&mut self, lines: &str) -> io::Result<bool> {
        let mut rest = lines.as_bytes();
        loop {
            // A client that does not read its answers does not keep `dev` from ending.
            tokio::select! {
                biased;
                written = write_rest(&mut self.output, &mut rest) => {
                    // Like any server, `dev` ends when the client has stopped reading.
                    return Ok(written.is_ok());
                }
                () = &mut self.stop, if !self.is_stopped => self.stop(),
                () = passed(self.leaving) => return Ok(false),
                line = self.lines.next_segment(), if self.leaving.is_none() && self.ahead.len() < AHEAD => {
                    match line? {
                        Some(line) => self.ahead.push_back(line),
                        None => self.leave(),
                    }
                }
            }
        }
    }
}

/// Writes the rest of the lines. If this future is dropped, `rest` contains what it has not written.
async fn write_rest(output: &mut (impl AsyncWrite + Unpin), rest: &mut &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        match output.write(rest).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => *rest = &rest[count..],
        }
    }
    output.flush().await
}

/// Waits until a time, or without end if there is none.
async fn passed(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

async fn watch(project: Project, events: Sender<ServerEvent>) {
    let (sender, mut steps) = mpsc::unbounded_channel();
    let passed_on = events.clone();
    let pass_on = async {
        while let Some(step) = steps.recv().await {
            let _ = passed_on.send(ServerEvent::Build(step)).await;
        }
    };
    let (watched, ()) = tokio::join!(build_after_changes(project, sender), pass_on);
    if let Err(error) = watched {
        let _ = events.send(ServerEvent::Unwatched(error)).await;
    }
}

/// Server that runs.
struct PipedServer {
    /// Channel to the stdin, and `None` if it is closed.
    lines: Option<UnboundedSender<String>>,
    copy: Arc<ProgramCopy>,
    /// Dropped when the stdin is closed. The server then has a limited time to end, even if it reads nothing.
    closing: Option<oneshot::Sender<Infallible>>,
}

impl PipedServer {
    fn close(&mut self) {
        (self.lines, self.closing) = (None, None);
    }
}

/// Servers that run, each with the channel to its stdin.
struct PipedServers {
    launch: Launch,
    copies: Copies,
    events: Sender<ServerEvent>,
    running: HashMap<ServerNumber, PipedServer>,
    last: ServerNumber,
    /// State of the program of the last server.
    stamp: ProgramStamp,
    /// Program of the last server that has answered.
    good: Option<Arc<ProgramCopy>>,
    attempt: StartAttempt,
    /// Server that was not ready in time, and is ending.
    late: Option<ServerNumber>,
    /// Whether all servers are ending, so that no other one starts.
    is_closed: bool,
}

/// Attempts to start a program.
enum StartAttempt {
    /// The new server starts beside the last server.
    First,
    /// The new server still starts, and the last server ends meanwhile, because the new one may wait for its lock.
    Slow,
    /// The new server starts as soon as the last server has ended, because both may need the same lock or port.
    Held(Arc<ProgramCopy>),
    Alone,
    /// The program of the last server that has answered starts again.
    LastGood,
}

impl PipedServers {
    fn new(project: &Project, launch: Launch, events: Sender<ServerEvent>) -> Self {
        let copies = Copies::new(&project.copies());
        Self {
            launch,
            copies,
            events,
            running: HashMap::new(),
            last: 0,
            stamp: None,
            good: None,
            attempt: StartAttempt::First,
            late: None,
            is_closed: false,
        }
    }

    /// Starts a server from a program that cargo has built.
    fn start(&mut self, conversation: &mut Conversation, program: &Path) -> io::Result<()> {
        let (copy, stamp) = self.copies.make(program)?;
        let current = conversation.current().and_then(|current| self.running.get(&current));
        self.good = current.map(|server| server.copy.clone()).or(self.good.take());
        self.stamp = stamp;
        self.attempt =
            if self.running.is_empty() { StartAttempt::Alone } else { StartAttempt::First };
        let number = self.run(copy)?;
        conversation.start(number);
        Ok(())
    }

    /// Starts a copy of a program.
    fn run(&mut self, copy: Arc<ProgramCopy>) -> io::Result<ServerNumber> {
        let mut server = process::start(copy.path(), &self.launch, true)?;
        self.last += 1;
        let number = self.last;
        let (lines, received) = mpsc::unbounded_channel();
        let (stdin, stdout) = (server.stdin.take(), server.stdout.take());
        let words = LastWords::default();
        let listening = tokio::spawn(words.clone().listen(server.stderr.take()));
        let reading = tokio::spawn(read(stdout, number, self.events.clone()));
        let writing = tokio::spawn(write(stdin, received));
        let (closing, closed) = oneshot::channel::<Infallible>();
        let events = self.events.clone();
        tokio::spawn(async move {
            // The writer ends early if the server has closed its stdin.
            let stopping = async {
                tokio::select! {
                    _ = closed => {}
                    _ = writing => {}
                }
            };
            let status = process::ended(&mut server, stopping).await;
            let _ = timeout(REST, async { tokio::join!(reading, listening) }).await;
            let _ = events.send(ServerEvent::Ended(number, words.report(status))).await;
        });
        let is_beside = !self.running.is_empty();
        self.running
            .insert(number, PipedServer { lines: Some(lines), copy, closing: Some(closing) });
        self.expect_answer(number, if is_beside { BESIDE } else { ALONE });
        Ok(number)
    }

    /// Reports a server as late after this time.
    fn expect_answer(&self, server: ServerNumber, within: Duration) {
        let events = self.events.clone();
        tokio::spawn(async move {
            sleep(within).await;
            let _ = events.send(ServerEvent::Late(server)).await;
        });
    }

    /// Makes room for a server that is not ready in time. If it has been alone, another program starts instead.
    fn late(&mut self, conversation: &mut Conversation, server: ServerNumber) {
        if !conversation.is_starting(server) {
            return;
        }
        match self.attempt {
            StartAttempt::First => {
                // The last server may have ended by itself.
                if self.running.len() > 1 {
                    say(builds::LAST_ENDS);
                }
                self.attempt = StartAttempt::Slow;
                conversation.make_room();
                self.expect_answer(server, ALONE);
            }
            // Without a program that has answered before, no attempt would follow.
            _ if self.good.is_none() => {}
            _ => {
                self.late = Some(server);
                self.running.get_mut(&server).into_iter().for_each(PipedServer::close);
            }
        }
    }

    /// Notes that a server has ended. If it could not start, its program starts once more, or the last program starts again.
    fn ended(&mut self, conversation: &mut Conversation, server: ServerNumber, report: String) {
        let copy = self.running.remove(&server).map(|server| server.copy);
        let is_late = self.late.take_if(|late| *late == server).is_some();
        let report = if is_late { format!("{}\n\n{report}", builds::NEVER_READY) } else { report };
        if self.is_closed {
            return conversation.ended(server, &report);
        }
        if !conversation.is_starting(server) {
            if conversation.current() == Some(server) {
                self.good = copy;
            }
            conversation.ended(server, &report);
            let StartAttempt::Held(copy) = &self.attempt else { return };
            if self.running.is_empty() {
                let copy = copy.clone();
                self.attempt = StartAttempt::Alone;
                self.start_again(conversation, copy, None);
            }
            return;
        }
        match (&self.attempt, copy, self.good.clone()) {
            (StartAttempt::First, Some(copy), _) if !self.running.is_empty() => {
                self.attempt = StartAttempt::Held(copy);
                conversation.hold();
            }
            // The server may have given up while the last one still ran.
            (StartAttempt::Slow, Some(copy), _) if !is_late => {
                self.attempt = StartAttempt::Held(copy.clone());
                conversation.hold();
                if self.running.is_empty() {
                    self.attempt = StartAttempt::Alone;
                    self.start_again(conversation, copy, None);
                }
            }
            (StartAttempt::First | StartAttempt::Slow | StartAttempt::Alone, _, Some(good)) => {
                conversation.hold();
                self.attempt = StartAttempt::LastGood;
                // The program that could not start has to start again even if the next build does not change it.
                self.stamp = None;
                self.start_again(conversation, good, Some(report));
            }
            _ => conversation.ended(server, &report),
        }
    }

    fn start_again(
        &mut self,
        conversation: &mut Conversation,
        copy: Arc<ProgramCopy>,
        broken: Option<String>,
    ) {
        match self.run(copy) {
            Ok(number) => conversation.start_again(number, broken),
            Err(error) => {
                conversation.cannot_start(format!("the server cannot be started: {error}"))
            }
        }
    }

    fn read_client(&self, conversation: &mut Conversation, line: &[u8]) {
        match Message::read(line) {
            Some(message) if message.is_message() => conversation.client_sent(&message),
            None if line.trim_ascii().is_empty() => {}
            // A server answers a line that is no message.
            other => {
                let server = conversation.current().unwrap_or(self.last);
                let open = self.running.get(&server).and_then(|server| server.lines.as_ref());
                let Some(lines) = open else { return };
                other.iter().for_each(|line| conversation.sent_as_it_is(server, line));
                let _ = lines.send(String::from_utf8_lossy(line).into_owned());
            }
        }
    }

    fn handle(
        &mut self,
        conversation: &mut Conversation,
        event: ServerEvent,
    ) -> Result<(), DevError> {
        match event {
            ServerEvent::Build(BuildStep::Changed) => conversation.changed(),
            ServerEvent::Build(BuildStep::Fresh) => conversation.fresh(),
            ServerEvent::Build(BuildStep::Failed(text)) => conversation.build_failed(text),
            ServerEvent::Build(BuildStep::Built(program)) => {
                let is_running = self.running.contains_key(&self.last);
                if is_running && self.stamp == copies::stamp(&program) {
                    conversation.nothing_new();
                } else if let Err(error) = self.start(conversation, &program) {
                    let text = format!("{} cannot be started: {error}", program.display());
                    conversation.build_failed(text);
                }
            }
            ServerEvent::Said(server, message) => conversation.server_sent(server, &message),
            ServerEvent::Overdue(server) => conversation.give_up(server),
            ServerEvent::Late(server) => self.late(conversation, server),
            ServerEvent::Ended(server, report) => {
                self.ended(conversation, server, report);
            }
            ServerEvent::Unwatched(error) => return Err(error),
        }
        Ok(())
    }

    /// Carries out all steps. Returns the lines for the client.
    fn carry_out_all(&mut self, conversation: &mut Conversation) -> String {
        let mut lines = String::new();
        for step in conversation.steps() {
            if let Some(message) = self.carry_out(step) {
                lines += &format!("{message}\n");
            }
        }
        lines
    }

    /// Carries out a step. Returns a message for the client.
    fn carry_out(&mut self, step: Step) -> Option<Message> {
        match step {
            Step::ToClient(message) => return Some(message),
            Step::ToServer(server, message) => {
                let lines = self.running.get(&server).and_then(|server| server.lines.as_ref());
                // A server that has ended is reported by its event.
                let _ = lines.map(|lines| lines.send(message.to_string()));
            }
            Step::Retire(server) => {
                let events = self.events.clone();
                tokio::spawn(async move {
                    sleep(PATIENCE).await;
                    let _ = events.send(ServerEvent::Overdue(server)).await;
                });
            }
            Step::Close(server) => {
                self.running.get_mut(&server).into_iter().for_each(PipedServer::close);
            }
        }
        None
    }

    fn close_all(&mut self) {
        self.is_closed = true;
        self.running.values_mut().for_each(PipedServer::close);
    }
}

async fn write(stdin: Option<ChildStdin>, mut lines: UnboundedReceiver<String>) {
    let Some(mut stdin) = stdin else { return };
    while let Some(line) = lines.recv().await {
        if stdin.write_all(format!("{line}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stdout: Option<ChildStdout>, number: ServerNumber, events: Sender<ServerEvent>) {
    let Some(stdout) = stdout else { return };
    read_lines(stdout, number, events).await;
}

/// Reads the messages of a server. A line that is no message is shown to the user.
async fn read_lines(
    stdout: impl AsyncRead + Unpin,
    number: ServerNumber,
    events: Sender<ServerEvent>,
) {
    let mut lines = BufReader::new(stdout).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        match Message::read(&line) {
            Some(message) => drop(events.send(ServerEvent::Said(number, message)).await),
            None => {
                let line = String::from_utf8_lossy(&line);
                say(&format!("the server has written this to stdout: {line}"));
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
