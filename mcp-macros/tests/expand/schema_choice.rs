#[derive(Schema)]
#[serde(tag = "kind")]
enum Shape {
    Nothing,
    /// Round
    Circle { radius: f64 },
    Polygon(Polygon),
}
