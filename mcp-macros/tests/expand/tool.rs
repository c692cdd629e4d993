/// Adds two numbers.
#[tool(read_only, idempotent, timeout = "30s")]
pub async fn add(
    /// First addend
    a: i64,
    #[arg(default = 1, range(1..=10), example = 3)] mut times: u8,
    #[arg(default = "you")] name: &str,
    db: State<Db>,
    ctx: &Context,
) -> Result<i64> {
    body()
}
