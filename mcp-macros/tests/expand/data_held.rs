#[data]
pub enum Shape {
    /// Round.
    Circle(Point, f64),
    Path { points: Vec<Point>, next: Option<Box<Shape>> },
}
