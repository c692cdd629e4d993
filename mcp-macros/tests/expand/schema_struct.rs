/// A place on earth.
#[derive(Schema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Place {
    /// Where it is
    at_latitude: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    owner: Owner,
    #[serde(skip)]
    cached: bool,
}
