/// Notes.
impl Notes {
    const MAX: usize = { 5 };
    type Odd = u8;
    /// Searches.
    pub async fn search(&self, query: &str, limit: [u8; Self::MAX]) -> Result<Self> {
        self.all
    }
    fn note<'a>(&'a self, id: u64) -> &'a str {}
    fn free(word: Option<Self>) {}
    fn plain(&mut self, #[allow(unused)] a: u8) {
        #[tool]
        fn inner() {}
    }
    custom! {
        #[tool]
    }
}
const _: fn() = || {
    use tool as _;
    ::core::option::Option::<::mcp_runtime::__private::ItemDef>::None
        .unwrap()
        .group("notes")
        .read_only(true);
    ::mcp_runtime::__private::ArgDef::new("")
        .default(::mcp_runtime::__private::Literal::Empty);
    let _ = || -> [u8; Notes::MAX] { Notes::MAX };
};
const _: fn() = || {
    use mcp_runtime::resource as _;
    ::core::option::Option::<::mcp_runtime::__private::ItemDef>::None
        .unwrap()
        .group("own");
};
const _: fn() = || {
    use prompt as _;
    ::core::option::Option::<::mcp_runtime::__private::ItemDef>::None
        .unwrap()
        .group("notes");
    ::mcp_runtime::__private::ArgDef::new("")
        .complete(::mcp_runtime::__private::Completer::Values(&[]));
    let _ = Notes::words;
};
