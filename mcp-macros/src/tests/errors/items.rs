//! Errors about items that have an attribute, and the code that the macro still emits beside its errors.

use super::{check, errors};
use crate::tests::expand;
use proc_macro2::TokenStream;

#[test]
fn signatures() {
    check("#[tool] const fn f() {}", &[("const", "remove `const`")]);
    check("#[tool] unsafe fn f() {}", &[("unsafe", "any client may call a tool")]);
    check("#[tool] extern \"C\" fn f() {}", &[("extern", "remove `extern`")]);
    check(
        "#[tool] fn f<T>(a: T) {}",
        &[("T", "a tool has one schema, so it cannot have type parameters")],
    );
    check(
        "#[prompt] fn f<const N: usize>() {}",
        &[("N", "a prompt has one schema, so it cannot have const parameters")],
    );
    check(
        "#[tool] fn f(a: impl Into<u8>) {}",
        &[("impl", "a parameter needs a type that can be named")],
    );
    check(
        "#[tool] fn f() -> Option<impl Send> {}",
        &[("impl", "the result needs a type that can be named")],
    );
    for (future, place) in [
        ("impl Future<Output = Vec<u8>> + Send", "impl … Send"),
        ("Pin<Box<dyn std::future::Future<Output = Vec<u8>> + Send>>", "Pin … >"),
        ("BoxFuture<'static, Vec<u8>>", "BoxFuture … >"),
    ] {
        let code = format!("#[tool] fn f() -> {future} {{}}");
        check(&code, &[(place, "write `async fn f(…) -> Vec<u8>`")]);
    }
    check(
        "#[tool] fn f<const N: usize>() {}",
        &[("N", "take the value as a parameter, `n: usize`")],
    );
    check(
        "#[tool] fn f<F: Fn(u8) -> u8>(#[arg(default)] a: u8) {}",
        &[("F", "a tool has one schema, so it cannot have type parameters")],
    );
    check("#[tool] fn f(_: u8) {}", &[("_", "give the parameter a plain name")]);
    check("#[tool] fn f(ref a: u8) {}", &[("ref … a", "give the parameter a plain name")]);
    check("#[tool] fn f((a, b): (u8, u8)) {}", &[("(a, b)", "in the body: `let (a, b) = name;`")]);
    check("#[tool] #[tool] fn f() {}", &[("tool", "#[tool] appears twice: remove one")]);
    check(
        "#[tool] #[prompt] fn f() {}",
        &[("prompt", "a function cannot have both #[tool] and #[prompt]: remove one")],
    );
}

/// rustc accepts these items, or reports another mistake than ours.
#[test]
fn items_that_are_not_half_typed_are_refused() {
    for item in [
        "const F: fn() = g;",
        "static F: fn() -> u8 = g;",
        "type C = fn();",
        "struct S<#[cfg(all())] T>(T);",
    ] {
        let text = expand(&format!("#[tool] {item}")).to_string();
        assert!(text.contains("belongs on a function"), "{item}: {text}");
    }
    let method = expand("#[tool] fn f<'a>(&'a self) -> &'a str;").to_string();
    assert!(method.contains("compile_error"), "{method}");
}

#[test]
fn impossible_parameters_and_malformed_resource_uris_are_refused() {
    check("#[tool] fn f(a: &'static str) {}", &[("'static", "remove `'static`")]);
    check(
        "#[tool] fn f(a: &dyn Store) {}",
        &[("& … Store", "take `&std::sync::Arc<dyn Store + Send + Sync>`")],
    );
    check(
        "#[tool] fn f(a: Option<Vec<&str>>) {}",
        &[("& … str", "a `Vec` that a client sends owns its contents: write `String`")],
    );
    for (parameter, token, owned) in [
        (
            "HashMap<u8, &std::ffi::OsStr>",
            "& … OsStr",
            "a `HashMap` that a client sends owns its contents: write `String`",
        ),
        (
            "Option<(&Path, u8)>",
            "& … Path",
            "a tuple that a client sends owns its contents: write `std::path::PathBuf`",
        ),
        (
            "[&[u8]; 2]",
            "& … [u8]",
            "an array that a client sends owns its contents: write `Vec<u8>`",
        ),
        ("Vec<&Note>", "& … Note", "a `Vec` that a client sends owns its contents: write `Note`"),
    ] {
        check(&format!("#[tool] fn f(a: {parameter}) {{}}"), &[(token, owned)]);
    }
    check("#[tool] #[arg(default)] fn f(a: u8) {}", &[("arg", "#[arg] belongs on a parameter")]);
    check(
        "#[resource(URI, title = 5)] fn f() {}",
        &[("URI", "the URI must be a literal"), ("5", "is text")],
    );
    check(
        "#[resource(concat!(\"a:\", \"b\"))] fn f() {}",
        &[("concat", "`#[resource(\"app://f\")]`")],
    );
    check(
        "#[resource(size)] fn f() {}",
        &[("size", "#[resource] starts with its URI"), ("size", "write `size")],
    );
    // rustc rejects these types, so the macro adds no error.
    check("#[tool] fn f(a: str, b: [u8]) {}", &[]);
}

#[test]
fn blocks_with_conditional_attributes_or_macro_calls() {
    check(
        "#[handlers] impl N { #[cfg_attr(all(unix, x), mcp_runtime::tool(title = \"a\"))] fn f(&self) {} }",
        &[("cfg_attr", "and `#[tool]`")],
    );
    check("#[handlers] impl N { tools!(a); }", &[]);
    check("#[handlers] impl N { fn f(&self) { tools!(a) } }", &[("impl", "no method here has")]);
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
        &[(";", "this function has no body that a client could call: remove the attribute")],
    );
    check(
        "#[tool] impl N { fn f(&self) {} }",
        &[("impl", "#[tool] belongs on the methods of this block, and `#[handlers]` on the block")],
    );
    let outside = "#[tool] on a method needs `#[handlers]` on the impl block around it";
    check("#[tool] fn f(&self, #[arg(default)] a: u8) {}", &[("self", outside)]);
    check("#[tool] fn f() -> Self {}", &[("Self", outside)]);
    check(
        "#[tool] fn f(db: &mut Db) {}",
        &[("mut", "take `&T` with a `Mutex` or an atomic in it")],
    );
    check(
        "#[data] fn f() {}",
        &[("fn", "#[data] belongs on a `struct` or an `enum`: on a function write `#[tool]`")],
    );
    check(
        "#[data] union U { a: u8 }",
        &[("union", "#[data] belongs on a `struct` or an `enum`: write one of them")],
    );
    check(
        "#[data] #[derive(Debug, serde::Serialize)] struct S;",
        &[("Serialize", "#[data] already derives `Serialize`: remove it here")],
    );
    check("#[handlers] struct S;", &[("struct", "#[handlers] belongs on an impl block")]);
    check("#[handlers] fn f() {}", &[("fn", "#[handlers] belongs on an impl block")]);
}

#[test]
fn bounds_on_fields_of_data_are_refused() {
    let message = "`#[arg]` works on parameters, and on fields of `#[form]`: remove it here";
    check("#[data] struct S { #[arg(range(1..=9))] a: u8 }", &[("arg", message)]);
    check("#[data] struct S(#[arg(pattern = \"a\")] String);", &[("arg", message)]);
    check("#[data] enum E { A { #[arg(foo, len(..=9))] a: String } }", &[("arg", message)]);
    // clap has an attribute of the same name, with other keys.
    for keys in ["long", "short = 'a', long", "name = \"A\"", "value_parser = range(1, 9)"] {
        let text = expand(&format!("#[data] struct S {{ #[arg({keys})] a: u8 }}")).to_string();
        assert!(!text.contains("compile_error") && text.contains("# [arg"), "{text}");
    }
}

#[test]
fn half_typed_functions_survive() {
    let source = "#[tool] fn f(#[arg(default = 1)] a: , b: u8) -> u8 { b. }";
    // rustc rejects a parameter without a type, so the macro adds no error and does not register the function.
    assert_eq!(expand(source).to_string(), "fn f (a : , b : u8) -> u8 { b . }");
    for params in ["a", "a: u8, b", "a: u8, b:", "a: &", "a: std::", "a: u8,, b: u8", "self, a:"] {
        let source = format!("fn f({params}) -> u8 {{ a. }}");
        let expanded = expand(&format!("#[tool(name = \"g\")] {source}")).to_string();
        assert_eq!(expanded, source.parse::<TokenStream>().unwrap().to_string());
    }
    // Checks that the macro reports all other syntax errors, because rustc may not report them.
    for whole in ["a: u8 + +", "a: Vec<u8>>", "a: u8 b: u8", "a: fn(u8", "a: HashMap<u8, u8>: u8"] {
        let Ok(source) = format!("#[tool] fn f({whole}) {{}}").parse::<TokenStream>() else {
            continue;
        };
        let text = expand(&source.to_string()).to_string();
        assert!(text.contains("compile_error"), "{whole}: {text}");
    }
    let block = "#[handlers] impl N { #[tool] fn f(&self, #[arg(default)] a: ) { self. } #[tool] fn g(&self) {} }";
    let text = expand(block).to_string();
    assert!(
        text.starts_with("impl N { fn f (& self , a :) { self . } fn g (& self) { } } const _"),
        "{text}"
    );
    assert!(!text.contains("compile_error") && !text.contains("\"f\""), "{text}");
    let body = expand("#[tool] fn f() { let x = ; x. }").to_string();
    assert!(body.starts_with("fn f () { let x = ; x . } const _"), "{body}");
}

#[test]
fn a_parameter_typed_above_another_survives() {
    let both = "fn f (na article : & str) { }";
    assert_eq!(expand("#[tool] fn f(na article: &str) {}").to_string(), both);
    let article = "#[doc = \"Number\"] #[arg(pattern = \"^[A-Z]$\")] article: &str";
    for half in ["a", "a: u8", "a: Vec<u8>"] {
        let text = expand(&format!("#[tool] fn f({half} {article}) {{}}")).to_string();
        assert_eq!(
            text,
            format!("fn f ({half} article: &str) {{}}").parse::<TokenStream>().unwrap().to_string()
        );
        let block = format!(
            "#[handlers] impl N {{ #[tool] fn f(&self, {half} {article}) {{}} #[tool] fn g(&self) {{}} }}"
        );
        let text = expand(&block).to_string();
        assert!(!text.contains("compile_error") && !text.contains("# [arg"), "{text}");
    }
}

/// rustc reports a function that ends too early, so the macro adds no error.
#[test]
fn a_function_without_its_end_survives() {
    for half in [
        "fn f",
        "fn f(a: u8)",
        "fn f(a: u8) -> u8",
        "async",
        "pub fn",
        "async #[tool] fn g() {}",
        "fn f const A: u8 = 1;",
        "fn f(a: u8) const A: u8 = 1;",
        "fn f(a: u8) -> const A: u8 = 1;",
        "fn f(#[] a: u8) {}",
        "fn f(a: Vec<u8) {}",
    ] {
        let text = expand(&format!("#[tool] {half}")).to_string();
        assert!(!text.contains("compile_error") && !text.contains("# [tool"), "{half}: {text}");
    }
    for half in ["fn f(&self)", "fn f", "fn f(&self) -> Result<"] {
        let block = format!("#[handlers] impl N {{ #[tool] fn g(&self) {{}} #[tool] {half} }}");
        let text = expand(&block).to_string();
        assert!(!text.contains("compile_error") && text.contains("\"g\""), "{half}: {text}");
    }
    check("#[tool] fn f();", &[(";", "no body that a client could call")]);
}

/// rustc reports a half-typed field. The uses of the type cause no errors, because it has the impls.
#[test]
fn a_half_typed_type_keeps_its_impls() {
    for (attribute, traits) in [
        ("data", &["Serialize", "Deserialize", "JsonSchema"][..]),
        ("form", &["Serialize", "Deserialize", "JsonSchema", "Form"][..]),
        ("config", &["Configuration"][..]),
    ] {
        let attributes =
            "#[config(default = 1)] #[arg(default = 1)] #[serde(rename = \"b\")] a: u8";
        for (fields, reported) in [
            ("a: u8, na: ,", 0),
            (&format!("{attributes}, na"), 0),
            (&format!("na {attributes}"), 0),
            ("a: u8 b: u8", 1),
        ] {
            let expanded = expand(&format!("#[{attribute}] struct S {{ {fields} }}"));
            let mut found = Vec::new();
            errors(expanded.clone(), &mut found);
            let text = expanded.to_string();
            assert_eq!(found.len(), reported, "{text}");
            assert!(reported == 0 || text.starts_with(":: core :: compile_error"), "{text}");
            for name in traits {
                let is_there = text.contains(&format!(":: {name}")) && text.contains("for S");
                assert!(is_there, "{name}: {text}");
            }
            for noise in ["derive", "# [config", "# [arg", "# [serde"] {
                assert!(!text.contains(noise), "{noise}: {text}");
            }
        }
    }
    let text = expand("#[config] struct S").to_string();
    assert!(!text.contains("compile_error") && text.contains("Configuration for S"), "{text}");
    let text = expand("#[form] enum Place { Window, #[doc = \"In the garden\"] }").to_string();
    assert!(!text.contains("compile_error") && text.contains("FormChoice for Place"), "{text}");
}

#[test]
fn servers() {
    let shared = "the state is shared by concurrent calls: take `&self`";
    check(
        "#[handlers] impl N { #[tool] fn f(&mut self) {} }",
        &[("self", &format!("{shared}, and keep what changes in a `std::sync::Mutex`"))],
    );
    check("#[handlers] impl N { #[tool] fn f(self) {} }", &[("self", shared)]);
    check("#[handlers] impl N { #[tool] fn f(self: Arc<Self>) {} }", &[("self", shared)]);
    check(
        "#[handlers] impl N { #[tool] fn f(#[arg(default)] &self) {} }",
        &[("arg", "`self` is the server's state")],
    );
    check(
        "#[handlers] impl Drop for N { #[tool] fn f(&self) {} }",
        &[("for", "an impl block of the type itself")],
    );
    check(
        "#[handlers] impl<T> N<T> { #[tool] fn f(&self) {} }",
        &[("T", "with concrete parameters")],
    );
    check("#[handlers] impl<'a> N<'a> { #[tool] fn f(&self) {} }", &[("'a", "write `'static`")]);
    check("#[handlers] impl N { fn f(&self) {} }", &[("impl", "no method here has `#[tool]`")]);
    check(
        "#[handlers] impl N { #[tool] const A: u8 = { 1 }; }",
        &[("const", "#[tool] belongs on a function, not on a `const`")],
    );
    check(
        "#[handlers] impl N { #[tool = 1] fn f(&self) {} }",
        &[("=", "write `#[tool(key = value)]`")],
    );
    check(
        "#[handlers] impl N { #[tool(nam = \"x\")] fn f(&self) {} #[tool(titel = \"y\")] fn g(#[arg(x)] a: u8) {} }",
        &[("nam", "`name`"), ("titel", "`title`"), ("x", "unknown key `x` of #[arg]")],
    );
    check(
        "#[handlers] impl N { #[tool] #[prompt] fn f(&self) {} }",
        &[("prompt", "a function cannot have both #[tool] and #[prompt]")],
    );
}

#[test]
fn items_of_one_name_in_a_block() {
    let block = |items: &str| format!("#[handlers(group = \"g\")] impl N {{ {items} }}");
    check(
        &block("#[tool] fn f(&self) {} #[tool(name = \"f\")] fn g(&self) {}"),
        &[("\"f\"", "`f` already defines the tool `f` in this block: rename one")],
    );
    check(
        &block("#[prompt(name = \"g\")] fn f(&self) {} #[prompt] fn g(&self) {}"),
        &[(
            "g",
            "`f` already defines the prompt `g` in this block: rename one, or write `#[prompt(name",
        )],
    );
    check(
        &block(
            "#[resource(\"x:{a}\")] fn f(a: u8) {} #[resource(\"x:{a}\", name = \"h\")] fn g(a: u8) {}",
        ),
        &[(
            "\"x:{a}\"",
            "`f` already defines the resource `x:{a}` in this block: write another URI",
        )],
    );
    for fine in [
        "#[tool] fn f(&self) {} #[prompt(name = \"f\")] fn g(&self) {}",
        "#[tool] fn f(&self) {} #[tool(name = \"f\", group = \"h\")] fn g(&self) {}",
        "#[cfg(unix)] #[tool] fn f(&self) {} #[cfg(not(unix))] #[tool] fn f(&self) {}",
        "#[resource(\"x:y\")] fn f() {} #[resource(\"x:z\", name = \"f\")] fn g() {}",
        "#[completion] fn f(a: &str) {} #[tool(name = \"f\")] fn g(a: &str) {}",
    ] {
        let text = expand(&block(fine)).to_string();
        assert!(!text.contains("compile_error"), "{fine}: {text}");
    }
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

/// The macro emits its errors beside the expression, so that method calls on the expression do not fail too.
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
