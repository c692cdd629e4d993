/// Reviews code.
#[prompt(title = "Review")]
fn review(#[complete("rust", "go")] language: &str, #[arg(complete = places::cities)] city: Option<City>) -> String {}
