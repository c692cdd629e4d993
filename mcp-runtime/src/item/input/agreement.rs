//! Tests with random types that schemas generated at compile time agree with those from schemars. Each type is modeled as a tree, from
//! which the tests derive both the node and the schema that schemars would generate.

use grow::{docs, trees};
use raw::Generator;
use tree::{Doc, Leaf, Tree, leak, leaked};

use proptest::prelude::*;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{InputSchema, Param, Property};
use crate::{
    item::ArgDef,
    schema::{
        CompiledPattern, InputField, InputObject, Range, ResultSchema, SchemaKind, SchemaProfile,
        SchemaSide,
        constant::{Node, Out, partial_schema, write_root},
    },
};

/// Random keys of an `#[arg]` attribute.
#[derive(Clone, Debug)]
struct Said {
    title: Doc,
    description: Doc,
    example: bool,
    header: bool,
    default: bool,
    constraint: u8,
}

fn said() -> impl Strategy<Value = Said> {
    (docs(), docs(), any::<bool>(), any::<bool>(), any::<bool>(), 0..6_u8).prop_map(
        |(title, description, example, header, default, constraint)| Said {
            title,
            description,
            example,
            header,
            default,
            constraint,
        },
    )
}

impl Said {
    fn arg(&self, node: &Node, leaf: Option<Leaf>) -> (&'static ArgDef, Option<Value>) {
        let mut arg = ArgDef::new("an \"arg\"");
        if let Some(title) = &self.title {
            arg = arg.title(leaked(title));
        }
        if let Some(text) = &self.description {
            arg = arg.description(leaked(text));
        }
        if self.example {
            arg = arg.example("[1,\"x\"]");
        }
        let kind = node.kind();
        if self.header
            && matches!(kind, SchemaKind::String | SchemaKind::Integer | SchemaKind::Boolean)
        {
            arg = arg.header("Region");
        }
        arg = match (kind, self.constraint) {
            (SchemaKind::String | SchemaKind::Array | SchemaKind::Object, 0) => {
                arg.len(Some(1), None)
            }
            (SchemaKind::String | SchemaKind::Array | SchemaKind::Object, 1) => {
                arg.len(None, Some(9))
            }
            (SchemaKind::String, 2) => arg.pattern("^[a-z]\\d+$", leak(CompiledPattern::new())),
            (SchemaKind::Integer | SchemaKind::Number, 0) => {
                arg.range(Range::new().min_int(1).below_int(100))
            }
            (SchemaKind::Integer, 1) => arg.range(Range::new().min_int(-300).max_int(300)),
            (SchemaKind::Number, 1) => arg.range(Range::new().min_json(0.5, "0.5").max_int(3)),
            _ => arg,
        };
        let default = leaf.filter(|_| self.default).and_then(Leaf::default);
        if let Some((literal, _)) = default {
            arg = arg.default(literal);
        }
        (leak(arg), default.map(|(_, json)| json))
    }
}

fn input_of(
    arg: &ArgDef,
    schema: Value,
    definitions: Map<String, Value>,
    default: &Option<Value>,
    is_required: bool,
) -> String {
    let mut object = InputObject::new(definitions, false);
    object.field(InputField {
        title: arg.title,
        description: arg.description,
        required: is_required && default.is_none(),
        constraints: Some(&arg.constraints),
        example: arg.example,
        header: arg.header,
        default: default.clone(),
        ..InputField::new(arg.name, schema)
    });
    object.render(SchemaProfile::Compatible).expect("renders").into_string()
}

fn output_of(schema: Value, definitions: Map<String, Value>) -> String {
    let mut root = schema;
    if root.is_object() && !definitions.is_empty() {
        root["$defs"] = definitions.into();
    }
    ResultSchema::render(root, SchemaProfile::Compatible).text.into_string()
}

fn text(write: impl Fn(&mut Out<'_>)) -> String {
    let mut counted = Out::new(&mut []);
    write(&mut counted);
    let mut text = vec![0; counted.len()];
    write(&mut Out::new(&mut text));
    String::from_utf8(text).expect("is UTF-8")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_is_written_as_schemars_has_it(tree in trees(), said in said()) {
        let node = tree.node();
        let leaf = if let Tree::Leaf(leaf) = tree { Some(leaf) } else { None };
        let (arg, default) = said.arg(&node, leaf);
        let is_required = !tree.is_optional();
        let raw = |side| {
            let mut generator = Generator { side, definitions: Map::new() };
            (generator.raw(&tree), generator.definitions)
        };

        let (schema, definitions) = raw(SchemaSide::Argument);
        let input = input_of(arg, schema, definitions, &default, is_required);
        let (schema, definitions) = raw(SchemaSide::Result);
        let output = output_of(schema, definitions);

        if node.is_constant() {
            let property = leak([Property::new(arg, false, Param::Argument(node))]);
            let constant = InputSchema::new(property);
            if constant.is_constant() {
                prop_assert_eq!(text(|out| constant.write(out)), input.clone());
            }
            prop_assert_eq!(text(|out| write_root(out, &node)), output.clone());
        }

        // Checks the same schema as part of a schema generated at run time.
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        if let Some(schema) = partial_schema(&node, SchemaSide::Argument, &mut generator) {
            let definitions = generator.take_definitions(true);
            prop_assert_eq!(input_of(arg, schema, definitions, &default, is_required), input);
        }
    }
}

mod tree {
    //! Model of a type, and the node that the derive would generate for it.

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
                Self::Lazy => {
                    json!({ "type": "integer", "format": "int64", "not": { "const": 0 } })
                }
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
                Self::Struct(model) => model.node(),
                Self::Tagged(model, name) => Node::tagged("tag", leaked(name), &model.node()),
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
            let place =
                |field: &Told| sorted.iter().position(|other| other.name == field.name).unwrap();
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
            let mut object =
                Object::new(Vec::leak(members.collect::<Vec<_>>()), Vec::leak(declared));
            if self.closed {
                object = object.closed();
            }
            described(Node::object(leak(object)), &self.doc)
        }
    }
}

mod grow {
    //! Random types.

    use proptest::prelude::*;

    use super::tree::{Doc, Leaf, Struct, Told, Tree};

    pub(super) fn docs() -> impl Strategy<Value = Doc> {
        // The texts have no surrounding whitespace and are no Markdown headings.
        prop::option::weighted(0.3, "[a-z][a-z \"\\\\\n\t\u{1}\u{7f}é🎈-]{0,8}[.`]")
    }

    pub(super) fn leaves() -> impl Strategy<Value = Tree> {
        use Leaf::*;
        let known = prop::sample::select(vec![
            Boolean, Small, Whole, Unsigned, Number, Text, Address, Character, Null, Any,
        ]);
        prop_oneof![
            20 => known.prop_map(Tree::Leaf),
            1 => Just(Tree::Leaf(Lazy)),
            5 => (names(), docs()).prop_map(|(names, doc)| Tree::Names(names, doc)),
        ]
    }

    pub(super) fn names() -> impl Strategy<Value = Vec<(String, Doc)>> {
        prop::collection::btree_map("[a-z\"é]{1,3}", docs(), 1..4)
            .prop_map(|names| names.into_iter().collect::<Vec<_>>())
            // The derive leaves an enum to schemars if its only name has documentation.
            .prop_filter("is no choice", |names| names.len() > 1 || names[0].1.is_none())
    }

    pub(super) fn structs(inner: impl Strategy<Value = Tree>) -> impl Strategy<Value = Struct> {
        let field = (inner, docs(), docs(), any::<bool>(), any::<bool>());
        let fields = prop::collection::btree_map("[a-z\"Zé]{1,3}", field, 0..4);
        (fields, any::<bool>(), docs(), any::<bool>()).prop_map(|(fields, closed, doc, turned)| {
            let mut fields: Vec<_> = fields
                .into_iter()
                .map(|(name, (tree, title, doc, defaulted, skipped))| {
                    let defaulted = defaulted && tree.empty().is_some();
                    let skipped = skipped && tree.is_optional();
                    Told { name, tree, title, doc, defaulted, skipped }
                })
                .collect();
            if turned {
                fields.reverse();
            }
            Struct { fields, closed, doc }
        })
    }

    pub(super) fn trees() -> impl Strategy<Value = Tree> {
        leaves().prop_recursive(4, 24, 4, |inner| {
            let few = prop::collection::vec(inner.clone(), 1..4);
            let boxed = inner.clone().prop_map(Box::new).boxed();
            let branches = prop::collection::vec((inner.clone(), docs()), 1..4);
            prop_oneof![
                boxed.clone().prop_map(Tree::Optional),
                (boxed.clone(), prop::option::of(1..4_usize), any::<bool>()).prop_map(
                    |(items, len, unique)| Tree::List {
                        items,
                        unique: unique && len.is_none(),
                        len
                    }
                ),
                few.prop_map(Tree::Tuple),
                boxed.clone().prop_map(Tree::Map),
                (boxed, docs()).prop_map(|(inner, doc)| Tree::Newtype(inner, doc)),
                structs(inner.clone()).prop_map(Tree::Struct),
                (structs(inner), "[a-z\"]{1,3}")
                    .prop_map(|(model, name)| Tree::Tagged(model, name)),
                (branches, any::<bool>(), docs()).prop_map(|(branches, untagged, doc)| {
                    Tree::OneOf { branches, untagged, doc }
                }),
            ]
        })
    }
}

mod raw {
    //! Schema that schemars would generate for the same type.

    use serde_json::{Map, Value, json};

    use super::tree::{Doc, Struct, Tree};
    use crate::schema::SchemaSide;

    /// Stand-in for schemars' generator, which collects the same definitions.
    pub(super) struct Generator {
        pub(super) side: SchemaSide,
        pub(super) definitions: Map<String, Value>,
    }

    impl Generator {
        pub(super) fn reference(&mut self, schema: Value) -> Value {
            let name = format!("Type{}", self.definitions.len());
            self.definitions.insert(name.clone(), schema);
            json!({ "$ref": format!("#/$defs/{name}") })
        }

        pub(super) fn raw(&mut self, tree: &Tree) -> Value {
            match tree {
                Tree::Leaf(leaf) => leaf.raw(),
                Tree::Optional(inner) => or_null(self.raw(inner)),
                Tree::List { items, len, unique } => {
                    let mut list = json!({ "type": "array", "items": self.raw(items) });
                    if let Some(len) = len {
                        list["minItems"] = json!(len);
                        list["maxItems"] = json!(len);
                    }
                    if *unique {
                        list["uniqueItems"] = json!(true);
                    }
                    list
                }
                Tree::Tuple(parts) => {
                    let len = parts.len();
                    let parts: Vec<_> = parts.iter().map(|part| self.raw(part)).collect();
                    json!({ "type": "array", "prefixItems": parts, "minItems": len, "maxItems": len })
                }
                Tree::Map(values) => {
                    json!({ "type": "object", "additionalProperties": self.raw(values) })
                }
                Tree::Newtype(inner, doc) => {
                    let inner = self.raw(inner);
                    self.reference(told(inner, doc))
                }
                Tree::Names(names, doc) => {
                    let plain: Vec<_> =
                        names.iter().filter(|name| name.1.is_none()).map(|name| &name.0).collect();
                    let list = json!({ "type": "string", "enum": plain });
                    let mut branches = if plain.is_empty() { vec![] } else { vec![list.clone()] };
                    for (name, doc) in names.iter().filter(|name| name.1.is_some()) {
                        branches.push(told(json!({ "type": "string", "const": name }), doc));
                    }
                    let all_plain = plain.len() == names.len();
                    let schema = if all_plain { list } else { json!({ "oneOf": branches }) };
                    self.reference(told(schema, doc))
                }
                Tree::Struct(model) => {
                    let schema = self.raw_struct(model);
                    self.reference(schema)
                }
                Tree::Tagged(model, name) => {
                    let schema = self.raw_struct(model);
                    let mut schema = self.reference(schema);
                    schema["type"] = json!("object");
                    schema["properties"] = json!({ "tag": { "type": "string", "const": name } });
                    schema["required"] = json!(["tag"]);
                    schema
                }
                Tree::OneOf { branches, untagged, doc } => {
                    let branches: Vec<_> =
                        branches.iter().map(|(tree, doc)| told(self.raw(tree), doc)).collect();
                    let keyword = if *untagged { "anyOf" } else { "oneOf" };
                    self.reference(told(json!({ keyword: branches }), doc))
                }
            }
        }

        pub(super) fn raw_struct(&mut self, model: &Struct) -> Value {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for field in &model.fields {
                let mut schema = told(self.raw(&field.tree), &field.doc);
                if let Some(title) = &field.title {
                    schema = with(schema, "title", json!(title));
                }
                if let Some(empty) = field.tree.empty()
                    && field.defaulted
                    && !field.skipped
                {
                    schema = with(schema, "default", empty);
                }
                properties.insert(field.name.clone(), schema);
                let is_optional = match self.side {
                    SchemaSide::Argument => field.defaulted || field.tree.is_optional(),
                    SchemaSide::Result => field.skipped,
                };
                if !is_optional {
                    required.push(field.name.clone());
                }
            }
            let mut schema = json!({ "type": "object" });
            if !properties.is_empty() {
                schema["properties"] = properties.into();
            }
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            if model.closed {
                schema["additionalProperties"] = json!(false);
            }
            told(schema, &model.doc)
        }
    }

    pub(super) fn with(schema: Value, keyword: &str, value: Value) -> Value {
        let mut schema = if schema.is_object() { schema } else { json!({}) };
        schema[keyword] = value;
        schema
    }

    pub(super) fn told(schema: Value, doc: &Doc) -> Value {
        match doc {
            Some(doc) => with(schema, "description", json!(doc)),
            None => schema,
        }
    }

    pub(super) fn or_null(mut schema: Value) -> Value {
        let Some(map) = schema.as_object() else { return schema };
        let branches = map.get("anyOf").and_then(Value::as_array);
        if map.len() == 1
            && branches.is_some_and(|all| all.iter().any(|branch| branch["type"] == "null"))
        {
            return schema;
        }
        if map.contains_key("$ref") || map.contains_key("anyOf") {
            return json!({ "anyOf": [schema, { "type": "null" }] });
        }
        match schema["type"].take() {
            Value::String(name) if name != "null" => schema["type"] = json!([name, "null"]),
            other => schema["type"] = other,
        }
        schema
    }
}
