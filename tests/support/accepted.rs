//! Checks that the published schema of a tool accepts all arguments that the server accepts. A client that validates arguments would otherwise
//! hold back a call that the server answers.
//!
//! Arguments are made from the published schema and then changed at random: members are left out, values are replaced. A tool does not run,
//! because each call has an argument that the tool does not have. The server reports all problems of a call at once, so it accepts the other
//! arguments if it reports only this problem. A tool that takes every argument runs once, and is then left out.
//!
//! In the other direction, the server may refuse arguments that follow the schema, but never because one of them is missing.
//!
//! The schema need not accept what the guide calls a leniency. No argument is made for these: numbers, lists and objects in a text, integers
//! with a fraction of zeros, and aliases. A `null` in place of a member counts as a missing member, because an optional argument is published
//! without `null`, or as an empty object, as `serde_json::Map` reads it. A list in a value of any type is nested only as deep as a schema can
//! describe.

use std::fmt;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Name of the argument that no tool has.
const UNKNOWN: &str = "no-tool-has-this-argument";

/// Greatest number of lists that are nested directly in each other in a value that was made without a schema.
const LIST_LEVELS: usize = 2;

/// A tool, and the results of its checks.
pub struct Checked {
    tool: String,
    schema: Value,
    validator: Validator,
    random: Random,
    /// The last value of each argument that the server did not complain about.
    good: Map<String, Value>,
    /// Whether the last arguments follow the schema.
    follow: bool,
    /// Whether the tool refuses the unknown argument.
    is_closed: bool,
    /// Number of accepted arguments.
    pub accepted: usize,
    /// Accepted arguments that the schema rejects, each with the reason.
    pub rejected: Vec<String>,
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} accepted, {:?}", self.tool, self.accepted, self.rejected)
    }
}

impl Checked {
    /// Prepares a tool from `tools/list`.
    ///
    /// # Panics
    ///
    /// When the input schema of the tool is not a JSON Schema.
    pub fn of(tool: &Value) -> Self {
        let schema = tool["inputSchema"].clone();
        let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
        let name = tool["name"].as_str().expect("a name").to_owned();
        // Each tool has its own sequence, so an added tool changes no other.
        let seed = name.bytes().fold(0x9E37_79B9_7F4A_7C15, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self {
            tool: name,
            schema,
            validator,
            random: Random(seed),
            good: Map::new(),
            follow: true,
            is_closed: true,
            accepted: 0,
            rejected: Vec::new(),
        }
    }

    /// Name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether a further call can tell something.
    pub fn goes_on(&self) -> bool {
        self.is_closed && self.rejected.len() < 3
    }

    /// Returns the arguments of the next call: the argument that no tool has, and others.
    pub fn arguments(&mut self) -> Value {
        let mut arguments = made(&self.schema, &self.schema, &mut self.random, 0);
        for (name, value) in arguments.as_object_mut().into_iter().flatten() {
            if let Some(good) = self.good.get(name).filter(|_| self.random.below(2) == 0) {
                value.clone_from(good);
            }
        }
        let changes = self.random.below(3);
        self.follow = changes == 0;
        for _ in 0..changes {
            change(&mut arguments, &mut self.random);
        }
        let mut arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        arguments.insert(UNKNOWN.to_owned(), json!(1));
        arguments.into()
    }

    /// Whether the schema accepts the arguments, or accepts them with another value for some of their members that are `null`.
    fn is_valid(&self, arguments: &Value) -> bool {
        let mut nulls = Vec::new();
        null_members(arguments, "", &mut nulls);
        let ways: usize = 3_usize.pow(nulls.len().min(6) as u32);
        (0..ways).any(|way| {
            let mut arguments = arguments.clone();
            let mut rest = way;
            for (object, name) in &nulls {
                let Some(Value::Object(members)) = arguments.pointer_mut(object) else { continue };
                match rest % 3 {
                    0 => {}
                    1 => drop(members.remove(name)),
                    _ => drop(members.insert(name.clone(), json!({}))),
                }
                rest /= 3;
            }
            self.validator.is_valid(&arguments)
        })
    }

    /// Notes the text of the error that the server answered, or `None` if the call was no error.
    pub fn note(&mut self, mut arguments: Value, error: Option<&str>) {
        let Some(error) = error else {
            self.is_closed = false;
            return;
        };
        arguments.as_object_mut().expect("an object").remove(UNKNOWN);
        for (name, value) in arguments.as_object().into_iter().flatten() {
            if !error.contains(&format!("`{name}")) {
                self.good.insert(name.clone(), value.clone());
            }
        }
        if !error.contains(UNKNOWN) || error.matches("\n- ").count() != 1 {
            // The schema of a type that contains itself ends at some place with fewer rules.
            let is_whole = !self.schema.to_string().contains("Again `");
            if self.follow && is_whole && error.contains("missing") {
                self.rejected.push(format!("{}: {arguments}: refused: {error}", self.tool));
            }
            return;
        }
        self.accepted += 1;
        if !self.is_valid(&arguments) {
            let problem = self.validator.validate(&arguments).expect_err("a problem");
            self.rejected.push(format!("{}: {arguments}: {problem}", self.tool));
        }
    }
}

/// Returns the paths of the objects that have a member that is `null`, each with the name of the member.
fn null_members(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if value.is_null() {
                    found.push((path.to_owned(), name.clone()));
                }
                null_members(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                null_members(element, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// Sequence of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % count.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// Texts in the formats that types of the tests parse. None of them is JSON.
const TEXTS: [&str; 13] = [
    "",
    "a",
    "two words",
    "2026-07-28",
    "12:30",
    "12:30:00",
    "2026-07-28T12:30:00",
    "2026-07-28T12:30:00Z",
    "127.0.0.1",
    "::1",
    "https://example.com/a",
    "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "Europe/Paris",
];

const NUMBERS: [i64; 8] = [0, 1, 2, 3, 7, -1, 100, 70_000];

/// Makes a value from a schema.
fn made(schema: &Value, root: &Value, random: &mut Random, depth: usize) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let meaning = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return meaning.map_or(Value::Null, |meaning| made(meaning, root, random, depth + 1));
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return random.pick(values).cloned().unwrap_or_default();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[keyword].as_array() {
            let branch = random.pick(branches).unwrap_or(&Value::Null);
            return made(branch, root, random, depth + 1);
        }
    }
    match schema["type"].as_str() {
        Some("string") => made_text(schema, random),
        Some("integer" | "number") => made_number(schema, random),
        Some("boolean") => json!(random.below(2) == 0),
        Some("array") => {
            let least = schema["minItems"].as_u64().map_or(0, |least| least as usize);
            let most = schema["maxItems"].as_u64().map_or(least + 2, |most| most as usize);
            let count = least + random.below((most.min(least + 2) - least) + 1);
            let parts = schema["prefixItems"].as_array();
            let item =
                |at: usize| parts.and_then(|parts| parts.get(at)).unwrap_or(&schema["items"]);
            (0..if depth > 12 { least } else { count })
                .map(|at| made(item(at), root, random, depth + 1))
                .collect()
        }
        Some("object") => made_object(schema, root, random, depth),
        Some("null") => Value::Null,
        _ => anything(random, LIST_LEVELS, 1),
    }
}

fn made_object(schema: &Value, root: &Value, random: &mut Random, depth: usize) -> Value {
    let mut object = Map::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required =
            required.is_some_and(|required| required.iter().any(|other| other == name));
        if is_required || depth <= 12 && random.below(2) == 0 {
            object.insert(name.clone(), made(property, root, random, depth + 1));
        }
    }
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object())
        && depth <= 12
    {
        for name in ["a", "b"].into_iter().take(random.below(3)) {
            object.insert(name.to_owned(), made(values, root, random, depth + 1));
        }
    }
    object.into()
}

fn made_text(schema: &Value, random: &mut Random) -> Value {
    let text = *random.pick(&TEXTS).expect("texts");
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    json!(format!("{text}{}", "x".repeat(least.saturating_sub(text.len()))))
}

fn made_number(schema: &Value, random: &mut Random) -> Value {
    let bounds = [&schema["minimum"], &schema["maximum"]].map(Value::as_i64);
    let near = bounds[random.below(2)].unwrap_or(0);
    let number = NUMBERS[random.below(NUMBERS.len())];
    let number = match bounds {
        [Some(least), _] if number < least => least,
        [_, Some(most)] if number > most => most,
        _ if random.below(4) == 0 => near,
        _ => number,
    };
    if schema["type"] == "number" && random.below(2) == 0 {
        return json!(number as f64 + 0.5);
    }
    json!(number)
}

/// Makes a value without a schema. An integer has no fraction, because such integers are read leniently.
fn anything(random: &mut Random, lists: usize, depth: usize) -> Value {
    match random.below(if depth > 3 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(NUMBERS[random.below(NUMBERS.len())]),
        3 => json!(2.5),
        4 => json!(TEXTS[random.below(TEXTS.len())]),
        5 if lists > 0 => {
            (0..random.below(3)).map(|_| anything(random, lists - 1, depth + 1)).collect()
        }
        _ => {
            let names = ["a", "b", "name", "type"].into_iter().take(random.below(4));
            let member = |name: &str| (name.to_owned(), anything(random, LIST_LEVELS, depth + 1));
            names.map(member).collect::<Map<_, _>>().into()
        }
    }
}

/// Changes one place of a value: leaves a member out, or replaces a value. A list stays in a list of the schema, whose depth it may exceed.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(random.below(members.len())).expect("a name").clone();
            match random.below(4) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(name, Value::Null)),
                2 => drop(members.insert(name, anything(random, 1, 2))),
                _ => change(&mut members[&name], random),
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let at = random.below(elements.len());
            match random.below(4) {
                0 => drop(elements.remove(at)),
                1 => elements[at] = Value::Null,
                2 => elements[at] = anything(random, 0, 2),
                _ => change(&mut elements[at], random),
            }
        }
        _ => {}
    }
}
