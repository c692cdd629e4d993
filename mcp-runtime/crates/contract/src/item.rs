//! Compares the old and the new version of an item, member by member. A hint of a tool, such as `readOnlyHint`, counts as a promise to
//! clients.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    change::{ChangeClass, ContractChange},
    collect::collect_by_insert,
    manifest::{ItemKind, JsonObject},
    place::{SourcePlace, SourcePlaces},
    schema::{self, Remedy, SchemaUse, ValuePath},
};

/// Adds the changes of an item that is in both manifests. The changes name the item by its current key.
pub(crate) fn compare(
    kind: ItemKind,
    key: &str,
    old: &JsonObject,
    new: &JsonObject,
    places: &SourcePlaces,
    to: &mut Vec<ContractChange>,
) {
    let mut comparison = ItemComparison { kind, key, places, to };
    let members: BTreeSet<&String> = collect_by_insert(old.keys().chain(new.keys()));
    for member in members {
        let (was, is) = (old.get(member), new.get(member));
        if was == is || member == kind.key() {
            continue;
        }
        let before = comparison.to.len();
        match (kind, member.as_str()) {
            (_, "name" | "title" | "description" | "icons" | "size") => {
                comparison.text_member(member, was, is);
            }
            (ItemKind::Tool, "annotations") => comparison.hints(was, is),
            (_, "annotations") => comparison.annotations(was, is),
            (ItemKind::Tool, "inputSchema") => comparison.arguments(was, is),
            (ItemKind::Tool, "outputSchema") => comparison.result(was, is),
            (ItemKind::Tool, "execution") => comparison.tasks(was, is),
            (ItemKind::Prompt, "arguments") => comparison.prompt_arguments(was, is),
            (_, "asks" | "completes" | "scopes") => comparison.names(member, was, is),
            _ => comparison.promise(member, was, is),
        }
        if before == comparison.to.len() {
            let text = format!("writes its `{member}` differently, with the same meaning");
            comparison.change(ChangeClass::Cosmetic, text, None);
        }
    }
}

struct ItemComparison<'a> {
    kind: ItemKind,
    key: &'a str,
    places: &'a SourcePlaces,
    to: &'a mut Vec<ContractChange>,
}

impl ItemComparison<'_> {
    /// Adds a change of the item as a whole.
    fn change(&mut self, class: ChangeClass, text: impl Into<String>, advice: Option<&str>) {
        let place = self.places.item(self.kind, self.key);
        self.push(class, place, "", text.into(), advice.map(str::to_owned));
    }

    fn push(
        &mut self,
        class: ChangeClass,
        place: SourcePlace,
        part: &str,
        text: String,
        advice: Option<String>,
    ) {
        let subject = self.subject(part);
        self.to.push(ContractChange { class, place, subject, text, advice, type_key: None });
    }

    /// Returns the subject of a change. `part` is a part of the item, or empty for the whole item.
    fn subject(&self, part: &str) -> String {
        format!("{} `{}`{part}", self.kind.noun(), self.key)
    }

    fn argument(&self, name: &str) -> SourcePlace {
        self.places.argument(self.kind, self.key, name)
    }

    fn text_member(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        if let Some(text) = schema::describe_change(member, was, is) {
            self.change(ChangeClass::Cosmetic, text, None);
        }
    }

    /// Compares annotations, such as the audience and the priority of a resource.
    fn annotations(&mut self, was: Option<&Value>, is: Option<&Value>) {
        if let Some(text) = schema::describe_change("annotations", was, is) {
            let shown =
                [was, is].map(|value| value.map_or_else(|| "none".to_owned(), Value::to_string));
            let [was, is] = shown;
            self.change(ChangeClass::Cosmetic, format!("{text}: was {was}, is {is}"), None);
        }
    }

    /// Compares a member that clients may use in an unknown way. A new member is additive. Any other change is breaking.
    fn promise(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        match (was, is) {
            // The keys of `_meta` belong to independent extensions, so they are compared one by one.
            (Some(Value::Object(was)), Some(Value::Object(is))) if member == "_meta" => {
                let keys: BTreeSet<&String> = collect_by_insert(was.keys().chain(is.keys()));
                for key in keys {
                    self.promise(&format!("_meta[\"{key}\"]"), was.get(key), is.get(key));
                }
            }
            (was, is) if was == is => {}
            (None, Some(is)) => {
                self.change(ChangeClass::Additive, format!("has `{member}` now: {is}"), None);
            }
            (Some(was), is) => {
                let is = is.map_or_else(|| "missing".to_owned(), ToString::to_string);
                let text = format!("has a different `{member}`: was {was}, is {is}");
                self.change(
                    ChangeClass::Breaking,
                    text,
                    Some("keep the old value: clients may rely on it"),
                );
            }
            (None, None) => {}
        }
    }

    /// Compares lists of names: capabilities that the item requires from its client, scopes that it requires from its caller, and arguments
    /// that it completes.
    fn names(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        let names = |list: Option<&Value>| -> BTreeSet<String> {
            let list = list.and_then(Value::as_array).into_iter().flatten();
            collect_by_insert(list.filter_map(Value::as_str).map(str::to_owned))
        };
        let (was, is) = (names(was), names(is));
        for name in was.symmetric_difference(&is) {
            let is_new = is.contains(name);
            match (member, is_new) {
                ("asks", true) => self.change(
                    ChangeClass::Breaking,
                    format!("needs a client with `{name}` now, and refuses others"),
                    Some("ask only clients that support it: take `&Context` and check `ctx.client()`"),
                ),
                ("asks", false) => {
                    self.change(ChangeClass::Additive, format!("does not need `{name}` any more"), None);
                }
                ("scopes", true) => self.change(
                    ChangeClass::Breaking,
                    format!("needs a token that grants `{name}` now, and refuses others"),
                    Some(match was.is_empty() {
                        true => "leave the item open to all callers, or tell them that they need such a token",
                        false => "let a scope that callers already have imply it (`.implies(…)`), or keep the old scopes",
                    }),
                ),
                ("scopes", false) => {
                    let text = format!("does not need a token that grants `{name}` any more");
                    self.change(ChangeClass::Additive, text, None);
                }
                (_, true) => {
                    let place = self.argument(name);
                    let text = "has completion now".to_owned();
                    self.push(ChangeClass::Additive, place, &argument(name), text, None);
                }
                (_, false) => {
                    let place = self.argument(name);
                    let advice = Some("keep its `#[complete(…)]`".to_owned());
                    let text = "has no completion any more".to_owned();
                    self.push(ChangeClass::Breaking, place, &argument(name), text, advice);
                }
            }
        }
    }

    /// Compares the hints of a tool. Clients use hints to decide whether to ask the user for consent, so it is a breaking change to take
    /// back a promise. A hint and the promises that it implied are reported as one difference.
    fn hints(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let (was, is) = (Hints(was), Hints(is));
        let now = |of: Hints<'_>, than: Hints<'_>| -> Vec<&'static Hint> {
            HINTS.iter().filter(|hint| of.promises(hint) && !than.promises(hint)).collect()
        };
        let (lost, gained) = (now(was, is), now(is, was));
        if !lost.is_empty() {
            let is_read_only = lost.iter().any(|hint| hint.name == READ_ONLY);
            let keys = lost.iter().filter(|hint| !(is_read_only && hint.is_implied));
            let keys = enumeration(keys.map(|hint| format!("`{}`", hint.key)));
            let advice = format!(
                "keep {keys}, or make it a new tool: clients use these hints to decide whether to ask their user"
            );
            let text = format!("no longer promises that it {}", promises_text(&lost, was, is));
            self.change(ChangeClass::Breaking, text, Some(&advice));
        }
        if !gained.is_empty() {
            let text = format!("now promises that it {}", promises_text(&gained, was, is));
            self.change(ChangeClass::Additive, text, None);
        }
    }

    fn tasks(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let support = |execution: Option<&Value>| {
            let support = execution.and_then(|execution| execution.get("taskSupport")?.as_str());
            support.unwrap_or("forbidden").to_owned()
        };
        let (was, is) = (support(was), support(is));
        let class = match (was.as_str(), is.as_str()) {
            (was, is) if was == is => return,
            ("forbidden" | "required", "optional") => ChangeClass::Additive,
            _ => ChangeClass::Breaking,
        };
        let advice = "keep its `task`: clients that call it as before are refused";
        let advice = Some(advice).filter(|_| class == ChangeClass::Breaking);
        self.change(class, format!("supports tasks differently: was {was}, is {is}"), advice);
    }

    fn prompt_arguments(&mut self, was: Option<&Value>, is: Option<&Value>) {
        self.schemas(SchemaUse::Arguments, &as_schema(was), &as_schema(is));
        let order = |arguments: Option<&Value>| -> Vec<String> {
            let list = arguments.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|argument| argument["name"].as_str()).map(str::to_owned).collect()
        };
        let (was, is) = (order(was), order(is));
        let kept = was.iter().filter(|name| is.contains(name));
        if !kept.eq(is.iter().filter(|name| was.contains(name))) {
            self.change(ChangeClass::Cosmetic, "lists its arguments in another order", None);
        }
    }

    fn arguments(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let any = Value::Bool(true);
        let (was, is) = (was.unwrap_or(&any), is.unwrap_or(&any));
        self.schemas(SchemaUse::Arguments, was, is);
    }

    fn result(&mut self, was: Option<&Value>, is: Option<&Value>) {
        match (was, is) {
            (Some(was), Some(is)) => self.schemas(SchemaUse::Result, was, is),
            (None, _) => self.change(ChangeClass::Additive, "has an output schema now", None),
            (_, None) => self.change(
                ChangeClass::Breaking,
                "has no output schema any more, and no structured result",
                Some("keep returning `Json<…>`"),
            ),
        }
    }

    fn schemas(&mut self, usage: SchemaUse, was: &Value, is: &Value) {
        for finding in schema::compare(usage, was, is) {
            let place = match (usage, finding.path.argument()) {
                (SchemaUse::Arguments, Some(name)) => self.argument(name),
                _ => self.places.item(self.kind, self.key),
            };
            let part = match (usage, finding.path == ValuePath::default()) {
                (SchemaUse::Arguments, true) => ": its input".to_owned(),
                (SchemaUse::Arguments, false) => argument(&finding.path.to_string()),
                (SchemaUse::Result, true) => ": its result".to_owned(),
                (SchemaUse::Result, false) => format!(": `{}` in its result", finding.path),
            };
            let advice = advice(usage, &finding.remedy, &finding.path);
            let type_key = schema::type_key(usage, &finding.path, was, is);
            let subject = self.subject(&part);
            self.to.push(ContractChange {
                class: finding.class,
                place,
                subject,
                text: finding.text,
                advice,
                type_key,
            });
        }
    }
}

fn argument(name: &str) -> String {
    format!(": argument `{name}`")
}

/// Returns the arguments of a prompt as the schema of an object with string members.
fn as_schema(arguments: Option<&Value>) -> Value {
    let list = || arguments.and_then(Value::as_array).into_iter().flatten();
    let name = |argument: &Value| argument["name"].as_str().unwrap_or_default().to_owned();
    let property = |argument: &Value| {
        let mut schema =
            collect_by_insert::<JsonObject, _>([("type".to_owned(), Value::from("string"))]);
        for word in ["title", "description"] {
            schema.extend(argument.get(word).map(|text| (word.to_owned(), text.clone())));
        }
        (name(argument), Value::Object(schema))
    };
    let mut required: Vec<String> =
        list().filter(|argument| argument["required"] == true).map(name).collect();
    required.sort_unstable();
    serde_json::json!({
        "type": "object",
        "properties": collect_by_insert::<JsonObject, _>(list().map(property)),
        "required": required,
        "additionalProperties": false,
    })
}

fn advice(usage: SchemaUse, remedy: &Remedy, path: &ValuePath) -> Option<String> {
    let in_struct = usage == SchemaUse::Result || !path.is_argument();
    Some(match remedy {
        Remedy::None => return None,
        Remedy::KeepOldName(name) if in_struct => {
            format!("keep the old name: `#[serde(rename = \"{name}\")]`")
        }
        Remedy::KeepOldName(name) => format!("keep the old name: `#[arg(name = \"{name}\")]`"),
        Remedy::KeepArgument => {
            "keep it: clients send it. If it is no longer used, make it an `Option`".to_owned()
        }
        Remedy::KeepMember => "keep it: clients read it".to_owned(),
        Remedy::MakeOptional if in_struct => {
            "make it an `Option`, or give it `#[serde(default)]`".to_owned()
        }
        Remedy::MakeOptional => "make it an `Option`, or give it `#[arg(default = …)]`, or `#[serde(default)]` in a struct with `#[data]`".to_owned(),
        Remedy::LeaveOpen if path == &ValuePath::default() => {
            "keep `lenient`: clients may send undeclared arguments".to_owned()
        }
        Remedy::LeaveOpen => "remove `#[serde(deny_unknown_fields)]`".to_owned(),
        Remedy::AcceptBoth => "accept what was accepted before, or add a new argument".to_owned(),
        Remedy::KeepPromise => {
            "keep what was promised, and return new values in another member".to_owned()
        }
        Remedy::KeepDefault => {
            "keep the default: calls that leave the argument out rely on it".to_owned()
        }
        Remedy::KeepHeader => {
            "keep the header: clients send it, and proxies may route by it".to_owned()
        }
    })
}

/// Hint of a tool, with its default and with the value that makes the hint a promise.
struct Hint {
    name: &'static str,
    default: bool,
    promising: bool,
    /// Text of the promise, as the predicate of a sentence about the tool.
    promise: &'static str,
    /// Attribute key with which the author makes the promise.
    key: &'static str,
    /// Whether a read-only tool keeps this promise by definition.
    is_implied: bool,
}

const READ_ONLY: &str = "readOnlyHint";

/// All hints, in descending order of importance.
const HINTS: [Hint; 4] = [
    Hint {
        name: READ_ONLY,
        default: false,
        promising: true,
        promise: "changes nothing",
        key: "read_only",
        is_implied: false,
    },
    Hint {
        name: "destructiveHint",
        default: true,
        promising: false,
        promise: "destroys nothing",
        key: "destructive = false",
        is_implied: true,
    },
    Hint {
        name: "idempotentHint",
        default: false,
        promising: true,
        promise: "may be called again without further effect",
        key: "idempotent",
        is_implied: true,
    },
    Hint {
        name: "openWorldHint",
        default: true,
        promising: false,
        promise: "reaches no external systems",
        key: "open_world = false",
        is_implied: false,
    },
];

/// Annotations of a tool, if it has any.
#[derive(Clone, Copy)]
struct Hints<'a>(Option<&'a Value>);

impl Hints<'_> {
    /// Returns the value of a hint, if the tool has it.
    fn value(self, name: &str) -> Option<bool> {
        self.0?.get(name)?.as_bool()
    }

    fn promises(self, hint: &Hint) -> bool {
        self.value(hint.name).unwrap_or(hint.default) == hint.promising
            || hint.is_implied && self.value(READ_ONLY) == Some(true)
    }

    /// Returns the value as text: `true`, or `false by default`.
    fn shown(self, hint: &Hint) -> String {
        match self.value(hint.name) {
            Some(value) => value.to_string(),
            None => format!("{} by default", hint.default),
        }
    }
}

/// Returns the promises as text, followed by the old and the new values of the hints that they depend on.
fn promises_text(promises: &[&Hint], was: Hints<'_>, is: Hints<'_>) -> String {
    let concerns = |hint: &Hint| {
        promises.iter().any(|promised| {
            promised.name == hint.name || promised.is_implied && hint.name == READ_ONLY
        })
    };
    let differs = |hint: &Hint| {
        was.value(hint.name).unwrap_or(hint.default) != is.value(hint.name).unwrap_or(hint.default)
    };
    let seen = HINTS.iter().filter(|hint| concerns(hint) && differs(hint)).map(|hint| {
        format!("`{}` was {} and is {} now", hint.name, was.shown(hint), is.shown(hint))
    });
    let promised = enumeration(promises.iter().map(|promised| promised.promise.to_owned()));
    format!("{promised}: {}", enumeration(seen))
}

/// Joins the parts as in `a, b and c`.
fn enumeration(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}
