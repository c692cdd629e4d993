/// The settings.
#[resource("config://app", mime_type = "application/json", size = "1MB", cache(public, ttl = "5m"), subscribe, audience(user, assistant), priority = 0.5)]
fn config() -> String {}
