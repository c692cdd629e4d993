#[derive(Schema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    /// A thousand metres
    Kilometre,
    #[default]
    NauticalMile,
}
