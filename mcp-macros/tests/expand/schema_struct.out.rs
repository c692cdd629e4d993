const _: () = {
    use ::mcp_runtime::__private as __mcp;
    #[allow(unused_imports)]
    use __mcp::known::*;
    impl<__D: __mcp::Depth> __mcp::Schema<__D> for Place {
        const NODE: __mcp::Node = <__D::Of<Self> as __mcp::Part>::NODE;
    }
    impl __mcp::Body for Place {
        type At<__D: __mcp::Depth> = __mcp::Full<Self, __D>;
    }
    impl<__D: __mcp::Depth> __mcp::Described<__D> for Place {
        const NODE: __mcp::Node = __mcp::Node::object(
                &__mcp::Object::new(
                        &[
                            __mcp::Member::new(
                                    "atLatitude",
                                    __mcp::Known::<f64, __D>::NODE,
                                )
                                .description("Where it is"),
                            __mcp::Member::new(
                                    "names",
                                    __mcp::Known::<Vec<String>, __D>::NODE,
                                )
                                .defaulted()
                                .skipped(),
                            __mcp::Member::new("owner", __mcp::Known::<Owner, __D>::NODE)
                                .or(|__generator| {
                                    (&&&__mcp::OfSchemars::<Owner>::NEW).ask(__generator)
                                }),
                        ],
                        &[0, 1, 2],
                    )
                    .closed(),
            )
            .description("A place on earth.");
    }
};
