//! Every error: its text, the tokens it points at, and that the user's item survives it.

use super::expand;
use proc_macro2::{Span, TokenStream, TokenTree};

/// The guilty tokens and the message of each error, in the order they are reported.
fn errors(tokens: TokenStream, found: &mut Vec<(String, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, tokens.get(index + 2)) {
            (TokenTree::Ident(word), Some(TokenTree::Group(group))) if word == "compile_error" => {
                // `::core::compile_error!{…}`: the first `:` has the start, the braces have the end.
                let start = tokens[index - 5].span();
                let message = group.stream().to_string();
                let message: syn::LitStr = syn::parse_str(&message).unwrap();
                found.push((guilty(start, group.span()), message.value()));
            }
            (TokenTree::Group(group), _) => errors(group.stream(), found),
            _ => {}
        }
    }
}

fn guilty(start: Span, end: Span) -> String {
    let (first, last) =
        (start.source_text().unwrap_or_default(), end.source_text().unwrap_or_default());
    if start.byte_range() == end.byte_range() { first } else { format!("{first} … {last}") }
}

/// Each expected error is `(guilty, part of the message)`; there must be no others.
#[track_caller]
fn check(source: &str, expected: &[(&str, &str)]) {
    let expanded = expand(source);
    let mut found = Vec::new();
    errors(expanded.clone(), &mut found);
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|((at, text), (guilty, part))| at == guilty && text.contains(part));
    assert!(matches, "{source}\nexpected {expected:#?}\nfound {found:#?}");
    let text = expanded.to_string();
    for noise in ["# [arg", "# [complete", "# [tool", "# [prompt", "const _", "__mcp"] {
        assert!(!text.contains(noise), "`{noise}` makes more errors: {text}");
    }
}

#[test]
fn unknown_keys() {
    check(
        "#[tool(readonly)] fn f() {}",
        &[(
            "readonly",
            "unknown key `readonly` of #[tool]; did you mean `read_only`? Keys: name, title, ",
        )],
    );
    check(
        "#[tool(destructiveHint = true)] fn f() {}",
        &[("destructiveHint", "did you mean `destructive`?")],
    );
    check("#[tool(foo)] fn f() {}", &[("foo", "unknown key `foo` of #[tool]. Keys: name")]);
    check(
        "#[prompt(cache(public))] fn f() {}",
        &[("cache", "unknown key `cache` of #[prompt]: it is a key of #[resource]. Keys: name")],
    );
    check(
        "#[tool(default = 1)] fn f() {}",
        &[("default", "unknown key `default` of #[tool]: it is a key of #[arg].")],
    );
    check("#[tool] fn f(#[arg(defualt = 1)] a: u8) {}", &[("defualt", "did you mean `default`?")]);
    check(
        "#[resource(\"x:y\", cache(publik))] fn f() {}",
        &[("publik", "unknown key `publik` of cache; did you mean `public`? Keys: public, ttl")],
    );
    check("#[tool(icon(\"x\", size(\"1x1\")))] fn f() {}", &[("size", "did you mean `sizes`?")]);
    check("#[completion(title = \"x\")] fn f() {}", &[("title", "Keys: blocking, timeout, crate")]);
    check(
        "#[server(name = \"x\")] impl N { #[tool] fn f() {} }",
        &[("name", "Keys: group, crate")],
    );
    check(
        "#[data(rename = \"x\")] struct S;",
        &[("rename", "unknown key `rename` of #[data]. Keys: crate")],
    );
}

#[test]
fn malformed_keys() {
    check("#[tool(\"add\")] fn f() {}", &[("\"add\"", "expected a key of #[tool]. Keys: name")]);
    check(
        "#[tool(title = \"a\" order = 1)] fn f() {}",
        &[("order", "expected `,` between two keys")],
    );
    check(
        "#[tool(title = \"a\", title = \"b\")] fn f() {}",
        &[("title", "`title` is given twice: keep one")],
    );
    check("#[tool(title)] fn f() {}", &[("title", "write `title = \"…\"`")]);
    check("#[tool(title =, order = 1)] fn f() {}", &[("title", "write `title = \"…\"`")]);
    check("#[tool(title = 5)] fn f() {}", &[("5", "`title` is text: write `title = \"…\"`")]);
    check("#[tool(title(\"x\"))] fn f() {}", &[("title", "write `title = \"…\"`")]);
    check("#[tool(name = NAME)] fn f() {}", &[("NAME", "write `name = \"…\"`")]);
    check("#[prompt(name = \" \")] fn f() {}", &[("\" \"", "`name` must not be empty")]);
    check(
        "#[tool(read_only = 1)] fn f() {}",
        &[("1", "`read_only` is a flag: write `read_only` or `read_only = false`")],
    );
    check("#[tool(read_only(true))] fn f() {}", &[("read_only", "`read_only` is a flag")]);
    check(
        "#[tool(order = \"1\")] fn f() {}",
        &[("\"1\"", "`order` is a whole number: write `order = -1`")],
    );
    check("#[tool(order = 9999999999)] fn f() {}", &[("9999999999", "`order` is a whole number")]);
    check(
        "#[tool(schema = \"big\")] fn f() {}",
        &[("\"big\"", "write \"full\" or \"compatible\"")],
    );
    check(
        "#[tool(crate = \"x\")] fn f() {}",
        &[("\"x\"", "write `crate = path::to::mcp_runtime`")],
    );
    check("#[tool(icon)] fn f() {}", &[("icon", "write `icon(\"https://…\"")]);
    check("#[tool(icon = \"\")] fn f() {}", &[("\"\"", "an icon needs an address")]);
    check(
        "#[tool(icon(\"x\", sizes(\"big\")))] fn f() {}",
        &[("\"big\"", "a size is \"WIDTHxHEIGHT\" or \"any\"")],
    );
    check("#[tool(meta(a = 1, a = 2))] fn f() {}", &[("a", "`a` is given twice: keep one")]);
    check(
        "#[tool(meta(a = b))] fn f() {}",
        &[("b", "expected a number, `true`, `false` or \"text\"")],
    );
    check("#[tool(meta(\"\" = 1))] fn f() {}", &[("\"\"", "a metadata key must not be empty")]);
    check("#[tool(meta(a))] fn f() {}", &[("meta", "write `meta(\"vendor.com/key\" = \"…\")`")]);
}

#[test]
fn quantities() {
    let async_timeout = |value: &str| format!("#[tool(timeout = {value})] async fn f() {{}}");
    check(&async_timeout("30"), &[("30", "write `timeout = \"30s\"`")]);
    check(&async_timeout("\"30\""), &[("\"30\"", "a whole number and a unit: \"500ms\"")]);
    check(&async_timeout("\"0s\""), &[("\"0s\"", "`timeout` must be longer than nothing")]);
    let resource = |key: &str| format!("#[resource(\"x:y\", {key})] fn f() {{}}");
    check(&resource("size = \"1 mb\""), &[("\"1 mb\"", "expected a number of bytes")]);
    check(&resource("size = -1"), &[("-", "expected a number of bytes")]);
    check(&resource("priority = 2"), &[("2", "`priority` is a number from 0 (least) to 1 (most)")]);
    check(&resource("audience(users)"), &[("users", "write `user`, `assistant` or both")]);
    check(&resource("audience(user, user)"), &[("user", "`user` is named twice")]);
    check(&resource("audience = user"), &[("audience", "write `audience(user, assistant)`")]);
    check(&resource("cache"), &[("cache", "write `cache(public, ttl = \"5m\")`")]);
    check(&resource("cache(ttl = \"5\")"), &[("\"5\"", "a whole number and a unit")]);
}

#[test]
fn contradictions() {
    check(
        "#[tool(destructive, read_only)] fn f() {}",
        &[(
            "read_only",
            "`read_only` contradicts `destructive`: a tool that only reads destroys nothing",
        )],
    );
    check("#[tool(strict, lenient)] fn f() {}", &[("lenient", "`lenient` contradicts `strict`")]);
    check("#[tool(blocking)] async fn f() {}", &[("blocking", "an `async fn` does not block")]);
    check(
        "#[tool(timeout = \"1s\")] fn f() {}",
        &[(
            "timeout",
            "a plain `fn` runs in place and must return at once: add `blocking`, or make it `async`",
        )],
    );
}

#[test]
fn keys_that_do_not_contradict() {
    let fine =
        |source: &str| assert!(!expand(source).to_string().contains("compile_error"), "{source}");
    fine("#[tool(read_only, destructive = false)] fn f() {}");
    fine("#[tool(strict = false, lenient)] fn f() {}");
    fine("#[tool(blocking = false)] async fn f() {}");
    fine("#[tool(blocking, timeout = \"1s\")] fn f() {}");
    fine("#[tool(timeout = \"1s\",)] async fn f() {}");
}

#[test]
fn arguments() {
    let arg = |key: &str| format!("#[tool] fn f(#[arg({key})] a: u8) {{}}");
    check(&arg("range(5..=1)"), &[("..=", "nothing is in this range")]);
    check(&arg("range(1..1)"), &[("..", "nothing is in this range")]);
    check(&arg("range(0.5..=0.1)"), &[("..=", "nothing is in this range")]);
    check(&arg("range(..)"), &[("range", "write `range(1..=10)`")]);
    check(&arg("range(3)"), &[("3", "expected a range, as in `range(1..=10)`")]);
    check(&arg("range(1..=MAX)"), &[("MAX", "a range is written with numbers")]);
    check(&arg("range = 1..=10"), &[("range", "write `range(1..=10)`")]);
    check(&arg("len(0.5..)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("len(-1..)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("len(..0)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("pattern = \"(\""), &[("\"(\"", "not a regular expression")]);
    check(&arg("header = \"a b\""), &[("\"a b\"", "a header name is letters, digits and")]);
    check(&arg("header = \"\""), &[("\"\"", "a header name is letters")]);
    check(&arg("example = [1]"), &[("[", "expected a number, `true`, `false` or \"text\"")]);
    check(
        &arg("complete(\"a\")"),
        &[(
            "complete",
            "tools have no completion in any revision; an enum or `example` tells the model what is allowed",
        )],
    );
    check("#[tool] fn f(#[arg] a: u8) {}", &[("arg", "write `#[arg(key = value)]`")]);
    check(
        "#[tool] fn f(a: u8, #[arg(name = \"a\")] b: u8) {}",
        &[("\"a\"", "another parameter is called `a` already")],
    );
    check("#[tool] fn f(#[cfg(unix)] a: u8) {}", &[("cfg", "parameters cannot depend on `cfg`")]);
    check(
        "#[prompt] fn f(#[arg(header = \"A\")] a: &str) {}",
        &[("header", "`header` is for the parameters of tools")],
    );
    check("#[completion] fn f(#[arg(default)] a: &str) {}", &[("default", "only `name` counts")]);
}

#[test]
fn spread_parameters() {
    let serde = "#[serde(rename = \"x\")]";
    check(
        &format!("#[tool] fn f({serde} #[arg(default = 1)] a: u8) {{}}"),
        &[("default", "this parameter is read by serde: write `#[serde(default)]`")],
    );
    check(
        &format!("#[tool] fn f({serde} a: Option<&str>) {{}}"),
        &[("&", "a parameter with `serde` attributes owns its value")],
    );
    check(&format!("#[tool] fn f({serde} a: &Db) {{}}"), &[("&", "owns its value")]);
    check(
        &format!("#[prompt] fn f({serde} a: String) {{}}"),
        &[("serde", "`serde` attributes are for the parameters of tools; these are text")],
    );
}

#[test]
fn completers() {
    let complete = |attr: &str| format!("#[prompt] fn f(#[{attr}] a: &str) {{}}");
    let usage = "write `complete(\"one\", \"two\")` or `complete(function)`";
    check(&complete("complete"), &[("complete", usage)]);
    check(&complete("complete()"), &[("complete", usage)]);
    check(&complete("complete(5)"), &[("complete", usage)]);
    check(&complete("complete(\"a\", b)"), &[("b", "either values or one function, not both")]);
    check(&complete("complete(a, \"b\")"), &[("\"b\"", "either values or one function, not both")]);
    check(&complete("complete(\"a\", \"a\")"), &[("\"a\"", "this value is listed twice")]);
    check(
        "#[prompt] fn f(#[arg(complete = a)] #[complete(b)] a: &str) {}",
        &[("complete", "`complete` is given twice: keep one")],
    );
    check("#[completion] fn f(#[complete(a)] a: &str) {}", &[("complete", "nothing completes it")]);
}

#[test]
fn names_of_tools() {
    let rule = "a tool's name is 1 to 128 letters (A-Z, a-z), digits, `_`, `-` and `.`";
    check("#[tool(name = \"a b\")] fn f() {}", &[("\"a b\"", rule)]);
    check("#[tool] fn größe() {}", &[("größe", "; give it one with `#[tool(name = \"…\")]`")]);
    check(
        &format!("#[tool(name = \"{}\")] fn f() {{}}", "x".repeat(129)),
        &[(&format!("\"{}\"", "x".repeat(129)), rule)],
    );
}

#[test]
fn signatures() {
    check("#[tool] const fn f() {}", &[("const", "remove `const`")]);
    check("#[tool] unsafe fn f() {}", &[("unsafe", "any client may call a tool")]);
    check("#[tool] extern \"C\" fn f() {}", &[("extern", "remove `extern`")]);
    check(
        "#[tool] fn f<T>(a: T) {}",
        &[("T", "a tool has one schema, so it has no type parameters")],
    );
    check(
        "#[prompt] fn f<const N: usize>() {}",
        &[("N", "a prompt has one schema, so it has no const parameters")],
    );
    check(
        "#[tool] fn f(a: impl Into<u8>) {}",
        &[("impl", "a parameter needs a type that can be named")],
    );
    check(
        "#[tool] fn f() -> Option<impl Send> {}",
        &[("impl", "the result needs a type that can be named")],
    );
    check("#[tool] fn f(_: u8) {}", &[("_", "give the parameter a plain name")]);
    check("#[tool] fn f(ref a: u8) {}", &[("ref … a", "give the parameter a plain name")]);
    check("#[tool] fn f((a, b): (u8, u8)) {}", &[("(a, b)", "give the parameter a plain name")]);
    check("#[tool] #[tool] fn f() {}", &[("tool", "#[tool] is there twice: keep one")]);
    check(
        "#[tool] #[prompt] fn f() {}",
        &[("prompt", "#[prompt] beside #[tool]: a function is one of them")],
    );
}

#[test]
fn wrong_items() {
    check("#[tool] struct S;", &[("struct", "#[tool] belongs on a function, not on a `struct`")]);
    check(
        "#[prompt] pub enum E {}",
        &[("enum", "#[prompt] belongs on a function, not on an `enum`")],
    );
    check(
        "#[tool] const A: u8 = 1;",
        &[("const", "#[tool] belongs on a function, not on a `const`")],
    );
    check(
        "#[tool] trait T {}",
        &[("trait", "#[tool] belongs on a function with a body, not on a trait")],
    );
    check(
        "#[tool] fn f(&self);",
        &[(";", "this function has no body; a method of a trait cannot be registered")],
    );
    check(
        "#[tool] impl N { fn f(&self) {} }",
        &[("impl", "#[tool] belongs on the methods of this block, and `#[server]` on the block")],
    );
    let outside = "#[tool] on a method needs `#[server]` on the impl block around it";
    check("#[tool] fn f(&self, #[arg(default)] a: u8) {}", &[("self", outside)]);
    check("#[tool] fn f() -> Self {}", &[("Self", outside)]);
    check("#[data] fn f() {}", &[("fn", "#[data] belongs on a `struct` or an `enum`")]);
    check("#[data] union U { a: u8 }", &[("union", "#[data] belongs on a `struct` or an `enum`")]);
    check(
        "#[data] #[derive(Debug, serde::Serialize)] struct S;",
        &[("Serialize", "#[data] derives `Serialize` already: remove it here")],
    );
    check("#[server] struct S;", &[("struct", "#[server] belongs on an impl block")]);
    check("#[server] fn f() {}", &[("fn", "#[server] belongs on an impl block")]);
}

#[test]
fn half_typed_functions_survive() {
    let source = "#[tool] fn f(#[arg(default = 1)] a: , b: u8) -> u8 { b. }";
    let text = expand(source).to_string();
    assert!(text.starts_with("fn f (a : , b : u8) -> u8 { b . }"), "{text}");
    assert!(text.contains("compile_error"), "{text}");
    let body = expand("#[tool] fn f() { let x = ; x. }").to_string();
    assert!(body.starts_with("fn f () { let x = ; x . } const _"), "{body}");
}

#[test]
fn servers() {
    let shared =
        "the state is shared by concurrent calls: take `&self` and use a `Mutex` or an atomic";
    check("#[server] impl N { #[tool] fn f(&mut self) {} }", &[("self", shared)]);
    check("#[server] impl N { #[tool] fn f(self) {} }", &[("self", shared)]);
    check("#[server] impl N { #[tool] fn f(self: Arc<Self>) {} }", &[("self", shared)]);
    check(
        "#[server] impl N { #[tool] fn f(#[arg(default)] &self) {} }",
        &[("arg", "`self` is the server's state")],
    );
    check(
        "#[server] impl Drop for N { #[tool] fn f(&self) {} }",
        &[("for", "an impl block of the type itself")],
    );
    check(
        "#[server] impl<T> N<T> { #[tool] fn f(&self) {} }",
        &[("T", "with concrete parameters")],
    );
    check(
        "#[server] impl<'a> N<'a> { #[tool] fn f(&self) {} }",
        &[("'a", "with concrete parameters")],
    );
    check("#[server] impl N { fn f(&self) {} }", &[("", "no method here has `#[tool]`")]);
    check(
        "#[server] impl N { #[tool] const A: u8 = { 1 }; }",
        &[("const", "#[tool] belongs on a function, not on a `const`")],
    );
    check(
        "#[server] impl N { #[tool = 1] fn f(&self) {} }",
        &[("=", "write `#[tool(key = value)]`")],
    );
    check(
        "#[server] impl N { #[tool(nam = \"x\")] fn f(&self) {} #[tool(titel = \"y\")] fn g(#[arg(x)] a: u8) {} }",
        &[("nam", "`name`"), ("titel", "`title`"), ("x", "unknown key `x` of #[arg]")],
    );
    check(
        "#[server] impl N { #[tool] #[prompt] fn f(&self) {} }",
        &[("prompt", "#[prompt] beside #[tool]")],
    );
}

#[test]
fn resources() {
    check("#[resource] fn f() {}", &[("", "#[resource] starts with its URI")]);
    check("#[resource(name = \"x\")] fn f() {}", &[("name", "#[resource] starts with its URI")]);
    check(
        "#[resource(\"x/y\")] fn f() {}",
        &[("\"x/y\"", "the URI starts with a scheme of its own")],
    );
    check(
        "#[resource(\"x:{idd}\")] fn f(id: u8) {}",
        &[(
            "\"x:{idd}\"",
            "the variable `{idd}` has no parameter of its name; did you mean the parameter `id`?",
        )],
    );
    check("#[resource(\"x:{id}\")] fn f() {}", &[("\"x:{id}\"", "add one: `id: String`")]);
    check(
        "#[resource(\"x:{a.b}\")] fn f() {}",
        &[("\"x:{a.b}\"", "add one: `#[arg(name = \"a.b\")] a_b: String`")],
    );
    check(
        "#[resource(\"x:y\")] fn f(#[arg(default = 1)] id: u8) {}",
        &[(
            "arg",
            "`id` is not a variable of the URI, so clients do not give it: add `{id}` to the URI",
        )],
    );
}

#[test]
fn all_errors_of_an_item_come_in_source_order() {
    check(
        "#[tool(timeout = \"1s\", readonly, name = \"a b\")] fn f(#[arg(len(3))] a: impl Copy, (b, c): (u8, u8)) {}",
        &[
            ("timeout", "a plain `fn`"),
            ("readonly", "unknown key"),
            ("\"a b\"", "a tool's name"),
            ("3", "expected a range"),
            ("impl", "can be named"),
            ("(b, c)", "plain name"),
        ],
    );
}

/// The errors stand beside the expression, so that the calls after it do not fail too.
#[test]
fn expressions_keep_their_type() {
    let check = |source, expected: &[(&str, &str)], kept: &str| {
        let expanded = expand(source);
        let mut found = Vec::new();
        errors(expanded.clone(), &mut found);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((at, text), (guilty, part)) in found.iter().zip(expected) {
            assert!(at == guilty && text.contains(part), "{found:?}");
        }
        assert!(expanded.to_string().contains(kept), "{expanded}");
    };
    check(
        "server!(instruction = \"x\", max_result = \"1 meg\", title = \"T\")",
        &[
            ("instruction", "did you mean `instructions`?"),
            ("\"1 meg\"", "expected a number of bytes"),
        ],
        ". title (\"T\")",
    );
    check(
        "server!(with = tools)",
        &[("tools", "write `with = [my_tools]`")],
        "__private :: builder",
    );
    check(
        "items![add(), 5, sub]",
        &[("()", "name the function without calling it"), ("5", "expected the path of a function")],
        "identity (& sub)",
    );
}
