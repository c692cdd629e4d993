//! Crate of an author: its files, its builds, and the command `dev` on it.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use support::{
    clock::Stopwatch,
    process::{SHARED_BUILD, cargo, remove_builds},
    server::target,
};

/// Features of each build. `dev` passes them on to its builds.
pub(crate) const FEATURES: &str = "mcp-runtime/workbench,mcp-runtime/playground";

/// Beginning of the program of each test.
const PROGRAM: &str = r#"use mcp_runtime::prelude::*;

/// Counts the letters of a text.
#[tool(read_only)]
fn letters(text: &str) -> usize {
    text.chars().count()
}

fn main() -> Exit {
    server!().run()
}
"#;

/// A tool, for a program that lacks it.
pub(crate) const DOUBLE: &str =
    "/// Doubles a number.\n#[tool]\nfn double(number: i64) -> i64 { number * 2 }\n";

/// A tool that does not compile.
pub(crate) const BROKEN: &str = "#[tool]\nfn double(number: i64) -> i64 { number * \"2\" }\n";

/// A tool that waits for the client.
pub(crate) const GREET: &str = r#"
/// Name of the user.
#[form]
struct Name {
    name: String,
}

/// Greets the user.
#[tool(asks(elicitation))]
async fn greet(ctx: &Context) -> Result<String> {
    let Name { name } = ctx.elicit("name", "Who are you?").await?;
    Ok(format!("{} {name}", words::GREETING))
}
"#;

/// A tool that returns what it gets: members in an order of their own, and a number that `f64` cannot represent.
pub(crate) const EXACT: &str = r#"
#[data]
struct Exact {
    zebra: u128,
    apple: f64,
}

/// Returns its arguments.
#[tool]
fn exact(zebra: u128, apple: f64) -> Json<Exact> {
    Json(Exact { zebra, apple })
}
"#;

/// Members of [`EXACT`] as they are sent and received.
pub(crate) const EXACT_MEMBERS: &str = r#"{"zebra":12345678901234567890123,"apple":1.0}"#;

/// A tool that asks clients of revision 2025-03-26.
pub(crate) const FOLDERS: &str = r#"
/// Counts the folders of the user.
#[tool(asks(roots))]
async fn folders(ctx: &Context) -> Result<usize> {
    Ok(ctx.roots().await?.len())
}
"#;

/// A resource with subscribers, and a tool that changes it.
pub(crate) const NOTE: &str = r#"
/// The note of today.
#[resource("note://today", subscribe)]
fn today() -> &'static str {
    "nothing"
}

/// Writes the note of today.
#[tool]
fn write(server: Handle) -> &'static str {
    server.updated("note://today");
    "written"
}
"#;

/// Returns a body of `main` with a port that only one server can have at a time.
pub(crate) fn main_with_port() -> String {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr());
    let address = free.expect("a free port").to_string();
    format!("server!().setup(async || std::net::TcpListener::bind({address:?})).run()")
}

/// Returns a tool with this answer.
pub(crate) fn versioned(version: &str) -> String {
    format!("/// Returns the version.\n#[tool]\nfn version() -> &'static str {{ {version:?} }}\n")
}

/// Crate in a folder of its own.
pub(crate) struct Workshop {
    name: String,
    folder: PathBuf,
    program: String,
    /// The program as the test began with it.
    original: String,
}

impl Workshop {
    /// Creates a crate with one tool and this code, and builds it.
    pub(crate) fn new(name: &str, code: &str) -> Self {
        let name = format!("dev-{name}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dev").join(&name);
        let _ = fs::remove_dir_all(&folder);
        let program = format!("{PROGRAM}\n{code}");
        let workshop = Self { name, folder, original: program.clone(), program };
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-runtime");
        let words = "/// Words of a greeting.\npub const GREETING: &str = \"hello\";\n";
        // All tests share one target folder. cargo distinguishes packages of the same name and version only by their path in the workspace.
        // With a fixed name, cargo would take the build of another test for the build of this package.
        let manifest =
            format!("[package]\nname = \"{}-words\"\nedition = \"2024\"\n", workshop.name);
        workshop.save("words/Cargo.toml", &manifest);
        workshop.save("words/src/lib.rs", words);
        workshop.save(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{0}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nmcp-runtime = {{ path = {runtime:?} }}\nwords = {{ path = \"words\", package = \"{0}-words\" }}\n\n[profile.dev.package.\"*\"]\nincremental = false\n",
                workshop.name
            ),
        );
        // The same versions as in the workspace, because the registry may be out of reach.
        fs::copy(runtime.join("../Cargo.lock"), workshop.folder.join("Cargo.lock"))
            .expect("the workspace is locked");
        workshop.save_program("");
        workshop.build();
        workshop
    }

    pub(crate) fn save(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("the folder for tests can be written");
    }

    /// Path of a file of the crate.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Path and text of the program with further code.
    pub(crate) fn program(&self, code: &str) -> (PathBuf, String) {
        (self.folder.join("src/main.rs"), format!("{}\n{code}", self.program))
    }

    /// Saves the program with further code.
    pub(crate) fn save_program(&self, code: &str) {
        self.save("src/main.rs", &self.program(code).1);
    }

    /// Gives the program this body of `main`, and saves it.
    pub(crate) fn set_main(&mut self, body: &str) {
        self.program = self.program.replace("server!().run()", body);
        self.save_program("");
    }

    /// Saves the program with this body of `main`.
    pub(crate) fn save_main(&self, body: &str) {
        self.save("src/main.rs", &self.original.replace("server!().run()", body));
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).expect("the crate has this file")
    }

    /// Builds the crate as `cargo run` does, before a test waits for an answer.
    fn build(&self) {
        let output = self.cargo("build").stdin(Stdio::null()).output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Returns the time of an incremental build after a change of the program.
    pub(crate) fn time_of_build(&self, code: &str) -> Duration {
        self.save_program(code);
        let watch = Stopwatch::start();
        self.build();
        watch.elapsed()
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = cargo();
        cargo
            .args([command, "--quiet", "--offline", "--features", FEATURES])
            .arg("--manifest-path");
        cargo.arg(self.folder.join("Cargo.toml")).envs(Self::environment());
        // Authors build incrementally.
        cargo.env_remove("CARGO_INCREMENTAL");
        cargo
    }

    /// Variables of the builds. All tests build in the target folder of the workspace, where most dependencies are built already.
    pub(crate) fn environment() -> Vec<(&'static str, String)> {
        let target = target().into_os_string().into_string().expect("a path that cargo has made");
        let profile = SHARED_BUILD.map(|(name, value)| (name, value.to_owned()));
        profile.into_iter().chain([("CARGO_TARGET_DIR", target)]).collect()
    }

    /// Returns the command that starts the program of the last build, as `cargo run` does after its build.
    pub(crate) fn dev_of_last_build(&self) -> Command {
        let mut program = Command::new(target().join("debug").join(&self.name));
        program.arg("dev").env("CARGO_MANIFEST_DIR", &self.folder).envs(Self::environment());
        program.env_remove("CARGO_INCREMENTAL").current_dir(&self.folder);
        program
    }

    /// Returns the command that a client starts.
    pub(crate) fn dev(&self, words: &[&str]) -> Command {
        let mut cargo = self.cargo("run");
        cargo.args(["--", "dev"]).args(words);
        cargo
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        remove_builds(&target(), &[self.name.clone(), format!("{}-words", self.name)]);
    }
}
