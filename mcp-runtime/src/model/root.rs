use std::path::PathBuf;

use mcp_runtime_contract::percent;
use mcp_runtime_wire::{JsonKind, Raw};

use crate::error::shown;

/// Directory or file that the user works in, as the client lists it (`roots/list`).
///
/// Returned by [`Context::roots`](crate::Context::roots) and the parameter [`Roots`](crate::extract::Roots). Roots are guidance and not
/// access control: nothing keeps a handler from accessing other files, so it has to stay within the roots itself.
///
/// Specification: Client features, Roots.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Names the directories that the user works in.
/// #[tool]
/// async fn directories(roots: Roots) -> Result<String> {
///     let roots = roots.list().await?;
///     let paths = roots.iter().filter_map(|root| root.path());
///     Ok(paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n"))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// URI as the client wrote it, such as `file:///home/me/project`.
    pub uri: String,
    /// Name that the client shows for the root.
    pub name: Option<String>,
}

impl Root {
    /// Returns the decoded path of a `file:` URI (RFC 8089). The path may not exist.
    ///
    /// Returns `None` for other schemes, and for a host other than this machine, except on Windows, where the result is a UNC path. Also
    /// returns `None` for ambiguous URIs: those with an unencoded `?` or `#`, an encoded separator, or a zero byte.
    pub fn path(&self) -> Option<PathBuf> {
        let (host, path) = file(&self.uri)?;
        native(host, path)
    }
}

/// Reads the result of `roots/list`.
///
/// # Errors
/// Fails if the result deviates from the specification. The error describes the deviation.
pub(crate) fn read_roots(raw: Raw<'_>) -> Result<Vec<Root>, String> {
    let roots = raw.get("roots").filter(|roots| roots.kind() == JsonKind::Array);
    let roots = roots.ok_or("`roots` must be an array")?;
    roots
        .elements()
        .enumerate()
        .map(|(at, root)| read(root).map_err(|reason| format!("`roots[{at}].{reason}")))
        .collect()
}

fn read(raw: Raw<'_>) -> Result<Root, String> {
    let [uri, name] = raw.pick(["uri", "name"]);
    let uri = uri.and_then(Raw::string).ok_or("uri` must be a string")?;
    let name = match name.filter(|name| !name.is_null()) {
        None => None,
        Some(name) => Some(
            name.string()
                .ok_or_else(|| format!("name` must be a string, not {}", shown(name.as_str())))?,
        ),
    };
    Ok(Root { uri: uri.into_owned(), name: name.map(Into::into) })
}

/// Returns the host and the absolute path of a `file:` URI. Both are still percent-encoded.
fn file(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") || rest.contains(['?', '#']) {
        return None;
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/')?),
        None => ("", rest),
    };
    let host = if host.eq_ignore_ascii_case("localhost") { "" } else { host };
    path.starts_with('/').then_some((host, path))
}

/// Returns the path on this machine. Returns `None` for another host, a zero byte or an encoded `/`. Every other byte can be part of a
/// path.
#[cfg(unix)]
fn native(host: &str, path: &str) -> Option<PathBuf> {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    let bytes = percent::decode_bytes(path).filter(|_| host.is_empty())?;
    let separators = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    let is_clear = !bytes.contains(&0) && separators(&bytes) == separators(path.as_bytes());
    is_clear.then(|| OsString::from_vec(bytes.into_owned()).into())
}

#[cfg(not(unix))]
fn native(host: &str, path: &str) -> Option<PathBuf> {
    drive_or_share(host, path).map(Into::into)
}

/// Returns a path such as `C:\…` or `\\host\…`. The colon of a drive may be encoded: VS Code writes `c%3A`.
#[cfg(any(test, not(unix)))]
fn drive_or_share(host: &str, path: &str) -> Option<String> {
    let decoded = percent::decode(path)?;
    let separators = |text: &str| text.matches(['/', '\\', '\0']).count();
    if separators(&decoded) != separators(path) {
        return None;
    }
    let inside = decoded.strip_prefix('/')?.replace('/', "\\");
    let mut start = inside.chars();
    let is_drive = start.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && start.next() == Some(':')
        && matches!(start.next(), None | Some('\\'));
    match host {
        "" if is_drive && inside.len() == 2 => Some(inside + "\\"),
        "" => is_drive.then_some(inside),
        host => Some(format!(r"\\{}\{inside}", percent::decode(host)?)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn root(uri: &str) -> Root {
        Root { uri: uri.to_owned(), name: None }
    }

    #[test]
    #[cfg(unix)]
    fn paths_of_unix() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

        fn check(uri: &str, expected: Option<&[u8]>) {
            let expected = expected.map(|path| Path::new(OsStr::from_bytes(path)));
            assert_eq!(root(uri).path().as_deref(), expected, "{uri}");
        }
        check("file:///home/me/project", Some(b"/home/me/project"));
        check("file:///", Some(b"/"));
        check("file:/tmp", Some(b"/tmp"));
        check("FILE://LocalHost/tmp/", Some(b"/tmp/"));
        check("file:///a%20b/%C3%A9+c", Some("/a b/é+c".as_bytes()));
        check("file:///a%23b%3Fc%25", Some(b"/a#b?c%"));
        check("file:///not-utf8-%ff", Some(b"/not-utf8-\xff"));
        check("file:///größe", Some("/größe".as_bytes()));
        for other in [
            "",
            "file:",
            "file://",
            "file://tmp",
            "file:tmp",
            "file://server/share",
            "https:///home",
            "/home",
            "file:///a?b",
            "file:///a#b",
            "file:///a%2Fb",
            "file:///a%00",
            "file:///a%2",
            "file:///a%zz",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn paths_of_windows() {
        fn check(uri: &str, expected: Option<&str>) {
            let path = file(uri).and_then(|(host, path)| drive_or_share(host, path));
            assert_eq!(path.as_deref(), expected, "{uri}");
        }
        check("file:///C:/Users/me", Some(r"C:\Users\me"));
        check("file:///c%3A/Users/a%20b", Some(r"c:\Users\a b"));
        check("file:///c:", Some(r"c:\"));
        check("file://server/share/x", Some(r"\\server\share\x"));
        check("file://localhost/C:/", Some(r"C:\"));
        for other in ["file:///tmp", "file:///CC:/x", "file:///C:x", "file:///C:/a%5Cb"] {
            check(other, None);
        }
    }

    #[test]
    fn results_are_read() {
        fn check(json: &str, expected: Result<&[(&str, Option<&str>)], &str>) {
            let read = read_roots(Raw::trusted(json));
            let read = read.as_ref().map_err(String::as_str).map(|roots| {
                roots
                    .iter()
                    .map(|root| (root.uri.as_str(), root.name.as_deref()))
                    .collect::<Vec<_>>()
            });
            assert_eq!(read, expected.map(<[_]>::to_vec), "{json}");
        }
        check(r#"{"roots":[]}"#, Ok(&[]));
        check(
            r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"x:","name":null,"_meta":{}}]}"#,
            Ok(&[("file:///a", Some("A")), ("x:", None)]),
        );
        check("{}", Err("`roots` must be an array"));
        check("null", Err("`roots` must be an array"));
        check(r#"{"roots":{}}"#, Err("`roots` must be an array"));
        check(r#"{"roots":[{"uri":"a:"},{}]}"#, Err("`roots[1].uri` must be a string"));
        check(r#"{"roots":["a:"]}"#, Err("`roots[0].uri` must be a string"));
        check(
            r#"{"roots":[{"uri":"a:","name":1}]}"#,
            Err("`roots[0].name` must be a string, not 1"),
        );
    }

    proptest! {
        #[test]
        #[cfg(unix)]
        fn an_encoded_path_is_found_again(path in "/[^\0]{0,20}") {
            let mut uri = "file://".to_owned();
            percent::encode(&path, |byte| byte == b'/', &mut uri);
            prop_assert_eq!(root(&uri).path(), Some(PathBuf::from(path)));
        }

        #[test]
        fn any_uri_is_looked_at_without_panic(uri in "(file:)?/{0,3}\\PC*") {
            let _ = root(&uri).path();
            let _ = file(&uri).and_then(|(host, path)| drive_or_share(host, path));
        }
    }
}
