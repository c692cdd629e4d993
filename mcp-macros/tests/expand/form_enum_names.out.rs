#[derive(
    ::facade::__private::serde::Serialize,
    ::facade::__private::serde::Deserialize,
    ::facade::__private::schemars::JsonSchema,
    ::facade::__private::Schema
)]
#[serde(crate = "::facade::__private::serde")]
#[schemars(crate = "::facade::__private::schemars")]
#[mcp(crate = "::facade")]
enum Old {
    One,
}
const _: () = {
    use ::facade::__private as __mcp;
    impl __mcp::FormChoice for Old {
        fn choices() -> __mcp::Choices {
            __mcp::choices::<Old>(&[::core::option::Option::Some(TITLE)], true)
        }
    }
};
