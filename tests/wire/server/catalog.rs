//! Items with all the metadata that they can have.

use mcp_runtime::{Builder, prelude::*};

pub fn server() -> Builder {
    mcp_runtime::server!(
        name = "catalog",
        version = "1.2.3",
        title = "The restaurant",
        instructions = "Look at the menu before you book.",
        website = "https://example.com",
        icon = "https://example.com/icon.png",
        group = "catalog",
    )
}

/// Where to sit.
#[data]
#[serde(rename_all = "lowercase")]
enum Area {
    Inside,
    Garden,
}

/// A booking that stands.
#[data]
struct Booking {
    /// Its number
    number: u32,
}

/// Books a table.
#[tool(
    title = "Book a table",
    icon("https://example.com/book.png", mime_type = "image/png", sizes("48x48")),
    read_only = false,
    destructive = false,
    idempotent,
    open_world,
    meta("example.com/cost" = 3),
    group = "catalog"
)]
fn book(
    /// The day
    #[arg(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-07-28")]
    date: String,
    /// How many come
    #[arg(title = "Guests", default = 2, range(1..=12))]
    guests: u32,
    area: Option<Area>,
) -> Json<Booking> {
    let garden = matches!(area, Some(Area::Garden));
    Json(Booking { number: guests + u32::from(garden) + u32::from(date.is_empty()) })
}

/// The tables that are free.
#[tool(read_only, group = "catalog")]
fn free_tables() -> Json<Vec<u32>> {
    Json(vec![3, 5])
}

/// What there is to eat.
#[resource(
    "menu://today",
    title = "Menu",
    icon = "https://example.com/menu.svg",
    mime_type = "text/markdown",
    size = 14,
    cache(public, ttl = "5m"),
    subscribe,
    audience(user, assistant),
    priority = 0.5,
    meta("example.com/stars" = 2),
    group = "catalog"
)]
fn menu() -> &'static str {
    "- soup\n- bread"
}

#[resource("menu://logo", mime_type = "image/png", group = "catalog")]
fn logo() -> Blob {
    Blob::new([0x89, b'P', b'N', b'G'])
}

/// What is in a dish.
#[resource(
    "menu://dishes/{dish}",
    title = "Dish",
    icon = "https://example.com/dish.svg",
    mime_type = "text/plain",
    audience(assistant),
    priority = 1,
    meta("example.com/stars" = 1),
    group = "catalog"
)]
fn dish(#[complete("soup", "bread")] dish: &str) -> String {
    format!("{dish}: secret")
}

#[resource("menu://wines{?year}", group = "catalog")]
fn wines(year: Option<u16>) -> String {
    format!("{year:?}")
}

/// Welcomes a guest.
#[prompt(
    title = "Welcome",
    icon = "https://example.com/hand.png",
    meta("example.com/tone" = "warm"),
    group = "catalog"
)]
fn welcome(
    /// Who comes
    #[arg(title = "Guest")]
    guest: &str,
    #[complete("en", "fr")] language: Option<String>,
) -> String {
    format!("Welcome {guest} in {}", language.as_deref().unwrap_or("en"))
}

#[prompt(group = "catalog")]
fn goodbye() -> &'static str {
    "Say goodbye."
}
