/// First.
#[doc = include_str!("more.md")]
#[tool]
async fn f(
    /// Line one
    ///   line two
    ///
    a: u8,
) {
}
