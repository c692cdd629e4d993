#[derive(
    ::mcp_runtime::__private::serde::Serialize,
    ::mcp_runtime::__private::serde::Deserialize,
    ::mcp_runtime::__private::schemars::JsonSchema,
    ::mcp_runtime::__private::Schema
)]
#[serde(crate = "::mcp_runtime::__private::serde")]
#[schemars(crate = "::mcp_runtime::__private::schemars")]
#[mcp(crate = "::mcp_runtime")]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Whose table it is
    name: String,
    /// How many
    seats: u8,
    ratio: Option<f64>,
    when: String,
    r#ref: String,
    window: bool,
    toppings: Vec<Topping>,
}
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    impl __mcp::Form for Booking {
        fn schema() -> &'static __mcp::FormSchema {
            ::core::unreachable!()
        }
    }
};
const _: fn() = || {
    ::mcp_runtime::__private::field::<String>()
        .title("Name")
        .description("Whose table it is")
        .len(::core::option::Option::Some(1), ::core::option::Option::Some(80))
        .done();
    ::mcp_runtime::__private::field::<u8>()
        .description("How many")
        .range(::core::option::Option::Some(1), ::core::option::Option::Some(12))
        .default(|| 2)
        .done();
    ::mcp_runtime::__private::field::<Option<f64>>()
        .range_float(
            ::core::option::Option::Some(-0.5),
            ::core::option::Option::Some(2.0),
        )
        .done();
    ::mcp_runtime::__private::field::<String>()
        .description(WHEN)
        .format(::mcp_runtime::__private::TextFormat::DateTime)
        .done();
    ::mcp_runtime::__private::field::<String>()
        .default(|| ::mcp_runtime::__private::from_text("nobody"))
        .done();
    ::mcp_runtime::__private::field::<bool>()
        .default(|| ::mcp_runtime::__private::from_default())
        .done();
    ::mcp_runtime::__private::field::<Vec<Topping>>()
        .len(::core::option::Option::None, ::core::option::Option::Some(2))
        .default(|| vec![Topping::Cheese])
        .done();
};
const _: fn() = || {
    |__keys: __| __ { __: (), ..__keys };
    struct __ {
        __: (),
        enum_names: (),
    }
};
