//! Access token in the header `Authorization` of a request (RFC 6750, section 2.1). The specification requires this header and forbids a
//! token in the query (rule AUTH-07).

use std::fmt;

use http::{HeaderMap, HeaderValue, header};
use mcp_runtime_contract::percent;

use super::challenge::AuthRefusal;

/// Maximum length of a token, in bytes.
const MOST: usize = 16 << 10;

/// Access token of a request. The `Debug` output omits the token, so that tokens do not end up in logs.
#[derive(Clone)]
pub(crate) struct BearerToken {
    header: HeaderValue,
    from: usize,
}

impl BearerToken {
    pub(crate) fn as_str(&self) -> &str {
        // `presented` has checked that the header is ASCII.
        self.header.to_str().ok().and_then(|header| header.get(self.from..)).unwrap_or_default()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Returns the token of a request. Returns `None` if the request has no token, or has credentials of a scheme other than `Bearer`.
///
/// # Errors
/// Fails if the query contains a token, if the header `Authorization` occurs twice, or if the token is malformed or too long.
pub(crate) fn presented(
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Option<BearerToken>, AuthRefusal> {
    if query.is_some_and(names_a_token) {
        return Err(AuthRefusal::Malformed(
            "a token in the query can be read in logs: send it as `Authorization: Bearer`",
        ));
    }
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let Some(header) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(AuthRefusal::Malformed("the header `Authorization` is repeated"));
    }
    let Some(from) = after_scheme(header.as_bytes()) else { return Ok(None) };
    if header.len() - from > MOST {
        return Err(AuthRefusal::Invalid("the token is longer than 16 KiB".into()));
    }
    if !is_b64token(&header.as_bytes()[from..]) {
        return Err(AuthRefusal::Malformed(
            "`Bearer` must be followed by a token and nothing else",
        ));
    }
    Ok(Some(BearerToken { header: header.clone(), from }))
}

/// Returns the position at which the token begins, or `None` for a scheme other than `Bearer`.
fn after_scheme(value: &[u8]) -> Option<usize> {
    const SCHEME: &[u8] = b"bearer";
    let (scheme, rest) = value.split_at_checked(SCHEME.len())?;
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    let is_ours = scheme.eq_ignore_ascii_case(SCHEME) && (blanks > 0 || rest.is_empty());
    is_ours.then_some(SCHEME.len() + blanks)
}

/// Whether a text is a `b64token` (RFC 6750, section 2.1): `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`.
pub(super) fn is_b64token(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    end > 0 && text[..end].iter().all(|byte| IS_B64[usize::from(*byte)])
}

/// Characters that a `b64token` may contain before its padding. A lookup table keeps the check fast, because each request has a token of
/// several hundred characters.
static IS_B64: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0_u8;
    while at < 128 {
        table[at as usize] =
            matches!(at, b'-' | b'.' | b'_' | b'~' | b'+' | b'/') || at.is_ascii_alphanumeric();
        at += 1;
    }
    table
};

/// Whether a query has the parameter `access_token` (RFC 6750, section 2.3). The comparison ignores case, and decodes percent-encoding.
fn names_a_token(query: &str) -> bool {
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        percent::decode(name).is_some_and(|name| name.eq_ignore_ascii_case("access_token"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn given(values: &[&str], query: Option<&str>) -> Result<Option<String>, u16> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        let found = presented(&headers, query);
        found
            .map(|token| token.map(|token| token.as_str().to_owned()))
            .map_err(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn a_token_comes_in_one_way_only() {
        let token = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(given(&["Bearer abc"], None), token("abc"));
        assert_eq!(given(&["bEARER   a.b-c_d~e+f/g=="], None), token("a.b-c_d~e+f/g=="));
        assert_eq!(given(&["Bearer abc"], Some("access=1&token=2&")), token("abc"));
        assert_eq!(given(&[], None), Ok(None));
        assert_eq!(given(&["Basic YTpi"], None), Ok(None));
        assert_eq!(given(&["Bearerabc"], None), Ok(None));
        assert_eq!(given(&["bear"], None), Ok(None));
        for malformed in [
            "Bearer",
            "Bearer ",
            "Bearer =",
            "Bearer a b",
            "Bearer a,b",
            "Bearer a=b",
            "Bearer \"a\"",
        ] {
            assert_eq!(given(&[malformed], None), Err(400), "{malformed}");
        }
        assert_eq!(given(&["Bearer abc", "Bearer abc"], None), Err(400));
        assert_eq!(given(&["Bearer abc", "Basic YTpi"], None), Err(400));
        for query in ["access_token=abc", "a=b&access_token", "access%5ftoken=abc", "ACCESS_TOKEN="]
        {
            assert_eq!(given(&["Bearer abc"], Some(query)), Err(400), "{query}");
            assert_eq!(given(&[], Some(query)), Err(400), "{query}");
        }
        assert_eq!(
            given(&[&format!("Bearer {}", "a".repeat(MOST))], None).map(|token| token.is_some()),
            Ok(true)
        );
        assert_eq!(given(&[&format!("Bearer {}", "a".repeat(MOST + 1))], None), Err(401));
    }

    #[test]
    fn the_debug_output_of_a_token_hides_the_token() {
        let headers =
            HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static("Bearer abc"))]);
        let token = presented(&headers, None).unwrap().unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    proptest! {
        #[test]
        fn a_bearer_token_is_found_for_any_case_of_the_scheme_and_any_blanks(scheme in "[bB][eE][aA][rR][eE][rR]", blanks in 1_usize..4, token in "[A-Za-z0-9._~+/-]{1,80}={0,3}") {
            let header = format!("{scheme}{}{token}", " ".repeat(blanks));
            prop_assert_eq!(given(&[&header], None), Ok(Some(token)));
        }

        #[test]
        fn arbitrary_header_bytes_cause_no_panic_and_yield_no_invalid_token(bytes in proptest::collection::vec(any::<u8>(), 0..60), prefixed in any::<bool>()) {
            let bytes = if prefixed { [b"Bearer ", &bytes[..]].concat() } else { bytes };
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
                if let Ok(Some(token)) = presented(&headers, None) {
                    prop_assert!(is_b64token(token.as_str().as_bytes()));
                    prop_assert!(bytes.ends_with(token.as_str().as_bytes()));
                }
            }
        }

        #[test]
        fn an_arbitrary_query_causes_no_panic(query in ".{0,60}") {
            let _ = given(&[], Some(&query));
        }
    }
}
