const _: () = {
    use ::mcp_runtime::__private as __mcp;
    #[allow(unused_imports)]
    use __mcp::known::*;
    impl<T: __mcp::Schema<__D> + Clone, __D: __mcp::Depth> __mcp::Schema<__D>
    for Page<T> {
        const NODE: __mcp::Node = __mcp::Node::object(
            &__mcp::Object::new(
                &[
                    __mcp::Member::new("items", __mcp::Known::<Vec<T>, __D>::NODE)
                        .or(|__generator| {
                            (&&&__mcp::OfSchemars::<Vec<T>>::NEW).ask(__generator)
                        }),
                    __mcp::Member::new("next", __mcp::Known::<Option<Cursor>, __D>::NODE)
                        .or(|__generator| {
                            (&&&__mcp::OfSchemars::<Option<Cursor>>::NEW)
                                .ask(__generator)
                        }),
                ],
                &[0, 1],
            ),
        );
    }
};
