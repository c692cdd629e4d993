use proptest::prelude::*;

use super::{Segment, UriTemplate, VariableKind};

#[test]
fn matching() {
    fn check(template: &str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let parsed = UriTemplate::parse(template).unwrap();
        let found = parsed.matches(uri);
        let found = found.as_ref().map(|variables| variables.iter().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{template} {uri}");
    }
    let profile = "users://{id}/profile";
    check(profile, "users://7/profile", Some(&[("id", "7")]));
    check(profile, "USERS://7/profile", Some(&[("id", "7")]));
    check(profile, "users://7/Profile", None);
    check(profile, "users://7/8/profile", None);
    check(profile, "users:///profile", None);
    check(profile, "users://7?/profile", None);
    check(profile, "users://7/profile/", None);
    check(profile, "users://7/profile?x=1", None);
    check(profile, "users://a%20%C3%A9b/profile", Some(&[("id", "a éb")]));
    check(profile, "users://é/profile", Some(&[("id", "é")]));
    check(profile, "users://a%2Fb/profile", Some(&[("id", "a/b")]));
    check(profile, "users://%FF/profile", None);
    check(profile, "users://%4/profile", None);
    check(profile, "users://a\nb/profile", None);
    check(profile, "use", None);
    check(profile, "", None);
    check("http://Example.org/A/{x}", "HTTP://eXAMPLE.ORG/A/b", Some(&[("x", "b")]));
    check("http://Example.org/A/{x}", "http://example.org/a/b", None);
    check("http://Me@host/{x}", "http://me@host/b", None);
    check("note:today", "NOTE:today", Some(&[]));
    check("note:today", "note:Today", None);
    for uri in ["cafe://Bücher/é/x", "CAFE://Bücher/%C3%A9/x", "cafe://B%c3%bccher/%c3%a9/x"] {
        check("cafe://Bücher/é/{x}", uri, Some(&[("x", "x")]));
        check("cafe://B%C3%BCcher/%c3%a9/{x}", uri, Some(&[("x", "x")]));
    }
    check("cafe://é/{x}", "cafe://%C3%A9/a%20é", Some(&[("x", "a é")]));
    check("cafe://é/{x}", "cafe://é/a%2Fb", Some(&[("x", "a/b")]));
    check("cafe://é/{x}", "cafe://é/%zz", None);
    check("cafe://é/{x}", "cafe://é/..%2f", None);
    check("cafe://é/{x}", "cafe://e/x", None);

    check(
        "db://{table}/rows/{row}",
        "db://rows/rows/rows",
        Some(&[("table", "rows"), ("row", "rows")]),
    );
    check("db://{a}-{b}", "db://1-2-3", Some(&[("a", "1-2"), ("b", "3")]));
    check(
        "files://{name}{.extension}",
        "files://a.tar.gz",
        Some(&[("name", "a.tar"), ("extension", "gz")]),
    );
    check("files://x{/a}{/b}", "files://x/1/2", Some(&[("a", "1"), ("b", "2")]));
    check("files://x{/a}{/b}", "files://x/1", None);
    check("files://{+path}", "files:///etc/hosts?a#b", Some(&[("path", "/etc/hosts?a#b")]));
    check(
        "files://{+path}/end/{y}",
        "files://a/end/b/end/c",
        Some(&[("path", "a/end/b"), ("y", "c")]),
    );
    check("files://root{/path*}", "files://root/a/b%20c", Some(&[("path", "a/b c")]));
    check("files://root{/path*}/raw", "files://root/a/raw/raw", Some(&[("path", "a/raw")]));
    check("files://root{/path*}", "files://root", None);
    check("files://root{/path*}", "files://root//a", None);
    check("files://root{/path*}", "files://root/a/", None);
    check("files://root{/path*}", "files://root/a%2Fb", None);
}

#[test]
fn queries() {
    fn check(template: &str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let parsed = UriTemplate::parse(template).unwrap();
        let found = parsed.matches(uri);
        let found = found.as_ref().map(|variables| variables.iter().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{template} {uri}");
    }
    let search = "search://notes{?text,limit}";
    check(search, "search://notes", Some(&[]));
    check(search, "search://notes?", Some(&[]));
    check(
        search,
        "search://notes?limit=5&text=a%26b+c",
        Some(&[("text", "a&b+c"), ("limit", "5")]),
    );
    check(search, "search://notes?text", Some(&[("text", "")]));
    check(search, "search://notes?text=a=b", Some(&[("text", "a=b")]));
    check(search, "search://notes?&text=/x", Some(&[("text", "/x")]));
    check(search, "search://notes?other=1", None);
    check(search, "search://notes?limit=1&limit=2", None);
    check(search, "search://notes?limit=%F", None);
    check(search, "search://notes?text=..%2Fx", None);
    check(search, "search://notes?text=a#b", None);
    check(search, "search://other?text=a", None);
    check("search://x?lang=en{&text}", "search://x?text=a&lang=en", Some(&[("text", "a")]));
    check("search://x?lang=en{&text}", "search://x?text=a", None);
    check("search://x?lang=en{&text}", "search://x?text=a&lang=de", None);
    check("files://{+path}{?page}", "files://a/b?page=2", Some(&[("path", "a/b"), ("page", "2")]));
}

#[test]
fn values_cannot_leave_their_directory() {
    fn check(template: &str, value: &str, expected: bool) {
        let parsed = UriTemplate::parse(template).unwrap();
        let uri = template.split('{').next().unwrap().to_owned() + value;
        assert_eq!(parsed.matches(&uri).is_some(), expected, "{uri}");
    }
    for template in [
        "files://dir/{x}",
        "files://dir/x{.x}",
        "files://dir{/x}",
        "files://dir/{+x}",
        "files://dir{/x*}",
    ] {
        let before = match template {
            "files://dir/x{.x}" => ".",
            "files://dir{/x}" | "files://dir{/x*}" => "/",
            _ => "",
        };
        for value in [
            "..",
            "%2e%2E",
            "..%2fa",
            "a%2F..",
            "a%5c..%5cb",
            "..%20",
            "..%20.",
            "%20..",
            "a%2F%09..",
            "a%00b",
        ] {
            check(template, &format!("{before}{value}"), false);
        }
        check(template, &format!("{before}a..b"), true);
        check(template, &format!("{before}..."), true);
    }
    for value in ["%2Fetc", "%5Cserver", "C%3A%5Cx", "c:%2Fx"] {
        check("files://{x}", value, false);
        check("files://{+x}", value, true);
    }
    for value in ["/C:/x", "/c%3A/x", "/%43:/x", "//x", "/%2Fx", "/%5Cx", "/a//b", "/a/%2E%2E/b"] {
        check("files://root{/x*}", value, false);
    }
    for value in ["/a/b", "/ab:/x", "/a/./b", "/a/...", "/~/x", "/1:/x"] {
        check("files://root{/x*}", value, true);
    }
    // On Windows, a drive in any segment leaves the directory if a handler joins the segments one after the other.
    for value in ["/C:", "/C:x", "/a/C:/b"] {
        check("files://root{/x*}", value, !cfg!(windows));
    }
    check("files://{x}", "urn:a", true);
    check("files://{x}", "%252e%252e", true);
    check("files://{+x}", "a/../b", false);
}

#[test]
fn published_text() {
    fn check(text: &str) {
        assert_eq!(UriTemplate::parse(text).unwrap().as_uri_template(), text);
    }
    check("note:today");
    check("files://{name}{.extension}");
    check("files://{+path}/x{/a}{/b*}");
    check("search://notes{?text,limit}");
    check("search://notes?lang=en{&text,limit}");
}

#[test]
fn segments_of_the_macro() {
    const SEGMENTS: &[Segment] = &[
        Segment::Literal("users://"),
        Segment::Variable { name: "id", kind: VariableKind::Simple, explode: false },
        Segment::Variable { name: "page", kind: VariableKind::Query, explode: false },
        Segment::Variable { name: "size", kind: VariableKind::QueryMore, explode: false },
    ];
    let template = UriTemplate::new(SEGMENTS).unwrap();
    assert_eq!(template.as_uri_template(), "users://{id}{?page,size}");
    assert_eq!(template.names().collect::<Vec<_>>(), ["id", "page", "size"]);
    assert_eq!(template.matches("users://7?size=2").unwrap().get("size"), Some("2"));
    assert!(!template.is_concrete());
    assert!(UriTemplate::new(&[Segment::Literal("note:today")]).unwrap().is_concrete());
}

#[test]
fn mistakes() {
    fn check(text: &str, expected: &str) {
        let error = UriTemplate::parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    check("", "must begin with a scheme");
    check("users/{id}", "must begin with a scheme");
    check("{scheme}://x", "must begin with a scheme");
    check("9a://x", "must begin with a scheme");
    check("a://{x", "a `{` without a `}`");
    check("a://x}", "a `}` without a `{`");
    check("a://{}", "no name");
    check("a://{x y}", "no name");
    check("a://{#x}", "an operator that is not supported; supported are {x}");
    check("a://{;x}", "operator");
    check("a://{x:3}", "prefix length");
    check("a://{x,y}", "one per expression");
    check("a://{x*}", "`{/x*}`");
    check("a://{x}{y}", "where `x` ends and `y` begins");
    check("a://{x}{+y}", "where `x` ends");
    check("a://{x}/{x}", "`x` occurs twice");
    check("a://{x}{?x}", "`x` occurs twice");
    check("a://{?x}/y", "only `{&x}`");
    check("a://y{&x}", "write `{?x}`");
    check("a://y?x={x}", "written `{?x}`");
    check("a://{?x}{y}", "written `{?y}`");
    check("a://a/../b", "`..` segment");
    check("a://a b", "' ' cannot be in a URI");
    check("a://%zz", "escape");
}

/// Generates templates that are unambiguous if the values contain no separators.
fn templates() -> impl Strategy<Value = UriTemplate> {
    let piece = prop_oneof![
        Just("{V}"),
        Just("{+V}"),
        Just("{.V}"),
        Just("{/V}"),
        Just("{/V*}"),
        Just("/"),
        Just(":x:"),
        Just("/aa"),
    ];
    (prop::collection::vec(piece, 0..7), prop_oneof![Just(""), Just("{?p,q}"), Just("?f=1{&p}")])
        .prop_filter_map("not a template", |(pieces, query)| {
            let pieces = pieces
                .iter()
                .enumerate()
                .map(|(index, piece)| piece.replace('V', &format!("v{index}")));
            UriTemplate::parse(&format!("t://{}{query}", pieces.collect::<String>())).ok()
        })
}

fn unsafe_anywhere(value: &str) -> bool {
    value.contains('\0') || value.split(['/', '\\']).any(|segment| segment.trim_end() == "..")
}

proptest! {
    #[test]
    fn a_uri_expanded_from_a_template_yields_the_same_values(template in templates(), values in prop::collection::vec("[a-z% é&=+,!]{1,5}", 9)) {
        let names: Vec<_> = template.names().map(str::to_owned).collect();
        let given: Vec<_> = names.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        let uri = template.expand(&given);
        let found = template.matches(&uri);
        prop_assert_eq!(found.as_ref().map(|found| found.iter().collect()), Some(given), "{} {}", template, uri);
    }

    /// If a URI can be split in several ways, the values of the chosen split still expand to the same URI.
    #[test]
    fn the_values_found_in_a_uri_expand_to_the_same_uri(template in templates(), values in prop::collection::vec("[a.~]{1,4}", 9)) {
        let names: Vec<_> = template.names().map(str::to_owned).collect();
        let given: Vec<_> = names.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        let uri = template.expand(&given);
        if let Some(found) = template.matches(&uri) {
            prop_assert_eq!(template.expand(&found.iter().collect::<Vec<_>>()), uri);
        } else {
            prop_assert!(uri.contains(".."), "{template} {uri}");
        }
    }

    #[test]
    fn no_value_found_in_a_uri_is_an_unsafe_path(template in templates(), values in prop::collection::vec("[a/.:?#\\\\\0]{1,5}", 9)) {
        let names: Vec<_> = template.names().map(str::to_owned).collect();
        let given: Vec<_> = names.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        if let Some(found) = template.matches(&template.expand(&given)) {
            for (name, value) in found.iter() {
                prop_assert!(!unsafe_anywhere(value), "{template} {name}={value:?}");
            }
        }
    }

    #[test]
    fn nothing_panics(text in "[a-z{}+./?&*,:%é]{0,20}", uri in "t:\\PC{0,30}") {
        if let Ok(template) = UriTemplate::parse(&text) {
            prop_assert_eq!(UriTemplate::parse(&template.as_uri_template()).unwrap().as_uri_template(), template.as_uri_template());
            let _ = template.matches(&uri);
        }
    }

    /// Each byte of the URI is compared with each byte of the template at most a fixed number of times, for any input.
    #[test]
    fn time_is_bounded(template in templates(), uri in "t://[a/:x.]{0,200}") {
        let mut steps = 0;
        let _ = template.find(&uri, &mut steps);
        let most = 2 * (uri.len() + 1) * (template.as_uri_template().len() + 1);
        prop_assert!(steps <= most, "{steps} steps, at most {most}: {template} {uri}");
    }
}

/// The matcher reads this URI in linear time. A backtracking matcher would need time exponential in the number of variables.
#[test]
fn the_worst_case_takes_linear_time() {
    let text: String = (0..12).map(|index| format!("{{+v{index}}}a")).collect();
    let template = UriTemplate::parse(&format!("t:{text}b")).unwrap();
    let uri = format!("t:{}", "a".repeat(4_000));
    let mut steps = 0;
    assert_eq!(template.find(&uri, &mut steps), None);
    assert!(steps < 40 * uri.len(), "{steps}");
    assert!(template.matches(&format!("{uri}b")).is_some());
    assert_eq!(template.matches(&format!("t:{}b", "a".repeat(70_000))), None);
}
