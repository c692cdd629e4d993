//! Input schemas of tools, generated at compile time.

use super::ArgDef;
use crate::schema::{
    SchemaKind, SchemaSide,
    constant::{MOST, MOST_NODES, Node, Out, dot_before, equal, panic_with, write_node},
};

/// Parameters of a tool. They determine the text of the input schema, which is generated at compile time if possible.
#[derive(Clone, Copy, Debug)]
pub struct InputSchema {
    pub(crate) properties: &'static [Property],
}

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    pub(crate) arg: &'static ArgDef,
    pub(crate) param: Param,
}

/// Contribution of a parameter to the input schema, which depends on the parameter's type.
#[derive(Clone, Copy, Debug)]
pub enum Param {
    /// A value that comes from the server.
    Server,
    Argument(Node),
    /// A struct whose fields are arguments.
    Spread(Node),
    /// A type without a constant schema. schemars may still generate a schema at run time. The function returns the name of the type.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
    Unknown(fn() -> &'static str),
}

impl Property {
    /// Creates a parameter. Fails to compile if the attribute and the type contradict each other.
    #[track_caller]
    pub const fn new(arg: &'static ArgDef, is_server: bool, param: Param) -> Self {
        match param {
            _ if is_server => Self { arg, param: Param::Server },
            Param::Argument(node) => {
                judge(arg, &node);
                Self { arg, param }
            }
            Param::Spread(node) => {
                if node.is_known() && (!node.is_json_object() || node.is_choice()) {
                    panic_with(&[
                        "`",
                        arg.name,
                        "` cannot be spread: only a struct with named fields can, or a map such as `Map<String, Value>`; take it as an argument of its own, without `Args`",
                    ]);
                }
                Self { arg, param }
            }
            Param::Server | Param::Unknown(_) => Self { arg, param },
        }
    }

    /// Implements `schema = "static"`: fails to compile if the schema cannot be generated at compile time.
    #[must_use]
    #[track_caller]
    pub const fn demanded(self) -> Self {
        if let Param::Argument(node) = self.param
            && node.is_constant()
            && !self.is_constant()
        {
            panic_with(&[
                "the compiler does not know the default or the bounds of `",
                self.arg.name,
                "`: write them as literals, or remove `schema = \"static\"`",
            ]);
        }
        if !self.is_constant() {
            let [first, second, third] = self.unknown_path();
            panic_with(&[
                "the compiler does not know the schema of `",
                self.arg.name,
                dot_before(first),
                first,
                dot_before(second),
                second,
                dot_before(third),
                third,
                "`: put `#[data]` on its type and on the types in it, without attributes of schemars, or remove `schema = \"static\"`; only schemars knows types of other crates, and types that contain themselves",
            ]);
        }
        self
    }

    /// Returns the path, inside the parameter, to the type that has no constant schema.
    const fn unknown_path(&self) -> [&'static str; 3] {
        match self.param {
            Param::Argument(node) | Param::Spread(node) => node.unknown_path(),
            Param::Server | Param::Unknown(_) => [""; 3],
        }
    }

    const fn is_constant(&self) -> bool {
        match self.param {
            Param::Server => true,
            Param::Unknown(_) => false,
            Param::Spread(node) => {
                node.is_object() && node.is_constant() && self.arg.header.is_none()
            }
            Param::Argument(node) => {
                let constraints = &self.arg.constraints;
                let (least, most) = match constraints.range() {
                    Some(range) => range.edges(matches!(node.kind(), SchemaKind::Integer)),
                    None => return self.is_plain(&node, constraints.is_empty()),
                };
                !least.is_unwritable()
                    && !most.is_unwritable()
                    && self.is_plain(&node, constraints.is_empty())
            }
        }
    }

    const fn is_plain(&self, node: &Node, is_free: bool) -> bool {
        node.is_constant()
            && !self.arg.notes(node).default.is_unknown()
            && (is_free || !matches!(node.kind(), SchemaKind::Other))
    }
}

#[track_caller]
const fn judge(arg: &ArgDef, node: &Node) {
    let kind = node.kind();
    if let Some(phrase) = arg.constraints.misplaced(kind) {
        panic_with(&["the argument `", arg.name, "` is ", kind.phrase(), ", but ", phrase]);
    }
    if arg.header.is_some() && node.is_known() && !can_have_header(node) {
        panic_with(&[
            "the argument `",
            arg.name,
            "` has a header, but only strings, integers and booleans can have one: remove `header`",
        ]);
    }
}

/// Checks an argument of a prompt or template. `is_made` is set if the value comes from the server or is parsed with `FromStr`, so that
/// serde does not read it.
#[track_caller]
pub const fn judge_text(arg: &'static ArgDef, is_made: bool, param: Param) {
    if let Param::Argument(node) = param
        && !is_made
        && matches!(node.kind(), SchemaKind::Object)
    {
        panic_with(&[
            "`",
            arg.name,
            "` is an object, but clients send a text here: take its fields one by one, as `&str` or another type that is made from a text, or implement `FromStr` with an error that has `Display`",
        ]);
    }
}

/// Checks an argument of a tool. `bound` is the first field with a bound if the type is a form.
#[track_caller]
pub const fn judge_form(arg: &'static ArgDef, bound: Option<&'static str>) {
    if let Some(field) = bound {
        panic_with(&[
            "the server checks the bounds of a form only in answers of users, not in the argument `",
            arg.name,
            "`: take the field `",
            field,
            "` as a parameter with its own `#[arg(…)]`, or another type with `#[data]`",
        ]);
    }
}

const fn can_have_header(node: &Node) -> bool {
    matches!(node.kind(), SchemaKind::String | SchemaKind::Integer | SchemaKind::Boolean)
}

impl InputSchema {
    pub const fn new(properties: &'static [Property]) -> Self {
        Self { properties }
    }

    /// Returns the length of the text in bytes. The length is 0 if the text is generated at run time.
    pub const fn len(&self) -> usize {
        if !self.is_constant() {
            return 0;
        }
        let mut out = Out::counting();
        self.write(&mut out);
        if out.len() > MOST { 0 } else { out.len() }
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text. `N` must be the length of the text.
    pub const fn render<const N: usize>(&self) -> [u8; N] {
        let mut text = [0; N];
        if N > 0 {
            self.write(&mut Out::new(&mut text));
        }
        text
    }

    const fn is_constant(&self) -> bool {
        let mut room = MOST_NODES;
        let mut i = 0;
        while i < self.properties.len() {
            if let Param::Argument(node) | Param::Spread(node) = self.properties[i].param {
                room = node.room_after(room);
            }
            if room == 0 || !self.properties[i].is_constant() {
                return false;
            }
            if let Param::Spread(node) = self.properties[i].param {
                let mut j = 0;
                while let Some(member) = node.member(j) {
                    // If two parameters declare the same argument, the server reports the error when it is built.
                    if self.is_declared_beside(i, member.name()) {
                        return false;
                    }
                    j += 1;
                }
            }
            i += 1;
        }
        true
    }

    /// Returns whether a parameter other than the one at `index` declares the argument.
    const fn is_declared_beside(&self, index: usize, name: &str) -> bool {
        let mut i = 0;
        while i < self.properties.len() {
            let Property { arg, param } = self.properties[i];
            match param {
                _ if i == index => {}
                Param::Argument(_) if equal(arg.name, name) => return true,
                Param::Spread(node) => {
                    let mut j = 0;
                    while let Some(member) = node.member(j) {
                        if equal(member.name(), name) {
                            return true;
                        }
                        j += 1;
                    }
                }
                _ => {}
            }
            i += 1;
        }
        false
    }

    const fn write(&self, out: &mut Out<'_>) {
        out.push(r#"{"type":"object","properties":{"#);
        let mut first = true;
        let mut i = 0;
        while i < self.properties.len() {
            match self.properties[i].param {
                Param::Argument(node) => {
                    let arg = self.properties[i].arg;
                    out.comma(&mut first);
                    out.string(arg.name);
                    out.push(":");
                    write_node(out, &node, SchemaSide::Argument, &arg.notes(&node));
                }
                Param::Spread(node) => node.write_members(out, &mut first),
                Param::Server | Param::Unknown(_) => {}
            }
            i += 1;
        }
        out.push("}");
        self.write_required(out);
        out.push("}");
    }

    const fn write_required(&self, out: &mut Out<'_>) {
        let mut names = RequiredNames { first: true };
        let mut i = 0;
        while i < self.properties.len() {
            let Property { arg, param } = self.properties[i];
            match param {
                Param::Argument(node) if arg.default.is_none() && !node.is_optional() => {
                    names.push(out, arg.name);
                }
                Param::Spread(node) => {
                    let mut j = 0;
                    while let Some(member) = node.member(j) {
                        if member.is_required(SchemaSide::Argument) {
                            names.push(out, member.name());
                        }
                        j += 1;
                    }
                }
                _ => {}
            }
            i += 1;
        }
        if !names.first {
            out.push("]");
        }
    }
}

/// Writer of the names in `required`.
struct RequiredNames {
    first: bool,
}

impl RequiredNames {
    const fn push(&mut self, out: &mut Out<'_>, name: &str) {
        if self.first {
            out.push(r#","required":["#);
        }
        out.comma(&mut self.first);
        out.string(name);
    }
}

/// Reasons why the schema was not generated at compile time, for the output of the command line.
#[cfg(feature = "stdio")]
impl InputSchema {
    /// Returns a sentence for each parameter whose schema is not fully known at compile time.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let gaps: Vec<String> = self
            .properties
            .iter()
            .filter(|property| !property.is_constant())
            .map(Property::gap)
            .collect();
        match gaps.is_empty() {
            true => vec!["the schema is too large for the compiler".to_owned()],
            false => gaps,
        }
    }
}

#[cfg(feature = "stdio")]
impl Property {
    /// Returns a sentence that describes what is not known about the parameter at compile time.
    fn gap(&self) -> String {
        let name = self.arg.name;
        match self.param {
            Param::Unknown(of) => {
                let of = crate::schema::constant::short(of());
                format!("the compiler does not know the type of `{name}`: `{of}`")
            }
            Param::Argument(node) => node.gap(name).unwrap_or_else(|| {
                format!("the compiler does not know the default or the bounds of `{name}`")
            }),
            Param::Spread(node) => node
                .gap("")
                .unwrap_or_else(|| format!("the compiler does not know how `{name}` is spread")),
            Param::Server => String::new(),
        }
    }
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;
