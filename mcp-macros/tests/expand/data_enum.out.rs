#[derive(
    ::facade::__private::serde::Serialize,
    ::facade::__private::serde::Deserialize,
    ::facade::__private::schemars::JsonSchema
)]
#[serde(crate = "::facade::__private::serde")]
#[schemars(crate = "::facade::__private::schemars")]
enum Kind {
    A,
}
