async fn users(
    id: u64,
    rest: String,
    page: u8,
    per: Option<u8>,
    db: State<Db>,
) -> Result<String> {}
const __mcp_resource_users: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 5] = [
        __mcp::ArgDef::new("id"),
        __mcp::ArgDef::new("rest").complete(__mcp::Completer::Values(&["a", "b"])),
        __mcp::ArgDef::new("page").default(__mcp::Literal::Json("1")),
        __mcp::ArgDef::new("per.page"),
        __mcp::ArgDef::new("db"),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(
            (&&&&__mcp::Probe::<u64>::NEW)
                .text_param()
                .check::<u64>()
                .check_owned::<u64>(),
            &__ARGS[0],
        );
        __to.add(
            (&&&&__mcp::Probe::<String>::NEW)
                .text_param()
                .check::<String>()
                .check_owned::<String>()
                .check_from_client::<String>(),
            &__ARGS[1],
        );
        __to.add_default(
            (&&&&__mcp::Probe::<u8>::NEW)
                .text_param()
                .check::<u8>()
                .check_owned::<u8>()
                .check_from_client::<u8>(),
            &__ARGS[2],
            || 1,
        );
        __to.add(
            (&&&&__mcp::Probe::<Option<u8>>::NEW)
                .text_param()
                .check::<Option<u8>>()
                .check_owned::<Option<u8>>()
                .check_from_client::<Option<u8>>(),
            &__ARGS[3],
        );
        __to.add(
            (&&&&__mcp::Probe::<State<Db>>::NEW)
                .server_param()
                .check::<State<Db>>()
                .check_owned::<State<Db>>(),
            &__ARGS[4],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<u64>::NEW).text_param();
        let __p1 = (&&&&__mcp::Probe::<String>::NEW).text_param();
        let __p2 = (&&&&__mcp::Probe::<u8>::NEW).text_param();
        let __p3 = (&&&&__mcp::Probe::<Option<u8>>::NEW).text_param();
        let __p4 = (&&&&__mcp::Probe::<State<Db>>::NEW).server_param();
        let __v0 = __p0.check_owned::<u64>().read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<String>().read(&mut __call, &__ARGS[1]);
        let __v2 = __p2
            .check_owned::<u8>()
            .check_from_client::<u8>()
            .read_or(&mut __call, &__ARGS[2], || 1);
        let __v3 = __p3.check_owned::<Option<u8>>().read(&mut __call, &__ARGS[3]);
        let __v4 = __p4.check_owned::<State<Db>>().read(&mut __call, &__ARGS[4]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
            ::core::option::Option::Some(mut __v3),
            ::core::option::Option::Some(mut __v4),
        ) = (__call.accept(), __v0, __v1, __v2, __v3, __v4) else {
            return __call.refuse();
        };
        __call
            .future(move |__cx| async move {
                match {
                    type users = ();
                    use __mcp::stand_in::future5::*;
                    use users as __function;
                    __function
                }(
                        __p0.pass(&__cx, &mut __v0)?,
                        __p1.pass(&__cx, &mut __v1)?,
                        __p2.pass(&__cx, &mut __v2)?,
                        __p3.pass(&__cx, &mut __v3)?,
                        __p4.pass(&__cx, &mut __v4)?,
                    )
                    .await
                {
                    __reply => __mcp::resource_reply::<Result<String>>(&__cx, __reply),
                }
            })
    }
    const _: () = __mcp::judge_text(
        &__ARGS[0],
        __mcp::Probe::<u64>::IS_SERVER || __mcp::Probe::<u64>::IS_PARSED,
        __mcp::Probe::<u64>::PARAM,
    );
    const _: () = __mcp::judge_text(
        &__ARGS[1],
        __mcp::Probe::<String>::IS_SERVER || __mcp::Probe::<String>::IS_PARSED,
        __mcp::Probe::<String>::PARAM,
    );
    const _: () = __mcp::judge_text(
        &__ARGS[2],
        __mcp::Probe::<u8>::IS_SERVER || __mcp::Probe::<u8>::IS_PARSED,
        __mcp::Probe::<u8>::PARAM,
    );
    const _: () = __mcp::judge_text(
        &__ARGS[3],
        __mcp::Probe::<Option<u8>>::IS_SERVER || __mcp::Probe::<Option<u8>>::IS_PARSED,
        __mcp::Probe::<Option<u8>>::PARAM,
    );
    const _: () = __mcp::judge_text(
        &__ARGS[4],
        __mcp::Probe::<State<Db>>::IS_SERVER || __mcp::Probe::<State<Db>>::IS_PARSED,
        __mcp::Probe::<State<Db>>::PARAM,
    );
    __mcp::register!(
        __mcp::ItemDef::resource("users", "users://{id}/{+rest}{?page,per.page}", &
        [__mcp::Segment::Literal("users://"), __mcp::Segment::Variable { name : "id",
        kind : __mcp::VariableKind::Simple, explode : false },
        __mcp::Segment::Literal("/"), __mcp::Segment::Variable { name : "rest", kind :
        __mcp::VariableKind::Reserved, explode : false }, __mcp::Segment::Variable { name
        : "page", kind : __mcp::VariableKind::Query, explode : false },
        __mcp::Segment::Variable { name : "per.page", kind :
        __mcp::VariableKind::QueryMore, explode : false }],
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "users"), || { type users = (); use
        __mcp::stand_in:: *; use users as __identified; __mcp::identity(& __identified)
        }, __params, __run).usual_mime_type(|| (&& __mcp::Probe:: < Result < String > >
        ::NEW).media_type())
    );
    fn __placed() {
        type __mcp_resource_users = ();
        use __mcp::stand_in::*;
        use __mcp_resource_users as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
