//! Parameters, and the variables of URIs.

use super::check;

#[test]
fn arguments() {
    let arg = |key: &str| format!("#[tool] fn f(#[arg({key})] a: u8) {{}}");
    check(&arg("range(5..=1)"), &[("5 … 1", "no number is in this range")]);
    check(&arg("range(1..1)"), &[("1 … 1", "no number is in this range")]);
    check(&arg("range(0.5..=0.1)"), &[("0.5 … 0.1", "no number is in this range")]);
    check(&arg("range(..)"), &[("range", "write `range(1..=10)`")]);
    check(&arg("range(3)"), &[("3", "expected a range, as in `range(1..=10)`")]);
    check(&arg("range(1..=MAX)"), &[("MAX", "a range is written with numbers")]);
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
            "tools have no completion in any revision: show the model a value with `#[arg(example = \"…\")]`, or list them all in an enum",
        )],
    );
    check("#[tool] fn f(#[arg] a: u8) {}", &[("arg", "write `#[arg(key = value)]`")]);
    check(
        "#[tool] fn f(a: u8, #[arg(name = \"a\")] b: u8) {}",
        &[("\"a\"", "another parameter is called `a` already")],
    );
    check(
        "#[tool] fn f(#[arg(header = \"Region\")] a: u8, #[arg(header = \"REGION\")] b: u8) {}",
        &[("\"REGION\"", "another parameter has the header `REGION` already")],
    );
    check(
        "#[tool] fn f(#[cfg(unix)] a: u8) {}",
        &[("cfg", "one with `#[cfg(unix)]` and one with `#[cfg(not(unix))]`")],
    );
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
    check(
        "#[tool] fn f(#[serde(alias = \"b\", renam = \"x\")] a: u8) {}",
        &[("renam", "unknown serde attribute `renam`; did you mean `rename`?")],
    );
    check(&format!("#[tool] fn f({serde} a: &Db) {{}}"), &[("&", "owns its value")]);
    check(
        &format!("#[prompt] fn f({serde} a: String) {{}}"),
        &[("serde", "`serde` attributes are for the parameters of tools, and this is a text")],
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
    check("#[completion] fn f(#[complete(a)] a: &str) {}", &[("complete", "nothing completes it")]);
}

#[test]
fn resources() {
    check("#[resource] fn f() {}", &[("f", "#[resource] starts with its URI")]);
    check(
        "#[resource(uri = \"x:y\", size = 1)] fn f() {}",
        &[("uri", "the URI stands first and without a key: `#[resource(\"x:y\", …)]`")],
    );
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
