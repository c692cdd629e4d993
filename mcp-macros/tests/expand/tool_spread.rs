#[tool]
fn find(
    /// Where to look.
    #[serde(rename = "in", default)]
    #[schemars(length(min = 1))]
    place: &str,
    #[serde(with = "hex")] keys: &[Key],
    #[arg(title = "Since")] #[schemars(with = "String")] since: Option<Date>,
) -> String {
}
