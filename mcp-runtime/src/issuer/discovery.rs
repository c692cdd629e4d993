//! Finds the keys of an issuer through its metadata (RFC 8414, and OpenID Connect Discovery 1.0).

use serde::Deserialize;

use super::fetch::Fetch;

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: Option<String>,
}

/// Returns the URLs at which the metadata of an issuer may be, in the order in which they are tried.
pub(super) fn addresses(issuer: &str) -> Vec<String> {
    let end = issuer.find("://").map_or(0, |it| it + "://".len());
    let end = issuer[end..].find('/').map_or(issuer.len(), |it| end + it);
    let (origin, path) = issuer.split_at(end);
    let path = path.trim_end_matches('/');
    let mut addresses = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    addresses
}

/// Returns the URL of the issuer's keys.
///
/// # Errors
/// Fails if the issuer has no metadata that names it.
pub(super) async fn jwks_uri<F: Fetch>(fetch: &F, issuer: &str) -> Result<String, String> {
    discover(fetch, issuer, |document| read(document, issuer)).await
}

/// Reads the first valid metadata document of an issuer.
///
/// # Errors
/// There is no valid document. The error names the problem of each URL.
pub(crate) async fn discover<F: Fetch, T>(
    fetch: &F,
    issuer: &str,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<T, String> {
    let mut problems = Vec::new();
    for address in addresses(issuer) {
        let found = match fetch.get(&address).await {
            Ok(document) => read(&document),
            Err(problem) => Err(problem),
        };
        match found {
            Ok(found) => return Ok(found),
            Err(problem) => problems.push(format!("{address}: {problem}")),
        }
    }
    Err(problems.join("; "))
}

fn read(document: &[u8], issuer: &str) -> Result<String, String> {
    let metadata: Metadata = serde_json::from_slice(document)
        .map_err(|_| "it is no metadata of an issuer".to_owned())?;
    // The metadata of another issuer must not name keys for this one (RFC 8414, section 3.3).
    if metadata.issuer != issuer {
        return Err("it is the metadata of another issuer".to_owned());
    }
    metadata.jwks_uri.ok_or_else(|| "it names no `jwks_uri`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_it_may_be() {
        assert_eq!(
            addresses("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
        assert_eq!(addresses("https://a.example/"), addresses("https://a.example"));
        assert_eq!(
            addresses("https://a.example:1/t/v2"),
            [
                "https://a.example:1/.well-known/oauth-authorization-server/t/v2",
                "https://a.example:1/.well-known/openid-configuration/t/v2",
                "https://a.example:1/t/v2/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn metadata_that_names_another_issuer_is_refused() {
        let read = |text: &str| read(text.as_bytes(), "https://a.example");
        assert_eq!(
            read(r#"{"issuer":"https://a.example","jwks_uri":"https://k.example/k","x":[1]}"#),
            Ok("https://k.example/k".to_owned())
        );
        for other in [
            r#"{"issuer":"https://a.example/","jwks_uri":"https://k.example/k"}"#,
            r#"{"issuer":"https://b.example","jwks_uri":"https://k.example/k"}"#,
            r#"{"jwks_uri":"https://k.example/k"}"#,
            r#"{"issuer":"https://a.example"}"#,
            "<html>",
        ] {
            assert!(read(other).is_err(), "{other}");
        }
    }
}
