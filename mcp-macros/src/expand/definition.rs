//! Generates the `ItemDef` of an item: the constructor, and a chain of setters for the keys of the attribute. Also generates the constants
//! that the `ItemDef` refers to: the schemas of a tool, and the table with which the runtime matches URIs.

use super::param::Field;
use super::snippets::{at, description, here, icon, setter, text};
use super::target::{self, output, result_span};
use crate::docs::Doc;
use crate::errors::position;
use crate::item::tokens::outside;
use crate::item::{Item, Kind};
use crate::keys::Given;
use crate::keys::attributes::ItemKeys;
use crate::keys::conditions::{Rate, Unit};
use crate::keys::nested::{Cache, MetaValue, Task};
use crate::keys::number::Duration;
use crate::keys::text::{Audience, Flag, Reader, SchemaForm};
use crate::uri::{Segment, Template, VariableKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;

pub(super) fn definition(item: &Item<'_>) -> TokenStream {
    let (name, _) = item.name();
    let (path, line) = (path(item), line(item));
    let origin = quote_spanned! {here()=>
        __mcp::Origin::new(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::module_path!(),
            ::core::file!(),
            #line,
            #path
        )
    };
    let identity = target::identity(item);
    let made = match item.kind {
        Kind::Tool => {
            let output = output(item);
            quote_spanned! {here()=>
                __mcp::ItemDef::tool(
                    #name, #origin, #identity, __params, __run,
                    || (&&__mcp::Probe::<#output>::NEW).output()
                )
            }
        }
        Kind::Resource => {
            let uri = item.template.as_ref().map(|template| &template.uri);
            let segments = item.template.as_ref().map(segments);
            let output = output(item);
            quote_spanned! {here()=>
                __mcp::ItemDef::resource(#name, #uri, #segments, #origin, #identity, __params, __run)
                    .usual_mime_type(|| (&&__mcp::Probe::<#output>::NEW).media_type())
            }
        }
        Kind::Prompt => {
            quote_spanned!(here()=> __mcp::ItemDef::prompt(#name, #origin, #identity, __params, __run))
        }
        Kind::Completion => {
            quote_spanned!(here()=> __mcp::ItemDef::completion(#name, #origin, #identity, __params, __run))
        }
    };
    let (keys, schemas) = (keys(item, item.doc.as_ref()), setters(item));
    let is_listed = item.kind != Kind::Completion;
    let held = item
        .held_thread()
        .filter(|_| is_listed)
        .map(|call| quote_spanned!(here()=> .held_thread(#call)));
    quote_spanned!(here()=> #made #keys #schemas #held)
}

/// Generates the setters for the keys of the attribute, and for the documentation in place of the key `description`.
pub(super) fn keys(item: &Item<'_>, doc: Option<&Doc<'_>>) -> TokenStream {
    let keys = &item.keys;
    let owner = item.owner.map(quote::ToTokens::to_token_stream);
    let described = description(keys.description.as_ref(), doc);
    let (shown, behaviour, content) =
        (shown(keys, owner.as_ref()), behaviour(keys, owner.as_ref()), content(keys));
    quote_spanned!(here()=> #described #shown #behaviour #content)
}

/// Returns the path of the function for messages: `add`, `Notes::search`.
fn path(item: &Item<'_>) -> String {
    let name = item.function.sig.ident.unraw();
    let Some(owner) = item.owner else { return name.to_string() };
    let owner: String = owner.to_token_stream().to_string().split_whitespace().collect();
    format!("{owner}::{name}")
}

/// Generates the source line of the function. For a method, `line!()` would give the line of `#[handlers]` on its block, so the macro
/// writes the number itself.
fn line(item: &Item<'_>) -> TokenStream {
    if item.owner.is_some() && proc_macro::is_available() {
        let (line, _) = position(item.function.sig.ident.span());
        return Literal::usize_unsuffixed(line).to_token_stream();
    }
    quote_spanned!(here()=> ::core::line!())
}

/// Generates the setters for the entry in lists: title, icons, group, order and `meta`.
fn shown(keys: &ItemKeys, owner: Option<&TokenStream>) -> TokenStream {
    let title = keys.title.as_ref().map(|given| {
        let (name, title) = (setter("title", given.span()), text(&given.value));
        quote_spanned!(here()=> .#name(#title))
    });
    let icons = keys.icon.first().map(|first| {
        let name = setter("icons", first.span());
        let door = quote_spanned!(here()=> __mcp);
        let icons = keys.icon.iter().map(|given| icon(&given.value, &door));
        quote_spanned!(here()=> .#name(&[#(#icons),*]))
    });
    let group = keys.group.as_ref().map(|given| {
        let (name, group) = (setter("group", given.span()), &given.value.0);
        quote_spanned!(here()=> .#name(#group))
    });
    let order = keys.order.as_ref().map(|given| {
        let name = setter("order", given.span());
        let order = Literal::i32_unsuffixed(given.value.0);
        quote_spanned!(here()=> .#name(#order))
    });
    let meta = keys.meta.as_ref().map(|meta| {
        let name = setter("meta", meta.span());
        let entries = meta.value.0.iter().map(|(key, value)| match value {
            MetaValue::Json(json) => quote_spanned!(here()=> (#key, __mcp::MetaValue::Json(#json))),
            MetaValue::Made(expr) => {
                let expr = outside(expr.to_token_stream(), owner);
                quote_spanned!(here()=> (#key, __mcp::MetaValue::Made(|| __mcp::meta_value(#expr))))
            }
        });
        quote_spanned!(here()=> .#name(&[#(#entries),*]))
    });
    quote_spanned!(here()=> #title #icons #group #order #meta)
}

/// Generates the setters for behaviour: hints, limits, rights, tasks, schemas.
fn behaviour(keys: &ItemKeys, owner: Option<&TokenStream>) -> TokenStream {
    let hint = |name: &str, flag: &Option<Given<Flag>>| {
        flag.as_ref().map(|flag| {
            let (name, value) = (setter(name, flag.span()), flag.value.0);
            quote_spanned!(here()=> .#name(#value))
        })
    };
    let hints = [
        hint("read_only", &keys.read_only),
        hint("destructive", &keys.destructive),
        hint("idempotent", &keys.idempotent),
        hint("open_world", &keys.open_world),
        hint("subscribe", &keys.subscribe),
        hint("single_use", &keys.single_use),
    ];
    let timeout = keys.timeout.as_ref().map(|timeout| {
        let (name, duration) = (setter("timeout", timeout.span()), duration(timeout.value.0));
        quote_spanned!(here()=> .#name(#duration))
    });
    let rate = keys.rate.as_ref().map(rate);
    let concurrency = keys.concurrency.as_ref().map(|concurrency| {
        let name = setter("concurrency", concurrency.span());
        let count = Literal::u32_unsuffixed(concurrency.value.0);
        quote_spanned!(here()=> .#name(#count))
    });
    let rights = rights(keys, owner);
    let asks = keys.asks.as_ref().map(|ask| {
        let name = setter("asks", ask.span());
        let names =
            ask.value.0.iter().map(|capability| Ident::new(&capability.to_string(), here()));
        quote_spanned!(here()=> .#name(__mcp::Asks::new() #(.#names())*))
    });
    let task = keys.task.as_ref().map(task);
    let switch = |name: &str, flag: &Option<Given<Flag>>| {
        flag.as_ref().filter(|flag| flag.value.0).map(|flag| {
            let name = setter(name, flag.span());
            quote_spanned!(here()=> .#name())
        })
    };
    let (lenient, strict) = (switch("lenient", &keys.lenient), switch("strict", &keys.strict));
    let profile = keys.schema.as_ref().map(|schema| {
        let name = if schema.value == SchemaForm::Full { "Full" } else { "Compatible" };
        let (setter, profile) = (setter("profile", schema.span()), Ident::new(name, here()));
        quote_spanned!(here()=> .#setter(__mcp::SchemaProfile::#profile))
    });
    let input = keys.input_schema.as_ref().map(|input_schema| {
        let expr = outside(input_schema.value.0.to_token_stream(), owner);
        let name = setter("input_schema", input_schema.span());
        quote_spanned!(here()=> .#name(|| __mcp::input_schema(#expr)))
    });
    let output = keys.output_schema.as_ref().map(|output_schema| {
        let expr = outside(output_schema.value.0.to_token_stream(), owner);
        let name = setter("output_schema", output_schema.span());
        quote_spanned!(here()=> .#name(|| __mcp::output_schema(#expr)))
    });
    quote_spanned!(here()=> #(#hints)* #timeout #rate #concurrency #rights #asks #task #lenient #strict #profile #input #output)
}

/// Generates the setters for `scopes` and `auth`, with macros of the runtime. If the feature `auth` is disabled, these macros cause an
/// error that points at the key.
fn rights(keys: &ItemKeys, owner: Option<&TokenStream>) -> TokenStream {
    let scopes = keys.scopes.as_ref().map(|scope| {
        let (name, span, scopes) =
            (setter("scopes", scope.span()), at(scope.span()), &scope.value.0);
        let made = quote_spanned!(span=> __mcp::scopes!(#(#scopes),*));
        quote_spanned!(here()=> .#name(#made))
    });
    let policy = keys.auth.as_ref().map(|auth| {
        let policy = outside(auth.value.0.to_token_stream(), owner);
        let made = quote_spanned!(at(auth.span())=> __mcp::policy!(#policy));
        let name = setter("policy", auth.span());
        quote_spanned!(here()=> .#name(#made))
    });
    quote_spanned!(here()=> #scopes #policy)
}

fn rate(given: &Given<Rate>) -> TokenStream {
    let (setter, rate) = (setter("rate", given.span()), &given.value);
    let name = match rate.unit {
        Unit::Second => "per_second",
        Unit::Minute => "per_minute",
        Unit::Hour => "per_hour",
    };
    let (name, count) = (Ident::new(name, here()), Literal::u32_unsuffixed(rate.count));
    let burst = rate.keys.burst.as_ref().map(|given| {
        let burst = Literal::u32_unsuffixed(given.value.0);
        quote_spanned!(here()=> .burst(#burst))
    });
    quote_spanned!(here()=> .#setter(__mcp::Rate::#name(#count) #burst))
}

fn task(given: &Given<Task>) -> TokenStream {
    let (setter, task) = (setter("task", given.span()), &given.value);
    let flag = |name: &str, flag: &Option<Given<Flag>>| {
        let name = Ident::new(name, here());
        flag.as_ref().filter(|flag| flag.value.0).map(|_| quote_spanned!(here()=> .#name()))
    };
    let time = |name: &str, time: &Option<Given<Duration>>| {
        let name = Ident::new(name, here());
        time.as_ref().map(|time| {
            let duration = duration(time.value.0);
            quote_spanned!(here()=> .#name(#duration))
        })
    };
    let flags = [flag("required", &task.required), flag("later", &task.later)];
    let times = [time("ttl", &task.ttl), time("poll", &task.poll)];
    quote_spanned!(here()=> .#setter(__mcp::TaskSupport::new() #(#flags)* #(#times)*))
}

/// Generates the setters for the content of a resource.
fn content(keys: &ItemKeys) -> TokenStream {
    let mime_type = keys.mime_type.as_ref().map(|mime_type| {
        let (name, text) = (setter("mime_type", mime_type.span()), &mime_type.value.0);
        quote_spanned!(here()=> .#name(#text))
    });
    let size = keys.size.as_ref().map(|size| {
        let name = setter("size", size.span());
        let bytes = Literal::u64_unsuffixed(size.value.0);
        quote_spanned!(here()=> .#name(#bytes))
    });
    let audience = keys.audience.as_ref().map(audience);
    let priority = keys.priority.as_ref().map(|given| {
        let name = setter("priority", given.span());
        let priority = Literal::f64_unsuffixed(given.value.0);
        quote_spanned!(here()=> .#name(#priority))
    });
    let cache = keys.cache.as_ref().map(cache);
    quote_spanned!(here()=> #mime_type #size #audience #priority #cache)
}

fn audience(given: &Given<Audience>) -> TokenStream {
    let name = setter("audience", given.span());
    let roles = given.value.0.iter().map(|role| match role {
        Reader::User => quote_spanned!(here()=> __mcp::Role::User),
        Reader::Assistant => quote_spanned!(here()=> __mcp::Role::Assistant),
    });
    quote_spanned!(here()=> .#name(&[#(#roles),*]))
}

fn cache(given: &Given<Cache>) -> TokenStream {
    let (name, cache) = (setter("cache", given.span()), &given.value);
    let public = cache
        .public
        .as_ref()
        .filter(|public| public.value.0)
        .map(|_| quote_spanned!(here()=> .public()));
    let ttl = cache.ttl.as_ref().map(|ttl| {
        let duration = duration(ttl.value.0);
        quote_spanned!(here()=> .ttl(#duration))
    });
    quote_spanned!(here()=> .#name(__mcp::CachePolicy::new() #public #ttl))
}

fn duration(millis: u64) -> TokenStream {
    let millis = Literal::u64_unsuffixed(millis);
    quote_spanned!(here()=> __mcp::Duration::from_millis(#millis))
}

/// Returns the form of the schemas that constants compute at compile time, or `None` if the item has no such schemas.
fn schema_form(item: &Item<'_>) -> Option<SchemaForm> {
    let form = item.keys.schema.as_ref().map_or(SchemaForm::Compatible, |schema| schema.value);
    (item.kind == Kind::Tool && form != SchemaForm::Full).then_some(form)
}

fn has_input(item: &Item<'_>) -> bool {
    item.keys.input_schema.is_none()
}

fn has_output(item: &Item<'_>) -> bool {
    item.keys.output_schema.is_none()
}

/// Generates the constants before the definition: checks of the parameters, and the schemas of a tool.
pub(super) fn constants(item: &Item<'_>, fields: &[Field<'_>]) -> Option<TokenStream> {
    if matches!(item.kind, Kind::Prompt | Kind::Resource) {
        let judged = fields.iter().filter_map(Field::judged_text);
        return Some(judged.collect());
    }
    let forms: TokenStream = match item.kind {
        Kind::Tool => fields.iter().map(Field::judged_forms).collect(),
        _ => TokenStream::new(),
    };
    let Some(form) = schema_form(item) else { return Some(forms) };
    let is_demanded = form == SchemaForm::Static;
    let input = has_input(item).then(|| {
        let properties = fields.iter().filter_map(|field| field.property(is_demanded));
        quote_spanned! {here()=>
            static __INPUT: __mcp::InputSchema =
                __mcp::InputSchema::new(&[#(#properties),*]);
            static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
        }
    });
    let ty = output(item);
    let span = at(result_span(item));
    let demanded =
        is_demanded.then(|| quote_spanned!(span=> .demanded(__mcp::Probe::<#ty>::HAS_OUTPUT)));
    let known = quote_spanned!(span=> __mcp::Probe::<#ty>::OUTPUT #demanded);
    let output = has_output(item).then(|| {
        quote_spanned! {here()=>
            static __OUTPUT: __mcp::ConstantOutput = #known;
            static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
        }
    });
    Some(quote_spanned!(here()=> #forms #input #output))
}

/// Generates the setters that pass the constants to the definition.
fn setters(item: &Item<'_>) -> Option<TokenStream> {
    schema_form(item)?;
    let input = has_input(item).then(|| quote_spanned!(here()=> .input(&__INPUT, &__INPUT_TEXT)));
    let output = has_output(item)
        .then(|| quote_spanned!(here()=> .output(&__OUTPUT_TEXT, __OUTPUT.is_object())));
    Some(quote_spanned!(here()=> #input #output))
}

/// Generates the table of segments, which is empty for a URI without variables.
fn segments(template: &Template) -> TokenStream {
    if template.variables().next().is_none() {
        return quote_spanned!(here()=> &[]);
    }
    let segments = template.segments.iter().map(|segment| match segment {
        Segment::Literal(text) => quote_spanned!(here()=> __mcp::Segment::Literal(#text)),
        Segment::Variable(variable) => {
            let (name, explode, kind) = (&variable.name, variable.explode, variable_kind(variable.kind));
            quote_spanned! {here()=>
                __mcp::Segment::Variable { name: #name, kind: __mcp::VariableKind::#kind, explode: #explode }
            }
        }
    });
    quote_spanned!(here()=> &[#(#segments),*])
}

fn variable_kind(kind: VariableKind) -> Ident {
    let name = match kind {
        VariableKind::Simple => "Simple",
        VariableKind::Reserved => "Reserved",
        VariableKind::Label => "Label",
        VariableKind::Path => "Path",
        VariableKind::Query => "Query",
        VariableKind::QueryMore => "QueryMore",
    };
    Ident::new(name, here())
}
