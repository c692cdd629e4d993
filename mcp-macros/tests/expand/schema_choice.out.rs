const _: () = {
    use ::mcp_runtime::__private as __mcp;
    #[allow(unused_imports)]
    use __mcp::known::*;
    impl<__D: __mcp::Depth> __mcp::Schema<__D> for Shape {
        const NODE: __mcp::Node = <__D::Of<Self> as __mcp::Part>::NODE;
    }
    impl __mcp::Body for Shape {
        type At<__D: __mcp::Depth> = __mcp::Full<Self, __D>;
    }
    impl<__D: __mcp::Depth> __mcp::Described<__D> for Shape {
        const NODE: __mcp::Node = __mcp::Node::one_of(
            &[
                __mcp::Branch::new(
                    __mcp::Node::object(
                        &__mcp::Object::new(
                            &[
                                __mcp::Member::new(
                                        "kind",
                                        __mcp::Node::names(
                                            &[__mcp::Name::new("Nothing", "Nothing")],
                                            ::core::option::Option::None,
                                        ),
                                    )
                                    .always(),
                            ],
                            &[0],
                        ),
                    ),
                ),
                __mcp::Branch::new(
                        __mcp::Node::object(
                            &__mcp::Object::new(
                                &[
                                    __mcp::Member::new(
                                            "kind",
                                            __mcp::Node::names(
                                                &[__mcp::Name::new("Circle", "Circle")],
                                                ::core::option::Option::None,
                                            ),
                                        )
                                        .always(),
                                    __mcp::Member::new("radius", __mcp::Known::<f64, __D>::NODE),
                                ],
                                &[0, 1],
                            ),
                        ),
                    )
                    .description("Round"),
                __mcp::Branch::new(
                    __mcp::Node::tagged(
                        "kind",
                        "Polygon",
                        &__mcp::Known::<Polygon, __D>::NODE,
                    ),
                ),
            ],
        );
    }
};
