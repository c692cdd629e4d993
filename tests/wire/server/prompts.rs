use mcp_runtime::prelude::*;

/// Greets somebody.
#[prompt]
fn greet(
    /// Whom
    name: &str,
    times: Option<u8>,
) -> String {
    format!("Greet {name} {} times", times.unwrap_or(1))
}

/// A whole conversation.
#[prompt]
fn dialog() -> WithMeta<(Message, Message, Message)> {
    let messages = (
        Message::user("What is on it?"),
        Message::user(Image::png([1])),
        Message::assistant(Embedded::text("note://1", "inside")),
    );
    WithMeta(messages, Meta::new().with("example.com/v", 2))
}

/// What older revisions have no block for.
#[prompt]
fn modern_blocks() -> (Message, Message) {
    (Message::user(Audio::wav([1])), Message::user(ResourceLink::new("note://1", "note")))
}

#[data]
#[serde(rename_all = "lowercase")]
enum Tone {
    Warm,
    Cold,
}

/// Plans a trip.
#[prompt]
fn trip(
    #[complete("France", "Finland", "San Francisco")] country: &str,
    #[complete(cities)] city: Option<String>,
    #[complete(numbers)] days: Option<u8>,
    #[complete(many)] hotel: Option<String>,
    tone: Option<Tone>,
    by_train: Option<bool>,
    name: Option<String>,
) -> String {
    let tone = if matches!(tone, Some(Tone::Cold)) { "cold" } else { "warm" };
    let train = by_train.unwrap_or(false);
    format!("{country} {city:?} {days:?} {hotel:?} {tone} {train} {name:?}")
}

/// Filters the values itself, by the country and the typed text.
#[completion]
async fn cities(typed: &str, country: Option<String>) -> Vec<String> {
    let cities: &[&str] = match country.as_deref() {
        Some("France") => &["Paris", "Pau", "Lyon"],
        Some(_) => &["Oulu"],
        None => &["Paris", "Pau", "Lyon", "Oulu", "Porto"],
    };
    let fits = |city: &&&str| city.starts_with(typed);
    cities.iter().filter(fits).map(|city| (*city).to_owned()).collect()
}

/// Returns more values than the server may send, and leaves the filtering to the framework.
#[completion]
fn numbers() -> Vec<String> {
    (0..250).map(|number| number.to_string()).collect()
}

/// Returns the number of values without listing all of them.
#[completion]
fn many() -> Completion {
    Completion::new(["Astoria", "Ritz"]).total(1000)
}
