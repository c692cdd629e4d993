#[derive(
    ::mcp_runtime::__private::serde::Serialize,
    ::mcp_runtime::__private::serde::Deserialize,
    ::mcp_runtime::__private::schemars::JsonSchema,
    ::mcp_runtime::__private::Schema
)]
#[serde(crate = "::mcp_runtime::__private::serde")]
#[schemars(crate = "::mcp_runtime::__private::schemars")]
#[mcp(crate = "::mcp_runtime")]
pub enum Shape {
    /// Round.
    Circle(
        #[serde(
            bound(
                serialize = "for<'a> Point: ::mcp_runtime::__private::FieldBound<'a, Shape, 0>",
                deserialize = "for<'a> Point: ::mcp_runtime::__private::FieldBound<'a, Shape, 0>"
            )
        )]
        Point,
        f64,
    ),
    Path {
        points: Vec<Point>,
        #[serde(
            bound(
                serialize = "for<'a> Box < Shape >: ::mcp_runtime::__private::FieldBound<'a, Shape, 1>",
                deserialize = "for<'a> Box < Shape >: ::mcp_runtime::__private::FieldBound<'a, Shape, 1>"
            )
        )]
        next: Option<Box<Shape>>,
    },
}
impl ::mcp_runtime::__private::FieldBound<'_, Shape, 0> for Point {}
impl ::mcp_runtime::__private::FieldBound<'_, Shape, 1> for Box<Shape> {}
