use serde_json::{Value, json};

use super::{SchemaUse, ValuePath, compare, difference::SchemaFinding};
use crate::change::ChangeClass;

/// Returns the findings as `class path: text`.
fn told(usage: SchemaUse, old: &Value, new: &Value) -> Vec<String> {
    let findings = compare(usage, old, new);
    let one = |finding: SchemaFinding| {
        let class = match finding.class {
            ChangeClass::Breaking => "breaking",
            ChangeClass::Additive => "additive",
            ChangeClass::Cosmetic => "cosmetic",
        };
        let path = if finding.path == ValuePath::default() {
            String::new()
        } else {
            format!(" {}", finding.path)
        };
        format!("{class}{path}: {}", finding.text)
    };
    findings.into_iter().map(one).collect()
}

/// Checks the findings for a change from the old schema to the new one, for arguments and for a result.
#[track_caller]
fn check(old: Value, new: Value, argument: &[&str], result: &[&str]) {
    assert_eq!(told(SchemaUse::Arguments, &old, &new), argument, "as arguments");
    assert_eq!(told(SchemaUse::Result, &old, &new), result, "as a result");
    // The reverse change is a difference too: a change that narrows in one direction widens in the other.
    assert!(!compare(SchemaUse::Arguments, &new, &old).is_empty());
    for usage in [SchemaUse::Arguments, SchemaUse::Result] {
        assert_eq!(compare(usage, &old, &old), []);
        assert_eq!(compare(usage, &new, &new), []);
    }
}

/// Checks a change that only narrows what is accepted, and the reverse change.
#[track_caller]
fn narrows(wide: Value, narrow: Value, text: &str, back: &str) {
    let (breaking, additive) = (format!("breaking{text}"), format!("additive{text}"));
    check(wide.clone(), narrow.clone(), &[&breaking], &[&additive]);
    let (breaking, additive) = (format!("breaking{back}"), format!("additive{back}"));
    check(narrow, wide, &[&additive], &[&breaking]);
}

/// Checks that two schemas are reported as accepting the same values.
#[track_caller]
fn is_the_same(old: Value, new: Value) {
    let text = ["cosmetic: is written differently, with the same meaning"];
    check(old.clone(), new.clone(), &text, &text);
    check(new, old, &text, &text);
}

/// Checks that a change is breaking in both uses, because neither schema accepts all values of the other.
#[track_caller]
fn differs(old: Value, new: Value, text: &str) {
    let breaking = format!("breaking{text}");
    check(old, new, &[&breaking], &[&breaking]);
}

#[test]
fn types() {
    differs(json!({"type": "integer"}), json!({"type": "string"}), ": was integer, is string");
    narrows(
        json!({"type": "number"}),
        json!({"type": "integer"}),
        ": was number, is integer",
        ": was integer, is number",
    );
    narrows(
        json!({"type": ["string", "null"]}),
        json!({"type": "string"}),
        ": may not be null any more, only string",
        ": may be null now, not only string",
    );
    narrows(
        json!({}),
        json!({"type": "boolean"}),
        ": was null or number or string or array or object, is boolean",
        ": was boolean, is null or number or string or array or object",
    );
    narrows(
        json!(true),
        json!(false),
        ": has no possible value any more",
        ": had no possible value",
    );
    is_the_same(json!({"type": ["integer", "number"]}), json!({"type": "number"}));
    is_the_same(
        json!({"type": ["string", "integer"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    );
}

#[test]
fn values() {
    narrows(
        json!({"enum": ["a", "b", "c"]}),
        json!({"enum": ["a"]}),
        ": has lost the values `\"b\"`, `\"c\"`",
        ": has the new values `\"b\"`, `\"c\"`",
    );
    narrows(
        json!({"type": "string"}),
        json!({"type": "string", "enum": ["a", "b"]}),
        ": was string, is one of `\"a\"`, `\"b\"`",
        ": was one of `\"a\"`, `\"b\"`, is string",
    );
    is_the_same(json!({"const": 1}), json!({"enum": [1.0]}));
    is_the_same(json!({"enum": [true, false]}), json!({"type": "boolean"}));
    narrows(
        json!({"enum": ["a", "b"]}),
        json!({"const": "a"}),
        ": has lost the value `\"b\"`",
        ": has the new value `\"b\"`",
    );
    // A value that the type excludes was never accepted, so it cannot be lost.
    is_the_same(
        json!({"type": "string", "enum": ["a", 1]}),
        json!({"type": "string", "enum": ["a"]}),
    );
    check(
        json!({"enum": ["a", "b"]}),
        json!({"enum": ["b", "a"]}),
        &["cosmetic: lists its values in another order"],
        &["cosmetic: lists its values in another order"],
    );
}

#[test]
fn numbers() {
    narrows(
        json!({"type": "integer"}),
        json!({"type": "integer", "minimum": 1}),
        ": has a `minimum` of 1 now",
        ": has no `minimum` any more, it was 1",
    );
    narrows(
        json!({"type": "number", "maximum": 2}),
        json!({"type": "number", "maximum": 1.5}),
        ": has a `maximum` of 1.5, it was 2",
        ": has a `maximum` of 2, it was 1.5",
    );
    narrows(
        json!({"type": "number", "minimum": 0}),
        json!({"type": "number", "exclusiveMinimum": 0}),
        ": has a `exclusiveMinimum` of 0 now",
        ": has no `exclusiveMinimum` any more, it was 0",
    );
    is_the_same(
        json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9.5}),
        json!({"type": "integer", "minimum": 1, "maximum": 9}),
    );
    // A difference of one unit in the last place of a large number counts.
    narrows(
        json!({"type": "integer", "maximum": u64::MAX}),
        json!({"type": "integer", "maximum": u64::MAX - 1}),
        ": has a `maximum` of 18446744073709551614, it was 18446744073709551615",
        ": has a `maximum` of 18446744073709551615, it was 18446744073709551614",
    );
    narrows(
        json!({"type": "integer"}),
        json!({"type": "integer", "multipleOf": 5}),
        ": has a `multipleOf` of 5 now",
        ": has no `multipleOf` any more, it was 5",
    );
    narrows(
        json!({"type": "integer", "multipleOf": 5}),
        json!({"type": "integer", "multipleOf": 10}),
        ": has a `multipleOf` of 10, it was 5",
        ": has a `multipleOf` of 5, it was 10",
    );
    narrows(
        json!({"type": "integer", "format": "int64"}),
        json!({"type": "integer", "format": "int32"}),
        ": has a `format` of \"int32\", it was \"int64\"",
        ": has a `format` of \"int64\", it was \"int32\"",
    );
    narrows(
        json!({"type": "number", "format": "double"}),
        json!({"type": "number", "format": "float"}),
        ": has a `format` of \"float\", it was \"double\"",
        ": has a `format` of \"double\", it was \"float\"",
    );
}

#[test]
fn strings() {
    narrows(
        json!({"type": "string", "minLength": 1}),
        json!({"type": "string", "minLength": 2}),
        ": has a `minLength` of 2, it was 1",
        ": has a `minLength` of 1, it was 2",
    );
    narrows(
        json!({"type": "string"}),
        json!({"type": "string", "maxLength": 9}),
        ": has a `maxLength` of 9 now",
        ": has no `maxLength` any more, it was 9",
    );
    narrows(
        json!({"type": "string"}),
        json!({"type": "string", "pattern": "^a"}),
        ": has a `pattern` of \"^a\" now",
        ": has no `pattern` any more, it was \"^a\"",
    );
    // Two different patterns are never shown to be compatible.
    differs(
        json!({"type": "string", "pattern": "^a"}),
        json!({"type": "string", "pattern": "^a*"}),
        ": has a `pattern` of \"^a*\", it was \"^a\"",
    );
    narrows(
        json!({"type": "string"}),
        json!({"type": "string", "format": "uuid"}),
        ": has a `format` of \"uuid\" now",
        ": has no `format` any more, it was \"uuid\"",
    );
    is_the_same(json!({"type": "string", "minLength": 0}), json!({"type": "string"}));
    // A length does not apply to a number.
    is_the_same(json!({"type": "integer", "minLength": 3}), json!({"type": "integer"}));
}

#[test]
fn lists() {
    let list = |items: Value| json!({"type": "array", "items": items});
    narrows(
        list(json!({"type": "number"})),
        list(json!({"type": "integer"})),
        " []: was number, is integer",
        " []: was integer, is number",
    );
    narrows(
        json!({"type": "array"}),
        json!({"type": "array", "maxItems": 3}),
        ": has a `maxItems` of 3 now",
        ": has no `maxItems` any more, it was 3",
    );
    narrows(
        json!({"type": "array"}),
        json!({"type": "array", "uniqueItems": true}),
        ": has a `uniqueItems` of true now",
        ": has no `uniqueItems` any more, it was true",
    );
    let pair = |second: &str| {
        json!({
            "type": "array", "prefixItems": [{"type": "string"}, {"type": second}], "items": false,
            "minItems": 2,
        })
    };
    narrows(
        pair("number"),
        pair("integer"),
        " [1]: was number, is integer",
        " [1]: was integer, is number",
    );
    // The shorter tuple excludes further elements, so a longer one accepts other values.
    check(
        pair("string"),
        json!({
            "type": "array", "items": false, "minItems": 2,
            "prefixItems": [{"type": "string"}, {"type": "string"}, {"type": "string"}],
        }),
        &["additive: has a `maxItems` of 3, it was 2"],
        &["breaking: has a `maxItems` of 3, it was 2"],
    );
    is_the_same(
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}}),
        list(json!({"type": "string"})),
    );
    is_the_same(
        json!({"type": "array", "maxItems": 0, "items": {"type": "string"}}),
        json!({"type": "array", "maxItems": 0, "items": {"type": "integer"}}),
    );
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn closed(properties: Value, required: &[&str]) -> Value {
    let mut schema = object(properties, required);
    schema["additionalProperties"] = json!(false);
    schema
}

#[test]
fn members() {
    let text = || json!({"type": "string"});
    for object in [object, closed] {
        // A member becomes required or optional.
        check(
            object(json!({"a": text()}), &[]),
            object(json!({"a": text()}), &["a"]),
            &["breaking a: must be given now"],
            &["additive a: is always there now"],
        );
        check(
            object(json!({"a": text()}), &["a"]),
            object(json!({"a": text()}), &[]),
            &["additive a: may be left out now"],
            &["breaking a: may be missing now"],
        );
        // A member inside of another one.
        narrows(
            object(json!({"a": object(json!({"b": {"type": "number"}}), &[])}), &[]),
            object(json!({"a": object(json!({"b": {"type": "integer"}}), &[])}), &[]),
            " a.b: was number, is integer",
            " a.b: was integer, is number",
        );
    }
    // A new member.
    check(
        object(json!({"a": text()}), &[]),
        object(json!({"a": text(), "colour": {"type": "integer"}}), &[]),
        &["additive colour: is new"],
        &["additive colour: is new"],
    );
    check(
        closed(json!({"a": text()}), &[]),
        closed(json!({"a": text(), "colour": {"type": "integer"}}), &[]),
        &["additive colour: is new"],
        &["breaking colour: is new, and other members were ruled out before"],
    );
    check(
        object(json!({"a": text()}), &[]),
        object(json!({"a": text(), "colour": {"type": "integer"}}), &["colour"]),
        &["breaking colour: is new and must be given"],
        &["additive colour: is new and always there"],
    );
    // A member that is gone, whether or not it was required, and whether or not other members are accepted.
    for object in [object, closed] {
        for required in [&[][..], &["colour"]] {
            check(
                object(json!({"a": text(), "colour": {"type": "integer"}}), required),
                object(json!({"a": text()}), &[]),
                &["breaking colour: is gone"],
                &["breaking colour: is gone"],
            );
        }
    }
}

#[test]
fn renamed_members() {
    let renamed = |from: &str, to: &str| {
        format!(
            "breaking {to}: seems to have been `{from}` before: the old one is gone, and this one is new"
        )
    };
    let both = |old: Value, new: Value, text: &str| check(old, new, &[text], &[text]);
    let text = || json!({"type": "string", "description": "What to say"});
    both(
        object(json!({"word": text()}), &["word"]),
        object(json!({"words": {"type": "integer"}}), &["words"]),
        &renamed("word", "words"),
    );
    both(
        object(json!({"word": text()}), &[]),
        object(json!({"message": {"type": "string"}}), &[]),
        &renamed("word", "message"),
    );
    let there = "breaking word: is gone";
    check(
        object(json!({"word": text()}), &[]),
        object(json!({"message": {"type": "integer"}}), &[]),
        &[there, "additive message: is new"],
        &[there, "additive message: is new"],
    );
}

#[test]
fn members_without_a_name() {
    let map = |inner: Value| json!({"type": "object", "additionalProperties": inner});
    narrows(
        map(json!({"type": "number"})),
        map(json!({"type": "integer"})),
        " {}: was number, is integer",
        " {}: was integer, is number",
    );
    narrows(
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ": has no undeclared members any more",
        ": may have undeclared members now",
    );
    is_the_same(json!({"type": "object"}), map(json!(true)));
    let declared = |closed: bool| {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    };
    check(
        declared(false),
        declared(true),
        &["breaking: refuses undeclared members now"],
        &["cosmetic: is written differently, with the same meaning"],
    );
    check(
        declared(true),
        declared(false),
        &["additive: accepts undeclared members now"],
        &["cosmetic: is written differently, with the same meaning"],
    );
    // A declared member among members of any name.
    check(
        map(json!({"type": "number"})),
        json!({
            "type": "object", "additionalProperties": {"type": "number"},
            "properties": {"a": {"type": "integer"}},
        }),
        &["breaking a: was number, is integer"],
        &["additive a: was number, is integer"],
    );
    check(
        map(json!(true)),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        &["breaking a: was null or boolean or number or array or object, is string"],
        &["additive a: was null or boolean or number or array or object, is string"],
    );
    narrows(
        map(json!({"type": "number"})),
        json!({"type": "object", "additionalProperties": {"type": "number"}, "maxProperties": 2}),
        ": has a `maxProperties` of 2 now",
        ": has no `maxProperties` any more, it was 2",
    );
    is_the_same(
        closed(json!({"a": {}, "b": {}}), &["a"]),
        json!({
            "type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"],
            "additionalProperties": false, "minProperties": 1, "maxProperties": 2,
            "propertyNames": {"maxLength": 1},
        }),
    );
}

#[test]
fn choices() {
    let any = |branches: Value| json!({"anyOf": branches});
    narrows(
        any(json!([{"type": "string"}, {"type": "integer"}])),
        json!({"type": "string"}),
        ": was integer, is string",
        ": was string, is integer",
    );
    narrows(
        any(json!([{"type": "string"}, {"type": "integer", "maximum": 9}])),
        any(json!([{"type": "integer", "maximum": 5}, {"type": "string"}])),
        ": has a `maximum` of 5, it was 9",
        ": has a `maximum` of 9, it was 5",
    );
    is_the_same(
        any(json!([{"type": "string"}, {"type": "integer"}])),
        any(json!([{"type": "integer"}, {"type": "string"}, {"type": "integer", "minimum": 3}])),
    );
    // Tags distinguish the variants.
    let variant = |tag: &str, of: &str| {
        closed(json!({"kind": {"const": tag}, "value": {"type": of}}), &["kind", "value"])
    };
    for keyword in ["anyOf", "oneOf"] {
        let choice = |branches: Vec<Value>| json!({keyword: branches});
        narrows(
            choice(vec![variant("a", "number"), variant("b", "string")]),
            choice(vec![variant("a", "integer"), variant("b", "string")]),
            " value: was number, is integer",
            " value: was integer, is number",
        );
    }
    // serde's default is an external tag: the name of the only member.
    let tagged = |tag: &str| closed(json!({tag: {"type": "string"}}), &[tag]);
    let old = json!({"oneOf": [tagged("a"), tagged("b")]});
    let new = json!({"oneOf": [tagged("a"), tagged("b"), tagged("c")]});
    assert!(
        compare(SchemaUse::Arguments, &old, &new)
            .iter()
            .all(|finding| finding.class == ChangeClass::Additive)
    );
    assert!(
        compare(SchemaUse::Result, &old, &new)
            .iter()
            .any(|finding| finding.class == ChangeClass::Breaking)
    );
    assert!(
        compare(SchemaUse::Arguments, &new, &old)
            .iter()
            .any(|finding| finding.class == ChangeClass::Breaking)
    );
    assert!(
        compare(SchemaUse::Result, &new, &old)
            .iter()
            .all(|finding| finding.class == ChangeClass::Additive)
    );
    // A value that matches two alternatives of a `oneOf` is invalid.
    check(
        json!({"type": "integer"}),
        json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
        &[
            "breaking: cannot be shown to accept what was accepted before: more than one alternative of its `oneOf` may match",
        ],
        &["breaking: was integer, is number"],
    );
    is_the_same(
        json!({"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 5}]}),
        json!({"type": "integer", "minimum": 1, "maximum": 5}),
    );
    narrows(
        json!({"allOf": [{"type": "integer"}, {"maximum": 6}]}),
        json!({"allOf": [{"type": "integer"}, {"maximum": 5}]}),
        ": has a `maximum` of 5, it was 6",
        ": has a `maximum` of 6, it was 5",
    );
}

#[test]
fn references() {
    let tree = |value: &str, name: &str| {
        json!({
            "$ref": format!("#/$defs/{name}"),
            "$defs": {name: object(
                json!({"value": {"type": value}, "children": {
                    "type": "array", "items": {"$ref": format!("#/$defs/{name}")},
                }}),
                &["value"],
            )},
        })
    };
    is_the_same(tree("string", "Tree"), tree("string", "Node"));
    // The root and the children refer to the definition separately, so the change is reported at both places.
    let found = told(SchemaUse::Arguments, &tree("number", "Tree"), &tree("integer", "Node"));
    let text = "was number, is integer";
    assert_eq!(
        found,
        [format!("breaking children[].value: {text}"), format!("breaking value: {text}")]
    );
    is_the_same(
        json!({"type": "array", "items": {"$ref": "#/$defs/A~1B"}, "$defs": {"A/B": {"type": "string"}}}),
        json!({"type": "array", "items": {"type": "string"}}),
    );
    // Unfolding the definition of the tree once does not change the accepted values.
    let mut unfolded = tree("string", "Tree");
    unfolded["$defs"]["Tree"]["properties"]["children"]["items"] = object(
        json!({"value": {"type": "string"}, "children": {
            "type": "array", "items": {"$ref": "#/$defs/Tree"},
        }}),
        &["value"],
    );
    is_the_same(tree("string", "Tree"), unfolded);
}

#[test]
fn a_change_that_cannot_be_judged_is_breaking() {
    let cannot = |what: &str| {
        format!("breaking: cannot be shown to accept what was accepted before: {what}")
    };
    let check = |new: Value, what: &str| {
        let found = told(SchemaUse::Arguments, &json!({"type": "object", "properties": {}}), &new);
        assert_eq!(found.first(), Some(&cannot(what)), "{new}");
    };
    let with =
        |keyword: &str, said: Value| json!({"type": "object", "properties": {}, keyword: said});
    check(with("not", json!({"required": ["a"]})), "it has `not`");
    check(with("if", json!({"required": ["a"]})), "it has `if`");
    check(with("dependentRequired", json!({"a": ["b"]})), "it has `dependentRequired`");
    check(with("unheardOf", json!(1)), "it has `unheardOf`");
    check(with("$ref", json!("#/$defs/None")), "\"#/$defs/None\" refers to no definition");
    check(with("type", json!("objekt")), "\"objekt\" is not a type");
    // An equal keyword is compatible, even if another keyword is new.
    let old = with("if", json!({"required": ["a"]}));
    let mut new = old.clone();
    new["minProperties"] = json!(1);
    let found = told(SchemaUse::Result, &old, &new);
    assert_eq!(found, ["additive: has a `minProperties` of 1 now"]);
}

#[test]
fn recursive_and_very_deep_schemas_are_compared_in_bounded_time() {
    // The definition refers only to itself.
    let empty = |name: &str| json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": format!("#/$defs/{name}")}}});
    for usage in [SchemaUse::Arguments, SchemaUse::Result] {
        assert!(!compare(usage, &empty("A"), &json!({"type": "string"})).is_empty());
        let found = compare(usage, &json!({"type": "string"}), &empty("A"));
        assert!(
            found.iter().any(|finding| finding.class == ChangeClass::Breaking)
                || usage == SchemaUse::Result
        );
    }
    // The definition refers to itself several times. Without a limit, the number of comparisons would grow exponentially with the depth.
    let doubling = |last: &str| {
        json!({
            "$ref": "#/$defs/A",
            "$defs": {"A": {"anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/A"}, "prefixItems": [{"$ref": "#/$defs/A"}]},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/A"}},
                {"allOf": [{"$ref": "#/$defs/A"}, {"type": "array"}]},
                {"type": last},
            ]}},
        })
    };
    let found = compare(SchemaUse::Arguments, &doubling("string"), &doubling("integer"));
    assert!(found.iter().any(|finding| finding.class == ChangeClass::Breaking));
    let deep = (0..200)
        .fold(json!({"type": "number"}), |inner, _| json!({"type": "array", "items": inner}));
    let other = (0..200)
        .fold(json!({"type": "integer"}), |inner, _| json!({"type": "array", "items": inner}));
    let found = compare(SchemaUse::Arguments, &deep, &other);
    assert!(found.iter().any(|finding| finding.class == ChangeClass::Breaking));
}

#[test]
fn words() {
    let described = |text: &str| object(json!({"a": {"type": "string", "description": text}}), &[]);
    let both = |old: Value, new: Value, text: &str| check(old, new, &[text], &[text]);
    both(described("one"), described("two"), "cosmetic a: has a different description");
    both(
        object(json!({"a": {"type": "string"}}), &[]),
        described("one"),
        "cosmetic a: has a description now",
    );
    both(
        json!({"type": "string", "x-order": 1}),
        json!({"type": "string", "x-order": 2}),
        "cosmetic: has a different x-order",
    );
    both(
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string", "title": "A"}}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string", "title": "B"}}}),
        "cosmetic (A): has a different title",
    );
}

#[test]
fn defaults() {
    let with = |default: Value| json!({"type": "integer", "default": default});
    check(
        with(json!(1)),
        with(json!(2)),
        &["breaking: has a different default: leaving it out meant 1, and means 2 now"],
        &["cosmetic: has a different default"],
    );
    check(
        json!({"type": "integer"}),
        with(json!(2)),
        &["additive: has a default now: leaving it out means 2"],
        &["cosmetic: has a default now"],
    );
    check(
        with(json!(2)),
        json!({"type": "integer"}),
        &[
            "breaking: has no default any more: leaving it out meant 2, and its meaning now is unspecified",
        ],
        &["cosmetic: has no default any more"],
    );
    // For an argument that must be given now, the lost default is only cosmetic.
    let found = told(
        SchemaUse::Arguments,
        &object(json!({"a": with(json!(1))}), &[]),
        &object(json!({"a": {"type": "integer"}}), &["a"]),
    );
    assert_eq!(found, ["breaking a: must be given now", "cosmetic a: has no default any more"]);
}

#[test]
fn headers() {
    let with = |header: &str| json!({"type": "string", "x-mcp-header": header});
    let both = |old: Value, new: Value, text: &str| check(old, new, &[text], &[text]);
    both(
        with("Region"),
        with("Zone"),
        "breaking: has a different header: was \"Region\", is \"Zone\"",
    );
    both(
        json!({"type": "string"}),
        with("Zone"),
        "breaking: has a different header: was none, is \"Zone\"",
    );
    both(
        with("Zone"),
        json!({"type": "string"}),
        "breaking: has a different header: was \"Zone\", is none",
    );
    both(with("Zone"), with("zone"), "cosmetic: is written differently, with the same meaning");
}

/// Variants of an enum with data, as serde tags them.
#[test]
fn alternatives_are_named() {
    let variant = |kind: &str, member: &str| {
        json!({
            "type": "object", "required": ["kind", "of"],
            "properties": {"kind": {"enum": [kind], "type": "string"}, "of": {"type": member}},
        })
    };
    let choice = |branches: &[Value]| json!({ "anyOf": branches });
    let (card, cash) = (variant("card", "string"), variant("cash", "integer"));
    narrows(
        choice(&[card.clone(), cash.clone(), variant("cheque", "string")]),
        choice(&[card.clone(), cash.clone()]),
        ": has lost the alternative `kind` = `\"cheque\"`",
        ": has the new alternative `kind` = `\"cheque\"`",
    );
    differs(
        choice(&[card.clone(), cash.clone()]),
        choice(&[card, variant("cash", "string")]),
        " of: was integer, is string",
    );
    let outer = |name: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}, "additionalProperties": false});
    narrows(
        choice(&[outer("a"), outer("b"), outer("c")]),
        choice(&[outer("a"), outer("b")]),
        ": has lost the alternative `c`",
        ": has the new alternative `c`",
    );
}

/// `1e300` is a whole number, so it is a multiple of one.
#[test]
fn a_change_that_rejects_a_huge_number_is_breaking() {
    for narrow in
        [json!({"const": 1e300, "multipleOf": 1}), json!({"enum": [-1e38], "multipleOf": 1})]
    {
        let findings = compare(SchemaUse::Arguments, &narrow, &json!({"type": "boolean"}));
        assert!(
            findings.iter().any(|finding| finding.class == ChangeClass::Breaking),
            "{narrow}: {findings:?}"
        );
    }
    // It is unknown whether a rounded number is a multiple of ten.
    let tens = json!({"const": 1e30, "multipleOf": 10});
    let findings = compare(SchemaUse::Arguments, &tens, &json!({"type": "boolean"}));
    assert!(findings.iter().any(|finding| finding.class == ChangeClass::Breaking), "{findings:?}");
    let exclusive = json!({"type": "integer", "exclusiveMinimum": 1e300});
    let inclusive = json!({"type": "integer", "minimum": 1e300});
    let findings = compare(SchemaUse::Arguments, &inclusive, &exclusive);
    assert!(findings.iter().any(|finding| finding.class == ChangeClass::Breaking), "{findings:?}");
}
