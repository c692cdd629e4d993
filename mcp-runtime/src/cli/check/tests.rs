use serde_json::{Value, json};

use super::{
    finding::{CheckedItem, CheckedServer},
    report,
    rules::{Look, RULES, look},
};
use crate::{
    Args, Context, Tool,
    catalog::Item as _,
    cli::lists::ServerLists,
    model::TaskSupport,
    schema::{SchemaProfile, compatible::compatible_result},
    server::Identity,
};

fn tool(name: &str) -> Value {
    let a = json!({ "type": "integer", "description": "First addend" });
    json!({
        "name": name,
        "description": "Adds",
        "inputSchema": { "type": "object", "properties": { "a": a }, "required": ["a"] },
    })
}

/// Returns a server without findings.
fn server() -> CheckedServer {
    let uri = json!({ "uri": "notes://today", "name": "today", "mimeType": "text/plain" });
    let template = json!({ "uriTemplate": "notes://{day}", "name": "day" });
    CheckedServer {
        identity: Identity::new("adder", None, "1.0.0", ""),
        everything: ServerLists {
            tools: vec![tool("add")],
            resources: vec![uri],
            templates: vec![template],
            prompts: vec![json!({ "name": "review" })],
        },
        snapshot: None,
        incomplete: None,
    }
}

/// Returns [`server`] with these tools instead of its own.
fn tools(tools: impl IntoIterator<Item = Value>) -> CheckedServer {
    let mut server = server();
    server.everything.tools = tools.into_iter().collect();
    server
}

/// Returns [`server`] with a single tool that has this member.
fn with(pointer: &str, value: Value) -> CheckedServer {
    let mut tool = tool("add");
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    tool.pointer_mut(parent).expect("an object")[name] = value;
    tools([tool])
}

fn many(count: usize) -> CheckedServer {
    tools((0..count).map(|count| tool(&format!("tool_{count}"))))
}

fn instructions(length: usize) -> CheckedServer {
    let mut server = server();
    server.identity.instructions = Some("x".repeat(length));
    server
}

fn named(list: impl FnOnce(&mut ServerLists) -> &mut Vec<Value>, item: Value) -> CheckedServer {
    let mut server = server();
    *list(&mut server.everything) = vec![item];
    server
}

/// Returns each rule with a server that violates the rule and a server that complies with it.
fn cases() -> Vec<(&'static str, CheckedServer, CheckedServer)> {
    let schema = |schema: Value| with("/inputSchema", schema);
    let choice = json!([{ "type": "object", "required": ["a"] }, { "type": "object" }]);
    let long = |length| tools([tool(&"x".repeat(length))]);
    vec![
        ("tool count", many(129), many(80)),
        ("many tools", many(81), many(80)),
        ("tokens", with("/inputSchema/title", "x y".repeat(30_000).into()), many(10)),
        ("instructions", instructions(2049), instructions(2048)),
        (
            "names alike",
            tools([tool("read-file"), tool("read_file")]),
            tools([tool("read"), tool("read_file")]),
        ),
        ("names alike but for case", tools([tool("readFile"), tool("readfile")]), many(2)),
        ("tool name", tools([tool("calendar.read")]), tools([tool("calendar_read-2")])),
        ("tool name's start", tools([tool("2fa")]), tools([tool("_2fa")])),
        ("tool name's length", long(65), long(54)),
        ("length with the server's name", long(55), long(54)),
        (
            "argument name",
            with("/inputSchema/properties/b[]", json!({ "type": "string", "description": "B" })),
            with("/inputSchema/properties/b.c-d", json!({ "type": "string", "description": "B" })),
        ),
        (
            "reserved word",
            with("/inputSchema/properties/from", json!({ "type": "string", "description": "B" })),
            with("/inputSchema/properties/type", json!({ "type": "string", "description": "B" })),
        ),
        (
            "unnamed fields",
            with("/inputSchema/properties/b", objects("What to add")),
            with("/inputSchema/properties/b", objects("What to add: the `sku` of each")),
        ),
        ("no description", with("/description", " ".into()), server()),
        (
            "long description",
            with("/description", "x".repeat(1025).into()),
            with("/description", "x".repeat(1024).into()),
        ),
        (
            "end of a comment",
            with("/inputSchema/properties/a/description", "A glob: `**/*.rs`".into()),
            with("/inputSchema/properties/a/description", "A glob: `/*.rs`".into()),
        ),
        (
            "undocumented argument",
            with("/inputSchema/properties/a", json!({ "type": "integer" })),
            server(),
        ),
        (
            "properties",
            schema(json!({ "type": "object" })),
            schema(json!({ "type": "object", "properties": {} })),
        ),
        (
            "choice at the root",
            with("/inputSchema/anyOf", choice.clone()),
            with(
                "/inputSchema/properties/a/anyOf",
                json!([{ "type": "string" }, { "type": "integer" }]),
            ),
        ),
        (
            "foreign keyword",
            with("/inputSchema/properties/a/not", json!({ "minimum": 3 })),
            with(
                "/inputSchema/properties/contains",
                json!({ "type": "string", "description": "B" }),
            ),
        ),
        ("required but unknown", with("/inputSchema/required", json!(["b"])), server()),
        ("schemas", with("/inputSchema/properties/a/format", "uint8".into()), server()),
        (
            "no media type",
            named(|lists| &mut lists.resources, json!({ "uri": "notes://today", "name": "today" })),
            server(),
        ),
        (
            "prompt name",
            named(|lists| &mut lists.prompts, json!({ "name": "my prompt" })),
            named(|lists| &mut lists.prompts, json!({ "name": "my-prompt" })),
        ),
        (
            "undocumented prompt argument",
            named(|lists| &mut lists.prompts, review(&json!([{ "name": "code" }]))),
            named(
                |lists| &mut lists.prompts,
                review(&json!([{ "name": "code", "description": "What to review" }])),
            ),
        ),
    ]
}

/// Returns the schema of a list of objects with one field.
fn objects(description: &str) -> Value {
    let sku = json!({ "type": "string", "description": "Its number" });
    let items = json!({ "type": "object", "properties": { "sku": sku } });
    json!({ "type": "array", "description": description, "items": items })
}

fn review(arguments: &Value) -> Value {
    json!({ "name": "review", "arguments": arguments })
}

fn rules_found(published: &CheckedServer) -> Vec<&'static str> {
    look(published).iter().flat_map(|group| &group.findings).map(|finding| finding.rule).collect()
}

#[test]
fn each_rule_of_check_finds_its_wrong_case_and_passes_its_right_case() {
    for (rule, wrong, right) in cases() {
        // The rule `schemas` reports each finding under the name of the violated rule of the compatible form, which is `format` in this
        // case.
        let expected = if rule == "schemas" { "format" } else { rule };
        assert_eq!(rules_found(&wrong), [expected], "{}", report(&wrong, &look(&wrong), None));
        assert_eq!(rules_found(&right), [""; 0], "{rule}: {}", report(&right, &look(&right), None));
    }
}

#[test]
fn each_rule_has_a_case_and_a_reason() {
    for rule in RULES {
        // Cases of these rules need a catalog entry, so they have tests of their own.
        let elsewhere =
            ["too large to be spelled out", "task only", "held thread"].contains(&rule.name);
        assert!(elsewhere || cases().iter().any(|case| case.0 == rule.name), "{}", rule.name);
        let is_thread = |text: &&str| {
            text.split_once('#').is_some_and(|(repository, number)| {
                repository.contains('/') && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        assert!(rule.because.iter().all(is_thread), "{}", rule.name);
        assert!(!rule.because.is_empty() || matches!(rule.look, Look::Schemas), "{}", rule.name);
    }
}

/// Each definition refers to the next one twice, so a schema without references would double at each level. The compatible form therefore
/// keeps the references.
#[test]
fn a_schema_that_is_too_large_to_spell_out_is_reported() {
    let mut definitions = json!({ "D40": { "type": "string" } });
    for depth in 0..40 {
        let below = json!({ "$ref": format!("#/$defs/D{}", depth + 1) });
        definitions[format!("D{depth}")] =
            json!({ "type": "object", "properties": { "a": below, "b": below } });
    }
    let large = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/D0" } },
        "$defs": definitions });
    let mut wrong = tool("add");
    wrong["outputSchema"] = compatible_result(large);
    let handled = Tool::new("add").handler(async |_: Context| "");
    let entry = handled.into_entry(SchemaProfile::default()).expect("it has a handler").0;
    let found = |value: &Value| -> Vec<&'static str> {
        let item =
            CheckedItem { kind: "tool", key: "add", value, entry: Some(&entry), server: "adder" };
        RULES.iter().flat_map(|rule| rule.about(&item)).map(|finding| finding.rule).collect()
    };
    assert_eq!(found(&wrong), ["too large to be spelled out"]);
    assert_eq!(found(&tool("add")), [""; 0]);
}

/// Returns the findings of one rule, as `check` prints them.
fn found_by(rule: &str, published: &CheckedServer) -> Vec<String> {
    let findings = look(published).into_iter().flat_map(|group| group.findings);
    let of_rule = findings.filter(|finding| finding.rule == rule);
    of_rule.map(|finding| format!("{} | {}", finding.problem.what, finding.problem.fix)).collect()
}

#[test]
fn the_end_of_a_comment_is_found_in_each_description() {
    let mut published = with("/inputSchema/properties/a/description", "`*/5 * * * *`".into());
    published.everything.tools[0]["description"] = "Finds `**/*.rs`".into();
    let found = found_by("end of a comment", &published);
    let expected = ["its description has `*/`", "the description of the argument `a` has `*/`"];
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().zip(expected).all(|pair| pair.0.starts_with(pair.1)), "{found:?}");
}

#[test]
fn a_reserved_word_is_found_at_every_depth_and_a_rename_is_proposed() {
    let told = |schema: Value| {
        let mut schema = schema;
        schema["description"] = json!("Which `class`, `in` and `x`");
        schema
    };
    let text = || told(json!({ "type": "string" }));
    let nested = json!({ "type": "object", "properties": { "class": text(), "in": told(json!({
        "type": "array", "items": { "anyOf": [{ "type": "object", "properties": { "function": text() } }] } })) } });
    let mut published = with("/inputSchema/properties/query", told(nested));
    published.everything.tools[0]["inputSchema"]["properties"]["from"] = text();
    let found = found_by("reserved word", &published);
    let expected = [
        "the argument `from` has a name that is reserved in Python: mcp-use drops it, and the code that smolagents writes is not \
         valid with it | another name for the parameter or field, such as `source`, or `#[arg(name = \"source\")]`",
        "the argument `query.class` has a name that is reserved in Python and JavaScript: mcp-use drops it, and neither the Python \
         of smolagents nor the TypeScript of mcporter is valid with it | another name for the field, such as `category`, or \
         `#[serde(rename = \"category\")]`",
        "the argument `query.in` has a name that is reserved in Python and JavaScript: mcp-use drops it, and neither the Python of \
         smolagents nor the TypeScript of mcporter is valid with it | another name for the field, such as `within`, or `#[serde(rename = \"within\")]`",
        "the argument `query.in[].function` has a name that is reserved in JavaScript: the TypeScript that mcporter writes is not \
         valid with it | another name for the field, such as `function_value`, or `#[serde(rename = \"function_value\")]`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_tool_that_runs_as_a_task_only_is_found() {
    let found = |support: TaskSupport| -> Vec<String> {
        let handled = Tool::new("add").task(support).handler(async |_: Context| "");
        let entry = handled.into_entry(SchemaProfile::default()).expect("it has a handler").0;
        let value = tool("add");
        let item = CheckedItem {
            kind: "tool",
            key: "add",
            value: &value,
            entry: Some(&entry),
            server: "adder",
        };
        RULES
            .iter()
            .flat_map(|rule| rule.about(&item))
            .map(|finding| format!("{}: {}", finding.rule, finding.problem.what))
            .collect()
    };
    let expected =
        "task only: it runs only as a task: clients without tasks list it but cannot call it";
    assert_eq!(found(TaskSupport::new().required()), [expected]);
    assert_eq!(found(TaskSupport::new()), [""; 0]);
}

/// Checks that the report about a tool with this member contains a text.
fn check_report(pointer: &str, value: Value, expected: &str) {
    let published = with(pointer, value);
    let text = report(&published, &look(&published), None);
    assert!(text.contains(expected), "{expected} is not in\n{text}");
}

#[test]
fn findings_name_the_place_of_each_problem() {
    let check = check_report;
    let nested = json!({ "type": "array", "description": "Lists", "items": {
        "type": "object", "properties": { "b": { "type": ["string", "null"] } } } });
    check("/inputSchema/properties/a", nested, "error (null): the argument `a[].b` may be `null`,");
    let map = json!({ "type": "object", "description": "Maps", "additionalProperties": {
        "type": "object", "properties": { "b": { "type": ["string", "null"] } } } });
    check("/inputSchema/properties/a", map, "error (null): the argument `a{}.b` may be `null`,");
    let reference = json!({ "type": "object", "properties": { "c": { "$ref": "#/$defs/C" } },
        "$defs": { "C": { "type": "boolean" } } });
    check("/outputSchema", reference, "error (references): its output schema refers to");
    let full = json!({ "type": "object", "properties": { "c": { "type": "integer", "format": "uint8" } } });
    check("/outputSchema", full, "warning (format): `c` of its output schema has a `format`");
    let choices = json!({ "type": "array", "description": "Lists", "items": {
        "type": "object", "properties": { "b": { "type": "string", "if": { "minLength": 1 } } } } });
    check(
        "/inputSchema/properties/a",
        choices,
        "the argument `a[].b` has `if`, which Gemini's API has no field for:",
    );
    check("/name", "a.b".into(), "    fix: name = \"a_b\"\n    why: hostinger/api-mcp-server#49, ");
}

/// Checks the finding about an argument `a` with this schema. `definitions` are the `$defs` of the tool's input schema.
#[track_caller]
fn check_undocumented(a: Value, definitions: Value, expected: Option<&str>) {
    let mut tool = tool("add");
    tool["inputSchema"]["properties"]["a"] = a;
    tool["inputSchema"]["$defs"] = definitions;
    let published = tools([tool]);
    let groups = look(&published);
    let found = groups.iter().flat_map(|group| &group.findings);
    let said: Vec<&str> = found
        .filter(|found| found.rule == "undocumented argument")
        .map(|found| {
            found.problem.what.strip_suffix(" no description: models guess").expect("the end")
        })
        .collect();
    assert_eq!(said, expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn undocumented_fields_are_found_like_undocumented_arguments() {
    let none = || json!({});
    let told = |members: Value| json!({ "type": "object", "description": "An order", "properties": members });
    let silent = || json!({ "type": "string" });
    let item = json!({ "type": "object", "properties": { "sku": silent(), "count": silent() } });
    let items = json!({ "type": "array", "description": "What", "items": item });
    check_undocumented(
        told(json!({ "items": items, "by": silent() })),
        none(),
        Some("the arguments `a.by`, `a.items[].count`, `a.items[].sku` have"),
    );
    let map = json!({ "type": "object", "additionalProperties": told(json!({ "x": silent() })) });
    check_undocumented(map, none(), Some("the arguments `a`, `a{}.x` have"));
    let pair = json!({ "type": "array", "description": "Two", "prefixItems": [told(json!({ "x": silent() })), silent()] });
    check_undocumented(pair, none(), Some("the argument `a[].x` has"));
    let many: crate::schema::Map =
        (10..30).map(|number| (format!("f{number}"), silent())).collect();
    let first: Vec<_> = (10..22).map(|number| format!("`a.f{number}`")).collect();
    let expected = format!("the arguments {} and 8 more have", first.join(", "));
    check_undocumented(told(many.into()), none(), Some(&expected));
}

/// A field counts as documented if the author has described the field or its type.
#[test]
fn a_field_may_be_documented_by_the_description_of_its_type() {
    let tree = json!({ "Tree": { "type": "object", "description": "A tree", "properties": {
        "left": { "$ref": "#/$defs/Tree" },
        "right": { "anyOf": [{ "$ref": "#/$defs/Tree" }, { "type": "null" }] },
        "size": { "type": "integer" },
    } } });
    let a = || json!({ "$ref": "#/$defs/Tree" });
    check_undocumented(a(), tree, Some("the argument `a.size` has"));
    let blank = json!({ "Tree": { "type": "object", "properties": {} } });
    check_undocumented(a(), blank, Some("the argument `a` has"));
    let choice = |branches: Value| json!({ "description": "A shape", "oneOf": branches });
    let circle = json!({ "type": "number" });
    let variant = json!({ "type": "object", "properties": { "circle": circle } });
    let mut told = variant.clone();
    told["description"] = json!("Round");
    let tagged = json!({ "type": "object", "description": "Round", "properties": {
        "kind": { "type": "string", "enum": ["circle"] }, "content": circle } });
    check_undocumented(choice(json!([variant])), json!({}), Some("the argument `a.circle` has"));
    check_undocumented(choice(json!([told, tagged])), json!({}), None);
    // The fields of a `Duration` belong to std, so authors cannot document them.
    let duration = json!({ "type": "object", "description": "How long", "properties": {
        "secs": { "type": "integer" }, "nanos": { "type": "integer" } } });
    check_undocumented(duration, json!({}), None);
}

#[test]
fn undocumented_arguments_of_prompts_are_found() {
    let arguments = json!([{ "name": "code" }, { "name": "style", "description": " " }]);
    let published = named(|lists| &mut lists.prompts, review(&arguments));
    let text = report(&published, &look(&published), None);
    let expected = "the arguments `code`, `style` have no description: the user who fills in the prompt sees only a name\n    fix: a doc comment";
    assert!(text.contains(expected), "{text}");
}

/// Checks the fix for a tool with the profile `own` on a server with the profile `of_server`.
#[track_caller]
fn check_less(own: Option<SchemaProfile>, of_server: SchemaProfile, expected: &str) {
    let tool = Tool::new("add").handler(async |_: Context| "");
    let tool = match own {
        Some(own) => tool.schema_profile(own),
        None => tool,
    };
    let entry = tool.into_entry(of_server).expect("it has a handler").0;
    let schema: Value =
        serde_json::from_str(&entry.tool().expect("a tool").schemas.input.text).expect("JSON");
    let value = json!({ "name": "add", "inputSchema": schema });
    let item =
        CheckedItem { kind: "tool", key: "add", value: &value, entry: Some(&entry), server: "x" };
    let findings = super::schemas::findings(&item);
    assert!(findings.iter().all(|finding| finding.problem.fix.starts_with(expected)), "{expected}");
    assert!(!findings.is_empty(), "{expected}");
}

#[test]
fn the_fix_for_a_full_schema_names_where_the_profile_is_set() {
    use SchemaProfile::{Compatible, Full};
    let own = "remove `.schema_profile(SchemaProfile::Full)`: the compatible form avoids this";
    check_less(Some(Full), Compatible, own);
    let both = "use `.schema_profile(SchemaProfile::Compatible)` in place of `.schema_profile(SchemaProfile::Full)`, which is ";
    check_less(Some(Full), Full, both);
    let server = "remove `.schema_profile(SchemaProfile::Full)` from the server, or set ";
    check_less(None, Full, server);
}

#[test]
fn a_clean_server_gets_one_line() {
    let text = report(&server(), &look(&server()), None);
    assert_eq!(
        text,
        "adder: 1 tool, 1 resource, 1 template, 1 prompt, 274 bytes of lists; the tools take up about 43 tokens of a \
         conversation (3.5 bytes each). No known client has a problem with any of it.\n"
    );
}

#[test]
fn findings_of_one_item_are_printed_together() {
    let mut wrong = tool("a.b");
    wrong["description"] = Value::Null;
    wrong["inputSchema"]["properties"]["a"] = json!({ "type": "integer" });
    let published = tools([tool("add"), wrong]);
    let text = report(&published, &look(&published), None);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_eq!(
        lines[..4],
        [
            "tool `a.b`",
            "  error (tool name): its name has a `.`: hosts that allow only letters, digits, `_` and `-` reject all tools of \
             the server",
            "  error (no description): it has no description: models do not know what it is for, and models on Amazon \
             Bedrock refuse the request",
            "  warning (undocumented argument): the argument `a` has no description: models guess",
        ]
    );
    let last = text.lines().last().expect("a line");
    assert!(
        last.ends_with("the largest are `add` 152, `a.b` 121 bytes. 2 errors, 1 warning."),
        "{last}"
    );
}

/// Definitions have names of Rust types, which mean nothing to the author of an argument.
#[test]
fn a_finding_in_a_definition_names_the_argument_that_refers_to_it() {
    let full = json!({
        "type": "object",
        "properties": {
            "note": { "type": "string", "description": "Note" },
            "trip": { "$ref": "#/$defs/Trip", "description": "Trip" },
        },
        "$defs": {
            "Stop": {
                "type": "object",
                "properties": {
                    "class": { "type": "integer", "format": "uint8", "description": "Class" },
                    "next": { "anyOf": [{ "$ref": "#/$defs/Stop" }, { "type": "null" }], "description": "Next" },
                },
            },
            "Trip": {
                "type": "object",
                "properties": {
                    "stops": { "type": "array", "items": { "$ref": "#/$defs/Stop" }, "description": "Stops" },
                },
            },
        },
    });
    check_report(
        "/inputSchema",
        full.clone(),
        "error (format): the argument `trip.stops[].class` has a `format`",
    );
    check_report(
        "/inputSchema",
        full.clone(),
        "warning (reserved word): the argument `trip.stops[].class` has a name",
    );
    let mut result = full;
    result["properties"]["next"] = json!({ "$ref": "#/$defs/Trip" });
    check_report(
        "/outputSchema",
        result,
        "warning (format): `next.stops[].class` of its output schema has a `format`",
    );
}

#[cfg(all(feature = "contract", unix))]
#[test]
fn the_command_that_writes_the_lock_file_can_be_copied_into_a_shell() {
    let command = |file: &str| super::regenerate(std::path::Path::new(file));
    assert!(command("a/mcp.lock.json").ends_with(" schema > a/mcp.lock.json"));
    assert!(command("my notes/a's.json").ends_with(r" schema > 'my notes/a'\''s.json'"));
}

#[mcp_macros::data(crate = crate)]
struct Period {
    from: u32,
}

/// Lists what has happened.
#[mcp_macros::tool(crate = crate, group = "reserved words of a struct")]
fn history(period: Args<Period>) -> u32 {
    period.from
}

/// Lists what will happen.
#[mcp_macros::tool(crate = crate, group = "reserved words of a struct")]
fn future(from: u32) -> u32 {
    from
}

#[tokio::test]
async fn a_field_of_the_arguments_is_renamed_by_serde_and_a_parameter_by_arg() {
    let server = crate::server!(crate = crate, group = "reserved words of a struct");
    let Ok(published) = CheckedServer::of(server).await else { panic!("a server") };
    let groups = look(&published);
    for (tool, fix) in
        [("history", "`#[serde(rename = \"source\")]`"), ("future", "`#[arg(name = \"source\")]`")]
    {
        let group = groups.iter().find(|group| group.title.contains(tool)).expect("findings");
        let fixes: Vec<_> = group.findings.iter().map(|finding| &finding.problem.fix).collect();
        assert!(fixes.iter().any(|found| found.ends_with(fix)), "{fixes:?}");
    }
}

/// Waits on the thread of other calls.
#[mcp_macros::tool(crate = crate, group = "held threads")]
fn wait_here() {
    drop(tokio::sync::Mutex::new(()).blocking_lock());
}

/// Waits on a thread of its own.
#[mcp_macros::tool(crate = crate, group = "held threads", blocking)]
fn wait_elsewhere() {
    drop(tokio::sync::Mutex::new(()).blocking_lock());
}

/// Waits on the thread of other calls, too.
#[mcp_macros::resource("held://{id}", crate = crate, group = "held threads", mime_type = "text/plain")]
async fn wait_in_async(id: u32) -> String {
    drop(tokio::sync::Mutex::new(()).blocking_lock());
    id.to_string()
}

#[tokio::test]
async fn functions_that_hold_the_thread_of_other_calls_are_found() {
    let server = crate::server!(crate = crate, group = "held threads");
    let Ok(published) = CheckedServer::of(server).await else { panic!("a server") };
    let groups = look(&published);
    let found = groups.iter().map(|group| (&*group.item, group.findings[0].rule));
    let found: Vec<_> = found.collect();
    let expected = ["tool `wait_here`", "template `held://{id}`"];
    assert_eq!(found, expected.map(|item| (item, "held thread")));
    let what = &groups[0].findings[0].problem.what;
    assert!(
        what.starts_with("`blocking_lock` in the body of the function holds the thread"),
        "{what}"
    );
}
