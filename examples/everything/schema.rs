//! Tool with a schema that is written by hand, because no Rust type can express it.

use mcp_runtime::prelude::*;

const CONTACT: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        }
    },
    "properties": {
        "name": { "type": "string" },
        "address": { "$ref": "#/$defs/address" },
        "contactMethod": { "type": "string", "enum": ["phone", "email"] },
        "phone": { "type": "string" },
        "email": { "type": "string" }
    },
    "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
    "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
    "then": { "required": ["phone"] },
    "else": { "required": ["email"] },
    "additionalProperties": false
}"##;

#[data]
struct Address {
    street: Option<String>,
    city: Option<String>,
}

#[data]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum ContactMethod {
    Phone,
    Email,
}

/// Says how to reach a contact, by e-mail or by phone.
#[tool(read_only, input_schema = CONTACT)]
fn json_schema_2020_12_tool(
    name: Option<&str>,
    address: Option<Address>,
    #[arg(name = "contactMethod")] method: Option<ContactMethod>,
    phone: Option<&str>,
    email: Option<&str>,
) -> Result<String> {
    let wanted = match method {
        Some(ContactMethod::Phone) => phone,
        Some(ContactMethod::Email) | None => email,
    };
    let way = wanted
        .ok_or_else(|| Error::msg("give an `email`, or a `phone` if `contactMethod` is `phone`"))?;
    let city = address.and_then(|it| it.city).map(|city| format!(" in {city}")).unwrap_or_default();
    Ok(format!("Reach {}{city} at {way}.", name.unwrap_or("them")))
}
