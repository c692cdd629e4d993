use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    Published,
    change::{ChangeClass, ContractReport},
    comparison,
    manifest::{ItemKind, Manifest},
    place::{SourcePlace, SourcePlaces},
};

/// Returns a lock with these lists. All other lists are empty.
fn lock(lists: Value) -> Vec<u8> {
    let mut all = json!({
        "format": 1, "server": {"name": "one"},
        "tools": [], "resources": [], "resourceTemplates": [], "prompts": [],
    });
    for (name, list) in lists.as_object().into_iter().flatten() {
        all[name] = list.clone();
    }
    all.to_string().into_bytes()
}

fn read(lists: Value) -> Manifest {
    Manifest::read(&lock(lists)).expect("a lock")
}

fn compare(old: Value, new: Value) -> ContractReport {
    let published = Published { manifest: read(new), places: SourcePlaces::default() };
    comparison::compare(&read(old), &published)
}

/// Checks the changes, written as `class subject text`.
#[track_caller]
fn check(old: Value, new: Value, expected: &[&str]) {
    let report = compare(old, new);
    let told: Vec<_> = report
        .changes()
        .iter()
        .map(|change| {
            let class = match change.class {
                ChangeClass::Breaking => "breaking",
                ChangeClass::Additive => "additive",
                ChangeClass::Cosmetic => "cosmetic",
            };
            assert_eq!(change.advice.is_some(), change.class == ChangeClass::Breaking, "{change}");
            format!("{class} {} {}", change.subject, change.text)
        })
        .collect();
    assert_eq!(told, expected);
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {
        "type": "object", "properties": {}, "additionalProperties": false,
    }})
}

/// Returns a tool with one additional member.
fn tool_with(member: &str, said: Value) -> Value {
    let mut tool = tool("add");
    tool[member] = said;
    tool
}

/// Checks the changes from one tool to the other.
#[track_caller]
fn check_tool(old: Value, new: Value, expected: &[&str]) {
    check(json!({"tools": [old]}), json!({"tools": [new]}), expected);
}

/// Checks the changes between two values of a member, in both directions.
#[track_caller]
fn check_member(member: &str, old: Value, new: Value, there: &[&str], back: &[&str]) {
    check_tool(tool_with(member, old.clone()), tool_with(member, new.clone()), there);
    check_tool(tool_with(member, new), tool_with(member, old), back);
}

#[test]
fn items_come_and_go() {
    check(json!({}), json!({}), &[]);
    let lists = [
        ("tools", "tool", "name"),
        ("prompts", "prompt", "name"),
        ("resources", "resource", "uri"),
        ("resourceTemplates", "template", "uriTemplate"),
    ];
    for (list, noun, key) in lists {
        let item = |name: &str| json!({"name": "x", key: name});
        let (old, new) = (json!({list: [item("first")]}), json!({list: [item("other")]}));
        check(json!({}), new.clone(), &[&format!("additive {noun} `other` is new")]);
        check(
            old,
            new,
            &[
                &format!("breaking {noun} `first` is gone"),
                &format!("additive {noun} `other` is new"),
            ],
        );
    }
}

#[test]
fn items_that_are_alike_have_a_new_name() {
    let is_now = |noun: &str, from: &str, to: &str| {
        format!(
            "breaking {noun} `{from}` seems to be `{to}` now: the old one is gone, and this one is new"
        )
    };
    check(
        json!({"tools": [tool("search_notes"), tool("add")]}),
        json!({"tools": [tool("search_note"), tool("add")]}),
        &[&is_now("tool", "search_notes", "search_note")],
    );
    // Two tools with the same description and arguments, but different names.
    let sum = |name: &str| {
        json!({"name": name, "description": "Adds", "inputSchema": {
            "type": "object", "properties": {"a": {"type": "integer"}},
        }})
    };
    check(
        json!({"tools": [sum("plus")]}),
        json!({"tools": [sum("and")]}),
        &[&is_now("tool", "plus", "and")],
    );
    check(
        json!({"resources": [{"name": "x", "uri": "notes://today"}]}),
        json!({"resources": [{"name": "x", "uri": "notes://todays"}]}),
        &[&is_now("resource", "notes://today", "notes://todays")],
    );
    // Other changes of the item are reported under the new name.
    let mut other = tool("search_note");
    other["description"] = json!("Searches");
    check(
        json!({"tools": [tool("search_notes")]}),
        json!({"tools": [other]}),
        &[
            &is_now("tool", "search_notes", "search_note"),
            "cosmetic tool `search_note` has a description now",
        ],
    );
    // A new item replaces only one old item.
    check(
        json!({"tools": [tool("alpha_one"), tool("alpha_two")]}),
        json!({"tools": [tool("alpha_onE")]}),
        &[&is_now("tool", "alpha_one", "alpha_onE"), "breaking tool `alpha_two` is gone"],
    );
}

#[test]
fn words_are_cosmetic() {
    for member in ["title", "description", "icons"] {
        let (other, some) =
            if member == "icons" { ("different", "") } else { ("a different", "a ") };
        let text = format!("cosmetic tool `add` has {other} {member}");
        check_member(member, json!("a"), json!("b"), &[&text], &[&text]);
        let text = format!("cosmetic tool `add` has {some}{member} now");
        check_tool(tool("add"), tool_with(member, json!("a")), &[&text]);
    }
    let resource = |member: &str, said: Value| json!({"resources": [{"uri": "x://y", "name": "y", member: said}]});
    for (member, text) in [
        ("name", "a different name"),
        ("size", "a different size"),
        ("annotations", "different annotations: was 1, is 2"),
    ] {
        let text = format!("cosmetic resource `x://y` has {text}");
        check(resource(member, json!(1)), resource(member, json!(2)), &[&text]);
    }
    check(
        json!({}),
        json!({"server": {"name": "two", "instructions": "Be kind."}}),
        &["cosmetic the server has a different name", "cosmetic the server has instructions now"],
    );
}

#[test]
fn changes_of_arguments_and_results_are_reported_with_their_place() {
    let takes = |schema: Value| tool_with("inputSchema", schema);
    let object = |of: &str, required: &[&str]| json!({"type": "object", "properties": {"a": {"type": of}}, "required": required});
    check_tool(
        takes(object("number", &[])),
        takes(object("integer", &["a"])),
        &[
            "breaking tool `add`: argument `a` was number, is integer",
            "breaking tool `add`: argument `a` must be given now",
        ],
    );
    let gives = |schema: Value| tool_with("outputSchema", schema);
    check_tool(
        gives(object("integer", &["a"])),
        gives(object("number", &[])),
        &[
            "breaking tool `add`: `a` in its result was integer, is number",
            "breaking tool `add`: `a` in its result may be missing now",
        ],
    );
    check_tool(
        gives(json!({"type": "object"})),
        gives(json!({"type": "string"})),
        &["breaking tool `add`: its result was object, is string"],
    );
    check_tool(
        tool("add"),
        gives(object("integer", &[])),
        &["additive tool `add` has an output schema now"],
    );
    check_tool(
        gives(object("integer", &[])),
        tool("add"),
        &["breaking tool `add` has no output schema any more, and no structured result"],
    );
}

#[test]
fn a_renamed_member_keeps_its_old_name_by_an_attribute_that_is_allowed_there() {
    let advice = |member: &str, [old, new]: [&str; 2]| {
        let schema = |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
        let tool = |name: &str| json!({"tools": [tool_with(member, schema(name))]});
        let report = compare(tool(old), tool(new));
        report.changes().iter().filter_map(|change| change.advice.clone()).collect::<Vec<_>>()
    };
    let renamed = ["page_count", "page_counts"];
    assert_eq!(
        advice("outputSchema", renamed),
        ["keep the old name: `#[serde(rename = \"page_count\")]`"]
    );
    assert_eq!(
        advice("inputSchema", renamed),
        ["keep the old name: `#[arg(name = \"page_count\")]`"]
    );
}

#[test]
fn hints_are_promises() {
    let hints = |hints: Value| tool_with("annotations", hints);
    /// Checks the changes from no promise to this one, and back.
    #[track_caller]
    fn check(said: Value, what: &str, [hint, without, with]: [&str; 3]) {
        check_member(
            "annotations",
            json!({}),
            said,
            &[&format!(
                "additive tool `add` now promises that it {what}: `{hint}` was {without} by default and is {with} now"
            )],
            &[&format!(
                "breaking tool `add` no longer promises that it {what}: `{hint}` was {with} and is {without} by default now"
            )],
        );
    }
    // A changed hint is one difference, although the hint makes three promises.
    let all = "changes nothing, destroys nothing and may be called again without further effect";
    check(json!({"readOnlyHint": true}), all, ["readOnlyHint", "false", "true"]);
    for (name, with, without, what) in [
        ("destructiveHint", false, "true", "destroys nothing"),
        ("idempotentHint", true, "false", "may be called again without further effect"),
        ("openWorldHint", false, "true", "reaches no external systems"),
    ] {
        check(json!({ name: with }), what, [name, without, &with.to_string()]);
    }
    // A promise is kept if another hint makes the same promise now.
    let read_only = json!({"readOnlyHint": true});
    check_member(
        "annotations",
        read_only.clone(),
        json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}),
        &[
            "breaking tool `add` no longer promises that it changes nothing: `readOnlyHint` was true and is false now",
        ],
        &[
            "additive tool `add` now promises that it changes nothing: `readOnlyHint` was false and is true now",
        ],
    );
    // A promise is taken back, and a new one is made.
    check_member(
        "annotations",
        json!({"idempotentHint": true}),
        json!({"openWorldHint": false, "destructiveHint": true}),
        &[
            "breaking tool `add` no longer promises that it may be called again without further effect: `idempotentHint` was true and is false by default now",
            "additive tool `add` now promises that it reaches no external systems: `openWorldHint` was true by default and is false now",
        ],
        &[
            "breaking tool `add` no longer promises that it reaches no external systems: `openWorldHint` was false and is true by default now",
            "additive tool `add` now promises that it may be called again without further effect: `idempotentHint` was false by default and is true now",
        ],
    );
    // A hint that repeats a promise of another hint, or a default, changes no promise.
    let same = ["cosmetic tool `add` writes its `annotations` differently, with the same meaning"];
    for hints in [
        json!({"readOnlyHint": true, "idempotentHint": true}),
        json!({"readOnlyHint": true, "destructiveHint": true}),
    ] {
        check_member("annotations", read_only.clone(), hints, &same, &same);
    }
    check_tool(tool("add"), hints(json!({"readOnlyHint": false, "openWorldHint": true})), &same);
}

/// The advice names only the keys that are needed: a promise that is implied needs no key of its own.
#[test]
fn the_advice_names_only_the_hint_keys_that_are_needed() {
    let advice = |old: Value| {
        let new = json!({"tools": [tool("add")]});
        let report = compare(json!({"tools": [tool_with("annotations", old)]}), new);
        report.changes()[0].advice.clone().unwrap_or_default()
    };
    let of = |keys: &str| {
        format!(
            "keep {keys}, or make it a new tool: clients use these hints to decide whether to ask their user"
        )
    };
    assert_eq!(advice(json!({"readOnlyHint": true})), of("`read_only`"));
    let read_only = json!({"readOnlyHint": true, "openWorldHint": false});
    assert_eq!(advice(read_only), of("`read_only` and `open_world = false`"));
    let two = json!({"destructiveHint": false, "idempotentHint": true});
    assert_eq!(advice(two), of("`destructive = false` and `idempotent`"));
}

#[test]
fn tasks_that_were_possible_stay_possible() {
    let support = |support: &str| json!({ "taskSupport": support });
    let text = |class: &str, was: &str, is: &str| {
        format!("{class} tool `add` supports tasks differently: was {was}, is {is}")
    };
    let all = [
        ("forbidden", "optional", "additive", "breaking"),
        ("forbidden", "required", "breaking", "breaking"),
        ("required", "optional", "additive", "breaking"),
    ];
    for (a, b, there, back) in all {
        let (there, back) = (text(there, a, b), text(back, b, a));
        check_member("execution", support(a), support(b), &[&there], &[&back]);
    }
    check_tool(
        tool("add"),
        tool_with("execution", support("optional")),
        &[&text("additive", "forbidden", "optional")],
    );
}

#[test]
fn requiring_a_further_client_capability_is_a_breaking_change() {
    check_member(
        "asks",
        json!(["roots"]),
        json!(["elicitation", "roots"]),
        &["breaking tool `add` needs a client with `elicitation` now, and refuses others"],
        &["additive tool `add` does not need `elicitation` any more"],
    );
}

#[test]
fn requiring_a_further_scope_is_a_breaking_change() {
    check_member(
        "scopes",
        json!(["notes:read"]),
        json!(["notes:read", "notes:write"]),
        &["breaking tool `add` needs a token that grants `notes:write` now, and refuses others"],
        &["additive tool `add` does not need a token that grants `notes:write` any more"],
    );
}

#[test]
fn a_changed_or_removed_member_of_an_item_is_breaking() {
    let resource = |member: &str, said: Value| json!({"resources": [{"uri": "x://y", "name": "y", member: said}]});
    let bare = || json!({"resources": [{"uri": "x://y", "name": "y"}]});
    let (text, page) = (json!("text/plain"), json!("text/html"));
    check(
        resource("mimeType", text.clone()),
        resource("mimeType", page),
        &[
            "breaking resource `x://y` has a different `mimeType`: was \"text/plain\", is \"text/html\"",
        ],
    );
    check(
        bare(),
        resource("mimeType", text),
        &["additive resource `x://y` has `mimeType` now: \"text/plain\""],
    );
    check(
        resource("subscribe", json!(true)),
        bare(),
        &["breaking resource `x://y` has a different `subscribe`: was true, is missing"],
    );
    check_member(
        "_meta",
        json!({"a": 1}),
        json!({"a": 1, "b": 2}),
        &["additive tool `add` has `_meta[\"b\"]` now: 2"],
        &["breaking tool `add` has a different `_meta[\"b\"]`: was 2, is missing"],
    );
    // Clients may also rely on a member that this crate does not know.
    check_member(
        "pricing",
        json!("free"),
        json!("dear"),
        &["breaking tool `add` has a different `pricing`: was \"free\", is \"dear\""],
        &["breaking tool `add` has a different `pricing`: was \"dear\", is \"free\""],
    );
}

#[test]
fn prompts_take_arguments_too() {
    let prompt =
        |arguments: Value| json!({"prompts": [{"name": "review", "arguments": arguments}]});
    let code = || json!({"name": "code", "required": true});
    let none = || json!({"prompts": [{"name": "review"}]});
    check(
        none(),
        prompt(json!([code()])),
        &["breaking prompt `review`: argument `code` is new and must be given"],
    );
    check(prompt(json!([code()])), none(), &["breaking prompt `review`: argument `code` is gone"]);
    check(
        prompt(json!([{"name": "code", "required": false}])),
        prompt(json!([code()])),
        &["breaking prompt `review`: argument `code` must be given now"],
    );
    check(
        prompt(json!([code()])),
        prompt(json!([code(), {"name": "style"}])),
        &["additive prompt `review`: argument `style` is new"],
    );
    let described = json!({"name": "code", "required": true, "description": "What to review"});
    check(
        prompt(json!([code()])),
        prompt(json!([described])),
        &["cosmetic prompt `review`: argument `code` has a description now"],
    );
    let style = || json!({"name": "style", "required": false});
    check(
        prompt(json!([code(), style()])),
        prompt(json!([style(), code()])),
        &["cosmetic prompt `review` lists its arguments in another order"],
    );
    let completes = |names: Value| json!({"prompts": [{"name": "review", "arguments": [code()], "completes": names}]});
    check(
        completes(json!(["code"])),
        prompt(json!([code()])),
        &["breaking prompt `review`: argument `code` has no completion any more"],
    );
    check(
        prompt(json!([code()])),
        completes(json!(["code"])),
        &["additive prompt `review`: argument `code` has completion now"],
    );
}

#[test]
fn a_file_that_is_no_lock_is_refused_with_the_reason() {
    fn check(text: &[u8], expected: &str) {
        let problem = Manifest::read(text).expect_err(expected);
        assert!(problem.contains(expected), "{problem}");
    }
    let good = lock(json!({"tools": [tool("add")]}));
    let with = |member: &str, said: Value| {
        let mut all: Value = serde_json::from_slice(&good).expect("JSON");
        all[member] = said;
        all.to_string().into_bytes()
    };
    let without = |member: &str| {
        let mut all: Value = serde_json::from_slice(&good).expect("JSON");
        all.as_object_mut().expect("an object").remove(member);
        all.to_string().into_bytes()
    };
    assert!(Manifest::read(&good).is_ok());
    assert!(Manifest::read(&[b"\xef\xbb\xbf", &good[..]].concat()).is_ok());
    check(b"", "it is empty");
    check(b" \n", "it is empty");
    check(&good[..good.len() / 2], "it is cut off in line 1");
    check(b"\xff\xfe{\0}\0", "UTF-16");
    check(b"{\"a\": \"\xff\"}", "not UTF-8");
    check(b"{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}", "a merge left conflict markers in line 2");
    check(b"{]", "it is not JSON");
    check(b"[]", "a lock is a JSON object");
    check(b"{}", "it has no `format`");
    check(&without("format"), "not one that `schema` prints");
    check(&with("format", json!(2)), "a newer mcp-runtime has written it: it has format 2");
    check(&with("format", json!(0)), "it has format 0, not 1");
    check(&with("format", json!("1")), "it has format \"1\"");
    check(&without("server"), "it does not name its server");
    check(&without("prompts"), "it has no list `prompts`");
    check(&with("tools", json!({})), "it has no list `tools`");
    check(&with("tools", json!([1])), "`tools` contains 1, which is not a tool");
    check(&with("tools", json!([{"title": "x"}])), "a tool has no `name`");
    check(&with("tools", json!([tool("a"), tool("a")])), "it has two tools `a`");
    check(&with("toools", json!([])), "a member `toools`");
}

#[test]
fn a_lock_with_arbitrary_values_is_compared_without_a_panic() {
    for said in [
        json!(null),
        json!(true),
        json!(1),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"type": 1}),
    ] {
        for member in [
            "inputSchema",
            "outputSchema",
            "annotations",
            "execution",
            "arguments",
            "asks",
            "scopes",
            "_meta",
            "pricing",
        ] {
            let (old, new) = (tool_with(member, said.clone()), tool("add"));
            let report = compare(json!({"tools": [old.clone()]}), json!({"tools": [new.clone()]}));
            assert_eq!(report.is_empty(), old == new, "{old}");
            compare(json!({"tools": [new]}), json!({"tools": [old.clone()]}));
            compare(json!({"prompts": [old]}), json!({"prompts": [{"name": "add"}]}));
        }
    }
}

#[test]
fn the_lock_of_another_server_is_refused_and_that_of_a_renamed_one_is_not() {
    let published = |lists| Published { manifest: read(lists), places: SourcePlaces::default() };
    let named = |name: &str, tools: &[&str]| {
        let tools: Vec<_> = tools.iter().map(|name| tool(name)).collect();
        json!({"server": {"name": name}, "tools": tools})
    };
    let against = |old: Value, new: Value| published(new).against(&lock(old));
    let error = against(named("one", &["a", "b"]), named("two", &["c"])).expect_err("foreign");
    assert!(error.contains("the lock of the server `one`, but this server is `two`"), "{error}");
    assert!(against(named("one", &[]), named("two", &["c"])).is_err());
    assert!(
        !against(named("one", &["a", "b"]), named("two", &["a", "c"])).expect("renamed").is_empty()
    );
    assert!(against(named("one", &["a"]), named("one", &["c"])).expect("its own").breaks());
}

#[test]
fn a_lock_reads_as_it_was_written() {
    let manifest = read(json!({
        "tools": [tool("b"), tool("a")],
        "resources": [{"uri": "x://y", "name": "y"}],
        "server": {"name": "one", "title": "Eins"},
    }));
    let text = manifest.text();
    assert_eq!(Manifest::read(text.as_bytes()).as_ref(), Ok(&manifest));
    assert!(text.find("\"name\": \"a\"") < text.find("\"name\": \"b\""), "{text}");
    assert!(text.starts_with("{\n  \"format\": 1,\n  \"prompts\": [],\n"), "{text}");
    assert!(text.ends_with("}\n") && !text.contains(" \n"), "{text}");
}

#[test]
fn the_locks_of_five_hundred_tools_are_compared() {
    let tools = |from: usize| -> Vec<Value> {
        let one = |index: usize| {
            let properties: serde_json::Map<_, _> = (0..10)
                .map(|argument| {
                    (format!("argument_{argument}"), json!({"type": "integer", "maximum": index}))
                })
                .collect();
            json!({"name": format!("tool_{index}"), "inputSchema": {"type": "object", "properties": properties}})
        };
        (from..from + 500).map(one).collect()
    };
    let report = compare(json!({"tools": tools(0)}), json!({"tools": tools(100)}));
    let count = |class| report.changes().iter().filter(|change| change.class == class).count();
    // The first hundred tools are reported as renamed, and each of their ten arguments accepts larger numbers.
    assert_eq!((count(ChangeClass::Breaking), count(ChangeClass::Additive)), (100, 100 * 10));
}

#[test]
fn a_report_is_read_from_the_top() {
    let mut places = SourcePlaces::default();
    let mut told = String::new();
    let new = json!({"tools": [tool("kept"), tool_with("name", json!("new"))]});
    let old = json!({"tools": [tool_with("name", json!("gone")), {"name": "kept", "description": "x", "inputSchema": tool("x")["inputSchema"]}]});
    places.add(ItemKind::Tool, "kept", SourcePlace::Line("src/main.rs", 7).into());
    let published = Published { manifest: read(new), places };
    let report = comparison::compare(&read(old), &published);
    let _ = write!(told, "{}", report.text("mcp.lock.json", "server schema > mcp.lock.json"));
    assert_eq!(
        told,
        "1 breaking change\n\
         \x20 src/main.rs: tool `gone` is gone\n\
         \x20     keep it for as long as clients call it\n\
         1 additive change\n\
         \x20 tool `new` is new\n\
         1 cosmetic change\n\
         \x20 src/main.rs:7: tool `kept` has no description any more\n\
         If it is acceptable to break clients, write mcp.lock.json again: `server schema > mcp.lock.json`\n"
    );
}

/// Returns a tool that takes one argument and returns nothing.
fn taking(name: &str, argument: &str, schema: &Value) -> Value {
    let mut tool = tool(name);
    tool["inputSchema"]["properties"] = json!({ argument: schema });
    tool
}

fn told(old: Value, new: Value) -> String {
    let mut places = SourcePlaces::default();
    for (line, name) in [(7, "ship"), (3, "bill"), (9, "move")] {
        places.add(ItemKind::Tool, name, SourcePlace::Line("src/main.rs", line).into());
    }
    let published = Published { manifest: read(new), places };
    comparison::compare(&read(old), &published).text("mcp.lock.json", "write")
}

#[test]
fn a_change_of_a_shared_type_is_reported_once() {
    let address = |members: Value| json!({"type": "object", "properties": members});
    let old = address(json!({"street": {"type": "string"}, "zip": {"type": "string"}}));
    let new = address(json!({"street": {"type": "string"}}));
    let list = |of: &Value| json!({"type": "array", "items": of, "description": "Several"});
    let outer =
        |of: &Value| json!({"type": "object", "description": "Outer", "properties": {"at": of}});
    let tools = |of: &Value| {
        let tools = [
            taking("ship", "to", of),
            taking("bill", "from", &list(of)),
            taking("move", "van", &outer(of)),
        ];
        json!({ "tools": tools })
    };
    assert_eq!(
        told(tools(&old), tools(&new)),
        "1 breaking change\n\
         \x20 src/main.rs:3: tool `bill`: argument `from[].zip` is gone\n\
         \x20     also tool `ship`: argument `to.zip` (src/main.rs:7), tool `move`: argument `van.at.zip` (src/main.rs:9)\n\
         \x20     keep it: clients send it. If it is no longer used, make it an `Option`\n\
         If it is acceptable to break clients, write mcp.lock.json again: `write`\n"
    );
    assert_eq!(
        told(tools(&new), tools(&old)),
        "1 additive change\n\
         \x20 src/main.rs:3: tool `bill`: argument `from[].zip` is new\n\
         \x20     also tool `ship`: argument `to.zip` (src/main.rs:7), tool `move`: argument `van.at.zip` (src/main.rs:9)\n\
         Nothing breaks. Write mcp.lock.json again: `write`\n"
    );
}

/// An `enum` is a type too, and two enums that differ only in their descriptions are the same type. A type in arguments is never grouped
/// with the same type in results.
#[test]
fn changes_of_different_types_are_reported_separately() {
    let size = |values: &[&str], text: &str| json!({"type": "string", "enum": values, "description": text});
    let tools = |values: &[&str]| json!({"tools": [taking("ship", "a", &size(values, "A")), taking("bill", "b", &size(values, "B"))]});
    let text = told(tools(&["s", "m"]), tools(&["s"]));
    assert!(text.contains("1 breaking change\n"), "{text}");
    assert!(text.contains("      also tool `ship`: argument `a` (src/main.rs:7)\n"), "{text}");

    let one = |kind: &str| json!({"type": kind});
    let tools = |kind: &str| json!({"tools": [taking("ship", "a", &one(kind)), taking("bill", "b", &one(kind))]});
    let text = told(tools("integer"), tools("string"));
    assert!(text.contains("2 breaking changes\n") && !text.contains("also"), "{text}");

    let address = |zip: &str, other: &str| json!({"type": "object", "properties": {"zip": {"type": zip}, other: {"type": "string"}}});
    let tools = |zip: &str| {
        let [a, b] = ["a", "b"].map(|name| address(zip, name));
        json!({"tools": [taking("ship", "to", &a), taking("bill", "to", &b)]})
    };
    let text = told(tools("integer"), tools("string"));
    assert!(text.contains("2 breaking changes\n") && !text.contains("also"), "{text}");

    let both = |schema: Value| {
        let mut tool = taking("ship", "to", &schema);
        tool["outputSchema"] = schema;
        json!({ "tools": [tool] })
    };
    let of = |zip: &str| both(address(zip, "a"));
    let text = told(of("integer"), of("string"));
    assert!(text.contains("2 breaking changes\n") && !text.contains("also"), "{text}");
}
