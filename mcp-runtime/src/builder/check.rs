//! Checks of the registered items, which become entries of the catalog. Every problem names its location in the user's code.

use std::{
    any::{TypeId, type_name},
    cell::LazyCell,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::settings::{Builder, PromisedState};
use crate::{
    call::context::{Cancel, Progress},
    call::extract::{ArgumentSource, Client, Elicit, ItemParams, Requirements, Roots, Sample},
    catalog::{Entry, EntryKind, Handle, PromptArgument},
    config,
    item::{Completer, template::UriTemplate},
    model::{Meta, check_meta_key, check_tool_name},
    registry::{self, ItemDef, KindDef},
    schema::constant::short,
    unwind::catch_message,
};

/// Whether the shared state of the server is known. If it is not, missing state is no problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerState {
    Known,
    Unknown,
}

#[derive(Default)]
pub(super) struct CheckedItems {
    pub(super) entries: Vec<Entry>,
    /// Shapes of the entries, in the same order. `None` stands for an entry that is not a template, or whose shape does not determine which
    /// URIs it matches.
    shapes: Vec<Option<Shape>>,
    pub(super) problems: Vec<String>,
    pub(super) needs_handle: bool,
    /// Types of all shared state that the items need.
    pub(super) states: HashSet<TypeId>,
    /// Problem of a server without items whose `setup` may still add some.
    pub(super) nothing_to_serve: Option<String>,
}

pub(super) fn entries(builder: &Builder, state: ServerState) -> CheckedItems {
    let all: Vec<&'static ItemDef> = registry::all().collect();
    // The map is built on first use, because most servers refer to no function by its identity.
    let by_identity =
        ByIdentity::new(|| registry::all().map(|def| ((def.identity)(), def)).collect());
    let mut found = CheckedItems::default();
    let mut chosen = choose(builder, &all, &by_identity, &mut found);
    let mut completions: HashSet<_> =
        chosen.iter().filter(|def| is_completion(def)).map(|def| (def.identity)()).collect();
    let listed = chosen.len();
    let mut position = 0;
    let mut missing = MissingState::default();
    // The list grows during the loop: each item adds the functions that complete its arguments.
    while let Some(def) = chosen.get(position).copied() {
        position += 1;
        let params = match described(def) {
            Ok(params) => params,
            Err(problem) => {
                found.problems.push(format!("{}: {problem}", def.origin));
                continue;
            }
        };
        found.needs_handle |= params.needs.handle;
        found.states.extend(params.needs.states.iter().map(|(id, _)| *id));
        missing.look(builder, def, &params.needs);
        check_item(def, &params, &mut found.problems);
        for function in completions_of(def, &params, &by_identity, &mut found.problems) {
            if completions.insert((function.identity)()) {
                chosen.push(function);
            }
        }
        let variables = text_parameters(&params);
        let mut problems = Vec::new();
        let mut entry = Entry::of(def, params, builder.profile, &mut problems);
        let at_item = |problem: String| format!("{}: {problem}", def.origin);
        found.problems.extend(problems.into_iter().map(at_item));
        entry.default_rates(builder.rates);
        #[cfg(feature = "auth")]
        {
            entry.default_guard(!builder.policies.is_empty());
            found.problems.extend(builder.ungranted_scopes(&entry));
        }
        if let Some(problem) = rounds_problem(builder, &entry) {
            found.problems.push(at_item(problem.to_owned()));
        }
        // The values that a type allows come from its `Deserialize` impl, which may panic.
        if let Err(panicked) =
            catch_message(|| entry.arguments().iter().any(PromptArgument::can_complete))
        {
            found
                .problems
                .push(at_item(format!("listing the values that its arguments allow {panicked}")));
        }
        if let Some(items) = &builder.items {
            // The items of `items![…]` keep the order of that list. Items that a handle adds later come after them, unless their `order` is
            // negative.
            entry.order = distance(items.named.len(), position - 1);
        } else if builder.as_written {
            entry.order += distance(listed, position - 1);
        }
        let template = entry.resource().and_then(|resource| resource.template.as_ref());
        found.shapes.push(template.and_then(|template| shape(template, &variables)));
        found.entries.push(entry);
    }
    missing.report(builder, state, &mut found.problems);
    check_duplicates(&mut found);
    found
}

/// Items by the identities of their functions.
type ByIdentity = LazyCell<HashMap<TypeId, &'static ItemDef>>;

/// Returns the parameters of the function. This evaluates their defaults, which are expressions of the user.
fn described(def: &'static ItemDef) -> Result<ItemParams, String> {
    let mut params = ItemParams::default();
    match catch_message(|| (def.params)(&mut params)) {
        Ok(()) => Ok(params),
        Err(panicked) => Err(match params.making_default {
            Some(name) => format!("the default of `{name}` {panicked}"),
            None => format!("`FromCall::needs` of a parameter {panicked}"),
        }),
    }
}

/// Returns a problem if the item asks its client, and another server with the same store could not continue the call.
fn rounds_problem(builder: &Builder, entry: &Entry) -> Option<&'static str> {
    let is_shared = builder.store.as_ref().is_some_and(|store| store.is_shared());
    let cannot_seal = is_shared && !cfg!(feature = "state-key");
    (cannot_seal && !entry.asks.is_empty()).then_some(
        "it asks its client, and servers that share a store need the feature `state-key` for that: run `cargo add mcp-runtime --features state-key`",
    )
}

/// Returns the position relative to the end of a list, as a negative number.
fn distance(len: usize, position: usize) -> i64 {
    -i64::try_from(len.saturating_sub(position)).unwrap_or(i64::MAX)
}

/// Returns the items to serve. A completion is among them only if `items![…]` names it.
fn choose(
    builder: &Builder,
    all: &[&'static ItemDef],
    by_identity: &ByIdentity,
    found: &mut CheckedItems,
) -> Vec<&'static ItemDef> {
    let problems = &mut found.problems;
    let mut chosen: Vec<&'static ItemDef> = Vec::new();
    if let Some(items) = &builder.items {
        let mut named = HashSet::new();
        for item in &items.named {
            let problem = match by_identity.get(&item.identity) {
                Some(_) if !named.insert(item.identity) => "is listed twice: remove one",
                Some(def) => {
                    chosen.push(def);
                    continue;
                }
                None => "has no `#[tool]`, `#[resource]` or `#[prompt]`",
            };
            problems.push(format!("`items![…]` at {}: `{}` {problem}", items.place, item.name));
        }
    } else {
        let ours = |def: &ItemDef| {
            def.origin.package == builder.identity.package
                || builder.with.iter().any(|(name, _)| *name == def.origin.crate_name())
        };
        let candidates: Vec<_> =
            all.iter().filter(|def| ours(def) && !is_completion(def)).copied().collect();
        for (missing, place) in &builder.with {
            if !all.iter().any(|def| def.origin.crate_name() == *missing) {
                problems.push(format!(
                    "`with = [{missing}]` at {place}: the crate `{missing}` has no items{}",
                    crates(all)
                ));
            }
        }
        chosen = candidates.iter().filter(|def| def.group == builder.group).copied().collect();
        if chosen.is_empty() && problems.is_empty() {
            let problem = nothing_to_serve(builder, &candidates, all);
            let problem = format!("`server!` at {}: {problem}", builder.place);
            if builder.setups_may_add_items {
                found.nothing_to_serve = Some(format!(
                    "{problem}\n\
                     - the `setup` that takes the `Handle` added no item either; a server that gets its items later starts with `.items(items![])`"
                ));
            } else {
                problems.push(problem);
            }
        }
        // The linker returns the items in arbitrary order. They are sorted by source location, which is the order of every list that
        // defines no other order.
        chosen.sort_by_key(|def| (def.origin.file, def.origin.line));
    }
    chosen
}

fn is_completion(def: &ItemDef) -> bool {
    matches!(def.kind, KindDef::Completion)
}

fn crates(all: &[&'static ItemDef]) -> String {
    let mut names: Vec<_> = all.iter().map(|def| def.origin.crate_name()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        String::new()
    } else {
        format!("; crates with items in this program: {}", names.join(", "))
    }
}

fn nothing_to_serve(
    builder: &Builder,
    candidates: &[&'static ItemDef],
    all: &[&'static ItemDef],
) -> String {
    let package = builder.identity.package;
    let mut groups: Vec<_> = candidates.iter().filter_map(|def| def.group).collect();
    groups.sort_unstable();
    groups.dedup();
    match builder.group {
        Some(group) => format!(
            "there is nothing to serve: package `{package}` has no item in the group \"{group}\"; its groups: {}",
            if groups.is_empty() { "none".to_owned() } else { groups.join(", ") }
        ),
        None if !groups.is_empty() => format!(
            "there is nothing to serve: all items of package `{package}` are in groups ({}); name one with `server!(group = \"{}\")`",
            groups.join(", "),
            groups[0]
        ),
        None => format!(
            "there is nothing to serve: no function of package `{package}` in this program has `#[tool]`, `#[resource]` or `#[prompt]`{}\n\
             - items in another crate are served with `server!(with = [that_crate])`\n\
             - the linker drops a crate that nothing refers to, with its items: write `use that_crate as _;`\n\
             - a test in `tests/` links the package's library, never its `main.rs`: test the items of `main.rs` in that file, with `#[cfg(test)]`",
            crates(all)
        ),
    }
}

/// State that items need and that the server does not have, with the locations of these items.
#[derive(Default)]
struct MissingState(Vec<(TypeId, &'static str, Vec<String>)>);

impl MissingState {
    fn look(&mut self, builder: &Builder, def: &'static ItemDef, needs: &Requirements) {
        for &(id, name) in needs
            .states
            .iter()
            .filter(|(id, _)| !builder.promised.iter().any(|state| state.id == *id))
            .filter(|(id, _)| !config::registered().any(|entry| entry.def().id() == *id))
        {
            let place = def.origin.to_string();
            match self.0.iter_mut().find(|missing| missing.0 == id) {
                Some((_, _, places)) if places.contains(&place) => {}
                Some((_, _, places)) => places.push(place),
                None => self.0.push((id, name, vec![place])),
            }
        }
    }

    /// Reports one problem for each missing type, together with all items that need it. Usually the author has forgotten a single call of
    /// `state`.
    fn report(self, builder: &Builder, state: ServerState, problems: &mut Vec<String>) {
        let known = |id: &TypeId| state == ServerState::Known || is_made_for_a_call(*id);
        let missing = self.0.into_iter().filter(|missing| known(&missing.0));
        problems.extend(missing.map(|(id, name, places)| {
            let verb = if places.len() == 1 { "needs" } else { "need" };
            let advice = advice(builder, id, name);
            let places = places.join(", ");
            format!("{places} {verb} shared state of type `{name}`, and there is none: {advice}")
        }));
    }
}

/// Returns whether the server creates a value of the type for each call, so that the type cannot be shared state.
fn is_made_for_a_call(id: TypeId) -> bool {
    [
        TypeId::of::<Handle>(),
        TypeId::of::<Progress>(),
        TypeId::of::<Cancel>(),
        TypeId::of::<Meta>(),
        TypeId::of::<Client>(),
        TypeId::of::<Elicit>(),
        TypeId::of::<Sample>(),
        TypeId::of::<Roots>(),
    ]
    .contains(&id)
}

/// Names of the types of numbers that an argument can have.
const NUMBERS: [&str; 14] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
    "f64",
];

fn advice(builder: &Builder, id: TypeId, name: &str) -> String {
    if is_made_for_a_call(id) {
        return "it is made for each call: take it by value".to_owned();
    }
    if id == TypeId::of::<String>() {
        return "for a text from the client write `&str` or `String`".to_owned();
    }
    let value = match name {
        "bool" => Some("a `true` or `false`"),
        "char" => Some("a character"),
        _ if NUMBERS.contains(&name) => Some("a number"),
        _ => None,
    };
    if let Some(value) = value {
        return format!("for {value} from the client write `{name}`");
    }
    if let Some(inner) =
        name.strip_prefix("alloc::vec::Vec<").and_then(|rest| rest.strip_suffix('>'))
    {
        let inner = short(inner);
        return format!("for a list from the client write `&[{inner}]` or `Vec<{inner}>`");
    }
    let short = short(name);
    let in_an_arc = format!("{}<{name}>", type_name::<Arc<()>>().trim_end_matches("<()>"));
    if let Some(PromisedState { place, .. }) =
        builder.promised.iter().find(|state| state.name == in_an_arc)
    {
        return format!(
            "the state at {place} is an `Arc<{short}>`; give the `{short}` itself, since all calls share it already, or take `&Arc<{short}>`"
        );
    }
    format!(
        "add `.state(…)` with a `{short}`, or make it in `.setup(async || …)`; if it is an argument, take it by value"
    )
}

fn check_item(def: &'static ItemDef, params: &ItemParams, problems: &mut Vec<String>) {
    if matches!(def.kind, KindDef::Tool(_))
        && let Err(problem) = check_tool_name(def.name)
    {
        problems.push(format!("{}: {problem}", def.origin));
    }
    let asked = params.needs.asks.names().next();
    if let (Some(capability), true) = (asked, is_completion(def)) {
        problems.push(format!(
            "{}: a completion cannot ask the client, but one of its parameters declares `{capability}`: remove that parameter",
            def.origin
        ));
    }
    for field in &params.fields {
        // The macro has checked only defaults that are literals. All other defaults are known only here.
        let default = field.default.as_ref().map(ToString::to_string);
        if let Some(problem) = default.and_then(|value| field.def.constraints.check(&value)) {
            problems.push(format!(
                "{}: the default of `{}` does not satisfy its own constraints: {problem}",
                def.origin, field.def.name
            ));
        }
    }
    for (key, _) in def.meta {
        if let Err(problem) = check_meta_key(key) {
            problems.push(format!("{}: `{key}` cannot be a key of `meta`: {problem}", def.origin));
        }
    }
}

/// Returns the functions that complete the arguments of `def`.
fn completions_of(
    def: &'static ItemDef,
    params: &ItemParams,
    by_identity: &ByIdentity,
    problems: &mut Vec<String>,
) -> Vec<&'static ItemDef> {
    let mut found = Vec::new();
    for field in &params.fields {
        let Some(Completer::Function(identity)) = field.def.completer else { continue };
        match by_identity.get(&identity()).filter(|function| is_completion(function)) {
            Some(function) => found.push(*function),
            None => problems.push(format!(
                "{}: the function that completes `{}` has no `#[completion]`: put it on that function",
                def.origin, field.def.name
            )),
        }
    }
    found
}

/// Set of URIs that a template matches: the template without the names of its path variables, and the types of its variables.
///
/// Two templates may have the same text if the types of their variables differ. If the values in a URI do not fit the types of the first
/// template, the server tries the second one.
type Shape = (String, Vec<TypeId>);

/// Property that two items of one list must not share.
#[derive(PartialEq, Eq, Hash)]
enum DuplicateKey<'a> {
    Name(&'a str),
    Shape(&'a Shape),
}

/// Returns the parameters that are parsed from text, with their types. Leaves out parameters with constraints.
fn text_parameters(params: &ItemParams) -> Vec<(&'static str, TypeId)> {
    let fields = params.fields.iter().filter(|field| field.def.constraints.is_empty());
    let variables = fields.filter_map(|field| match field.source {
        ArgumentSource::Text { read_as, .. } => Some((field.def.name, read_as)),
        ArgumentSource::Json { .. } | ArgumentSource::Spread { .. } => None,
    });
    variables.collect()
}

/// Returns the shape of a template. Returns `None` if the shape alone does not decide which URIs the template matches, for example because
/// a variable has a constraint.
fn shape(template: &UriTemplate, variables: &[(&'static str, TypeId)]) -> Option<Shape> {
    let (shape, names) = template.shape();
    let type_of = |name: &str| {
        variables.iter().find(|variable| variable.0 == name).map(|variable| variable.1)
    };
    let types = names.iter().map(|name| type_of(name)).collect::<Option<_>>()?;
    Some((shape, types))
}

fn check_duplicates(found: &mut CheckedItems) {
    let mut seen: HashMap<(&str, DuplicateKey<'_>), &Entry> = HashMap::new();
    let items = found.entries.iter().zip(&found.shapes);
    for (entry, shape) in items.filter(|item| !matches!(item.0.kind, EntryKind::Completion { .. }))
    {
        let kind = entry.kind_name();
        let same_name = seen.insert((kind, DuplicateKey::Name(entry.key())), entry);
        let same_shape =
            shape.as_ref().and_then(|shape| seen.insert((kind, DuplicateKey::Shape(shape)), entry));
        let Some(other) = same_name.or(same_shape) else { continue };
        let (first, second) = (other.place(), entry.place());
        let fix = match entry.kind {
            EntryKind::Resource(_) => "give one of them another URI",
            _ => "rename one, or give it `name = \"…\"`",
        };
        found.problems.push(if other.key() == entry.key() {
            format!("there are two {kind}s `{}`: {first} and {second}: {fix}", entry.key())
        } else {
            format!(
                "the templates `{}` and `{}` match the same URIs, so only one of them would be read: {first} and {second}: {fix}",
                other.key(),
                entry.key()
            )
        });
    }
}
