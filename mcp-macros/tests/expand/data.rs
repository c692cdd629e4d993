#[data]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    items: Vec<T>,
}
