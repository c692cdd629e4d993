//! The commands `record`, which writes a session with this server to a file, and `replay`, which plays such a file against this build.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use mcp_runtime_wire::BYTE_ORDER_MARK;
use mcp_runtime_workbench::{REMOVED, Redaction, Removals, Sender, Transcript, recorded};
use serde_json::json;

use super::{
    command::{Command as OwnCommand, CommandWords, apart},
    exit::{CommandError, CommandOutput},
    option::CommandOption,
    screen::say,
    settings::{EntryOptions, EntryVariable, misplaced},
    trial::as_json,
};
use crate::{
    builder::Builder,
    call::context::States,
    testing::{replay, replayed_log::LogComparison},
};

pub(super) const SHOW_REMOVED: CommandOption = CommandOption::flag(
    "--show-removed",
    "prints which secrets were removed, after the session and without their texts",
);

/// End of the first line of each file. It stands behind the name of the server, so that the numbers of the other lines are those of the messages.
const WARNING: &str = "Secrets of known forms are removed. This recording can still contain secrets that no rule knows, and private data: read it before you pass it on.";

/// Serves a client over stdio by a process of its own, and writes both sides of the session to a file. `commands` are all of the command line.
pub(super) fn record(
    commands: &[OwnCommand],
    builder: Builder,
    given: CommandWords,
) -> Result<(), CommandError> {
    let path = given.words.first().cloned().unwrap_or_default();
    // `record` knows only values before the command, so it could not remove a secret behind `--` from the recording.
    let own = builder.declared_config().options();
    if let Some(problem) = misplaced(&*own, &given.rest, "record") {
        return Err(CommandError::usage(problem));
    }
    if let Some(problem) = not_over_stdio(commands, &given.rest) {
        return Err(CommandError::usage(problem));
    }
    let options = EntryOptions::of(&builder)?;
    // A server that cannot start would leave a file without a session.
    builder.needed_config().read(&mut States::default()).map_err(CommandError::failure)?;
    let (file, path) = create(&path)?;
    let recording = Arc::new(Recording {
        file: Mutex::new(RecordingFile { file, lines: 0, removals: Removals::default() }),
        redaction: Redaction::new(secrets(&options.variables)),
    });
    let (name, version) = (&builder.identity.name, &builder.identity.version);
    let comment = json!({ "#": format!("{name} {version}. {WARNING}") });
    recording.file().write(&format!("{comment}\n"));
    drop(builder);
    let mut server = start(options, given.rest).map_err(CommandError::failure)?;
    say(format_args!(
        "note: the session is recorded in {}; secrets are removed as far as they are known\n",
        path.display()
    ));
    recording.clone().pass_all(&mut server);
    if given.options.has(&SHOW_REMOVED) {
        say(format_args!("{}", recording.file().removals));
    }
    let status = server.wait().map_err(CommandError::failure)?;
    match status.success() {
        true => Ok(()),
        false => Err(CommandError::failure(format_args!("the server has ended: {status}"))),
    }
}

/// Returns the problem with the arguments of a server that does not serve stdio.
fn not_over_stdio(commands: &[OwnCommand], words: &[String]) -> Option<String> {
    // `dev` serves stdio too, and `record` starts a server that does.
    let serves = ["dev", "record"];
    let first = words.first().filter(|word| !serves.contains(&word.as_str()));
    if let Some(word) = first.filter(|word| commands.iter().any(|known| known.name == **word)) {
        return Some(format!(
            "`record` starts a server that serves stdio, and `{word}` is a command: leave it out"
        ));
    }
    // Words after a second `--` belong to the author's program.
    let mut of_server = words.iter().take_while(|word| *word != "--");
    let is_http = |word: &String| word == "--http" || word.starts_with("--http=");
    of_server.any(is_http).then(|| {
        "`record` records a session over stdio: leave `--http` out, or copy the session as a transcript in the playground"
            .to_owned()
    })
}

/// Number of sessions that may be recorded under the same name.
const MOST_FILES: u32 = 999;

/// Creates a file that only its owner can read, because a session may contain private data. A client may start its server many times. So an
/// existing file is kept, and the new file gets a number behind its name. Returns the path of the new file too.
fn create(path: &str) -> Result<(File, PathBuf), CommandError> {
    if Path::new(path).is_dir() {
        let example = Path::new(path).join("session.jsonl");
        return Err(CommandError::failure(format_args!(
            "{path} is a directory: name a file, as in `record {}`",
            example.display()
        )));
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for number in 1..=MOST_FILES {
        let path = numbered(Path::new(path), number);
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => {
                return Err(CommandError::failure(format_args!(
                    "{} cannot be created: {why}",
                    path.display()
                )));
            }
        }
    }
    Err(CommandError::failure(format_args!(
        "{MOST_FILES} files exist already, from {path} on: remove them, or name another file"
    )))
}

/// Returns the path with a number behind the name, as in `bug-2.jsonl`. The first file has no number.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Returns the texts of all secrets. The variable of a list has several, with commas between them.
fn secrets(variables: &[EntryVariable]) -> Vec<String> {
    let secrets = variables.iter().filter(|variable| variable.is_secret);
    let texts = secrets.filter_map(|variable| variable.text.as_deref());
    let all = texts.flat_map(|text| text.split(',').map(str::trim).chain([text]));
    all.map(str::to_owned).collect()
}

/// Starts this program as a server on stdio, with the same settings.
fn start(options: EntryOptions, words: Vec<String>) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(options.args).args(words);
    for EntryVariable { name, text, .. } in options.variables {
        command.envs(text.map(|text| (name, text)));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

struct Recording {
    file: Mutex<RecordingFile>,
    redaction: Redaction,
}

struct RecordingFile {
    file: File,
    /// Number of lines that the file has.
    lines: usize,
    removals: Removals,
}

impl RecordingFile {
    /// Writes a line.
    fn write(&mut self, line: &str) {
        self.lines += 1;
        // The session is more important than its recording.
        if let Err(why) = self.file.write_all(line.as_bytes()) {
            say(format_args!("warning: the session cannot be recorded: {why}\n"));
        }
    }
}

impl Recording {
    fn file(&self) -> MutexGuard<'_, RecordingFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, sender: Sender, message: &[u8]) {
        let (line, removals) = recorded(sender, message, &self.redaction);
        let mut file = self.file();
        file.write(&line);
        let number = file.lines;
        file.removals.add(sender, number, removals);
    }

    /// Passes all messages between the client and the server on, until the server closes its side. The file has a message before its
    /// receiver has it, so the order in the file is that of the session.
    fn pass_all(self: Arc<Self>, server: &mut Child) {
        if let Some(input) = server.stdin.take() {
            let recording = self.clone();
            // The thread ends with the process, because the client may keep its side open after the server has ended.
            thread::spawn(move || recording.pass(Sender::Client, io::stdin(), input));
        }
        if let Some(output) = server.stdout.take() {
            self.pass(Sender::Server, output, io::stdout());
        }
    }

    /// Passes lines on until one side is closed. Then drops `to`, so that its reader sees the end.
    fn pass(&self, sender: Sender, from: impl Read, mut to: impl Write) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while let Ok(1..) = from.read_until(b'\n', &mut line) {
            let message = line.trim_ascii_end();
            let message = message.strip_prefix(BYTE_ORDER_MARK).unwrap_or(message);
            if !message.is_empty() {
                self.message(sender, message);
            }
            if to.write_all(&line).and_then(|()| to.flush()).is_err() {
                break;
            }
            line.clear();
        }
    }
}

/// Plays a recorded session against this server, and prints the differences.
pub(super) fn replay(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(move |_| Box::pin(replayed(builder, given))))
}

async fn replayed(builder: Builder, given: CommandWords) -> Result<CommandOutput, CommandError> {
    let path = given.words.first().map(String::as_str).unwrap_or_default();
    let transcript = replay::read(Path::new(path)).map_err(CommandError::failure)?;
    let differences = replay::replay(builder, &transcript, LogComparison::Full)
        .await
        .map_err(CommandError::failure)?;
    let aside = removed(&transcript);
    let count = transcript.lines.len();
    let messages = if count == 1 { "message" } else { "messages" };
    let text = |text: String| match given.json {
        true => as_json(&json!({ "messages": count, "differences": differences })),
        false => given.screen.differences(text),
    };
    if differences.is_empty() {
        let text = text(format!("the server answers as recorded ({count} {messages})\n"));
        return Ok(CommandOutput { aside, ..text.into() });
    }
    let word = if differences.len() == 1 { "difference" } else { "differences" };
    let end = Err(CommandError::failure(format_args!(
        "{} {word} in {count} {messages}",
        differences.len()
    )));
    let text = text(differences.join("\n") + "\n");
    Ok(CommandOutput { text, aside, end })
}

/// Returns the note about messages of the client that lack a secret.
fn removed(transcript: &Transcript) -> String {
    let lines = transcript.lines.iter().filter(|line| line.sender == Sender::Client);
    let lines = lines.filter(|line| line.message.to_string().contains(REMOVED));
    let numbers: Vec<String> = lines.map(|line| line.number.to_string()).collect();
    match &numbers[..] {
        [] => String::new(),
        numbers => format!(
            "note: the client sends `{REMOVED}` in place of a secret in line {}: write a value for the test into the file\n",
            numbers.join(", ")
        ),
    }
}
