//! Instructions and memory of whole calls: `cargo bench -p mcp-runtime --bench instructions`.
//!
//! The example `rig` runs under valgrind and is called 400 times and, in another process, 1,400 times. The difference is the cost of 1,000
//! calls. Each load is measured three times, and the median counts. Other work on the machine changes times a lot, but it changes these
//! counts by less than 1 % over stdio. Over HTTP, where threads wake each other, they change by up to 10 %. The output has a line for each
//! figure: the measured quantity, the load, and the figure.

#![allow(clippy::print_stdout, reason = "a benchmark is there to print")]

mod http;
mod issuer;
mod server;
mod stdio;

use std::{
    fmt::Display,
    path::{Path, PathBuf},
    process::Command,
};

use http::Era;
use server::Server;

const FEW: usize = 400;
const MANY: usize = 1_400;
/// Number of calls after which the memory of a process no longer grows.
const UNTIL_STEADY: usize = 10_000;

/// Argument of `echo`.
const MESSAGE: &str = "the rain in Spain stays mainly in the plain";

type Failure = Box<dyn std::error::Error>;

#[derive(Clone, Copy)]
enum Load {
    Stdio { in_flight: usize },
    Http(Era, Tokens),
}

/// Tokens that the calls carry. A server without an issuer requires none.
#[derive(Clone, Copy, PartialEq)]
enum Tokens {
    None,
    /// The same token with each call, as clients do.
    One,
    /// A new token with each call, so that each one is verified.
    Each,
}

const LOADS: [(&str, Load); 7] = [
    ("stdio, 1 in flight", Load::Stdio { in_flight: 1 }),
    ("stdio, 64 in flight", Load::Stdio { in_flight: 64 }),
    ("HTTP 2025-11-25", Load::Http(Era::Sessions, Tokens::None)),
    ("HTTP 2026-07-28", Load::Http(Era::Alone, Tokens::None)),
    ("HTTP 2025-11-25, with a token", Load::Http(Era::Sessions, Tokens::One)),
    ("HTTP 2026-07-28, with a token", Load::Http(Era::Alone, Tokens::One)),
    ("HTTP 2026-07-28, each with a new token", Load::Http(Era::Alone, Tokens::Each)),
];

fn main() -> Result<(), Failure> {
    // Under `cargo test --benches` the benchmark only has to compile.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let rig = rig()?;
    if server::has_valgrind() {
        count(&rig)?;
    } else {
        println!("not counted: valgrind is not installed");
    }
    for (name, load) in LOADS {
        let server = Server::start(&rig, load, None)?;
        match run(server, load, UNTIL_STEADY)?.peak {
            Some(bytes) => print("peak memory in KiB", name, bytes / 1024),
            None => println!(
                "not measured: this system does not say how much memory a process had at most"
            ),
        }
    }
    Ok(())
}

fn print(what: &str, load: &str, figure: impl Display) {
    println!("{what} | {load} | {figure}");
}

fn count(rig: &Path) -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    std::fs::create_dir_all(&folder)?;
    let counted = |load: Load, calls: usize| -> Result<u64, Failure> {
        let report = folder.join(format!("{}.{calls}", std::process::id()));
        let server = Server::start(rig, load, Some(&report))?;
        run(server, load, calls)?;
        let text = std::fs::read_to_string(&report)?;
        std::fs::remove_file(&report)?;
        server::total(&text).ok_or_else(|| "valgrind's report has no total".into())
    };
    for (name, load) in LOADS {
        let mut each = [0; 3];
        for cost in &mut each {
            let more = counted(load, MANY)?.saturating_sub(counted(load, FEW)?);
            *cost = more / (MANY - FEW) as u64;
        }
        each.sort_unstable();
        print("instructions a call", name, each[1]);
    }
    let start = counted(Load::Stdio { in_flight: 1 }, 0)?;
    print("instructions to start, initialize and end", "stdio", start);
    Ok(())
}

/// Makes the calls, and ends the server.
fn run(mut server: Server, load: Load, calls: usize) -> Result<server::Ended, Failure> {
    match load {
        Load::Stdio { in_flight } => stdio::call(&mut server, in_flight, calls)?,
        Load::Http(era, tokens) => http::call(&mut server, era, tokens, calls)?,
    }
    server.end()
}

/// Builds the measured server.
fn rig() -> Result<PathBuf, Failure> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target directory")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--release", "-p", "example-rig", "--target-dir"])
        .arg(target)
        .status()?;
    if !built.success() {
        return Err(
            "the package `example-rig`, which is in the repository, could not be built".into()
        );
    }
    Ok(target.join("release/rig").with_extension(std::env::consts::EXE_EXTENSION))
}
