fn find(place: &str, keys: &[Key], since: Option<Date>) -> String {}
const __mcp_tool_find: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 3] = [
        __mcp::ArgDef::new("place").description("Where to look."),
        __mcp::ArgDef::new("keys"),
        __mcp::ArgDef::new("since").title("Since"),
    ];
    #[derive(__mcp::serde::Deserialize, __mcp::schemars::JsonSchema, __mcp::Schema)]
    #[serde(crate = "::mcp_runtime::__private::serde")]
    #[schemars(crate = "::mcp_runtime::__private::schemars")]
    #[mcp(crate = "::mcp_runtime")]
    struct __Field0 {
        /// Where to look.
        #[serde(rename = "in", default)]
        #[schemars(length(min = 1))]
        place: ::std::string::String,
    }
    #[derive(__mcp::serde::Deserialize, __mcp::schemars::JsonSchema, __mcp::Schema)]
    #[serde(crate = "::mcp_runtime::__private::serde")]
    #[schemars(crate = "::mcp_runtime::__private::schemars")]
    #[mcp(crate = "::mcp_runtime")]
    struct __Field1 {
        #[serde(with = "hex")]
        keys: ::std::vec::Vec<Key>,
    }
    #[derive(__mcp::serde::Deserialize, __mcp::schemars::JsonSchema, __mcp::Schema)]
    #[serde(crate = "::mcp_runtime::__private::serde")]
    #[schemars(crate = "::mcp_runtime::__private::schemars")]
    #[mcp(crate = "::mcp_runtime")]
    struct __Field2 {
        #[schemars(with = "String")]
        since: Option<Date>,
    }
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
        __to.add(
            (&&__mcp::Probe::<__Field0>::NEW).field_param(|__it| __it.place),
            &__ARGS[0],
        );
        __to.add(
            (&&__mcp::Probe::<__Field1>::NEW).field_param(|__it| __it.keys),
            &__ARGS[1],
        );
        __to.add(
            (&&__mcp::Probe::<__Field2>::NEW).field_param(|__it| __it.since),
            &__ARGS[2],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&__mcp::Probe::<__Field0>::NEW).field_param(|__it| __it.place);
        let __p1 = (&&__mcp::Probe::<__Field1>::NEW).field_param(|__it| __it.keys);
        let __p2 = (&&__mcp::Probe::<__Field2>::NEW).field_param(|__it| __it.since);
        let __v0 = __p0.read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.read(&mut __call, &__ARGS[1]);
        let __v2 = __p2.read(&mut __call, &__ARGS[2]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
        ) = (__call.accept(), __v0, __v1, __v2) else {
            return __call.refuse();
        };
        __call
            .ready(move |__cx| match {
                type find = ();
                use __mcp::stand_in::value3::*;
                use find as __function;
                __function
            }(
                &__p0.pass(__cx, &mut __v0)?,
                &__p1.pass(__cx, &mut __v1)?,
                __p2.pass(__cx, &mut __v2)?,
            ) {
                __reply => __mcp::tool_reply::<String>(__reply),
            })
    }
    const _: () = __mcp::judge_form(&__ARGS[1], __mcp::Probe::<Key>::BOUND);
    const _: () = __mcp::judge_form(&__ARGS[2], __mcp::Probe::<Date>::BOUND);
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(
        &[
            __mcp::Property::new(
                &__ARGS[0],
                __mcp::Probe::<__mcp::Args<__Field0>>::IS_SERVER,
                __mcp::Probe::<__mcp::Args<__Field0>>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[1],
                __mcp::Probe::<__mcp::Args<__Field1>>::IS_SERVER,
                __mcp::Probe::<__mcp::Args<__Field1>>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[2],
                __mcp::Probe::<__mcp::Args<__Field2>>::IS_SERVER,
                __mcp::Probe::<__mcp::Args<__Field2>>::PARAM,
            ),
        ],
    );
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<String>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("find", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "find"), || { type find
        = (); use __mcp::stand_in:: *; use find as __identified; __mcp::identity(&
        __identified) }, __params, __run, || (&& __mcp::Probe:: < String > ::NEW)
        .output()).input(& __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT
        .is_object())
    );
    fn __placed() {
        type __mcp_tool_find = ();
        use __mcp::stand_in::*;
        use __mcp_tool_find as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
