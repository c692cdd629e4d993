//! Errors about types with `#[form]`, their fields and their variants.

use super::check;

/// Returns the source of a form with one field, which has these attributes.
fn field(attrs: &str, ty: &str) -> String {
    format!("#[form] struct S {{ #[arg({attrs})] a: {ty} }}")
}

#[test]
fn keys_of_fields() {
    let owner = "#[arg] on a field of a #[form]";
    check(
        &field("minimum = 1", "u8"),
        &[(
            "minimum",
            &format!("unknown key `minimum` of {owner}; did you mean `range`? Keys: title, "),
        )],
    );
    check(&field("defualt", "u8"), &[("defualt", "did you mean `default`?")]);
    for key in [
        "pattern = \"x\"",
        "name = \"x\"",
        "example = 1",
        "header = \"X\"",
        "complete(\"a\", \"b\")",
    ] {
        let word = key.split([' ', '(']).next().unwrap();
        check(&field(key, "u8"), &[(word, &format!("`{word}` is not a key of {owner}: "))]);
    }
    check(
        &field("pattern = \"x\", title = 5, range(\"x\")", "u8"),
        &[
            ("pattern", "write `format = \"email\"` or `len(..=10)`"),
            ("5", "`title` is text"),
            ("\"x\"", "expected a range"),
        ],
    );
    check("#[form] struct S { #[arg] a: u8 }", &[("arg", "such as `#[arg(default = 1)]`")]);
    check(
        "#[tool] fn f(#[arg(format = \"uri\")] a: u8) {}",
        &[("format", "describe it in the `description`, or write `pattern`")],
    );
}

#[test]
fn formats() {
    let usage = "write `format = \"email\"`, `\"uri\"`, `\"date\"` or `\"date-time\"`";
    check(&field("format", "String"), &[("format", usage)]);
    check(&field("format(email)", "String"), &[("format", usage)]);
    check(
        &field("format = \"e-mail\"", "String"),
        &[("\"e-mail\"", "forms have no format \"e-mail\"; did you mean \"email\"? Write ")],
    );
}

#[test]
fn defaults_and_ranges() {
    let wrong = "the field does not accept this default";
    check(&field("default = -2, range(-1..)", "i8"), &[("-2", wrong)]);
    check(&field("range(..=1.5), default = 2", "f64"), &[("2", wrong)]);
    check(&field("len(2..), default = \"ä\"", "String"), &[("\"ä\"", wrong)]);
    check(
        &field("range(1..10)", "u8"),
        &[("range", "the range must include its end: write `..=`")],
    );
    let fine = |key: &str, ty: &str| {
        check(&field(key, ty).replace("#[form]", "#[form(x)]"), &[("x", "unknown key")])
    };
    fine("default = 2, range(2..=2)", "u8");
    fine("default = MANY, range(2..=2)", "u8");
    fine("default = \"ä\", len(..=1)", "String");
}

#[test]
fn shapes() {
    let names = "a form needs named fields";
    check("#[form] struct S(u8);", &[("(u8)", names)]);
    check("#[form] struct S;", &[("struct", names)]);
    check("#[form] struct S {}", &[("S", "a form without fields asks nothing")]);
    check("#[form] struct S<T> { a: T }", &[("T", "so it cannot have type parameters")]);
    check(
        "#[form] enum E { A, B { a: u8 }, C(u8) }",
        &[
            ("{ a: u8 }", "a choice is only a name: write `B`"),
            ("(u8)", "a choice is only a name: write `C`"),
        ],
    );
    check("#[form] enum E {}", &[("E", "there is nothing to choose from")]);
    check("#[form] union U { a: u8 }", &[("union", "#[form] belongs on a `struct` or an `enum`")]);
    check("#[form] fn f() {}", &[("fn", "#[form] belongs on a `struct` or an `enum`")]);
    check(
        "#[form] struct S { #[cfg(unix)] a: u8, #[cfg_attr(unix, doc = \"\")] b: u8 }",
        &[
            ("cfg", "two types, one with `#[cfg(unix)]` and one with `#[cfg(not(unix))]`"),
            ("cfg_attr", "two types, each"),
        ],
    );
    check("#[form] enum E { #[cfg(unix)] A }", &[("cfg", "a choice cannot depend on `cfg`")]);
}

#[test]
fn keys_of_forms_and_choices() {
    check("#[form(enum_names)] struct S { a: u8 }", &[("enum_names", "`enum_names` is for enums")]);
    check("#[form(enum_names)] enum E { A }", &[("enum_names", "no variant has a title")]);
    check("#[form(title = \"x\")] struct S { a: u8 }", &[("title", "a form as a whole has none")]);
    check(
        "#[data(enum_names)] enum E { A }",
        &[("enum_names", "it is a key of #[form]; remove it here.")],
    );
    check(
        "#[form] enum E { #[arg(default)] A, #[arg(description = \"x\")] B, #[arg(len(1..))] C }",
        &[
            ("default", "set the default on the field"),
            ("description", "a choice has only a title"),
            ("len", "unknown key `len` of #[arg] on a variant of a #[form]"),
        ],
    );
}

#[test]
fn derives_and_serde() {
    check(
        "#[form] #[derive(Clone, Serialize)] enum E { A }",
        &[("Serialize", "#[form] already derives `Serialize`")],
    );
    let both = "`#[form]` does all that `#[data]` does: remove `#[data]`";
    check("#[form] #[data] struct S { a: u8 }", &[("data", both)]);
    check("#[data] #[form] struct S { a: u8 }", &[("form", both)]);
    check(
        "#[data] #[data] struct S { a: u8 }",
        &[("data", "#[data] is here twice: remove one of them")],
    );
    check(
        "#[form] #[serde(default, rename_all(serialize = \"x\"), rename = \"y\")] struct S { #[serde(flatten)] a: u8, #[serde(rename = \"c\", skip, with = \"m\")] b: u8 }",
        &[
            ("default", "set the default of a field with `#[arg(default)]`"),
            (
                "rename_all",
                "a form has one name for reading and writing: write `rename_all = \"…\"`",
            ),
            ("flatten", "flat fields only"),
            ("skip", "asks for all of its fields"),
            ("with", "a field of a form supports only serde's `rename`"),
        ],
    );
    check(
        "#[form] #[serde(untagged)] enum E { #[serde(other)] A }",
        &[
            ("untagged", "only serde's `rename`, `rename_all`"),
            ("other", "a choice supports only serde's `rename`"),
        ],
    );
}
