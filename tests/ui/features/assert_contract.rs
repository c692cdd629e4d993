// contract
fn main() {
    mcp_runtime::testing::assert_contract!(); // mistake
}
