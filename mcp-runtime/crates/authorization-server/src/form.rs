//! Request parameters in a query or in a form body (RFC 6749, appendix B).

use http::header;
use mcp_runtime::__companion::{PageRequest, decode, encode};

use crate::oauth_error::OAuthError;

/// Maximum number of parameters. No OAuth request needs more.
const MOST: usize = 100;

/// Decoded parameters in the order in which they arrived.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses a query or a form.
    ///
    /// # Errors
    /// Fails if there are too many parameters, or one cannot be decoded.
    pub(crate) fn parse(text: &str) -> Result<Self, OAuthError> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() >= MOST {
                return Err(OAuthError::invalid_request("there are too many parameters"));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decoded(name)?, decoded(value)?));
        }
        Ok(Self(pairs))
    }

    /// Parses the form in the body of a request.
    ///
    /// # Errors
    /// Fails if the body is not a form.
    pub(crate) fn posted(request: &PageRequest) -> Result<Self, OAuthError> {
        let media_type = request.parts.headers.get(header::CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let why = "the body must be of the type application/x-www-form-urlencoded";
            return Err(OAuthError::invalid_request(why));
        }
        let text = str::from_utf8(&request.body);
        Self::parse(text.map_err(|_| OAuthError::invalid_request("the body is not UTF-8"))?)
    }

    /// Returns all values of a parameter.
    pub(crate) fn all<'a, 'n>(
        &'a self,
        name: &'n str,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let named = self.0.iter().filter(move |pair| pair.0 == name);
        // A parameter without a value counts as missing.
        named.map(|pair| &*pair.1).filter(|value| !value.is_empty())
    }

    /// Returns the value of a parameter, if it is present.
    ///
    /// # Errors
    /// Fails if the parameter is present more than once, because two programs that read the request could use different values.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, OAuthError> {
        let mut named = self.0.iter().filter(|pair| pair.0 == name);
        let first = named.next().map(|pair| &*pair.1).filter(|value| !value.is_empty());
        match named.next() {
            Some(_) => {
                Err(OAuthError::invalid_request(format!("the parameter {name} is repeated")))
            }
            None => Ok(first),
        }
    }

    /// Returns the value of a parameter.
    ///
    /// # Errors
    /// Fails if the parameter is missing, or present more than once.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, OAuthError> {
        let missing = || OAuthError::invalid_request(format!("the parameter {name} is missing"));
        self.one(name)?.ok_or_else(missing)
    }
}

/// Decodes a name or a value.
///
/// # Errors
/// Fails if the text is not percent-encoded UTF-8.
pub(crate) fn decoded(text: &str) -> Result<String, OAuthError> {
    let text = text.replace('+', " ");
    let decoded = decode(&text).map(std::borrow::Cow::into_owned);
    decoded.ok_or_else(|| OAuthError::invalid_request("a parameter is not percent-encoded UTF-8"))
}

/// Adds a parameter to a URL.
pub(crate) fn push(url: &mut String, name: &str, value: &str) {
    url.push(if url.contains('?') { '&' } else { '?' });
    url.push_str(name);
    url.push('=');
    encode(value, |_| false, url);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_are_read_once_or_not_at_all() {
        let form = Form::parse("a=1&b=x+y%2Bz&&c&d=&e=1&e=2&%C3%A9=%C3%A9").unwrap();
        assert_eq!(form.one("a").unwrap(), Some("1"));
        assert_eq!(form.one("b").unwrap(), Some("x y+z"));
        assert_eq!(form.one("é").unwrap(), Some("é"));
        for empty in ["c", "d", "f"] {
            assert_eq!(form.one(empty).unwrap(), None, "{empty}");
            assert_eq!(form.required(empty).unwrap_err().error, "invalid_request");
        }
        assert!(form.one("e").unwrap_err().why.contains('e'));
        assert_eq!(form.all("e").collect::<Vec<_>>(), ["1", "2"]);
        // An empty second value is a duplicate too.
        assert!(Form::parse("a=1&a=").unwrap().one("a").is_err());
        for broken in ["a=%", "a=%4", "%zz=1", "a=%FF"] {
            assert!(Form::parse(broken).is_err(), "{broken}");
        }
        assert!(Form::parse(&"a=1&".repeat(MOST)).is_ok());
        assert!(Form::parse(&"a=1&".repeat(MOST + 1)).is_err());
    }

    proptest! {
        #[test]
        fn parameters_that_are_pushed_to_a_url_are_read_back(pairs in proptest::collection::btree_map("[a-z]{1,5}", ".{1,20}", 0..8)) {
            let mut url = String::from("https://a.example/");
            for (name, value) in &pairs {
                push(&mut url, name, value);
            }
            let form = Form::parse(url.split_once('?').map_or("", |parts| parts.1)).unwrap();
            for (name, value) in &pairs {
                prop_assert_eq!(form.all(name).collect::<Vec<_>>(), [&**value]);
            }
        }

        #[test]
        fn an_arbitrary_form_causes_no_panic(text in ".{0,80}") {
            let _ = Form::parse(&text);
        }
    }
}
