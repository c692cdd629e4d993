//! Compares an item in two manifests, member by member.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    change::{Change, Class},
    manifest::Kind,
    place::{Place, Places},
    schema::{self, Path, Remedy, Side},
};
use crate::{collect::collect_by_insert, schema::Map};

/// Adds the changes of an item that is in both manifests. The changes name it by its current key.
pub(super) fn compare(
    kind: Kind,
    key: &str,
    old: &Map,
    new: &Map,
    places: &Places,
    to: &mut Vec<Change>,
) {
    let mut comparison = Comparison { kind, key, places, to };
    let members: BTreeSet<&String> = collect_by_insert(old.keys().chain(new.keys()));
    for member in members {
        let (was, is) = (old.get(member), new.get(member));
        if was == is || member == kind.key() {
            continue;
        }
        let before = comparison.to.len();
        match (kind, member.as_str()) {
            (_, "name" | "title" | "description" | "icons" | "size") => {
                comparison.words(member, was, is);
            }
            (Kind::Tool, "annotations") => comparison.hints(was, is),
            (_, "annotations") => comparison.annotations(was, is),
            (Kind::Tool, "inputSchema") => comparison.arguments(was, is),
            (Kind::Tool, "outputSchema") => comparison.result(was, is),
            (Kind::Tool, "execution") => comparison.tasks(was, is),
            (Kind::Prompt, "arguments") => comparison.prompt_arguments(was, is),
            (_, "asks" | "completes" | "scopes") => comparison.names(member, was, is),
            _ => comparison.promise(member, was, is),
        }
        if before == comparison.to.len() {
            let text = format!("says its `{member}` differently, and means the same");
            comparison.change(Class::Cosmetic, text, None);
        }
    }
}

pub(super) struct Comparison<'a> {
    kind: Kind,
    key: &'a str,
    places: &'a Places,
    to: &'a mut Vec<Change>,
}

impl Comparison<'_> {
    /// Adds a change of the item as a whole.
    pub(super) fn change(&mut self, class: Class, text: impl Into<String>, advice: Option<&str>) {
        let place = self.places.item(self.kind, self.key);
        self.push(class, place, "", text.into(), advice.map(str::to_owned));
    }

    fn push(
        &mut self,
        class: Class,
        place: Place,
        part: &str,
        text: String,
        advice: Option<String>,
    ) {
        let subject = self.subject(part);
        self.to.push(Change { class, place, subject, text, advice, kin: None });
    }

    /// Returns the subject of a change. `part` is a part of the item, or empty for the whole item.
    fn subject(&self, part: &str) -> String {
        format!("{} `{}`{part}", self.kind.noun(), self.key)
    }

    fn argument(&self, name: &str) -> Place {
        self.places.argument(self.kind, self.key, name)
    }

    fn words(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        if let Some(text) = schema::differs(member, was, is) {
            self.change(Class::Cosmetic, text, None);
        }
    }

    /// Compares annotations, such as the audience and the priority of a resource.
    fn annotations(&mut self, was: Option<&Value>, is: Option<&Value>) {
        if let Some(text) = schema::differs("annotations", was, is) {
            let shown = [was, is].map(|it| it.map_or_else(|| "none".to_owned(), Value::to_string));
            let [was, is] = shown;
            self.change(Class::Cosmetic, format!("{text}: was {was}, is {is}"), None);
        }
    }

    /// Compares a member that clients may rely on in an unknown way. A new one does no harm; any other change breaks.
    fn promise(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        match (was, is) {
            // Extensions are independent of each other.
            (Some(Value::Object(was)), Some(Value::Object(is))) if member == "_meta" => {
                let keys: BTreeSet<&String> = collect_by_insert(was.keys().chain(is.keys()));
                for key in keys {
                    self.promise(&format!("_meta[\"{key}\"]"), was.get(key), is.get(key));
                }
            }
            (was, is) if was == is => {}
            (None, Some(is)) => {
                self.change(Class::Additive, format!("has `{member}` now: {is}"), None);
            }
            (Some(was), is) => {
                let is = is.map_or_else(|| "not there".to_owned(), ToString::to_string);
                let text = format!("has another `{member}`: was {was}, is {is}");
                self.change(Class::Breaking, text, Some("keep what clients were told"));
            }
            (None, None) => {}
        }
    }

    /// Compares lists of names: capabilities that the item needs of its client, scopes that it needs of its caller, and arguments that it
    /// completes.
    fn names(&mut self, member: &str, was: Option<&Value>, is: Option<&Value>) {
        let names = |it: Option<&Value>| -> BTreeSet<String> {
            let list = it.and_then(Value::as_array).into_iter().flatten();
            collect_by_insert(list.filter_map(Value::as_str).map(str::to_owned))
        };
        let (was, is) = (names(was), names(is));
        for name in was.symmetric_difference(&is) {
            let is_new = is.contains(name);
            match (member, is_new) {
                ("asks", true) => self.change(
                    Class::Breaking,
                    format!("needs a client with `{name}` now, and refuses others"),
                    Some("ask only clients that can be asked: take `&Context` and look"),
                ),
                ("asks", false) => {
                    self.change(Class::Additive, format!("does not need `{name}` any more"), None);
                }
                ("scopes", true) => self.change(
                    Class::Breaking,
                    format!("needs a token that grants `{name}` now, and refuses others"),
                    Some("let a scope that its callers have imply it: `.implies(…)`, or keep what it needed"),
                ),
                ("scopes", false) => {
                    let text = format!("does not need a token that grants `{name}` any more");
                    self.change(Class::Additive, text, None);
                }
                (_, true) => {
                    let place = self.argument(name);
                    let text = "is completed now".to_owned();
                    self.push(Class::Additive, place, &argument(name), text, None);
                }
                (_, false) => {
                    let place = self.argument(name);
                    let advice = Some("keep its `#[complete(…)]`".to_owned());
                    let text = "is not completed any more".to_owned();
                    self.push(Class::Breaking, place, &argument(name), text, advice);
                }
            }
        }
    }

    fn tasks(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let support = |it: Option<&Value>| {
            let support = it.and_then(|it| it.get("taskSupport")?.as_str());
            support.unwrap_or("forbidden").to_owned()
        };
        let (was, is) = (support(was), support(is));
        let class = match (was.as_str(), is.as_str()) {
            (was, is) if was == is => return,
            ("forbidden" | "required", "optional") => Class::Additive,
            _ => Class::Breaking,
        };
        let advice = "keep its `task`: clients that call it the way they did are refused";
        let advice = Some(advice).filter(|_| class == Class::Breaking);
        self.change(class, format!("has another support of tasks: was {was}, is {is}"), advice);
    }

    fn prompt_arguments(&mut self, was: Option<&Value>, is: Option<&Value>) {
        self.schemas(Side::Arguments, &as_schema(was), &as_schema(is));
        let order = |it: Option<&Value>| -> Vec<String> {
            let list = it.and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
        };
        let (was, is) = (order(was), order(is));
        let kept = was.iter().filter(|it| is.contains(it));
        if !kept.eq(is.iter().filter(|it| was.contains(it))) {
            self.change(Class::Cosmetic, "lists its arguments in another order", None);
        }
    }

    fn arguments(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let any = Value::Bool(true);
        let (was, is) = (was.unwrap_or(&any), is.unwrap_or(&any));
        self.schemas(Side::Arguments, was, is);
    }

    fn result(&mut self, was: Option<&Value>, is: Option<&Value>) {
        match (was, is) {
            (Some(was), Some(is)) => self.schemas(Side::Result, was, is),
            (None, _) => self.change(Class::Additive, "has an output schema now", None),
            (_, None) => self.change(
                Class::Breaking,
                "has no output schema any more, and no structured result",
                Some("keep returning `Json<…>`"),
            ),
        }
    }

    fn schemas(&mut self, side: Side, was: &Value, is: &Value) {
        for it in schema::compare(side, was, is) {
            let place = match (side, it.path.argument()) {
                (Side::Arguments, Some(name)) => self.argument(name),
                _ => self.places.item(self.kind, self.key),
            };
            let part = match (side, it.path == Path::default()) {
                (Side::Arguments, true) => ": what it takes".to_owned(),
                (Side::Arguments, false) => argument(&it.path.to_string()),
                (Side::Result, true) => ": what it returns".to_owned(),
                (Side::Result, false) => format!(": `{}` in its result", it.path),
            };
            let advice = advice(&it.remedy, &it.path);
            let kin = schema::kin(side, &it.path, was, is);
            let subject = self.subject(&part);
            self.to.push(Change { class: it.class, place, subject, text: it.text, advice, kin });
        }
    }
}

fn argument(name: &str) -> String {
    format!(": argument `{name}`")
}

/// Returns the arguments of a prompt as the schema of an object with string members.
fn as_schema(arguments: Option<&Value>) -> Value {
    let list = || arguments.and_then(Value::as_array).into_iter().flatten();
    let name = |it: &Value| it["name"].as_str().unwrap_or_default().to_owned();
    let property = |it: &Value| {
        let mut schema = collect_by_insert::<Map, _>([("type".to_owned(), Value::from("string"))]);
        for word in ["title", "description"] {
            schema.extend(it.get(word).map(|text| (word.to_owned(), text.clone())));
        }
        (name(it), Value::Object(schema))
    };
    let mut required: Vec<String> = list().filter(|it| it["required"] == true).map(name).collect();
    required.sort_unstable();
    serde_json::json!({
        "type": "object",
        "properties": collect_by_insert::<Map, _>(list().map(property)),
        "required": required,
        "additionalProperties": false,
    })
}

fn advice(remedy: &Remedy, path: &Path) -> Option<String> {
    let in_struct = !path.is_argument();
    Some(match remedy {
        Remedy::None => return None,
        Remedy::KeepOldName(name) if in_struct => {
            format!("keep the old name: `#[serde(rename = \"{name}\")]`")
        }
        Remedy::KeepOldName(name) => format!("keep the old name: `#[arg(name = \"{name}\")]`"),
        Remedy::KeepArgument => {
            "keep it: clients send it. One that nobody needs may be an `Option`".to_owned()
        }
        Remedy::KeepMember => "keep it: clients read it".to_owned(),
        Remedy::MakeOptional if in_struct => {
            "make it an `Option`, or give it `#[serde(default)]`".to_owned()
        }
        Remedy::MakeOptional => "make it an `Option`, or give it `#[arg(default = …)]`".to_owned(),
        Remedy::LeaveOpen if path == &Path::default() => {
            "keep `lenient`: clients may send more than they were told of".to_owned()
        }
        Remedy::LeaveOpen => "remove `#[serde(deny_unknown_fields)]`".to_owned(),
        Remedy::AcceptBoth => "accept what was accepted, or take another argument".to_owned(),
        Remedy::KeepPromise => {
            "keep what was promised, and return what is new in another member".to_owned()
        }
        Remedy::KeepDefault => {
            "keep the default: calls that leave it out mean the old one".to_owned()
        }
        Remedy::KeepHeader => {
            "keep the header: clients send what they were told to, and others route by it"
                .to_owned()
        }
    })
}
