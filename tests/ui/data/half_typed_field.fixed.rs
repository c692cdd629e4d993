use mcp_runtime::prelude::*;

#[data]
struct Recipient {
    #[serde(rename = "fullName")]
    name: String,
    na: String,
}

/// Sends a letter.
#[tool]
fn send(recipient: Recipient) -> String {
    recipient.name
}

/// Sends letters.
#[tool]
fn send_all(recipients: Vec<Recipient>) -> usize {
    recipients.len()
}

fn main() {}
