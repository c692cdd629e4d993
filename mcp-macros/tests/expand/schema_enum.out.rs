const _: () = {
    use ::mcp_runtime::__private as __mcp;
    #[allow(unused_imports)]
    use __mcp::known::*;
    impl<__D: __mcp::Depth> __mcp::Schema<__D> for Unit {
        const NODE: __mcp::Node = <__D::Of<Self> as __mcp::Part>::NODE;
    }
    impl __mcp::Body for Unit {
        type At<__D: __mcp::Depth> = __mcp::Full<Self, __D>;
    }
    impl<__D: __mcp::Depth> __mcp::Described<__D> for Unit {
        const NODE: __mcp::Node = __mcp::Node::names(
            &[
                __mcp::Name::new("NauticalMile", "nautical-mile"),
                __mcp::Name::new("Kilometre", "kilometre")
                    .description("A thousand metres"),
            ],
            ::core::option::Option::Some("NauticalMile"),
        );
    }
    impl __mcp::ConfigChoice for Unit {}
};
