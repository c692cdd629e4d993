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
    #[schemars(title = "Name")]
    name: String,
    /// How many
    #[serde(default = "Booking::__default_seats")]
    seats: u8,
    ratio: Option<f64>,
    #[schemars(description = WHEN, extend("format" = "date-time"))]
    when: String,
    #[serde(default = "Booking::__default_ref")]
    r#ref: String,
    #[serde(default)]
    window: bool,
    toppings: Vec<Topping>,
}
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    impl Booking {
        #[doc(hidden)]
        fn __default_seats() -> u8 {
            2
        }
        #[doc(hidden)]
        fn __default_ref() -> String {
            ::core::convert::Into::into("nobody")
        }
    }
    impl __mcp::BoundedForm for Booking {
        const FIELD: &'static str = "name";
    }
    impl __mcp::Form for Booking {
        fn schema() -> &'static __mcp::FormSchema {
            static __SCHEMA: __mcp::OnceLock<__mcp::FormSchema> = __mcp::OnceLock::new();
            __SCHEMA
                .get_or_init(|| __mcp::form::<
                    Booking,
                >([
                    __mcp::field::<String>()
                        .title("Name")
                        .description("Whose table it is")
                        .len(
                            ::core::option::Option::Some(1),
                            ::core::option::Option::Some(80),
                        )
                        .done(),
                    __mcp::field::<u8>()
                        .description("How many")
                        .range(
                            ::core::option::Option::Some(1),
                            ::core::option::Option::Some(12),
                        )
                        .default(|| 2)
                        .done(),
                    __mcp::field::<Option<f64>>()
                        .range_float(
                            ::core::option::Option::Some(-0.5),
                            ::core::option::Option::Some(2.0),
                        )
                        .done(),
                    __mcp::field::<String>()
                        .description(WHEN)
                        .format(__mcp::TextFormat::DateTime)
                        .done(),
                    __mcp::field::<String>()
                        .default(|| __mcp::from_text("nobody"))
                        .done(),
                    __mcp::field::<bool>().default(|| __mcp::from_default()).done(),
                    __mcp::field::<Vec<Topping>>()
                        .len(
                            ::core::option::Option::None,
                            ::core::option::Option::Some(2),
                        )
                        .default(|| vec![Topping::Cheese])
                        .done(),
                ]))
        }
    }
};
