//! Errors about the keys of the attributes and their values.

use super::check;
use crate::tests::expand;

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
    check("#[prompt(task)] fn f() {}", &[("task", "it is a key of #[tool]; remove it here")]);
    check(
        "#[prompt(cache(public))] fn f() {}",
        &[(
            "cache",
            "unknown key `cache` of #[prompt]: it is a key of #[resource]; remove it here. Keys: name",
        )],
    );
    check(
        "#[tool(default = 1)] fn f() {}",
        &[("default", "unknown key `default` of #[tool]: it is a key of #[arg]; remove it here.")],
    );
    check("#[tool] fn f(#[arg(defualt = 1)] a: u8) {}", &[("defualt", "did you mean `default`?")]);
    check(
        "#[resource(\"x:y\", cache(publik))] fn f() {}",
        &[("publik", "unknown key `publik` of cache; did you mean `public`? Keys: public, ttl")],
    );
    check("#[tool(icon(\"x\", size(\"1x1\")))] fn f() {}", &[("size", "did you mean `sizes`?")]);
    check("#[completion(title = \"x\")] fn f() {}", &[("title", "Keys: blocking, timeout, crate")]);
    check(
        "#[handlers(name = \"x\")] impl N { #[tool] fn f() {} }",
        &[("name", "each item has its own, so write it on the item")],
    );
    check(
        "#[data(rename = \"x\")] struct S;",
        &[(
            "rename",
            "unknown key `rename` of #[data]; write attributes of serde and schemars below it, ",
        )],
    );
}

#[test]
fn malformed_keys() {
    check(
        "#[tool(\"add\")] fn f() {}",
        &[("\"add\"", "expected a key of #[tool], as in `name = \"add\"`. Keys: name")],
    );
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
        &[("\"big\"", "write \"full\", \"static\" or \"compatible\"")],
    );
    check(
        "#[tool(crate = \"x\")] fn f() {}",
        &[("\"x\"", "write `crate = path::to::mcp_runtime`")],
    );
    check(
        "#[tool(icon)] fn f() {}",
        &[("icon", "write `icon = \"https://…\"` or `icon(\"https://…\", ")],
    );
    check("#[tool(icon = \"\")] fn f() {}", &[("\"\"", "an icon needs an address")]);
    check(
        "#[tool(icon(\"x\", sizes(\"big\")))] fn f() {}",
        &[("\"big\"", "a size is \"WIDTHxHEIGHT\" or \"any\"")],
    );
    check("#[tool(meta(a = 1, a = 2))] fn f() {}", &[("a", "`a` is given twice: keep one")]);
    check(
        "#[tool(meta(a = { \"b\": 1 }))] fn f() {}",
        &[("{", "write an object as an expression, such as `serde_json::json!({ … })`")],
    );
    check("#[tool(meta(\"\" = 1))] fn f() {}", &[("\"\"", "a metadata key must not be empty")]);
    check("#[tool(meta(a))] fn f() {}", &[("meta", "write `meta(\"vendor.com/key\" = \"…\")`")]);
}

#[test]
fn asks() {
    let tool = |key: &str| format!("#[tool({key})] fn f() {{}}");
    let usage = "write `asks(elicitation)`, with any of `elicitation`, `sampling` and `roots`";
    check(&tool("asks"), &[("asks", usage)]);
    check(&tool("asks()"), &[("asks", usage)]);
    check(&tool("asks = elicitation"), &[("asks", usage)]);
    check(&tool("asks(\"sampling\")"), &[("asks", usage)]);
    check(&tool("asks(elicitation.url)"), &[("asks", usage)]);
    check(&tool("asks(sampling roots)"), &[("asks", usage)]);
    check(
        &tool("asks(elicit)"),
        &[(
            "elicit",
            "a server cannot ask a client for `elicit`; did you mean `elicitation`? Write ",
        )],
    );
    check(
        &tool("asks(roots, tasks)"),
        &[(
            "tasks",
            "a server cannot ask a client for `tasks`. Write `elicitation`, `sampling` or `roots`",
        )],
    );
    check(&tool("asks(roots, sampling, roots)"), &[("roots", "`roots` is named twice")]);
    check(&tool("asks(roots), asks(sampling)"), &[("asks", "`asks` is given twice: keep one")]);
    check(
        "#[completion(asks(roots))] fn f() {}",
        &[("asks", "unknown key `asks` of #[completion]: it is a key of #[tool]; remove it here.")],
    );
}

#[test]
fn quantities() {
    let async_timeout = |value: &str| format!("#[tool(timeout = {value})] async fn f() {{}}");
    check(&async_timeout("30"), &[("30", "write `timeout = \"30s\"`")]);
    check(&async_timeout("\"30\""), &[("\"30\"", "a whole number and a unit: \"500ms\"")]);
    check(&async_timeout("\"0s\""), &[("\"0s\"", "`timeout` must be longer than zero")]);
    check("#[tool(rate = 10)] fn f() {}", &[("10", "write `rate = \"10/s\"`")]);
    check("#[tool(rate)] fn f() {}", &[("rate", "write `rate = \"10/s\"`")]);
    check(
        "#[tool(rate = \"10\")] fn f() {}",
        &[("\"10\"", "write \"10/s\", \"10/m\" or \"10/h\"")],
    );
    check("#[tool(rate = \"0/s\")] fn f() {}", &[("\"0/s\"", "write \"1/s\", or remove `rate`")]);
    check("#[prompt(rate = \"9/min\")] fn f() {}", &[("\"9/min\"", "write \"9/m\"")]);
    check(
        "#[tool(rate(\"10/s\", brust = 2))] fn f() {}",
        &[("brust", "unknown key `brust` of rate; did you mean `burst`?")],
    );
    check(
        "#[tool(rate(\"10/s\", burst = 0))] fn f() {}",
        &[("0", "`burst = 0` would allow no calls: write `burst = 1`")],
    );
    check(
        "#[tool(concurrency = 0)] fn f() {}",
        &[("0", "`concurrency = 0` would allow no calls: write `concurrency = 1`")],
    );
    check(
        "#[tool(concurrency = \"4\")] fn f() {}",
        &[("\"4\"", "`concurrency` is a whole number: write `concurrency = 4`")],
    );
    check("#[tool(rate_limit = \"1/s\")] fn f() {}", &[("rate_limit", "did you mean `rate`?")]);
    check(
        "#[completion(rate = \"1/s\")] fn f() {}",
        &[("rate", "it is a key of #[tool]; remove it here")],
    );
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
            "`read_only` contradicts `destructive`, because a tool that only reads destroys nothing",
        )],
    );
    check(
        "#[tool(strict, lenient)] fn f() {}",
        &[("lenient", "one rejects what the other accepts: remove one of the two")],
    );
    check(
        "#[tool(blocking)] async fn f() {}",
        &[("blocking", "an `async fn` waits with `.await`")],
    );
    check(
        "#[tool(timeout = \"1s\")] fn f() {}",
        &[(
            "timeout",
            "`timeout` cannot end a plain `fn`, which runs in place and must return at once: add `blocking`, or make it `async`",
        )],
    );
}

#[test]
fn keys_of_another_kind_are_named_before_keys_that_look_alike() {
    check(
        "#[prompt(task)] fn f() {}",
        &[("task", "unknown key `task` of #[prompt]: it is a key of #[tool]; remove it here.")],
    );
    check(
        "#[tool(size = 1)] fn f() {}",
        &[("size", "it is a key of #[resource]; remove it here.")],
    );
    check(
        "#[resource(\"x:y\", strict)] fn f() {}",
        &[("strict", "it is a key of #[tool]; remove it here.")],
    );
    check(
        "#[completion(title = \"x\")] fn f() {}",
        &[("title", "it is a key of #[tool]; remove it here.")],
    );
}

#[test]
fn keys_that_make_each_other_useless() {
    let task = |keys: &str| format!("#[tool({keys})] async fn f() {{}}");
    let poll = "make `poll` shorter than `ttl`";
    check(&task("task(ttl = \"1m\", poll = \"60s\")"), &[("poll", poll)]);
    check(&task("task(poll = \"2m\", ttl = \"1m\")"), &[("poll", poll)]);
    check(
        &task("task(ttl = \"1m\"), timeout = \"61s\""),
        &[("timeout", "a task expires after its `ttl`, so a longer `timeout` has no effect")],
    );
    check("#[tool(single_use)] fn f() {}", &[("single_use", "make it `async`")]);
    check(
        "#[resource(\"x:{a}\", size = 1)] fn f(a: &str) {}",
        &[("size", "a template stands for many resources")],
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
    fine("#[tool(timeout = \"60s\", task(ttl = \"1m\", poll = \"59s\"))] async fn f() {}");
    fine("#[tool(timeout = \"2h\", task(poll = \"2h\"))] async fn f() {}");
    fine("#[tool(single_use, blocking)] fn f() {}");
    fine("#[tool(single_use = false)] fn f() {}");
    fine("#[resource(\"x:y\", size = 1)] fn f() {}");
}

#[test]
fn names_of_tools() {
    let rule = "a tool's name is 1 to 128 letters (A-Z, a-z), digits, `_`, `-` and `.`";
    check("#[tool(name = \"a b\")] fn f() {}", &[("\"a b\"", rule)]);
    check("#[tool] fn größe() {}", &[("größe", "; set another name with `#[tool(name = \"…\")]`")]);
    check(
        &format!("#[tool(name = \"{}\")] fn f() {{}}", "x".repeat(129)),
        &[(&format!("\"{}\"", "x".repeat(129)), rule)],
    );
}

#[test]
fn a_value_without_its_end_is_shown_at_its_key() {
    check(
        "#[tool(read_only)] fn f(#[arg(default = A::)] a: A) {}",
        &[("default", "the value is not complete: write `default = A::…`")],
    );
    check(
        "#[form] struct S { #[arg(default = 1 +)] a: u8 }",
        &[("default", "the value is not complete: write `default = 1 +…`")],
    );
}
