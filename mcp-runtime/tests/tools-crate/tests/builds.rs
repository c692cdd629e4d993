//! A test beside a library: the linker keeps its items because it is used.

use tools_crate as _;

#[test]
fn the_items_of_the_library_make_servers() {
    mcp_runtime::testing::assert_builds!();
}
