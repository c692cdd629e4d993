#[form]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Whose table it is
    #[arg(len(1..=80), title = "Name")]
    name: String,
    /// How many
    #[arg(default = 2, range(1..=12))]
    seats: u8,
    #[arg(range(-0.5..=2.))]
    ratio: Option<f64>,
    #[arg(format = "date-time", description = WHEN)]
    when: String,
    #[arg(default = "nobody")]
    r#ref: String,
    #[arg(default)]
    window: bool,
    #[arg(len(..=2), default = vec![Topping::Cheese])]
    toppings: Vec<Topping>,
}
