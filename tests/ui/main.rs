#![forbid(unsafe_code)]
#[test]
fn mistakes() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}
