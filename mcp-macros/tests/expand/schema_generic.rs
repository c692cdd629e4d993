#[derive(Schema)]
struct Page<T: Clone> {
    items: Vec<T>,
    next: Option<Cursor>,
}
