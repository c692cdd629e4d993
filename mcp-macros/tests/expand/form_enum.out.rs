#[derive(
    ::mcp_runtime::__private::serde::Serialize,
    ::mcp_runtime::__private::serde::Deserialize,
    ::mcp_runtime::__private::schemars::JsonSchema,
    ::mcp_runtime::__private::Schema
)]
#[serde(crate = "::mcp_runtime::__private::serde")]
#[schemars(crate = "::mcp_runtime::__private::schemars")]
#[mcp(crate = "::mcp_runtime")]
#[cfg(feature = "food")]
enum Topping {
    /// Much cheese
    Cheese,
    #[serde(rename = "green-olives")]
    Olives,
    Nothing,
}
#[cfg(feature = "food")]
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    impl __mcp::FormChoice for Topping {
        fn choices() -> __mcp::Choices {
            __mcp::choices::<
                Topping,
            >(
                &[
                    ::core::option::Option::Some("Much cheese"),
                    ::core::option::Option::Some("Green ones"),
                    ::core::option::Option::None,
                ],
                false,
            )
        }
    }
};
