//! Problems that `build()` finds, as the failure of a test.

use crate::builder::Builder;

/// Fails the test unless the server can be built. [`Builder::build`] finds problems that the compiler cannot see, and this macro brings
/// them into `cargo test`.
///
/// With a [`Builder`], the macro checks that server:
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
/// The server does not start: `setup` does not run, and only the type of its state is considered. All schemas are made, including those
/// that a server makes at first use.
///
/// Without a builder, the macro checks all items of the package, one group after the other. It leaves out everything that only the builder
/// knows: the available state, `with`, and other settings.
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
/// The items are those that the linker put into the test. In a `#[test]` beside the items, these are the items of that binary or library. A
/// file in `tests/` has the items of the package's library if it uses the library (`use my_tools as _;` is enough), and never those of its
/// `main.rs`.
///
/// # Panics
/// Panics with the text of the [`BuildError`](crate::BuildError): every problem, each with its `file:line`.
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
