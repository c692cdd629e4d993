/// Notes.
#[handlers(group = "notes")]
impl Notes {
    const MAX: usize = { 5 };
    type Odd = u8;

    /// Searches.
    #[tool(read_only)]
    pub async fn search(&self, query: &str, #[arg(default = Self::MAX)] limit: [u8; Self::MAX]) -> Result<Self> {
        self.all
    }

    #[mcp_runtime::resource("notes://{id}", group = "own")]
    fn note<'a>(&'a self, id: u64) -> &'a str {}

    #[prompt]
    fn free(#[complete(Self::words)] word: Option<Self>) {}

    fn plain(&mut self, #[allow(unused)] a: u8) {
        #[tool]
        fn inner() {}
    }

    custom! { #[tool] }
}
