#[form]
#[cfg(feature = "food")]
enum Topping {
    /// Much cheese
    Cheese,
    #[arg(title = "Green ones")]
    #[serde(rename = "green-olives")]
    Olives,
    Nothing,
}
