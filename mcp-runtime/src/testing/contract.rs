//! The macro `assert_contract!`, which compares a server with its lock file in a test.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{builder::Builder, contract};

/// Environment variable that selects the mode: `update` or `strict`.
const VARIABLE: &str = "MCP_LOCK";

/// End of the report if the author has passed no builder.
const BARE: &str = "(`assert_contract!()` has compared a bare `server!()`: if the program gives `server!` keys, or calls methods such as \
                    `.schema_profile(…)`, pass its builder, as in `assert_contract!(server())`)\n";

/// Fails the test if the server no longer keeps the contract in its lock file.
///
/// The lock file is the output of `cargo run -- schema > mcp.lock.json`, committed to the repository. The macro compares this file with the
/// items that the server publishes now, like the command `check --against mcp.lock.json`. If a change breaks clients, the macro panics with
/// the report of that command. To check only that the server can be built, use [`assert_builds!`](crate::testing::assert_builds).
///
/// Needs the feature `contract`: `cargo add --dev mcp-runtime --features contract`.
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
/// | `assert_contract!(server())` | this [`Builder`](crate::Builder) with the same file |
/// | `assert_contract!("locks/one.json")`, `assert_contract!(server(), "locks/one.json")` | the server with this file; a relative path begins at the crate's `Cargo.toml` |
///
/// The macro does not start the server, so `setup` does not run and no state is needed. A lock file does not contain items that are added
/// while the server runs. If the program gives `server!` keys such as `title`, or calls `.group(…)`, `.items(…)` or `.schema_profile(…)`, pass its
/// builder, so that the test compares the same server as the commands `schema` and `check`.
///
/// The macro compares only items that are linked into the test. In a `#[test]` in the same crate as the items, these are the items of that
/// binary or library. A file in `tests/` is linked with the items of the package's library if the file uses that library. It is never
/// linked with the items of `main.rs`.
///
/// # What breaks
/// The items are compared as a client of the newest protocol revision sees them. Descriptions, titles, icons and order are cosmetic.
///
/// | | breaking | additive |
/// |---|---|---|
/// | items | gone, or under another name, URI or URI template | new |
/// | arguments | gone, renamed, new and required, now required, another or no default, another header | new and optional, not required any more, a default |
/// | types of arguments | a value that was accepted may be rejected | more values are accepted |
/// | results | no output schema any more, a member that is gone or may be missing, a value that was not promised | an output schema, a new member, a narrower type |
/// | hints | a promise that is taken back (`read_only`, `idempotent`, not `destructive`, not `open_world`) | a promise |
/// | tasks, `asks`, completion, subscription, MIME type, `meta` | less than before, or more required of the client | more than before, or less required |
///
/// An object is assumed to have only its declared members, unless it has `additionalProperties`. A change whose effect cannot be decided
/// counts as breaking, such as a change from one pattern to another. Only published schemas are compared. Both `i32` and `i64` are
/// `integer` to a client, so the width of a number is part of the contract only if a `range` publishes it. If several items take or return
/// a type, a difference in that type is reported once, with all places that use the type.
///
/// # Environment
/// With `MCP_LOCK=update`, the macro compares nothing and writes the lock file: `MCP_LOCK=update cargo test`. With `MCP_LOCK=strict`, the
/// macro also fails for additive and cosmetic changes, so that the lock file stays up to date. If the variable is not set, the macro fails
/// only for breaking changes.
///
/// # Panics
/// Panics if a change breaks clients, or if the server cannot be built. Also panics if the file is missing, cannot be written, or is not a
/// lock file of this server, and if `MCP_LOCK` has another value.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_contract {
    (@compare $builder:expr, $file:expr, $is_bare:literal) => {
        $crate::__private::assert_contract(
            $builder,
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::convert::AsRef::<::std::path::Path>::as_ref($file),
            $is_bare,
        )
    };
    () => {
        $crate::__assert_contract!("mcp.lock.json")
    };
    ($file:literal $(,)?) => {
        $crate::__assert_contract!(@compare $crate::server!(crate = $crate), $file, true)
    };
    ($builder:expr $(,)?) => {
        $crate::__assert_contract!($builder, "mcp.lock.json")
    };
    ($builder:expr, $file:expr $(,)?) => {
        $crate::__assert_contract!(@compare $builder, $file, false)
    };
}

/// Implements the macro. `folder` is the crate's folder at compile time. The crate may have moved since then, so `CARGO_MANIFEST_DIR` at
/// run time takes precedence. `is_bare` is true if the author has passed no builder.
#[track_caller]
pub fn assert_contract(builder: Builder, folder: &str, file: &Path, is_bare: bool) {
    let folder = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| folder.into(), PathBuf::from);
    let mode = env::var(VARIABLE).unwrap_or_default();
    match compare(builder, &folder.join(file), &mode, is_bare) {
        // The report of a passing test is visible only with `--nocapture`.
        Ok(report) => eprint!("{report}"),
        Err(report) => panic!("{report}"),
    }
}

/// Compares the server with the lock file, or writes the file. Returns the text to print if the test passes.
///
/// # Errors
/// Returns the text of the panic if the test fails.
fn compare(builder: Builder, file: &Path, mode: &str, is_bare: bool) -> Result<String, String> {
    let (identity, snapshot) = builder.published().map_err(|error| {
        format!(
            "{error}\n(use `assert_contract!(server())` to compare the server that `main` runs)"
        )
    })?;
    let published = contract::published(&identity, &snapshot);
    let shown = file.display();
    match mode {
        "update" => {
            let written = fs::write(file, published.manifest.text());
            written.map_err(|error| format!("{shown} cannot be written: {error}"))?;
            return Ok(format!("{shown} was written\n"));
        }
        "" | "strict" => {}
        other => return Err(format!("`{VARIABLE}={other}`: it can be `update` or `strict`")),
    }
    let regenerate = format!("{VARIABLE}=update cargo test");
    let lock = fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{shown} does not exist yet: create it with `{regenerate}`, then commit it")
        }
        _ => format!("{shown} cannot be read: {error}"),
    })?;
    let report = published
        .against(&lock)
        .map_err(|problem| format!("{shown}: {problem}\nwrite it again with `{regenerate}`"))?;
    let mut told = report.text(&shown.to_string(), &regenerate);
    let fails = report.breaks() || mode == "strict" && !report.is_empty();
    if fails && is_bare {
        told.push_str(BARE);
    }
    if fails { Err(told) } else { Ok(told) }
}

#[cfg(all(test, feature = "stdio"))]
mod tests {
    use super::*;

    #[test]
    fn a_difference_to_a_server_without_settings_names_the_settings_as_a_cause() {
        let bare = || crate::server!(crate = crate, group = "command line");
        let file = env::temp_dir().join(format!("mcp-bare-{}.json", std::process::id()));
        assert!(compare(bare().title("Titled"), &file, "update", false).is_ok());
        let told = compare(bare(), &file, "strict", true).unwrap_err();
        assert!(told.contains("has no title") && told.ends_with(BARE), "{told}");
        let told = compare(bare(), &file, "strict", false).unwrap_err();
        assert!(!told.contains(BARE), "{told}");
        assert!(compare(bare().title("Titled"), &file, "strict", true).is_ok());
        fs::remove_file(file).unwrap();
    }
}
