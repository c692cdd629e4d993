const _: () = {
    use ::mcp_runtime::__private as __mcp;
    #[allow(unused_imports)]
    use __mcp::known::*;
    impl<'a, __D: __mcp::Depth> __mcp::Schema<__D> for Cents<'a> {
        const NODE: __mcp::Node = <__D::Of<Self> as __mcp::Part>::NODE;
    }
    impl<'a> __mcp::Body for Cents<'a> {
        type At<__D: __mcp::Depth> = __mcp::Full<Self, __D>;
    }
    impl<'a, __D: __mcp::Depth> __mcp::Described<__D> for Cents<'a> {
        const NODE: __mcp::Node = __mcp::Known::<Cow<'a, str>, __D>::NODE
            .newtype()
            .description("Money");
    }
};
