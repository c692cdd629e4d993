//! Model of a type, and the node that the derive would make of it.

use std::{net::Ipv4Addr, num::NonZeroI64};

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use crate::schema::constant::{
    Branch, Literal, Member, Name, Node, NodeShape, Object, Schema, SchemarsAnswer, Top,
};

#[derive(Clone, Debug)]
pub(super) enum Tree {
    Leaf(Leaf),
    Optional(Box<Tree>),
    List { items: Box<Tree>, len: Option<usize>, unique: bool },
    Tuple(Vec<Tree>),
    Map(Box<Tree>),
    Newtype(Box<Tree>, Doc),
    Names(Vec<(String, Doc)>, Doc),
    Struct(Struct),
    Tagged(Struct, String),
    OneOf { branches: Vec<(Tree, Doc)>, untagged: bool, doc: Doc },
}

pub(super) type Doc = Option<String>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf {
    Boolean,
    Small,
    Whole,
    Unsigned,
    Number,
    Text,
    Address,
    Character,
    Null,
    Any,
    /// A type that only schemars knows.
    Lazy,
}

#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) fields: Vec<Told>,
    pub(super) closed: bool,
    pub(super) doc: Doc,
}

#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) name: String,
    pub(super) tree: Tree,
    pub(super) title: Doc,
    pub(super) doc: Doc,
    pub(super) defaulted: bool,
    pub(super) skipped: bool,
}

pub(super) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(super) fn leaked(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

pub(super) fn lazy(generator: &mut SchemaGenerator) -> Option<SchemarsAnswer> {
    let schema = generator.subschema_for::<NonZeroI64>().to_value();
    Some(SchemarsAnswer { schema, is_optional: false })
}

impl Leaf {
    pub(super) fn node(self) -> Node {
        fn of<T: Schema<Top>>() -> Node {
            T::NODE
        }
        match self {
            Self::Boolean => of::<bool>(),
            Self::Small => of::<i8>(),
            Self::Whole => of::<i64>(),
            Self::Unsigned => of::<u32>(),
            Self::Number => of::<f64>(),
            Self::Text => of::<String>(),
            Self::Address => of::<Ipv4Addr>(),
            Self::Character => of::<char>(),
            Self::Null => of::<()>(),
            Self::Any => of::<Value>(),
            Self::Lazy => Node::UNKNOWN,
        }
    }

    pub(super) fn raw(self) -> Value {
        match self {
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Small => {
                json!({ "type": "integer", "format": "int8", "minimum": -128, "maximum": 127 })
            }
            Self::Whole => json!({ "type": "integer", "format": "int64" }),
            Self::Unsigned => json!({ "type": "integer", "format": "uint32", "minimum": 0 }),
            Self::Number => json!({ "type": "number", "format": "double" }),
            Self::Text => json!({ "type": "string" }),
            Self::Address => json!({ "type": "string", "format": "ipv4" }),
            Self::Character => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
            Self::Null => json!({ "type": "null" }),
            Self::Any => json!(true),
            Self::Lazy => json!({ "type": "integer", "format": "int64", "not": { "const": 0 } }),
        }
    }

    pub(super) fn default(self) -> Option<(Literal, Value)> {
        Some(match self {
            Self::Boolean => (Literal::Json("true"), json!(true)),
            Self::Small | Self::Whole | Self::Unsigned => (Literal::Json("7"), json!(7)),
            Self::Number => (Literal::Float { json: "0.5", single: true }, json!(0.5)),
            Self::Text => (Literal::Text("a \"b\""), json!("a \"b\"")),
            _ => return None,
        })
    }
}

impl Tree {
    pub(super) fn is_optional(&self) -> bool {
        matches!(self, Self::Optional(_))
    }

    /// Returns the value of `Default` as JSON, if serde would write it.
    pub(super) fn empty(&self) -> Option<Value> {
        Some(match self {
            Self::Optional(_) => Value::Null,
            Self::Leaf(Leaf::Boolean) => json!(false),
            Self::Leaf(Leaf::Small | Leaf::Whole | Leaf::Unsigned) => json!(0),
            Self::Leaf(Leaf::Number) => json!(0.0),
            Self::Leaf(Leaf::Text) => json!(""),
            Self::List { len: None, .. } => json!([]),
            Self::Map(_) => json!({}),
            _ => return None,
        })
    }

    pub(super) fn node(&self) -> Node {
        match self {
            Self::Leaf(leaf) => leaf.node(),
            Self::Optional(inner) => match inner.node() {
                node if matches!(node.shape(), NodeShape::Unknown(_)) => Node::UNKNOWN,
                node if matches!(node.shape(), NodeShape::Any | NodeShape::Null)
                    && !node.is_std() =>
                {
                    Node::UNKNOWN
                }
                node if node.is_optional() => node,
                node => Node::of(NodeShape::Optional(leak(node))),
            },
            Self::List { items, len, unique } => Node::of(NodeShape::Array {
                items: leak(items.node()),
                least: *len,
                most: *len,
                unique: *unique,
            }),
            Self::Tuple(parts) => {
                Node::tuple(Vec::leak(parts.iter().map(Self::node).collect::<Vec<_>>()))
            }
            Self::Map(values) => Node::of(NodeShape::Map(leak(values.node()))),
            Self::Newtype(inner, doc) => described(inner.node().newtype(), doc),
            Self::Names(names, doc) => {
                let mut names: Vec<_> = names.iter().collect();
                names.sort_by_key(|(_, doc)| doc.is_some());
                let names = names.into_iter().map(|(name, doc)| {
                    let made = Name::new("Variant", leaked(name));
                    let line = |doc: &String| {
                        leaked(&doc.split_whitespace().collect::<Vec<_>>().join(" "))
                    };
                    doc.as_ref().map_or(made, |doc| made.description(line(doc)))
                });
                described(Node::names(Vec::leak(names.collect::<Vec<_>>()), None), doc)
            }
            Self::Struct(it) => it.node(),
            Self::Tagged(it, name) => Node::tagged("tag", leaked(name), &it.node()),
            Self::OneOf { branches, doc, .. } => {
                let branches = branches.iter().map(|(tree, doc)| {
                    let branch = Branch::new(tree.node());
                    doc.as_ref().map_or(branch, |doc| branch.description(leaked(doc)))
                });
                described(Node::one_of(Vec::leak(branches.collect::<Vec<_>>())), doc)
            }
        }
    }
}

pub(super) fn described(node: Node, doc: &Doc) -> Node {
    doc.as_ref().map_or(node, |doc| node.description(leaked(doc)))
}

impl Struct {
    pub(super) fn node(&self) -> Node {
        let mut sorted: Vec<&Told> = self.fields.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        let place = |field: &Told| sorted.iter().position(|it| it.name == field.name).unwrap();
        let declared: Vec<_> = self.fields.iter().map(place).collect();
        let members = sorted.iter().map(|field| {
            let mut member = Member::new(leaked(&field.name), field.tree.node());
            if let Some(doc) = &field.doc {
                member = member.description(leaked(doc));
            }
            if let Some(title) = &field.title {
                member = member.title(leaked(title));
            }
            if field.defaulted {
                member = member.defaulted();
            }
            if field.skipped {
                member = member.skipped();
            }
            match field.tree {
                Tree::Leaf(Leaf::Lazy) => member.or(lazy),
                _ => member,
            }
        });
        let mut object = Object::new(Vec::leak(members.collect::<Vec<_>>()), Vec::leak(declared));
        if self.closed {
            object = object.closed();
        }
        described(Node::object(leak(object)), &self.doc)
    }
}
