//! Model of a function that is registered as an item. The model borrows the syntax tree of syn.

use super::function::{Function, Kind};
use super::held_thread;
use super::signature::{Binding, Input, Receiver};
use crate::docs::{self, Doc};
use crate::errors::Errors;
use crate::keys::attributes::{ArgKeys, ItemKeys, read_arg, read_complete};
use crate::keys::text::Flag;
use crate::keys::{self, Given, tables};
use crate::syntax::written;
use crate::uri::Template;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, LitStr, Path, Token, Type};

/// How a function runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Async,
    /// A plain function, which is called directly, without a tokio task of its own.
    InPlace,
    /// A plain function, which runs on tokio's pool of blocking threads.
    Blocking,
}

/// A function with one of our attributes.
pub(crate) struct Item<'a> {
    pub(crate) kind: Kind,
    pub(crate) function: &'a Function,
    /// For a method, the type of its impl block.
    pub(crate) owner: Option<&'a Type>,
    /// For a method, the path of its attribute.
    pub(crate) attribute: Option<&'a Path>,
    pub(crate) keys: ItemKeys,
    pub(crate) doc: Option<Doc<'a>>,
    /// The URI of a resource, if it is valid.
    pub(crate) template: Option<Template>,
    pub(crate) params: Vec<Param<'a>>,
}

/// Syntax of a parameter: the receiver, or a name and a type.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// `&self`
    Receiver(&'a Receiver),
    Typed(&'a Ident, &'a Type),
}

/// A parameter of the function, or its receiver.
pub(crate) struct Param<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) keys: ArgKeys,
    pub(crate) doc: Option<Doc<'a>>,
    /// Attributes of serde and schemars. A parameter with such an attribute is deserialized as a struct with one field.
    pub(crate) spread: Vec<&'a Attribute>,
}

/// Role of a parameter, which selects the method with which generated code probes the parameter's type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    Tool,
    Text,
    Server,
    Completion,
}

impl<'a> Item<'a> {
    /// Reads the attribute `attr` of `function`, and reports mistakes in both.
    pub(crate) fn read(
        kind: Kind,
        attr: TokenStream,
        function: &'a Function,
        owner: Option<&'a Type>,
        errors: &Errors,
    ) -> Self {
        let mut keys = ItemKeys::default();
        let mut template = None;
        let read = |input: ParseStream<'_>| {
            if kind == Kind::Resource {
                template = read_template(input, &function.sig.ident, errors);
            }
            keys::read(&mut keys, input, kind.table(), errors);
            Ok(())
        };
        errors.keep(read.parse2(attr));
        Self {
            kind,
            function,
            owner,
            attribute: None,
            keys,
            doc: docs::read(&function.attrs),
            template,
            params: function
                .sig
                .inputs
                .iter()
                .filter_map(|input| Param::read(input, errors))
                .collect(),
        }
    }

    /// Inherits keys of `#[handlers]` on the impl block, unless the method has the same keys itself.
    pub(crate) fn inherit(&mut self, shared: &ItemKeys) {
        let keys = &mut self.keys;
        keys.group = keys.group.take().or_else(|| shared.group.clone());
        keys.crate_path = keys.crate_path.take().or_else(|| shared.crate_path.clone());
        if keys.icon.is_empty() && self.can_take("icon") {
            self.keys.icon.clone_from(&shared.icon);
        }
        macro_rules! inherit {
            ($($key:ident)*) => {$(
                if self.keys.$key.is_none() && self.can_take(stringify!($key)) {
                    self.keys.$key.clone_from(&shared.$key);
                }
            )*};
        }
        // `blocking` comes first, because a plain function can inherit `timeout` and `task` only if it has `blocking`.
        inherit! {
            blocking read_only destructive idempotent open_world timeout rate concurrency scopes auth task order mime_type cache
            subscribe audience priority strict lenient schema
        }
    }

    /// Whether this item can inherit the key from its block. This depends on the item's kind, its function and its own keys.
    pub(crate) fn can_take(&self, key: &str) -> bool {
        let is_set = |flag: &Option<Given<Flag>>| flag.as_ref().is_some_and(|flag| flag.value.0);
        self.kind.table().names.contains(&key)
            && match key {
                "blocking" => self.function.sig.asyncness.is_none(),
                "timeout" | "task" => self.mode() != Mode::InPlace,
                "read_only" => !is_set(&self.keys.destructive),
                "destructive" => !is_set(&self.keys.read_only),
                "strict" => !is_set(&self.keys.lenient),
                "lenient" => !is_set(&self.keys.strict),
                _ => true,
            }
    }

    /// Returns the name that clients see, with its span.
    pub(crate) fn name(&self) -> (String, Span) {
        let ident = &self.function.sig.ident;
        self.keys.name.as_ref().map_or_else(
            || (ident.unraw().to_string(), ident.span()),
            |name| (name.value.0.value(), name.value.0.span()),
        )
    }

    pub(crate) fn mode(&self) -> Mode {
        if self.function.sig.asyncness.is_some() {
            Mode::Async
        } else if self.keys.blocking.as_ref().is_some_and(|blocking| blocking.value.0) {
            Mode::Blocking
        } else {
            Mode::InPlace
        }
    }

    /// Returns the call in the body that holds the thread of other calls, such as `thread::sleep`.
    pub(crate) fn held_thread(&self) -> Option<String> {
        let (body, is_async) = (&self.function.body, self.mode() == Mode::Async);
        if self.mode() == Mode::Blocking { None } else { held_thread::find(body, is_async) }
    }

    pub(crate) fn role(&self, param: &Param<'_>) -> Role {
        if matches!(param.place, Place::Receiver(_)) {
            return Role::Server;
        }
        match self.kind {
            Kind::Tool => Role::Tool,
            Kind::Prompt => Role::Text,
            Kind::Completion => Role::Completion,
            Kind::Resource => {
                let variable = |template: &Template| template.variable(&param.name()).is_some();
                if self.template.as_ref().is_some_and(variable) { Role::Text } else { Role::Server }
            }
        }
    }
}

fn read_template(input: ParseStream<'_>, name: &Ident, errors: &Errors) -> Option<Template> {
    let span = if input.is_empty() { name.span() } else { input.span() };
    match keys::read_first(input) {
        Ok(Some(uri)) => {
            let template = Template::read(&uri);
            template.map_err(|found| found.into_iter().for_each(|error| errors.push(error))).ok()
        }
        Ok(None) => {
            match uri_as_key(input) {
                _ if skip_expression(input) => errors.at(
                    span,
                    format!("the URI must be a literal, because its variables are read from it: write `#[resource(\"app://{name}\")]`"),
                ),
                Some(uri) => errors.at(
                    span,
                    format!("the URI comes first and has no key: write `#[resource({uri}, …)]`"),
                ),
                None => errors.at(
                    span,
                    format!("#[resource] starts with its URI, such as `#[resource(\"app://{name}\")]`, or `#[resource(\"users://{{id}}/profile\")]` with a parameter `id`"),
                ),
            }
            None
        }
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// Skips a constant or a macro call, which cannot be a key, and the comma after it. Returns whether there was one.
fn skip_expression(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_constant = ahead.parse::<Ident>().is_ok_and(|word| {
        word.to_string().starts_with(char::is_uppercase)
            || ahead.peek(Token![!])
            || ahead.peek(Token![::])
    });
    if !(is_constant || input.peek(Token![&])) || keys::expression(input).is_err() {
        return false;
    }
    input.parse::<Option<Token![,]>>().is_ok()
}

/// Reads `uri = "…"` and the comma after it. New users often write this key instead of the plain literal. Returns the URI.
fn uri_as_key(input: ParseStream<'_>) -> Option<String> {
    let ahead = input.fork();
    let key: Ident = ahead.parse().ok()?;
    ahead.parse::<Token![=]>().ok()?;
    let uri: LitStr = ahead.parse().ok()?;
    if key != "uri" && key != "uri_template" && key != "path" {
        return None;
    }
    ahead.parse::<Option<Token![,]>>().ok()?;
    input.advance_to(&ahead);
    Some(uri.token().to_string())
}

impl<'a> Param<'a> {
    /// Reads a parameter. Reports a pattern that is not a plain name, and returns `None` for it.
    fn read(input: &'a Input, errors: &Errors) -> Option<Self> {
        let (place, attrs) = match input {
            Input::Receiver(receiver) => (Place::Receiver(receiver), &receiver.attrs),
            Input::Typed(typed) => {
                let ident = errors.keep(plain_name(&typed.binding))?;
                (Place::Typed(ident, &typed.ty), &typed.attrs)
            }
        };
        let mut keys = ArgKeys::default();
        let mut spread = Vec::new();
        for attr in attrs {
            let path = attr.path();
            if path.is_ident("arg") {
                read_arg(&mut keys, attr, &tables::ARG, "default = 1", errors);
            } else if path.is_ident("complete") {
                read_complete(&mut keys, attr, errors);
            } else if path.is_ident("serde") || path.is_ident("schemars") {
                spread.push(attr);
            }
        }
        Some(Self { place, attrs, keys, doc: docs::read(attrs), spread })
    }

    /// Returns the name that clients see.
    pub(crate) fn name(&self) -> String {
        match (&self.keys.name, self.place) {
            (Some(name), _) => name.value.0.value(),
            (None, Place::Receiver(_)) => "self".to_owned(),
            (None, Place::Typed(ident, _)) => ident.unraw().to_string(),
        }
    }

    /// Returns the span for errors about the parameter's type.
    pub(crate) fn span(&self) -> Span {
        match self.place {
            Place::Receiver(receiver) => receiver.self_token.span(),
            Place::Typed(_, ty) => ty.span(),
        }
    }
}

fn plain_name(binding: &Binding) -> syn::Result<&Ident> {
    match binding {
        Binding::Name(ident) => Ok(ident),
        Binding::Wild(span) => Err(syn::Error::new(
            *span,
            "give the parameter a plain name, which is what clients see, or remove it",
        )),
        Binding::Pattern(pattern) => {
            let written = written(pattern);
            let message = format!(
                "give the parameter a plain name, which is what clients see, and take it apart in the body: `let {written} = name;`"
            );
            Err(syn::Error::new_spanned(pattern, message))
        }
    }
}
