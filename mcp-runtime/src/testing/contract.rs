//! The lock file of a server, as a test.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{builder::Builder, contract::Published};

/// What `MCP_LOCK` can say.
const VARIABLE: &str = "MCP_LOCK";

/// Fails the test when the server does not keep what its lock file promises.
///
/// The lock file is what `schema` prints, committed: `cargo run -- schema > mcp.lock.json`. The test compares it with what the server
/// publishes now, as `check --against mcp.lock.json` on the command line does, and panics with the same report when something breaks:
///
/// ```standalone_crate
/// use mcp_runtime::{prelude::*, testing::assert_contract};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// fn server() -> mcp_runtime::Builder {
///     mcp_runtime::server!()
/// }
///
/// # /*
/// #[test]
/// # */
/// fn the_contract_holds() {
///     # let lock = std::env::temp_dir().join(format!("mcp-lock-{}.json", std::process::id()));
///     # let text = r#"{"format": 1, "server": {"name": "mcp-runtime"}, "tools": [], "resources": [], "resourceTemplates": [], "prompts": []}"#;
///     # std::fs::write(&lock, text).unwrap();
///     # /*
///     assert_contract!(server());
///     # */
///     # assert_contract!(server(), &lock);
///     # std::fs::remove_file(&lock).unwrap();
/// }
/// # the_contract_holds();
/// ```
///
/// | written | compares |
/// |---|---|
/// | `assert_contract!()` | `server!()` with `mcp.lock.json` beside the crate's `Cargo.toml` |
/// | `assert_contract!(server())` | that [`Builder`](crate::Builder) with the same file |
/// | `assert_contract!("locks/one.json")`, `assert_contract!(server(), "locks/one.json")` | with that file; a relative path begins at the crate's `Cargo.toml` |
///
/// Nothing starts: `setup` does not run, items that are added while the server runs are in no lock, and state need not be there. A server
/// that is of a group, or whose items are listed, is given as the builder that `main` runs.
///
/// The items are those that the linker put into the test: in a `#[test]` beside them, those of that binary or library. A file in `tests/` has
/// the package's library when it uses it, and never its `main.rs`.
///
/// # What breaks
/// Everything is compared as a client of the newest revision sees it; descriptions, titles, icons and order are cosmetic.
///
/// | | breaking | additive |
/// |---|---|---|
/// | items | gone, or under another name, URI or URI template | new |
/// | arguments | gone, renamed, new and required, now required, another or no default, another header | new and optional, not required any more, a default |
/// | types of arguments | something that was accepted is not shown to be accepted | more is accepted |
/// | results | no output schema any more, a member that is gone or may be missing, something that was not promised | an output schema, a new member, a narrower type |
/// | hints | a promise that is taken back (`read_only`, `idempotent`, not `destructive`, not `open_world`) | a promise |
/// | tasks, `asks`, completion, subscription, MIME type, `meta` | less than before, or more asked of the client | more than before, or less asked |
///
/// Members that an object does not declare are not sent, unless it says `additionalProperties`. What cannot be decided, such as whether one
/// pattern includes another, breaks. What is not published is not compared: `i32` and `i64` are both `integer` to a client, and only a `range`
/// makes a width part of the contract. What differs in a type that several items take or return is told once, with all their places.
///
/// # The environment
/// With `MCP_LOCK=update` it writes the file instead: `MCP_LOCK=update cargo test`. With `MCP_LOCK=strict` it fails for additive and cosmetic
/// changes too, so that nobody forgets to write it.
///
/// # Panics
/// When something breaks; when the server cannot be built; when the file is missing or is no lock of this server.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_contract {
    () => {
        $crate::__assert_contract!($crate::server!(crate = $crate))
    };
    ($file:literal $(,)?) => {
        $crate::__assert_contract!($crate::server!(crate = $crate), $file)
    };
    ($builder:expr $(,)?) => {
        $crate::__assert_contract!($builder, "mcp.lock.json")
    };
    ($builder:expr, $file:expr $(,)?) => {
        $crate::__private::assert_contract(
            $builder,
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::convert::AsRef::<::std::path::Path>::as_ref($file),
        )
    };
}

/// `folder` is where the crate was built; where a test runs cargo says it again, and it may have moved.
#[track_caller]
pub fn assert_contract(builder: Builder, folder: &str, file: &Path) {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| folder.into(), PathBuf::from);
    let mode = env::var(VARIABLE).unwrap_or_default();
    match compare(builder, &folder.join(file), &mode) {
        // Nobody sees it but with `--nocapture`, and there is nothing that must be seen.
        Ok(report) => eprint!("{report}"),
        Err(report) => panic!("{report}"),
    }
}

/// What there is to say.
///
/// # Errors
/// What fails the test.
fn compare(builder: Builder, file: &Path, mode: &str) -> Result<String, String> {
    let (identity, snapshot) = builder.published().map_err(|error| {
        format!("{error}\n(`assert_contract!(server())` takes the server that `main` runs)")
    })?;
    let published = Published::of(&identity, &snapshot);
    let shown = file.display();
    match mode {
        "update" => {
            let written = fs::write(file, published.manifest.text());
            written.map_err(|error| format!("{shown} cannot be written: {error}"))?;
            return Ok(format!("{shown} is written\n"));
        }
        "" | "strict" => {}
        other => return Err(format!("`{VARIABLE}={other}`: it can be `update` or `strict`")),
    }
    let regenerate = format!("{VARIABLE}=update cargo test");
    let lock = fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("there is no {shown} yet: `{regenerate}` writes it; then commit it")
        }
        _ => format!("{shown} cannot be read: {error}"),
    })?;
    let report = published
        .against(&lock)
        .map_err(|problem| format!("{shown}: {problem}\n`{regenerate}` writes it again"))?;
    let told = report.told(&shown.to_string(), &regenerate);
    let fails = report.breaks() || mode == "strict" && !report.is_empty();
    if fails { Err(told) } else { Ok(told) }
}
