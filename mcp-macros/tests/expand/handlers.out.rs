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
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 3] = [
        __mcp::ArgDef::new("self"),
        __mcp::ArgDef::new("query"),
        __mcp::ArgDef::new("limit").default(__mcp::Literal::Variant("MAX")),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(__mcp::Probe::<Notes>::NEW.receiver().check_shared(), &__ARGS[0]);
        __to.add(
            (&&&&__mcp::Probe::<&str>::NEW)
                .tool_param()
                .check::<&str>()
                .check_owned::<&str>(),
            &__ARGS[1],
        );
        __to.add_default(
            (&&&&__mcp::Probe::<[u8; Notes::MAX]>::NEW)
                .tool_param()
                .check::<[u8; Notes::MAX]>()
                .check_owned::<[u8; Notes::MAX]>()
                .check_from_client::<[u8; Notes::MAX]>(),
            &__ARGS[2],
            || Notes::MAX,
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = __mcp::Probe::<Notes>::NEW.receiver();
        let __p1 = (&&&&__mcp::Probe::<&str>::NEW).tool_param();
        let __p2 = (&&&&__mcp::Probe::<[u8; Notes::MAX]>::NEW).tool_param();
        let __v0 = __p0.read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<&str>().read(&mut __call, &__ARGS[1]);
        let __v2 = __p2
            .check_owned::<[u8; Notes::MAX]>()
            .check_from_client::<[u8; Notes::MAX]>()
            .read_or(&mut __call, &__ARGS[2], || Notes::MAX);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
        ) = (__call.accept(), __v0, __v1, __v2) else {
            return __call.refuse();
        };
        __call
            .future(move |__cx| async move {
                match <Notes>::search(
                        __p0.pass(&__cx, &mut __v0)?,
                        __p1.pass(&__cx, &mut __v1)?,
                        __p2.pass(&__cx, &mut __v2)?,
                    )
                    .await
                {
                    __reply => __mcp::tool_reply::<Result<Notes>>(__reply),
                }
            })
    }
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(
        &[
            __mcp::Property::new(
                &__ARGS[1],
                __mcp::Probe::<&str>::IS_SERVER,
                __mcp::Probe::<&str>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[2],
                __mcp::Probe::<[u8; Notes::MAX]>::IS_SERVER,
                __mcp::Probe::<[u8; Notes::MAX]>::PARAM,
            ),
        ],
    );
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<Result<Notes>>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("search", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "Notes::search"), ||
        __mcp::identity(& < Notes > ::search), __params, __run, || (&& __mcp::Probe:: <
        Result < Notes > > ::NEW).output()).description("Searches.").group("notes")
        .read_only(true).input(& __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT,
        __OUTPUT.is_object())
    );
};
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 2] = [
        __mcp::ArgDef::new("self"),
        __mcp::ArgDef::new("id"),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
        __to.add(__mcp::Probe::<Notes>::NEW.receiver().check_shared(), &__ARGS[0]);
        __to.add(
            (&&&&__mcp::Probe::<u64>::NEW)
                .text_param()
                .check::<u64>()
                .check_owned::<u64>()
                .check_in_place::<u64>(),
            &__ARGS[1],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = __mcp::Probe::<Notes>::NEW.receiver();
        let __p1 = (&&&&__mcp::Probe::<u64>::NEW).text_param();
        let __v0 = __p0.read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<u64>().read(&mut __call, &__ARGS[1]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
        ) = (__call.accept(), __v0, __v1) else {
            return __call.refuse();
        };
        __call
            .ready(move |__cx| match <Notes>::note(
                __p0.pass(__cx, &mut __v0)?,
                __p1.pass(__cx, &mut __v1)?,
            ) {
                __reply => __mcp::resource_reply::<&'_ str>(__cx, __reply),
            })
    }
    const _: () = __mcp::judge_text(
        &__ARGS[1],
        __mcp::Probe::<u64>::IS_SERVER || __mcp::Probe::<u64>::IS_PARSED,
        __mcp::Probe::<u64>::PARAM,
    );
    __mcp::register!(
        __mcp::ItemDef::resource("note", "notes://{id}", &
        [__mcp::Segment::Literal("notes://"), __mcp::Segment::Variable { name : "id",
        kind : __mcp::VariableKind::Simple, explode : false }],
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "Notes::note"), || __mcp::identity(& < Notes >
        ::note), __params, __run).usual_mime_type(|| (&& __mcp::Probe:: < & '_ str >
        ::NEW).media_type()).group("own")
    );
};
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 1] = [
        __mcp::ArgDef::new("word")
            .complete(
                __mcp::Completer::Function(|| {
                    trait __Unmarked {
                        const __MCP_COMPLETES_WORDS: __mcp::Unmarked = __mcp::Unmarked;
                    }
                    impl<__T: ?Sized> __Unmarked for __T {}
                    __mcp::completed_by(&Notes::words, Notes::__MCP_COMPLETES_WORDS)
                }),
            ),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
        __to.add(
            (&&&&__mcp::Probe::<Option<Notes>>::NEW)
                .text_param()
                .check::<Option<Notes>>()
                .check_owned::<Option<Notes>>()
                .check_in_place::<Option<Notes>>()
                .check_from_client::<Option<Notes>>(),
            &__ARGS[0],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<Option<Notes>>::NEW).text_param();
        let __v0 = __p0.check_owned::<Option<Notes>>().read(&mut __call, &__ARGS[0]);
        let (true, ::core::option::Option::Some(mut __v0)) = (__call.accept(), __v0)
        else {
            return __call.refuse();
        };
        __call
            .ready(move |__cx| match <Notes>::free(__p0.pass(__cx, &mut __v0)?) {
                __reply => __mcp::prompt_reply::<()>(__reply),
            })
    }
    const _: () = __mcp::judge_text(
        &__ARGS[0],
        __mcp::Probe::<Option<Notes>>::IS_SERVER
            || __mcp::Probe::<Option<Notes>>::IS_PARSED,
        __mcp::Probe::<Option<Notes>>::PARAM,
    );
    __mcp::register!(
        __mcp::ItemDef::prompt("free", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "Notes::free"), ||
        __mcp::identity(& < Notes > ::free), __params, __run).group("notes")
    );
};
