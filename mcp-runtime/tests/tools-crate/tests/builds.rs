//! Checks that a test file can build the servers of its library. `use tools_crate as _` makes the linker keep the items of the library.

use tools_crate as _;

#[test]
fn the_items_of_the_library_make_servers() {
    mcp_runtime::testing::assert_builds!();
}
