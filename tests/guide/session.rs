//! Shell session of a reader who follows a page.

use std::{
    env, fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use support::{
    process::{SHARED_BUILD, remove_builds},
    server::target,
};

use crate::page::{Block, Page, Step, is_program};

/// Maximum time that a server in the background takes until it listens. `cargo run` waits while another test builds in the same target
/// folder.
const PATIENCE: Duration = Duration::from_secs(600);

/// Path of the program in the crate.
const PROGRAM: &str = "src/main.rs";

/// Folder of a new crate in which the commands of a page run, and the servers that they started.
pub(crate) struct Session {
    folder: PathBuf,
    /// Whether the page shows the output of its commands. Otherwise the commands have to succeed.
    judges_output: bool,
    servers: Vec<Child>,
}

impl Drop for Session {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Session {
    /// Creates the crate `mine` in a folder for this page, with the manifest that `cargo new mine` writes. The page shows the output of its
    /// commands.
    pub(crate) fn start(page: &str) -> Self {
        Self::with_crate(page, "mine", true)
    }

    /// Creates the crate `name` in a folder for this page.
    pub(crate) fn with_crate(page: &str, name: &str, judges_output: bool) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(page).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).expect("the folder for tests can be written");
        // cargo would take the build of a crate with the same name for the build of this crate: it looks for the changes of a crate below its
        // target folder in the folder where that crate was built.
        remove_builds(&target(), &[name.to_owned()]);
        let session = Self { folder, judges_output, servers: Vec::new() };
        // Not written by `cargo new`, which would make the crate a member of the workspace that it is in.
        session.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\n[workspace]\n"
            ),
        );
        session.write(PROGRAM, "fn main() {}\n");
        let locked = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
        // The same versions as in the workspace, because the registry may be out of reach.
        fs::copy(locked, session.folder.join("Cargo.lock")).expect("the workspace is locked");
        session
    }

    /// Writes the files of a page and runs its commands in their order. Returns the number of commands.
    ///
    /// # Errors
    /// Fails if the output of a command is not the output that the page shows.
    pub(crate) fn follow(&mut self, page: &Page) -> Result<usize, String> {
        let mut count = 0;
        for block in &page.blocks {
            self.save(block);
            for step in block.steps() {
                self.step(step)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Writes the file that a block shows, if the block shows a whole file.
    pub(crate) fn save(&self, block: &Block) {
        match block {
            Block::Rust(code) => {
                if let Some((path, code)) = named_file(code) {
                    self.write(path, code);
                } else if is_program(code) {
                    self.write(PROGRAM, code);
                }
            }
            Block::File { path, text } => self.write(path, text),
            Block::Console(_) => {}
        }
    }

    /// Writes a file of the crate.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("the folder for tests can be written");
    }

    /// Runs a command and compares its output.
    ///
    /// # Errors
    /// Fails if the output of the command is not the output that the page shows.
    pub(crate) fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Some(command) = step.command.strip_suffix(" &") {
            return self.serve(command).map(drop);
        }
        let command = from_this_checkout(&step.command);
        let output = match &step.without {
            Some(call) => self.run_without(call, &command)?,
            None => self.run(&command)?,
        };
        // The progress of cargo differs from machine to machine, so pages do not show it.
        if command.starts_with("cargo add") || same(&step.output, &output) {
            return Ok(());
        }
        Err(format!(
            "`{}` prints\n{output}\nbut the page shows\n{}",
            step.command,
            step.output.join("\n")
        ))
    }

    /// Returns the path of a file of the crate.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Returns the path of a program that a command of the session has built.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        target().join("debug").join(name)
    }

    /// Runs a command and returns what it prints to stdout and stderr.
    ///
    /// # Errors
    /// Fails if the command fails, unless the page shows the output of its commands.
    pub(crate) fn run(&self, command: &str) -> Result<String, String> {
        let output = self
            .shell(&format!("({command}) 2>&1"))
            .output()
            .map_err(|error| format!("`{command}` cannot be run: {error}"))?;
        let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
        // The guide also shows commands that fail. So the output of a command decides, and the exit code only for commands whose output the
        // guide does not show.
        let is_judged_by_output = self.judges_output && !command.starts_with("cargo add");
        if !is_judged_by_output && !output.status.success() {
            return Err(format!("`{command}` fails:\n{text}"));
        }
        Ok(text)
    }

    /// Runs a command while the program lacks the call of the method that begins with `call`.
    fn run_without(&self, call: &str, command: &str) -> Result<String, String> {
        let path = self.folder.join(PROGRAM);
        let program = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let less = remove_call(&program, call).ok_or(format!("the program has no `{call}`"))?;
        self.write(PROGRAM, &less);
        let output = self.run(command);
        self.write(PROGRAM, &program);
        output
    }

    /// Starts a server and waits until it says that it listens. Returns its URL.
    pub(crate) fn serve(&mut self, command: &str) -> Result<String, String> {
        if let Some(arguments) = command.strip_prefix("cargo run") {
            // Compiling takes longer than the patience on a busy machine.
            let options = arguments.split(" -- ").next().unwrap_or_default();
            self.run(&format!("cargo build{options}"))?;
        }
        let mut server = self
            .shell(&format!("exec {command} 2>&1"))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{command}` cannot be run: {error}"))?;
        let mut output = server.stdout.take().expect("stdout is a pipe");
        self.servers.push(server);
        let (sender, receiver) = mpsc::channel();
        let mut printed = String::new();
        thread::spawn(move || {
            let mut text = Vec::new();
            let mut piece = [0; 1024];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                text.extend_from_slice(&piece[..length]);
                // The pipe is read until its end, because a server whose stderr is closed cannot write log messages. After the server
                // listens, no receiver is left.
                let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
            }
        });
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(text) => match url(&text) {
                    Some(url) => return Ok(url.to_owned()),
                    None => printed = text,
                },
                Err(_) => {
                    return Err(format!("`{command}` does not listen; it printed\n{printed}"));
                }
            }
        }
    }

    fn shell(&self, command: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(&self.folder).stdin(Stdio::null());
        // cargo sets these variables for the package of this test.
        for (name, _) in env::vars_os() {
            let is_of_package = |variable: &str| {
                variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
            };
            if name.to_str().is_some_and(is_of_package) {
                shell.env_remove(name);
            }
        }
        shell.env("CARGO_TARGET_DIR", target()).env("CARGO_TERM_QUIET", "true");
        // The programs of all pages together would take several gigabytes with incremental state.
        shell.envs(SHARED_BUILD).env("CARGO_INCREMENTAL", "0");
        shell
    }
}

/// Returns the first URL of a text. A URL at the end of the text may be incomplete.
fn url(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("http://")?;
    let length = rest.find(char::is_whitespace)?;
    let start = text.len() - rest.len() - "http://".len();
    Some(&text[start..text.len() - rest.len() + length])
}

/// Returns the code without the method call that begins with `call`, such as `.state(`.
fn remove_call(code: &str, call: &str) -> Option<String> {
    let (before, rest) = code.split_once(call)?;
    let mut open = 1;
    let (end, _) = rest.char_indices().find(|(_, char)| {
        match char {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        open == 0
    })?;
    Some(format!("{before}{}", &rest[end + 1..]))
}

/// Returns the path in the first line of Rust code, and the code below it.
pub(crate) fn named_file(code: &str) -> Option<(&str, &str)> {
    let (first, rest) = code.split_once('\n')?;
    let path = first.strip_prefix("// ")?;
    (path.ends_with(".rs") && !path.contains(' ')).then_some((path, rest))
}

/// Replaces the published crates in a `cargo add` command by those of this checkout.
pub(crate) fn from_this_checkout(command: &str) -> String {
    let Some(arguments) = command.strip_prefix("cargo add ") else { return command.to_owned() };
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let root = format!("{checkout}/mcp-runtime");
    let has_path = arguments.contains(" --path ");
    let arguments: Vec<String> = arguments
        .split(' ')
        .map(|argument| match argument {
            "mcp-runtime" if !has_path => format!("mcp-runtime --path {root}"),
            "mcp-runtime-authorization-server" => {
                format!(
                    "mcp-runtime-authorization-server --path {root}/crates/authorization-server"
                )
            }
            "mcp-runtime-redis" => format!("mcp-runtime-redis --path {root}/crates/redis"),
            // Path of a crate in the reader's clone of the repository.
            other => other.replace("/path/to/clone", checkout),
        })
        .collect();
    format!("cargo add --quiet {}", arguments.join(" "))
}

/// Whether the output is the one that the page shows. A line `…` stands for any number of lines. Inside a line, `…` at its end or at its
/// beginning stands for any text.
fn same(shown: &[String], output: &str) -> bool {
    let lines: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
    let mut rest = lines.as_slice();
    let mut skips = false;
    for line in shown {
        if line == "…" {
            skips = true;
            continue;
        }
        let matches = |actual: &&str| match (line.strip_suffix('…'), line.strip_prefix('…')) {
            (Some(start), _) => actual.starts_with(start),
            (None, Some(end)) => actual.ends_with(end),
            (None, None) => *actual == line.trim_end(),
        };
        let found = if skips { rest.iter().position(&matches) } else { Some(0) };
        match found.and_then(|at| Some((at, rest.get(at)?))) {
            Some((at, actual)) if matches(actual) => rest = &rest[at + 1..],
            _ => return false,
        }
        skips = false;
    }
    rest.is_empty() || skips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[support::test]
    fn an_output_is_compared_line_by_line() {
        let shown =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert!(same(&shown(&["a", "b"]), "a\nb\n"));
        assert!(!same(&shown(&["a"]), "a\nb\n"));
        assert!(!same(&shown(&["a", "b"]), "a\n"));
        assert!(same(&shown(&["…", "b"]), "x\ny\nb\n"));
        assert!(!same(&shown(&["…", "c"]), "x\ny\nb\n"));
        assert!(same(&shown(&["a", "…"]), "a\nb\nc\n"));
        assert!(same(&shown(&["pid …"]), "pid 4711\n"));
        assert!(same(&shown(&["…  INFO begin"]), "12:00  INFO begin\n"));
        assert!(!same(&shown(&["…  INFO begin"]), "12:00  INFO end\n"));
        assert!(!same(&shown(&[]), "an error\n"));
    }

    #[support::test]
    fn a_call_is_removed_with_its_arguments() {
        let removed = remove_call("server!().setup(async || Db::open()).run()", ".setup(");
        assert_eq!(removed.as_deref(), Some("server!().run()"));
        assert_eq!(remove_call("server!().run()", ".setup("), None);
    }
}
