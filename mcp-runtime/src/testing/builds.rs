//! What `build()` would find, as the failure of a test.

use crate::builder::Builder;

/// Fails the test unless the server can be built: [`Builder::build`] finds what no compiler can see, and this brings it into `cargo test`.
///
/// With a [`Builder`], it looks at that server:
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
///     mcp_runtime::server!().setup(async || Ok::<_, Error>(String::from("made when it starts")))
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
/// Nothing starts: `setup` does not run, and only the type of what it would make is looked at. All schemas are made, also those that a server
/// makes when somebody asks for them.
///
/// Without one, it looks at all items of the package, group for group, and leaves out what only the builder knows: which state there
/// is, `with`, and other settings.
///
/// ```standalone_crate
/// # use mcp_runtime::{prelude::*, testing::assert_builds};
/// # struct Notes;
/// /// Counts.
/// #[tool(group = "admin")]
/// fn count(notes: &Notes) -> usize {
///     # let _ = notes;
///     0
/// }
///
/// # fn main() {
/// assert_builds!();
/// # }
/// ```
///
/// The items are those that the linker put into the test: in a `#[test]` beside them, those of that binary or library. A file in `tests/` has the
/// package's library when it uses it (`use my_tools as _;` is enough), and never its `main.rs`.
///
/// # Panics
/// With the text of the [`BuildError`](crate::BuildError): every problem, each with its `file:line`.
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
    if let Err(error) = builder.judge() {
        panic!("{error}");
    }
}

#[track_caller]
pub fn assert_package_builds(builder: Builder) {
    if let Err(error) = builder.judge_package() {
        panic!("{error}");
    }
}
