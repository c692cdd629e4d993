use super::*;
use proc_macro2::Span;

fn read(uri: &str) -> Result<Template, Vec<syn::Error>> {
    Template::read(&LitStr::new(uri, Span::call_site()))
}

fn shape(uri: &str) -> String {
    let template = read(uri).unwrap_or_else(|errors| panic!("{uri}: {}", errors[0]));
    let segment = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Variable(variable) => {
            format!(
                "<{:?} {}{}>",
                variable.kind,
                variable.name,
                if variable.explode { "*" } else { "" }
            )
        }
    };
    template.segments.iter().map(segment).collect()
}

#[test]
fn templates_are_split_into_segments() {
    let check = |uri, expected| assert_eq!(shape(uri), expected);
    check("app://config", "app://config");
    check("users://{id}/profile", "users://<Simple id>/profile");
    check("file://{+path}", "file://<Reserved path>");
    check("x:{a}{.ext}", "x:<Simple a><Label ext>");
    check("x://h{/a}{/b}", "x://h<Path a><Path b>");
    check("x://h{/rest*}", "x://h<Path rest*>");
    check("x://h{?a,b,c}", "x://h<Query a><QueryMore b><QueryMore c>");
    check("x://h{?a}{&b}", "x://h<Query a><QueryMore b>");
    check("x://h?k=1{&b}", "x://h?k=1<QueryMore b>");
    check("x://{user.name}/a%20b", "x://<Simple user.name>/a%20b");
    check("x://a..b/..c/{d}..", "x://a..b/..c/<Simple d>..");
    check("urn:isbn:{n}", "urn:isbn:<Simple n>");
}

/// Returns the message of the first problem and the column of its caret.
fn problem(uri: &str) -> (String, usize) {
    let Err(errors) = read(uri) else { panic!("{uri} is accepted") };
    let text = errors[0].to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    (lines[0].to_owned(), lines[2].chars().count() - 3)
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let check = |uri, message: &str, column| {
        let (text, at) = problem(uri);
        assert!(text.contains(message), "{uri}: {text}");
        assert_eq!(at, column, "{uri}: {text}");
    };
    check("users/{id}", "must start with a scheme", 0);
    check("{scheme}://x", "must start with a scheme", 0);
    check("1x://a", "must start with a scheme", 0);
    check("", "must start with a scheme", 0);
    check("x://{id", "never closed", 4);
    check("x://id}", "closes nothing", 6);
    check("x://{{id}}", "letters, digits", 5);
    check("x://{}", "needs a name", 5);
    check("x://{?}", "needs a name", 6);
    check("x://{?a,}", "needs a name", 8);
    check("x://{a,b}", "one variable per expression", 6);
    check("x://{a}{b}", "the end of the previous variable is ambiguous", 7);
    check("x://{a}{+b}", "the end of the previous variable is ambiguous", 7);
    check("x://{/a*}{/b}", "the end of the previous variable is ambiguous", 9);
    check("x://{a}/{a}", "`a` appears twice", 9);
    check("x://{#a}", "`{#…}` is not supported", 5);
    check("x://{;a}", "`{;…}` is not supported", 5);
    check("x://{a:3}", "a prefix", 6);
    check("x://{a*}", "write `{+a}`", 5);
    check("x://{?a*}", "`{/x*}` only", 7);
    check("x://{*a}", "write `{+a}`", 5);
    check("x://{a?}", "write `{?a}`", 5);
    check("x://{ a }", "write `{a}`", 5);
    check("x://{a:u32}", "write `{a}`", 6);
    check("x://<a>/b", "in braces: `{a}`", 4);
    check("x://b/größe 1/c", "write `gr%C3%B6%C3%9Fe%201`", 8);
    check("x://{a-b}", "letters, digits", 6);
    check("x://a b", "write `a%20b`", 5);
    check("x://ü{a}<", "write `%C3%BC`", 4);
    check("x://{a}/ü", "write `%C3%BC`", 8);
    check("x://a%2", "two hexadecimal digits", 5);
    check("x://a%zz", "two hexadecimal digits", 5);
    check("x://a/../b", "`..` segment", 6);
    check("x://a/..", "`..` segment", 6);
    check("x://a{&b}", "continues a query", 5);
    check("x://a{?b}/c", "can follow a query", 9);
    check("x://a{?b}{c}", "can follow a query", 9);
    check("x://a\n", "'\\n' is not allowed in a URI: write `a%0A`", 5);
}

#[test]
fn all_mistakes_of_a_template_are_found() {
    let Err(errors) = read("users {id}{x:3}") else { panic!() };
    assert_eq!(errors.len(), 4);
}
