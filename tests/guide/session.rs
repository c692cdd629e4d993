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

use crate::page::{Block, Page, Step, is_program};

/// Maximum time that a server in the background takes until it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// Folder of a new crate in which the commands of a page run, and the servers that they started.
pub(crate) struct Session {
    folder: PathBuf,
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
    /// Creates the crate `mine` in a folder for this page, with the manifest that `cargo new mine` writes.
    pub(crate) fn start(page: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(page).join("mine");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).expect("the folder for tests can be written");
        // Not written by `cargo new`, which would make the crate a member of the workspace that it is in.
        let manifest = "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\n[workspace]\n";
        fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
        fs::write(folder.join("src/main.rs"), "fn main() {}\n")
            .expect("the program can be written");
        let session = Self { folder, servers: Vec::new() };
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
            match block {
                Block::Rust(code) if is_program(code) => self.write("src/main.rs", code),
                Block::Rust(code) => {
                    if let Some((path, code)) = named_file(code) {
                        self.write(path, code);
                    }
                }
                Block::File { path, text } => self.write(path, text),
                Block::Console(steps) => {
                    for step in steps {
                        self.step(step)?;
                        count += 1;
                    }
                }
            }
        }
        Ok(count)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("the folder for tests can be written");
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Some(command) = step.command.strip_suffix(" &") {
            return self.serve(command);
        }
        let command = from_this_checkout(&step.command);
        let output = self.run(&command)?;
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

    /// Runs a command and returns what it prints to stdout and stderr.
    fn run(&self, command: &str) -> Result<String, String> {
        let output = self
            .shell(&format!("({command}) 2>&1"))
            .output()
            .map_err(|error| format!("`{command}` cannot be run: {error}"))?;
        let text = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
        // Pages show commands that fail, too, so the exit code is judged by cargo's own commands only.
        if command.starts_with("cargo add") && !output.status.success() {
            return Err(format!("`{command}` fails:\n{text}"));
        }
        Ok(text)
    }

    /// Starts a server and waits until it says that it listens.
    fn serve(&mut self, command: &str) -> Result<(), String> {
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
                Ok(text) if text.contains("http://") => return Ok(()),
                Ok(text) => printed = text,
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
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../guide");
        shell.env("CARGO_TARGET_DIR", target).env("CARGO_TERM_QUIET", "true");
        shell
    }
}

/// Returns the path in the first line of Rust code, and the code below it.
fn named_file(code: &str) -> Option<(&str, &str)> {
    let (first, rest) = code.split_once('\n')?;
    let path = first.strip_prefix("// ")?;
    (path.ends_with(".rs") && !path.contains(' ')).then_some((path, rest))
}

/// Replaces the published crates in a `cargo add` command by those of this checkout.
fn from_this_checkout(command: &str) -> String {
    let Some(arguments) = command.strip_prefix("cargo add ") else { return command.to_owned() };
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp-runtime");
    let arguments: Vec<String> = arguments
        .split(' ')
        .map(|argument| match argument {
            "mcp-runtime" => format!("mcp-runtime --path {root}"),
            "mcp-runtime-authorization-server" => {
                format!(
                    "mcp-runtime-authorization-server --path {root}/crates/authorization-server"
                )
            }
            other => other.to_owned(),
        })
        .collect();
    format!("cargo add --quiet {}", arguments.join(" "))
}

/// Whether the output is the one that the page shows. A line `…` stands for any number of lines, and `…` at the end of a line for the rest
/// of it. Programs are at `target/debug/` for the reader.
fn same(shown: &[String], output: &str) -> bool {
    let lines: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
    let mut rest = lines.as_slice();
    let mut skips = false;
    for line in shown {
        if line == "…" {
            skips = true;
            continue;
        }
        let matches = |actual: &&str| match line.strip_suffix('…') {
            Some(start) => actual.starts_with(start),
            None => *actual == line.trim_end(),
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

    #[test]
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
        assert!(!same(&shown(&[]), "an error\n"));
    }
}
