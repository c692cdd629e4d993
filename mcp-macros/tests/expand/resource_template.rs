#[resource("users://{id}/{+rest}{?page,per.page}")]
async fn users(id: u64, #[complete("a", "b")] rest: String, #[arg(default = 1)] page: u8, #[arg(name = "per.page")] per: Option<u8>, db: State<Db>) -> Result<String> {}
