//! Errors about parameters, their attributes, and the variables of URIs.

use super::check;

#[test]
fn arguments() {
    let arg = |key: &str| format!("#[tool] fn f(#[arg({key})] a: u8) {{}}");
    check(&arg("range(5..=1)"), &[("5 … 1", "no number is in this range")]);
    check(&arg("range(1..1)"), &[("1 … 1", "no number is in this range")]);
    check(&arg("range(0.5..=0.1)"), &[("0.5 … 0.1", "no number is in this range")]);
    check(&arg("range(..)"), &[("range", "write `range(1..=10)`")]);
    check(&arg("range(3)"), &[("3", "expected a range, as in `range(1..=10)`")]);
    check(&arg("range(1..=MAX)"), &[("MAX", "the bounds of a range must be number literals")]);
    check(&arg("range = 1..=10"), &[("range", "write `range(1..=10)`")]);
    check(&arg("len(0.5..)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("len(-1..)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("len(..0)"), &[("len", "a length is a whole number, 0 or more")]);
    check(&arg("pattern = \"(\""), &[("\"(\"", "not a regular expression")]);
    check(&arg("header = \"a b\""), &[("\"a b\"", "without spaces: write \"a-b\"")]);
    check(&arg("header = \"\""), &[("\"\"", "a header name is letters")]);
    check(
        &arg("example = [1]"),
        &[(
            "[",
            "an example is one number, `true`, `false` or \"text\": for a list write `description",
        )],
    );
    check(
        &arg("complete(\"a\")"),
        &[(
            "complete",
            "no protocol revision has completion for tools: show the model a value with `#[arg(example = \"…\")]`, or list all values in an enum",
        )],
    );
    check("#[tool] fn f(#[arg] a: u8) {}", &[("arg", "write `#[arg(key = value)]`")]);
    check(
        "#[tool] fn f(a: u8, #[arg(name = \"a\")] b: u8) {}",
        &[("\"a\"", "another parameter is already called `a`")],
    );
    check(
        "#[tool] fn f(#[arg(header = \"Region\")] a: u8, #[arg(header = \"REGION\")] b: u8) {}",
        &[("\"REGION\"", "another parameter already has the header `REGION`")],
    );
    check(
        "#[tool] fn f(#[cfg(unix)] a: u8) {}",
        &[("cfg", "one with `#[cfg(unix)]` and one with `#[cfg(not(unix))]`")],
    );
    check(
        "#[prompt] fn f(#[arg(header = \"A\")] a: &str) {}",
        &[("header", "`header` is for the parameters of tools")],
    );
    check("#[completion] fn f(#[arg(default)] a: &str) {}", &[("default", "only `name` is used")]);
}

#[test]
fn values_that_are_not_allowed() {
    let arg = |keys: &str| format!("#[prompt] fn f(#[arg({keys})] a: u8) {{}}");
    let wrong = |keys: &str, guilty: &str, part: &str| check(&arg(keys), &[(guilty, part)]);
    wrong("default = 20, range(1..=10)", "20", "this default is not in `range(1..=10)`");
    wrong("default = 10, range(1..10)", "10", "not in `range(1..10)`");
    wrong("default = -1, range(0..)", "- … 1", "not in `range(0..)`");
    wrong("default = 0.5, range(..=-0.5)", "0.5", "not in `range(..=-0.5)`");
    wrong("example = -3, range(0..)", "- … 3", "this example is not in `range(0..)`");
    wrong("example = 3.5, range(4.0..=9)", "3.5", "this example is not in `range(4.0..=9)`");
    wrong("complete(\"4\", \"6\"), range(..=5)", "\"6\"", "this proposal is not in `range(..=5)`");
    wrong(
        "default = \"äöü\", len(..=2)",
        "\"äöü\"",
        "this default has 3 characters, but `len` allows at most 2",
    );
    wrong(
        "example = \"\", len(1..)",
        "\"\"",
        "this example has 0 characters, but `len` allows at least 1",
    );
    wrong("complete(\"a\"), len(2..9)", "\"a\"", "has 1 character, but `len` allows at least 2");
    wrong(
        "default = \"a1\", pattern = \"^[a-z]+$\"",
        "\"a1\"",
        "this default does not match its pattern `^[a-z]+$`",
    );
    check(
        &arg("default = 0, example = 11, range(1..=10)"),
        &[("0", "this default"), ("11", "this example")],
    );
}

#[test]
fn values_that_are_allowed() {
    let fine = |keys: &str| {
        let source = format!("#[prompt] fn f(#[arg({keys})] a: u8) {{}}");
        let text = crate::tests::expand(&source).to_string();
        assert!(!text.contains("compile_error"), "{keys}");
    };
    fine("default = 1, range(1..=10)");
    fine("default = 9, range(1..10)");
    fine("default = MANY, range(1..10)");
    fine("default, range(1..10)");
    fine("default = 170141183460469231731687303715884105727, range(1..)");
    fine("default = \"ab\", len(2..=2), pattern = \"b\"");
    // `len` bounds the length of a text, so it does not reject a number.
    fine("default = 12345, len(..=2)");
    fine("complete(cities), len(..=2)");
    fine("complete(\"low\", \"high\"), range(1..=5)");
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
    check(
        "#[tool] fn f(#[serde(alias = \"b\", renam = \"x\")] a: u8) {}",
        &[("renam", "unknown serde attribute `renam`; did you mean `rename`?")],
    );
    check(&format!("#[tool] fn f({serde} a: &Db) {{}}"), &[("&", "owns its value")]);
    check(
        &format!("#[prompt] fn f({serde} a: String) {{}}"),
        &[(
            "serde",
            "`serde` attributes are for the parameters of tools, but this parameter is plain text",
        )],
    );
}

#[test]
fn completers() {
    let complete = |attr: &str| format!("#[prompt] fn f(#[{attr}] a: &str) {{}}");
    let usage = "write `complete(\"one\", \"two\")` or `complete(function)`";
    check(&complete("complete"), &[("complete", usage)]);
    check(&complete("complete()"), &[("complete", usage)]);
    check(&complete("complete(5)"), &[("complete", usage)]);
    check(&complete("complete(a())"), &[("(", "name the function without calling it")]);
    check(&complete("complete(\"a\", b)"), &[("b", "either values or one function, not both")]);
    check(&complete("complete(a, \"b\")"), &[("\"b\"", "either values or one function, not both")]);
    check(&complete("complete(\"a\", \"a\")"), &[("\"a\"", "this value is listed twice")]);
    check(
        "#[prompt] fn f(#[arg(complete = a)] #[complete(b)] a: &str) {}",
        &[("complete", "`complete` is given twice: keep one")],
    );
    check(
        "#[completion] fn f(#[complete(a)] a: &str) {}",
        &[("complete", "a completion function has no completions itself")],
    );
}

#[test]
fn resources() {
    check("#[resource] fn f() {}", &[("f", "#[resource] starts with its URI")]);
    check(
        "#[resource(uri = \"x:y\", size = 1)] fn f() {}",
        &[("uri", "the URI comes first and has no key: write `#[resource(\"x:y\", …)]`")],
    );
    check("#[resource(name = \"x\")] fn f() {}", &[("name", "#[resource] starts with its URI")]);
    check(
        "#[resource(\"x/y\")] fn f() {}",
        &[("\"x/y\"", "the URI must start with a scheme of its own")],
    );
    check(
        "#[resource(\"x:{idd}\")] fn f(id: u8) {}",
        &[(
            "\"x:{idd}\"",
            "the variable `{idd}` has no parameter of the same name; did you mean the parameter `id`?",
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
            "`id` is not a variable of the URI, so clients do not send it: add `{id}` to the URI",
        )],
    );
}
