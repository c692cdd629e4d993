use serde_json::{Map, Value};

/// Object of additional data in a request or a result (`_meta`).
///
/// As a parameter of a handler, it is the `_meta` of the request. Inside [`WithMeta`](crate::reply::WithMeta), it is the `_meta` of the
/// result.
///
/// Specification: Base protocol, Overview (`_meta`).
///
/// ```
/// use mcp_runtime::content::Meta;
///
/// let meta = Meta::new().with("example.com/cost", 3);
/// assert_eq!(meta.get("example.com/cost").unwrap(), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta(pub(crate) Map<String, Value>);

impl Meta {
    /// Creates an object without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key with its value.
    ///
    /// # Panics
    /// Panics if the key does not follow the syntax of the specification (basic/index#meta), or if its prefix is reserved for the protocol.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Err(reason) = check_meta_key(key) {
            panic!("`{key}` cannot be a `_meta` key: {reason}");
        }
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns whether the object has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Checks a key, which consists of an optional prefix of dotted labels and a name. Prefixes whose second label is `mcp` or
/// `modelcontextprotocol` are reserved for the protocol (rules RPC-15 and RPC-16).
pub(crate) fn check_meta_key(key: &str) -> Result<(), &'static str> {
    let (prefix, name) =
        key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if let Some(prefix) = prefix {
        let labels: Vec<&str> = prefix.split('.').collect();
        let is_label = |label: &&str| {
            let bytes = label.as_bytes();
            bytes.first().is_some_and(u8::is_ascii_alphabetic)
                && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
                && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        };
        if !labels.iter().all(is_label) {
            return Err("its prefix must be dotted labels such as `example.com`");
        }
        if labels.get(1).is_some_and(|label| matches!(*label, "mcp" | "modelcontextprotocol")) {
            return Err("its prefix is reserved for the protocol");
        }
    }
    let bytes = name.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_framed = ends(bytes.first()) && ends(bytes.last());
    if !name.is_empty() && !is_framed {
        return Err("its name must begin and end with a letter or digit");
    }
    if !bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
        return Err("its name may hold letters, digits, `-`, `_` and `.` only");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_meta_key;

    #[test]
    fn keys_follow_the_specification() {
        for good in ["progressToken", "example.com/x", "com.example.mcp/x", "a-b.c/x_y.z", "x"] {
            assert_eq!(check_meta_key(good), Ok(()), "{good}");
        }
        for bad in
            ["io.modelcontextprotocol/x", "dev.mcp/x", "1a/x", "a..b/x", "x y", "-x", "x-", "a/b/c"]
        {
            assert!(check_meta_key(bad).is_err(), "{bad}");
        }
    }
}
