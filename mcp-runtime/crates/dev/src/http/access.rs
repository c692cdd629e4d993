//! Access to the answers of `dev` itself. Only programs and pages of this machine may read them. Each server checks the requests that it
//! answers.

use hyper::{
    HeaderMap, Uri,
    header::{ACCESS_CONTROL_ALLOW_ORIGIN, HOST, ORIGIN},
};

/// Checks that a request names this machine, so that no page of another site reads the errors of the compiler.
///
/// # Errors
/// Returns the text for the client.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), String> {
    for name in [HOST, ORIGIN] {
        for value in headers.get_all(&name) {
            let text = value.to_str().unwrap_or_default();
            let uri = if name == HOST { format!("http://{text}") } else { text.to_owned() };
            if !is_of_this_machine(&uri) {
                return Err(format!("`dev` answers only to this machine, and not to `{text}`"));
            }
        }
    }
    Ok(())
}

/// Lets the page that has sent the request read the answer.
pub(crate) fn allow_page(request: &HeaderMap, answer: &mut HeaderMap) {
    if let Some(origin) = request.get(ORIGIN) {
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

fn is_of_this_machine(uri: &str) -> bool {
    let Ok(uri) = uri.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_reads_the_errors() {
        for (host, origin, expected) in [
            ("127.0.0.1:8000", None, true),
            ("localhost", Some("http://localhost:5173"), true),
            ("[::1]:8000", None, true),
            ("attacker.example", None, false),
            ("127.0.0.1:8000", Some("https://attacker.example"), false),
            ("127.0.0.1:8000", Some("null"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(check(&headers).is_ok(), expected, "{host} {origin:?}");
        }
    }
}
