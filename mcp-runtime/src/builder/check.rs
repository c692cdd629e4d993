//! From the registry to the entries of the catalog, with every problem named by its place in the user's code.

use std::{any::TypeId, collections::HashMap};

use super::Builder;
use crate::{
    catalog::{Entry, EntryKind, Handle},
    context::{Cancel, Progress},
    extract::{Client, Elicit, Needs, Params, Roots, Sample, Source},
    item::{Completer, ItemDef, KindDef},
    model::{Meta, meta_key, tool_name},
    registry,
};

#[derive(Default)]
pub(super) struct Found {
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<String>,
    pub(super) needs_handle: bool,
}

pub(super) fn entries(builder: &Builder) -> Found {
    let all: Vec<&'static ItemDef> = registry::all().collect();
    let mut found = Found::default();
    let mut chosen = choose(builder, &all, &mut found.problems);
    let mut position = 0;
    let mut missing = MissingState::default();
    // It grows while it is walked: the functions that complete arguments come along with those who name them.
    while let Some(def) = chosen.get(position).copied() {
        position += 1;
        let mut params = Params::default();
        (def.params)(&mut params);
        found.needs_handle |= params.needs.handle;
        missing.look(builder, def, &params.needs);
        check_item(def, &params, &mut found.problems);
        add_completions(def, &params, &all, &mut chosen, &mut found.problems);
        // Only these can be wrong as a whole; all other schemas are made at first use.
        let given = matches!(&def.kind, KindDef::Tool(it) if it.input_schema.is_some());
        let judge = given
            || params.fields.iter().any(|it| {
                !it.def.constraints.is_empty()
                    || it.def.header.is_some()
                    || matches!(it.source, Source::Spread { .. })
            });
        let mut entry = match Entry::of(def, params) {
            Ok(entry) => entry,
            Err(problem) => {
                found.problems.push(format!("{}: {problem}", def.origin));
                continue;
            }
        };
        entry.default_profile(builder.profile);
        if judge && let Err(problems) = entry.judge() {
            found.problems.extend(problems.into_iter().map(|it| format!("{}: {it}", def.origin)));
        }
        if let Some(items) = &builder.items {
            // `items![…]` keeps its own order; what is added later comes after it, unless it says otherwise.
            entry.order = distance(items.0.len(), position - 1);
        }
        found.entries.push(entry);
    }
    missing.report(&mut found.problems);
    check_duplicates(&found.entries, &mut found.problems);
    found
}

/// How far `position` lies before the end of a list.
fn distance(len: usize, position: usize) -> i64 {
    -i64::try_from(len.saturating_sub(position)).unwrap_or(i64::MAX)
}

/// The items to serve.
fn choose(
    builder: &Builder,
    all: &[&'static ItemDef],
    problems: &mut Vec<String>,
) -> Vec<&'static ItemDef> {
    let mut chosen: Vec<&'static ItemDef> = Vec::new();
    if let Some(items) = &builder.items {
        for item in &items.0 {
            match all.iter().find(|it| (it.identity)() == item.identity) {
                Some(def) => chosen.push(def),
                None => problems.push(format!(
                    "`{}` is in `items![…]`, but it has no `#[tool]`, `#[resource]` or `#[prompt]`",
                    item.name
                )),
            }
        }
    } else {
        let ours = |it: &ItemDef| {
            it.origin.package == builder.identity.package
                || builder.with.contains(&it.origin.crate_name())
        };
        let candidates: Vec<_> =
            all.iter().filter(|it| ours(it) && !is_completion(it)).copied().collect();
        for missing in
            builder.with.iter().filter(|it| !all.iter().any(|def| def.origin.crate_name() == **it))
        {
            problems.push(format!(
                "`with = [{missing}]`: the crate `{missing}` has no items{}",
                crates(all)
            ));
        }
        chosen = candidates.iter().filter(|it| it.group == builder.group).copied().collect();
        if chosen.is_empty() && problems.is_empty() {
            problems.push(nothing_to_serve(builder, &candidates, all));
        }
        // The linker's order means nothing; where lists do not decide, the source does.
        chosen.sort_by_key(|it| (it.origin.file, it.origin.line));
    }
    chosen
}

fn is_completion(def: &ItemDef) -> bool {
    matches!(def.kind, KindDef::Completion)
}

fn crates(all: &[&'static ItemDef]) -> String {
    let mut names: Vec<_> = all.iter().map(|it| it.origin.crate_name()).collect();
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
    let mut groups: Vec<_> = candidates.iter().filter_map(|it| it.group).collect();
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
             - the linker drops a crate that nothing refers to, with its items: write `use that_crate as _;`",
            crates(all)
        ),
    }
}

/// State that items need and nobody gave, with the items that need it.
#[derive(Default)]
struct MissingState(Vec<(TypeId, &'static str, Vec<String>)>);

impl MissingState {
    fn look(&mut self, builder: &Builder, def: &'static ItemDef, needs: &Needs) {
        for &(id, name) in needs.states.iter().filter(|(id, _)| !builder.promised.contains(id)) {
            let place = def.origin.to_string();
            match self.0.iter_mut().find(|it| it.0 == id) {
                Some((_, _, places)) if places.contains(&place) => {}
                Some((_, _, places)) => places.push(place),
                None => self.0.push((id, name, vec![place])),
            }
        }
    }

    /// One problem for each type: who forgot a state forgot it for all items.
    fn report(self, problems: &mut Vec<String>) {
        problems.extend(self.0.into_iter().map(|(id, name, places)| {
            let verb = if places.len() == 1 { "needs" } else { "need" };
            let advice = advice(id, name);
            let places = places.join(", ");
            format!("{places} {verb} shared state of type `{name}`, and there is none: {advice}")
        }));
    }
}

fn advice(id: TypeId, name: &str) -> String {
    let made = [
        TypeId::of::<Handle>(),
        TypeId::of::<Progress>(),
        TypeId::of::<Cancel>(),
        TypeId::of::<Meta>(),
        TypeId::of::<Client>(),
        TypeId::of::<Elicit>(),
        TypeId::of::<Sample>(),
        TypeId::of::<Roots>(),
    ];
    if made.contains(&id) {
        return "it is made for each call: take it by value".to_owned();
    }
    if id == TypeId::of::<String>() {
        return "for a text from the client write `&str` or `String`".to_owned();
    }
    if let Some(inner) = name.strip_prefix("alloc::vec::Vec<").and_then(|it| it.strip_suffix('>')) {
        return format!("for a list from the client write `&[{inner}]` or `Vec<{inner}>`");
    }
    let short = name.rsplit("::").next().unwrap_or(name);
    format!(
        "add `.state(…)` with a `{short}`, or make it in `.setup(async || …)`; if it is an argument, take it by value"
    )
}

fn check_item(def: &'static ItemDef, params: &Params, problems: &mut Vec<String>) {
    if matches!(def.kind, KindDef::Tool(_))
        && let Err(problem) = tool_name(def.name)
    {
        problems.push(format!("{}: {problem}", def.origin));
    }
    let asked = params.needs.asks.names().next();
    if let (Some(capability), true) = (asked, is_completion(def)) {
        problems.push(format!(
            "{}: a completion cannot ask the client, and a parameter of it declares `{capability}`: remove that one",
            def.origin
        ));
    }
    if def.single_use && cfg!(not(feature = "ask")) {
        problems.push(format!(
            "{}: `single_use` needs the feature `ask` of mcp-runtime, without which no round is told from its copy",
            def.origin
        ));
    }
    for (key, _) in def.meta {
        if let Err(problem) = meta_key(key) {
            problems.push(format!("{}: `{key}` cannot be a key of `meta`: {problem}", def.origin));
        }
    }
}

/// The functions that complete the arguments of `def`, where they are not chosen already.
fn add_completions(
    def: &'static ItemDef,
    params: &Params,
    all: &[&'static ItemDef],
    chosen: &mut Vec<&'static ItemDef>,
    problems: &mut Vec<String>,
) {
    for field in &params.fields {
        let Some(Completer::Function(identity)) = field.def.completer else { continue };
        match all.iter().find(|it| is_completion(it) && (it.identity)() == identity()) {
            Some(function) if chosen.iter().any(|it| std::ptr::eq(*it, *function)) => {}
            Some(function) => chosen.push(function),
            None => problems.push(format!(
                "{}: the function that completes `{}` has no `#[completion]`: put it on that function",
                def.origin, field.def.name
            )),
        }
    }
}

fn check_duplicates(entries: &[Entry], problems: &mut Vec<String>) {
    let mut seen: HashMap<(&str, &str), &Entry> = HashMap::new();
    for entry in entries.iter().filter(|it| !matches!(it.kind, EntryKind::Completion { .. })) {
        let key = (entry.kind_name(), entry.key());
        if let Some(first) = seen.insert(key, entry) {
            let (kind, name) = key;
            let (first, second) = (first.place(), entry.place());
            let fix = if matches!(entry.kind, EntryKind::Resource(_)) {
                "give one of them another URI"
            } else {
                "rename one, or give it `name = \"…\"`"
            };
            problems.push(format!("there are two {kind}s `{name}`: {first} and {second}: {fix}"));
        }
    }
}
