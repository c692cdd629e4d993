//! The macro `assert_builds!`, which fails a test if the server cannot be built.

use crate::builder::Builder;

/// Fails the test if the server cannot be built.
///
/// [`Builder::build`] finds problems that the compiler cannot see, such as two tools with the same name. This macro finds them in `cargo
/// test`. To send requests to the server, use [`TestClient`](crate::testing::TestClient). To compare the server with its lock file, use
/// `assert_contract!` (feature `contract`).
///
/// With a [`Builder`] as its argument, the macro checks the server of that builder:
///
/// ```standalone_crate
/// use mcp_runtime::{prelude::*, testing::assert_builds};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// fn server() -> mcp_runtime::Builder {
///     mcp_runtime::server!()
///         .setup(async || Ok::<_, Error>(String::from("made when it starts")))
/// }
///
/// # /*
/// #[test]
/// # */
/// fn the_server_builds() {
///     assert_builds!(server());
/// }
/// # the_server_builds();
/// ```
///
/// The server does not start. `setup` does not run, and the macro considers only the type of the state that it returns.
///
/// Without an argument, the macro checks all items of the package, one group at a time. It cannot check what is configured only on a
/// builder, such as the state, `with` and other settings.
///
/// ```standalone_crate
/// use mcp_runtime::{prelude::*, testing::assert_builds};
///
/// struct Notes(Vec<String>);
///
/// /// Counts the notes.
/// #[tool(group = "admin")]
/// fn count(notes: &Notes) -> usize {
///     notes.0.len()
/// }
///
/// # /*
/// #[test]
/// # */
/// fn every_group_builds() {
///     assert_builds!();
/// }
/// # fn main() {
/// #     every_group_builds();
/// # }
/// ```
///
/// The macro finds the items that are linked into the test. In a `#[test]` in the same crate as the items, these are the items of that
/// binary or library. A file in `tests/` is linked with the items of the package's library if the file uses that library (`use my_tools as
/// _;` is enough). It is never linked with the items of `main.rs`.
///
/// # Panics
/// Panics if the server cannot be built. The message is the text of the [`BuildError`](crate::BuildError), which lists every problem with
/// its `file:line`.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_builds {
    () => {
        $crate::__private::assert_package_builds($crate::server!(crate = $crate))
    };
    ($builder:expr $(,)?) => {
        $crate::__private::assert_builds($builder)
    };
}

#[track_caller]
pub fn assert_builds(builder: Builder) {
    if let Err(error) = builder.check_all() {
        panic!("{error}");
    }
}

#[track_caller]
pub fn assert_package_builds(builder: Builder) {
    if let Err(error) = builder.check_package() {
        panic!("{error}");
    }
}
