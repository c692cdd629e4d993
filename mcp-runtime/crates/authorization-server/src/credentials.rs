//! Client authentication at the upstream provider (RFC 6749, section 2.3.1).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use mcp_runtime::__companion::encode;

use super::form;

/// Returns the body of a form and the value of `Authorization`. By default the secret is in the header. It is in the body if the provider
/// supports `client_secret_post` and not `client_secret_basic`.
///
/// # Errors
/// Fails if the id and the secret give no valid header value.
pub(crate) fn with(
    id: &str,
    secret: Option<&str>,
    methods: &[String],
    fields: &[(&str, &str)],
) -> Result<(String, Option<HeaderValue>), String> {
    let has = |method: &str| methods.iter().any(|it| it == method);
    let posts = has("client_secret_post") && !has("client_secret_basic");
    let mut body = String::from("?");
    for (name, value) in fields {
        form::push(&mut body, name, value);
    }
    let basic = match secret {
        Some(secret) if !posts => Some(basic(id, secret)?),
        secret => {
            form::push(&mut body, "client_id", id);
            if let Some(secret) = secret {
                form::push(&mut body, "client_secret", secret);
            }
            None
        }
    };
    Ok((body.trim_start_matches(['?', '&']).to_owned(), basic))
}

fn basic(id: &str, secret: &str) -> Result<HeaderValue, String> {
    let (mut user, mut password) = (String::new(), String::new());
    encode(id, |_| false, &mut user);
    encode(secret, |_| false, &mut password);
    let value = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let mut value = HeaderValue::try_from(value).map_err(|why| why.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}
