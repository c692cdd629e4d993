//! Serves the files of some directories and no other files: `cargo run -p example-files -- --root ~/notes --root ~/project`.
//!
//! The variable `FILES_ROOT` may name the directories instead, with commas between them. Without both, the only root is the working
//! directory. A path begins with the name of its root: `notes/2026/may.md`. The operating system opens every path relative to its root.
//! Therefore neither `..` nor a symbolic link leads out of a root, even if the link changes between two steps.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::PathBuf,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use fast_glob::glob_match;
use mcp_runtime::prelude::*;
use similar::TextDiff;

/// Maximum number of bytes that are read from a file.
const LIMIT: usize = 1024 * 1024;
/// Maximum number of results of a search.
const MOST: usize = 200;

#[config]
struct Config {
    /// Directory to serve; by default the working directory
    #[config(directory)]
    root: Vec<PathBuf>,
}

/// The directories that are served, by name.
struct Roots(BTreeMap<String, Dir>);

#[handlers]
impl Roots {
    /// Lists a directory, or the roots. The names of directories end in `/`.
    #[tool(read_only, open_world = false, blocking)]
    fn list_directory(
        &self,
        /// Which one; the roots are listed if it is not given
        #[arg(default, example = "project/src")]
        path: String,
    ) -> Result<String> {
        Ok(self.names(&path)?.join("\n"))
    }

    /// Reads a text file, or some lines of it.
    #[tool(read_only, open_world = false, blocking)]
    fn read_file(
        &self,
        /// Begins with the name of a root
        path: &str,
        /// The first line wanted
        #[arg(default = 1, range(1..))]
        start: usize,
        /// How many lines are wanted; all if not given
        lines: Option<usize>,
    ) -> Result<String> {
        let mut file = BufReader::new(self.open_file(path, OpenOptions::new().read(true))?);
        for line in 1..start {
            if file.skip_until(b'\n')? == 0 {
                let last = line - 1;
                return Err(Error::msg(format!(
                    "`{path}` has {last} lines: there is no line {start}"
                )));
            }
        }
        let mut file = file.take(LIMIT as u64 + 1);
        let mut bytes = Vec::new();
        for _ in 0..lines.unwrap_or(usize::MAX) {
            if file.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
        }
        if bytes.len() > LIMIT {
            return Err(Error::msg(format!(
                "these lines are more than {LIMIT} bytes: ask for fewer with `start` and `lines`"
            )));
        }
        text(path, bytes)
    }

    /// Writes a text file: makes a new one, or replaces all that was in it.
    #[tool(destructive, idempotent, open_world = false, blocking)]
    fn write_file(
        &self,
        /// Begins with the name of a root; the directory must exist
        path: &str,
        /// All that will be in the file
        content: &str,
    ) -> Result<String> {
        let mut file = self.open_file(path, OpenOptions::new().write(true).create(true))?;
        // The file is truncated only now, after `open_file` has checked that it is a regular file.
        let written = file.set_len(0).and_then(|()| file.write_all(content.as_bytes()));
        written.map_err(|error| failed(path, error))?;
        Ok(format!("{} bytes written", content.len()))
    }

    /// Replaces a part of a text file, and answers with a unified diff of the change.
    #[tool(destructive, open_world = false, blocking)]
    fn edit_file(
        &self,
        /// Begins with the name of a root
        path: &str,
        /// The text to replace, to the letter; it must occur once
        #[arg(len(1..))]
        old_text: &str,
        /// Text in its place
        new_text: &str,
        /// Replaces it wherever it occurs
        #[arg(default)]
        all: bool,
    ) -> Result<String> {
        let before = text(path, self.bytes(path)?)?;
        let advice = match before.matches(old_text).count() {
            0 => "it is not in the file: read the file and copy the text exactly",
            2.. if !all => "it occurs more than once: include lines around it, or set `all`",
            _ => {
                let after = before.replace(old_text, new_text);
                self.write_file(path, &after)?;
                let diff = TextDiff::from_lines(&before, &after);
                return Ok(diff.unified_diff().header(path, path).to_string());
            }
        };
        Err(Error::msg(format!("`old_text` cannot be replaced in `{path}`: {advice}")))
    }

    /// Finds files by their path, by what is in them, or by both. Links to directories are not followed.
    #[tool(read_only, open_world = false, blocking)]
    fn search_files(
        &self,
        /// A part of the path, or a glob of all of it
        #[arg(example = "project/src/*.rs")]
        path: Option<String>,
        /// A part of a line; every line that has it is shown
        text: Option<String>,
        progress: Progress,
        cancel: Cancel,
    ) -> Result<String> {
        let fits = |file: &str| match &path {
            Some(glob) if glob.contains(['*', '?', '[', '{']) => glob_match(glob, file),
            Some(part) => file.contains(part),
            None => true,
        };
        let mut found = Vec::new();
        let mut directories: Vec<String> = self.0.keys().map(|name| format!("{name}/")).collect();
        while let Some(directory) = directories.pop() {
            progress.step();
            // A directory that cannot be read is skipped.
            for name in self.names(&directory).unwrap_or_default() {
                cancel.check()?;
                let path = format!("{directory}{name}");
                if name.ends_with('/') {
                    directories.push(path);
                } else if fits(&path) {
                    match &text {
                        None => found.push(path),
                        Some(text) => found.extend(self.lines_with(text, &path)),
                    }
                }
            }
            if found.len() > MOST {
                found.truncate(MOST);
                found.push("… and more: narrow the search".to_owned());
                break;
            }
        }
        Ok(if found.is_empty() { "nothing found".to_owned() } else { found.join("\n") })
    }

    /// Moves or renames a file or a directory.
    #[tool(destructive = false, open_world = false, blocking)]
    fn move_file(
        &self,
        /// Begins with the name of a root
        source: &str,
        /// Begins with the name of a root; nothing may be there yet
        target: &str,
    ) -> Result<()> {
        let ((root, inside), (new_root, new_inside)) = (self.find(source)?, self.find(target)?);
        if new_root.symlink_metadata(new_inside).is_ok() {
            return Err(Error::msg(format!("`{target}` already exists: choose another name")));
        }
        root.rename(inside, new_root, new_inside).map_err(|error| failed(source, error))
    }

    /// Creates a directory, with those above it.
    #[tool(destructive = false, idempotent, open_world = false, blocking)]
    fn create_directory(
        &self,
        /// Begins with the name of a root
        path: &str,
    ) -> Result<()> {
        let (root, inside) = self.find(path)?;
        root.create_dir_all(inside).map_err(|error| failed(path, error))
    }

    /// A file.
    #[resource("files://{+path}", blocking)]
    fn file(&self, #[complete(Self::paths)] path: &str) -> Result<Option<ResourceContents>> {
        if !self.find(path).is_ok_and(|(root, inside)| root.is_file(inside)) {
            return Ok(None);
        }
        Ok(Some(match String::from_utf8(self.bytes(path)?) {
            Ok(text) => ResourceContents::text("", text).mime_type("text/plain"),
            Err(error) => ResourceContents::blob("", error.into_bytes()),
        }))
    }

    #[completion(blocking)]
    fn paths(&self, typed: &str) -> Vec<String> {
        let directory = &typed[..typed.rfind('/').map_or(0, |at| at + 1)];
        let names = self.names(directory).unwrap_or_default();
        let paths = names.into_iter().map(|name| format!("{directory}{name}"));
        paths.filter(|path| path.starts_with(typed)).collect()
    }
}

impl Roots {
    fn open(paths: &[PathBuf]) -> Result<Self> {
        let working_directory = [PathBuf::from(".")];
        let mut roots = BTreeMap::new();
        for path in if paths.is_empty() { &working_directory } else { paths } {
            let shown = path.display().to_string();
            let path = fs::canonicalize(path).map_err(|error| failed(&shown, error))?;
            let name = path.file_name().unwrap_or("root".as_ref()).to_string_lossy().into_owned();
            let root = Dir::open_ambient_dir(&path, ambient_authority());
            let root = root.map_err(|error| failed(&shown, error))?;
            if roots.insert(name.clone(), root).is_some() {
                return Err(Error::msg(format!(
                    "two roots are called `{name}`: serve only one of them"
                )));
            }
        }
        Ok(Self(roots))
    }

    /// Returns the root that a path begins with, and the rest of the path.
    fn find<'a>(&self, path: &'a str) -> Result<(&Dir, &'a str)> {
        let (name, inside) = path.trim_end_matches('/').split_once('/').unwrap_or((path, "."));
        let root = self.0.get(name.trim_end_matches('/'));
        root.map(|root| (root, inside)).ok_or_else(|| {
            let names = self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            Error::msg(format!("`{path}` is not in a root: a path begins with one of {names}"))
        })
    }

    /// Returns the names in a directory, or those of the roots for an empty path.
    fn names(&self, path: &str) -> Result<Vec<String>> {
        if path.is_empty() {
            return Ok(self.0.keys().map(|name| format!("{name}/")).collect());
        }
        let (root, inside) = self.find(path)?;
        let mut names = Vec::new();
        for entry in root.read_dir(inside).map_err(|error| failed(path, error))? {
            let entry = entry?;
            let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
        names.sort();
        Ok(names)
    }

    /// Opens a regular file. Another file may have taken its place between the check of the path and the opening, so the open file is
    /// checked again. Opening a pipe without another end would block, but the flag of `do_not_wait` prevents that.
    fn open_file(&self, path: &str, options: &mut OpenOptions) -> Result<File> {
        let no_file = || Error::msg(format!("`{path}` is not a file"));
        let (root, inside) = self.find(path)?;
        // This check comes first, because merely opening a device can have an effect.
        if root.metadata(inside).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(no_file());
        }
        do_not_wait(options);
        let file = root.open_with(inside, options).map_err(|error| failed(path, error))?;
        let is_file = file.metadata().map_err(|error| failed(path, error))?.is_file();
        if is_file { Ok(file) } else { Err(no_file()) }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(path, OpenOptions::new().read(true))?
            .take(LIMIT as u64 + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() > LIMIT {
            return Err(Error::msg(format!("`{path}` is larger than {LIMIT} bytes")));
        }
        Ok(bytes)
    }

    /// Returns the lines that contain `part`, as `path:line: text`. Skips a file that is too large or is not UTF-8.
    fn lines_with(&self, part: &str, path: &str) -> Vec<String> {
        let text = self.bytes(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        let lines = text.lines().zip(1..).filter(|(line, _)| line.contains(part));
        lines.map(|(line, number)| format!("{path}:{number}: {line}")).collect()
    }
}

/// Makes opening a pipe return at once. For regular files the flag has no effect.
#[cfg(unix)]
fn do_not_wait(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt as _;

    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

/// Does nothing, because other systems have no named pipes in directories.
#[cfg(not(unix))]
fn do_not_wait(_: &mut OpenOptions) {}

fn text(path: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::msg(format!("`{path}` is not UTF-8 text")))
}

fn failed(path: &str, error: io::Error) -> Error {
    Error::msg(format!("`{path}`: {error}"))
}

fn main() -> Exit {
    server!().setup(async |config: State<Config>| Roots::open(&config.root)).run()
}
