//! Arguments that clients repeat in an HTTP header, so that proxies can route requests by their values (server/tools, `x-mcp-header`).

use std::collections::BTreeMap;

use mcp_runtime_wire::{JsonKind, Raw};

/// Keyword of a schema that marks an argument with a header.
pub(crate) const KEYWORD: &str = "x-mcp-header";

/// An argument and the header that repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderArgument {
    /// Path to the argument: the names of the objects around it, and then its own name.
    pub(crate) path: Vec<Box<str>>,
    /// Name of the header in lower case, such as `mcp-param-x`.
    pub(crate) header: Box<str>,
}

impl HeaderArgument {
    #[cfg(any(test, feature = "http"))]
    /// Returns the value that the client sent, or `None` if the client omitted the argument or sent `null`. In both cases the request has
    /// no such header (rule HDR-05).
    pub(crate) fn value<'a>(&self, arguments: Raw<'a>) -> Option<Raw<'a>> {
        let found = self.path.iter().try_fold(arguments, |object, name| object.get(name));
        found.filter(|value| !value.is_null())
    }
}

/// Returns the arguments that have a header, and the problems of invalid headers. A single invalid header makes a client drop the whole
/// tool (rule HDR-07).
pub(crate) fn arguments(schema: Raw<'_>) -> (Vec<HeaderArgument>, Vec<String>) {
    let mut search = HeaderSearch::default();
    if schema.as_str().contains(KEYWORD) {
        search.schema(schema, true);
    }
    (search.found, search.problems)
}

#[derive(Default)]
struct HeaderSearch {
    path: Vec<Box<str>>,
    found: Vec<HeaderArgument>,
    /// Argument of each header, by the name of the header in lower case.
    taken: BTreeMap<String, String>,
    problems: Vec<String>,
}

impl HeaderSearch {
    /// Searches one schema. `plain` is true if only `properties` keywords lead to the schema.
    fn schema(&mut self, schema: Raw<'_>, plain: bool) {
        for (keyword, value) in schema.members() {
            match &*keyword {
                KEYWORD => self.annotation(schema, value, plain),
                "properties" => self.named(value, plain),
                "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                    self.named(value, false);
                }
                // `default`, `const`, `enum` and `examples` are not searched, because their contents are values and not schemas.
                "items"
                | "prefixItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "propertyNames"
                | "allOf"
                | "anyOf"
                | "oneOf"
                | "not"
                | "if"
                | "then"
                | "else" => {
                    self.schema(value, false);
                    value.elements().for_each(|element| self.schema(element, false));
                }
                _ => {}
            }
        }
    }

    fn named(&mut self, schemas: Raw<'_>, plain: bool) {
        for (name, schema) in schemas.members() {
            self.path.push(name.into());
            self.schema(schema, plain);
            self.path.pop();
        }
    }

    fn annotation(&mut self, schema: Raw<'_>, header: Raw<'_>, plain: bool) {
        let name = self.path.join(".");
        let header = header.string().unwrap_or_default();
        if !plain || self.path.is_empty() {
            let place = if name.is_empty() { "the arguments as a whole" } else { &name };
            self.problems.push(format!(
                "`{KEYWORD}` is at `{place}`, but only an argument, or a member of an object argument, can have a header: \
                 not a part of a list, a choice, a map or a `$ref`"
            ));
            return;
        }
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if header.is_empty() || !header.bytes().all(token) {
            self.problems.push(format!(
                "the header of the argument `{name}` is not a valid name: use a string of letters, digits and !#$%&'*+-.^_`|~ without spaces"
            ));
            return;
        }
        let kind =
            schema.get("type").filter(|kind| kind.kind() == JsonKind::String).and_then(Raw::string);
        if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
            self.problems.push(format!(
                "the argument `{name}` has a header, but only strings, integers and booleans can have one"
            ));
            return;
        }
        if let Some(first) = self.taken.insert(header.to_ascii_lowercase(), name.clone()) {
            self.problems.push(format!(
                "the arguments `{first}` and `{name}` have the same header `{header}`"
            ));
            return;
        }
        self.found.push(HeaderArgument {
            path: self.path.clone(),
            header: format!("mcp-param-{}", header.to_ascii_lowercase()).into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(properties: &str, expected: &[(&str, &str)], problems: &[&str]) {
        let text = format!(r#"{{"type":"object","properties":{properties}}}"#);
        check_schema(&text, expected, problems);
    }

    #[track_caller]
    fn check_schema(text: &str, expected: &[(&str, &str)], problems: &[&str]) {
        let (found, wrong) = arguments(Raw::trusted(text));
        let found: Vec<_> = found
            .iter()
            .map(|argument| (argument.path.join("/"), argument.header.to_string()))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, header)| (path.to_string(), header.to_string())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(wrong.len(), problems.len(), "{wrong:#?}");
        for (wrong, part) in wrong.iter().zip(problems) {
            assert!(wrong.contains(part), "{wrong}");
        }
    }

    #[test]
    fn arguments_and_members_of_objects_have_headers() {
        check(r#"{"a":{"type":"string"}}"#, &[], &[]);
        check(
            r#"{"a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"object","properties":{
                "properties":{"type":"integer","x-mcp-header":"x-1"},"d":{"x-mcp-header":"D","type":"boolean"}}}}"#,
            &[("a", "mcp-param-region"), ("b/properties", "mcp-param-x-1"), ("b/d", "mcp-param-d")],
            &[],
        );
    }

    #[test]
    fn a_value_is_no_annotation() {
        check(
            r#"{"a":{"type":"object","default":{"x-mcp-header":"A"},"examples":[{"x-mcp-header":"A"}],"const":{"x-mcp-header":1}},
                "x-mcp-header":{"type":"string"}}"#,
            &[],
            &[],
        );
    }

    #[test]
    fn a_header_for_which_clients_drop_the_tool_is_reported() {
        let one = |schema: &str, problem: &str| {
            check(&format!(r#"{{"a":{schema}}}"#), &[], &[problem]);
        };
        let no_type = "the argument `a` has a header, but only strings, integers and booleans";
        one(r#"{"type":"number","x-mcp-header":"A"}"#, no_type);
        one(r#"{"type":["string","null"],"x-mcp-header":"A"}"#, no_type);
        one(r##"{"$ref":"#/$defs/A","x-mcp-header":"A"}"##, no_type);
        let no_name = "the header of the argument `a` is not a valid name";
        one(r#"{"type":"string","x-mcp-header":""}"#, no_name);
        one(r#"{"type":"string","x-mcp-header":"A B"}"#, no_name);
        one(r#"{"type":"string","x-mcp-header":"Größe"}"#, no_name);
        one(r#"{"type":"string","x-mcp-header":true}"#, no_name);
        let far = "`x-mcp-header` is at `a`, but only an argument";
        one(r#"{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#, far);
        one(r#"{"anyOf":[{"type":"string","x-mcp-header":"A"},{"type":"null"}]}"#, far);
        one(
            r#"{"type":"object","additionalProperties":{"type":"string","x-mcp-header":"A"}}"#,
            far,
        );
        let member = r#"{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"A"}}}"#;
        let far = "`x-mcp-header` is at `a.b`, but only an argument";
        one(&format!(r#"{{"not":{member}}}"#), far);
        one(&format!(r#"{{"type":"array","prefixItems":[{member}]}}"#), far);
        check_schema(
            &format!(r#"{{"type":"object","x-mcp-header":"A","$defs":{{"D":{member}}}}}"#),
            &[],
            &["is at `the arguments as a whole`", "is at `D.b`"],
        );
    }

    #[test]
    fn header_names_are_unique_regardless_of_case() {
        check(
            r#"{"a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"object","properties":{
                "c":{"type":"integer","x-mcp-header":"REGION"}}}}"#,
            &[("a", "mcp-param-region")],
            &["the arguments `a` and `b.c` have the same header `REGION`"],
        );
    }

    #[test]
    fn the_value_is_found_along_the_path() {
        let nested =
            HeaderArgument { path: vec!["b".into(), "c".into()], header: "mcp-param-c".into() };
        let check = |arguments: &str, expected: Option<&str>| {
            let found = nested.value(Raw::trusted(arguments));
            assert_eq!(found.map(Raw::as_str), expected, "{arguments}");
        };
        check(r#"{"b":{"c":1}}"#, Some("1"));
        check(r#"{"b":{"c":null}}"#, None);
        check(r#"{"b":{}}"#, None);
        check(r#"{"b":[1]}"#, None);
        check(r#"{"c":1}"#, None);
        check("{}", None);
    }
}
