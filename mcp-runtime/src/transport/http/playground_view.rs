//! Empty document in which the playground shows the view of a tool (MCP Apps, stable version of 2026-01-26).
//!
//! A `srcdoc` frame would have the policy of the page, which forbids the scripts of the view. So the frame loads this document. Its response
//! has the Content-Security-Policy that the resource of the view declares, and the page then sends the HTML of the view into it.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, header};

/// The document. It accepts HTML from the window that contains its frame, and the header `Content-Security-Policy` permits only the page
/// to contain it. Afterwards nothing of the document is left: `document.open` removes the listener.
const DOCUMENT: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>View</title>
<script>
addEventListener('message', ({ data, source }) => {
    if (parent === window || source !== parent || typeof data?.playgroundView !== 'string') return;
    document.open();
    document.write(data.playgroundView);
    document.close();
});
</script>
</html>
";

/// Host sources that the resource of a view declares, by use.
#[derive(Default)]
struct DeclaredSources<'a> {
    connect: Vec<&'a str>,
    resource: Vec<&'a str>,
    frame: Vec<&'a str>,
    base: Vec<&'a str>,
}

/// Answers a request for the document. The query names the declared sources, as in `connect=https://a.example&resource=https://b.example`.
/// Host sources have no character that a query encodes, so the query is read as it is.
///
/// # Errors
/// Returns the reason if the query has another name, or a value that is not a host source.
pub(super) fn answer(query: &str) -> Result<Response<Bytes>, String> {
    let mut declared = DeclaredSources::default();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, source) = part.split_once('=').unwrap_or((part, ""));
        let list = match name {
            "connect" => &mut declared.connect,
            "resource" => &mut declared.resource,
            "frame" => &mut declared.frame,
            "base" => &mut declared.base,
            _ => {
                return Err(format!(
                    "`{name}` is no list of sources: use `connect`, `resource`, `frame` or `base`"
                ));
            }
        };
        if !is_host_source(source) {
            return Err(format!(
                "`{source}` is no host source: use a text such as `https://cdn.example.com`"
            ));
        }
        list.push(source);
    }
    let policy = HeaderValue::try_from(policy(&declared)).map_err(|why| why.to_string())?;
    let mut response = Response::new(Bytes::from_static(DOCUMENT.as_bytes()));
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
        // The policy does not forbid the lookup of a host name.
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

/// Returns the policy of a view. The specification permits `'self'`, too. Here `'self'` would be this server, which the view reaches only
/// through the page, so the policy leaves it out.
fn policy(declared: &DeclaredSources<'_>) -> String {
    let list = |fixed: &'static str, sources: &[&str]| {
        let all: Vec<_> =
            fixed.split_whitespace().chain(sources.iter().copied()).map(str::to_owned).collect();
        if all.is_empty() { "'none'".to_owned() } else { all.join(" ") }
    };
    let DeclaredSources { connect, resource, frame, base } = declared;
    [
        "default-src 'none'".to_owned(),
        format!("script-src {}", list("'unsafe-inline'", resource)),
        format!("style-src {}", list("'unsafe-inline'", resource)),
        format!("img-src {}", list("data:", resource)),
        format!("font-src {}", list("", resource)),
        format!("media-src {}", list("data:", resource)),
        format!("connect-src {}", list("", connect)),
        format!("frame-src {}", list("", frame)),
        "object-src 'none'".to_owned(),
        format!("base-uri {}", list("", base)),
        "form-action 'none'".to_owned(),
        "frame-ancestors 'self'".to_owned(),
        // The origin is opaque, also if a user opens the document without the frame of the page.
        "sandbox allow-scripts".to_owned(),
    ]
    .join("; ")
}

/// Whether a text is a host source of a policy: a host name with an optional scheme, port and path. Keywords, schemes without a host, and `*`
/// for all hosts are not host sources. The page checks the same before it asks for the document.
fn is_host_source(text: &str) -> bool {
    let rest = match text.split_once("://") {
        Some((scheme, rest)) => {
            if !["http", "https", "ws", "wss"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
            {
                return false;
            }
            rest
        }
        None => text,
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, "*"));
    let is_name = |text: &str, others: &[u8]| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
    };
    let is_label = |label: &str| !label.is_empty() && is_name(label, b"-_");
    let is_port = port == "*"
        || ((1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit()));
    host.strip_prefix("*.").unwrap_or(host).split('.').all(is_label)
        && is_port
        && is_name(path, b"-._~%@/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table of texts that the test of the page reads, too.
    #[derive(serde::Deserialize)]
    struct Cases {
        accepted: Vec<String>,
        refused: Vec<String>,
    }

    fn policy_of(query: &str) -> String {
        let response = answer(query).unwrap();
        response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
    }

    #[test]
    fn a_view_that_declares_nothing_reaches_no_host() {
        assert_eq!(
            policy_of(""),
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src 'none'; media-src data:; \
             connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
             sandbox allow-scripts"
        );
    }

    #[test]
    fn each_list_of_sources_has_its_directives() {
        let policy = policy_of(
            "connect=wss://a.example&resource=https://*.b.example:*&resource=https://c.example/x@1/&frame=https://d.example&base=https://e.example:8443",
        );
        let resources = "https://*.b.example:* https://c.example/x@1/";
        for directive in [
            format!("; script-src 'unsafe-inline' {resources};"),
            format!("; style-src 'unsafe-inline' {resources};"),
            format!("; img-src data: {resources};"),
            format!("; font-src {resources};"),
            format!("; media-src data: {resources};"),
            "; connect-src wss://a.example;".to_owned(),
            "; frame-src https://d.example;".to_owned(),
            "; base-uri https://e.example:8443;".to_owned(),
        ] {
            assert!(policy.contains(&directive), "{directive}: {policy}");
        }
    }

    #[test]
    fn host_sources_are_the_texts_that_the_table_accepts() {
        let cases: Cases =
            serde_json::from_str(include_str!("../../../playground/host_sources.json")).unwrap();
        assert!(cases.accepted.len() > 10 && cases.refused.len() > 10);
        for source in &cases.accepted {
            let policy = policy_of(&format!("connect={source}"));
            assert!(policy.contains(&format!("; connect-src {source};")), "{source}: {policy}");
        }
        for source in &cases.refused {
            assert!(!is_host_source(source), "{source}");
            // An `&` begins the next part of a query.
            assert!(
                source.contains('&') || answer(&format!("connect={source}")).is_err(),
                "{source}"
            );
        }
        let why = answer("script=https://a.example").unwrap_err();
        assert!(why.contains("`script`") && why.contains("`connect`"), "{why}");
    }
}
