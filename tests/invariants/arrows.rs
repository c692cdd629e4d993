//! The modules of a crate, and its dependency graph. If a file names an item of another file, in a `use` or in a path, an arrow leads from the
//! first file to the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree, Visibility, spanned::Spanned as _};

use crate::sources::Text;

type Path = Vec<String>;

/// The parsed files of a crate, without its tests.
#[derive(Default)]
pub(crate) struct Crate {
    /// The folder with the root of the crate.
    pub(crate) folder: String,
    /// Paths relative to the workspace.
    pub(crate) files: Vec<String>,
    modules: BTreeMap<Path, Module>,
    /// For each name of a type or trait, the indices of the files that define it.
    pub(crate) types: BTreeMap<String, BTreeSet<usize>>,
}

/// The files of a crate and the arrows between them.
pub(crate) struct Graph {
    /// Paths relative to the workspace.
    pub(crate) files: Vec<String>,
    /// Arrows by the indices of their two files. Several uses between the same files count as one arrow, which describes the first use.
    pub(crate) arrows: BTreeMap<(usize, usize), Arrow>,
}

/// The source line that causes an arrow.
#[derive(Clone)]
pub(crate) struct Arrow {
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The item that the file uses.
    pub(crate) name: String,
}

/// A module, which is a whole file or part of a file.
#[derive(Default)]
struct Module {
    file: usize,
    /// Names of the items that are defined here, without modules.
    defined: BTreeSet<String>,
    /// Names that a `use` imports, public or private, each with the path as it is written.
    imported: BTreeMap<String, Path>,
    /// The imported names that other modules can see.
    reexported: BTreeSet<String>,
    /// Modules that `use …::*` imports from.
    globs: Vec<Path>,
    /// Paths in the code and the imports of the module, each with its line.
    used: Vec<(Path, usize)>,
}

impl Crate {
    /// Reads the sources below `folder`.
    pub(crate) fn read(texts: &[Text], folder: &str) -> Self {
        let is_source = |text: &&Text| {
            let is_test = text.path.contains("/tests/");
            text.path.starts_with(folder) && text.path.ends_with(".rs") && !is_test
        };
        let mut parsed = Self { folder: folder.to_owned(), ..Self::default() };
        for (file, source) in texts.iter().filter(is_source).enumerate() {
            let parsed_file = syn::parse_file(&source.text)
                .unwrap_or_else(|error| panic!("{}: {error}", source.path));
            parsed.files.push(source.path.clone());
            parsed.add_module(file, module_of(&source.path, folder), &parsed_file.items);
        }
        parsed
    }

    /// Returns the dependency graph of the files.
    pub(crate) fn graph(&self) -> Graph {
        let mut arrows = BTreeMap::new();
        for (own, module) in &self.modules {
            for (path, line) in &module.used {
                let Some(to) = Names(&self.modules).file(own, path) else { continue };
                if to != module.file {
                    let name = path.last().cloned().unwrap_or_default();
                    let file = self.files[module.file].clone();
                    arrows.entry((module.file, to)).or_insert(Arrow { file, line: *line, name });
                }
            }
        }
        Graph { files: self.files.clone(), arrows }
    }

    /// Adds a module of a file, and the modules inside it.
    fn add_module(&mut self, file: usize, path: Path, items: &[Item]) {
        let items: Vec<&Item> = items.iter().filter(|item| !is_test(item)).collect();
        let mut module = Module { file, ..Module::default() };
        let mut reexported = Vec::new();
        for item in &items {
            match item {
                Item::Use(item) => {
                    let line = item.span().start().line;
                    let is_private = matches!(item.vis, Visibility::Inherited);
                    let mut imports = Vec::new();
                    flatten(&item.tree, &mut Vec::new(), &mut imports);
                    for (name, path) in imports {
                        let is_used = is_private || name.is_empty();
                        if is_used {
                            module.used.push((path.clone(), line));
                        } else {
                            reexported.push((name.clone(), path.clone(), line));
                        }
                        if name.is_empty() {
                            module.globs.push(path);
                        } else {
                            if !is_private {
                                module.reexported.insert(name.clone());
                            }
                            module.imported.insert(name, path);
                        }
                    }
                }
                Item::Mod(item) => {
                    if let Some((_, items)) = &item.content {
                        let inner = [&path[..], &[item.ident.to_string()]].concat();
                        self.add_module(file, inner, items);
                    }
                }
                item => {
                    let name = name_of(item);
                    if let (Some(name), true) = (&name, is_type(item)) {
                        self.types.entry(name.clone()).or_default().insert(file);
                    }
                    module.defined.extend(name);
                    paths_in(item.to_token_stream(), &mut module.used);
                }
            }
        }
        // A re-export counts as a use only if the module's own code also uses the name.
        let mut idents = BTreeSet::new();
        if !reexported.is_empty() {
            for item in items.iter().filter(|item| !matches!(item, Item::Use(_) | Item::Mod(_))) {
                idents_in(item.to_token_stream(), &mut idents);
            }
        }
        let own = reexported.into_iter().filter(|(name, ..)| idents.contains(name));
        module.used.extend(own.map(|(_, path, line)| (path, line)));
        self.modules.insert(path, module);
    }
}

impl Graph {
    /// Merges the files of each group into one node, for example all files of a room.
    pub(crate) fn merged(&self, group: impl Fn(&str) -> String) -> Self {
        let of_file: Vec<String> = self.files.iter().map(|file| group(file)).collect();
        let mut files = of_file.clone();
        files.sort();
        files.dedup();
        let index = |file: usize| files.iter().position(|name| *name == of_file[file]);
        let mut arrows = BTreeMap::new();
        for ((from, to), arrow) in &self.arrows {
            let ends = (index(*from).expect("a group"), index(*to).expect("a group"));
            if ends.0 != ends.1 {
                arrows.entry(ends).or_insert_with(|| arrow.clone());
            }
        }
        Self { files, arrows }
    }

    /// Returns a number for each file. Two files have the same number if each can be reached from the other (strongly connected
    /// components).
    pub(crate) fn components(&self) -> Vec<usize> {
        // Kosaraju's algorithm: visits the reversed graph, beginning with the file that the first traversal left last.
        let reversed = self.arrows.keys().map(|(from, to)| (*to, *from)).collect();
        let forward = self.arrows.keys().copied().collect();
        let mut left = Vec::new();
        let mut seen = vec![false; self.files.len()];
        for file in 0..self.files.len() {
            leave(file, &forward, &mut seen, &mut left);
        }
        let mut components = vec![0; self.files.len()];
        let mut seen = vec![false; self.files.len()];
        for (number, file) in left.iter().rev().enumerate() {
            let mut members = Vec::new();
            leave(*file, &reversed, &mut seen, &mut members);
            members.iter().for_each(|member| components[*member] = number);
        }
        components
    }

    /// Returns the shortest path along the arrows, with both ends. Returns `None` if there is no path.
    pub(crate) fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from = vec![None; self.files.len()];
        came_from[from] = Some(from);
        let mut waiting = VecDeque::from([from]);
        while let Some(file) = waiting.pop_front() {
            if file == to {
                let mut way = vec![to];
                while let Some(before) = came_from[way[way.len() - 1]]
                    && before != way[way.len() - 1]
                {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            for (_, next) in self.arrows.range((file, 0)..(file + 1, 0)).map(|arrow| arrow.0) {
                if came_from[*next].is_none() {
                    came_from[*next] = Some(file);
                    waiting.push_back(*next);
                }
            }
        }
        None
    }
}

/// Visits all files that can be reached from `file`, and appends each file to `left` after all files that it leads to.
fn leave(file: usize, arrows: &BTreeSet<(usize, usize)>, seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[file], true) {
        return;
    }
    for (_, next) in arrows.range((file, 0)..(file + 1, 0)) {
        leave(*next, arrows, seen, left);
    }
    left.push(file);
}

/// Returns the module of a file. The files `src/wire/mod.rs` and `src/wire.rs` are both the module `wire`.
fn module_of(file: &str, folder: &str) -> Path {
    let inside = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut path: Path = inside.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod" || (path.len() == 1 && last == "lib")) {
        path.pop();
    }
    path
}

/// Whether the item is compiled for tests only.
fn is_test(item: &Item) -> bool {
    let attributes: &[Attribute] = match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    };
    let is_test = |attribute: &Attribute| {
        let mut idents = BTreeSet::new();
        idents_in(attribute.meta.to_token_stream(), &mut idents);
        idents.contains("cfg") && idents.contains("test") && !idents.contains("not")
    };
    attributes.iter().any(is_test)
}

fn is_type(item: &Item) -> bool {
    matches!(
        item,
        Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) | Item::Union(_)
    )
}

/// Collects the names that a `use` imports, with their paths. The name of a glob import is empty.
fn flatten(tree: &UseTree, before: &mut Path, all: &mut Vec<(String, Path)>) {
    let whole = |before: &Path, last: String| {
        let mut path = before.clone();
        if last != "self" || path.is_empty() {
            path.push(last);
        }
        path
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, all);
            before.pop();
        }
        UseTree::Name(name) => {
            let path = whole(before, name.ident.to_string());
            all.push((path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(rename) => {
            all.push((rename.rename.to_string(), whole(before, rename.ident.to_string())));
        }
        UseTree::Glob(_) => all.push((String::new(), before.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, all)),
    }
}

/// Returns the name that an item defines in its module.
fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Collects all paths of two or more names, with their lines.
fn paths_in(tokens: TokenStream, all: &mut Vec<(Path, usize)>) {
    let mut path: Path = Vec::new();
    let (mut line, mut colons) = (0, 0);
    let mut after_pub = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons == 2 && !path.is_empty() {
                    path.push(ident.to_string());
                } else {
                    finish(&mut path, line, all);
                    // The name is skipped, because a path that begins with `::` names another crate, and a path after `>` names an
                    // associated item.
                    if colons != 2 {
                        path.push(ident.to_string());
                        line = ident.span().start().line;
                    }
                }
                after_pub = ident == "pub";
                colons = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                finish(&mut path, line, all);
                // `pub(in crate::room)` is not a use of the room.
                if !(after_pub && group.delimiter() == Delimiter::Parenthesis) {
                    paths_in(group.stream(), all);
                }
                (colons, after_pub) = (0, false);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {
                finish(&mut path, line, all);
                (colons, after_pub) = (0, false);
            }
        }
    }
    finish(&mut path, line, all);
}

fn finish(path: &mut Path, line: usize, all: &mut Vec<(Path, usize)>) {
    let path = std::mem::take(path);
    if path.len() > 1 {
        all.push((path, line));
    }
}

fn idents_in(tokens: TokenStream, all: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => _ = all.insert(ident.to_string()),
            TokenTree::Group(group) => idents_in(group.stream(), all),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Resolution of names, as far as the search for cycles needs it.
struct Names<'a>(&'a BTreeMap<Path, Module>);

impl Names<'_> {
    /// Returns the file that defines the item at `path`, as the module `own` writes the path. Returns `None` for an item of another crate
    /// and for an item of `own` itself. Also returns `None` for a module, because code that uses an item of the module names that item in a
    /// path of its own.
    fn file(&self, own: &Path, path: &Path) -> Option<usize> {
        self.item(&self.absolute(own, path, 0)?, 0)
    }

    /// Returns the path from the root of the crate, or `None` for a path into another crate.
    fn absolute(&self, own: &Path, path: &Path, depth: usize) -> Option<Path> {
        let first = path.first()?.as_str();
        let rest = &path[1..];
        let join = |base: &[String]| Some([base, rest].concat());
        match first {
            "crate" => join(&[]),
            "self" => join(own),
            "super" => {
                let parent = own[..own.len().checked_sub(1)?].to_vec();
                if rest.first().is_some_and(|next| next == "super") {
                    return self.absolute(&parent, &rest.to_vec(), depth);
                }
                join(&parent)
            }
            first => {
                let inner = [&own[..], &[first.to_owned()]].concat();
                if self.0.contains_key(&inner) {
                    return join(&inner);
                }
                let imported = self.0.get(own)?.imported.get(first)?;
                // In `use tokio;`, the first name of the path is the imported name itself, so it names another crate.
                if depth > 16 || imported.first().is_some_and(|next| next == first) {
                    return None;
                }
                join(&self.absolute(own, imported, depth + 1)?)
            }
        }
    }

    fn item(&self, path: &Path, depth: usize) -> Option<usize> {
        let mut at = 0;
        while at < path.len() && self.0.contains_key(&path[..=at]) {
            at += 1;
        }
        let name = path.get(at)?;
        let module = self.0.get(&path[..at])?;
        if module.defined.contains(name) || depth > 16 {
            return Some(module.file);
        }
        let own = path[..at].to_vec();
        if let Some(imported) = module.imported.get(name) {
            let target = self.absolute(&own, imported, 0)?;
            return self.item(&[&target[..], &path[at + 1..]].concat(), depth + 1);
        }
        for glob in &module.globs {
            let Some(target) = self.absolute(&own, glob, 0) else { continue };
            let has = self.0.get(&target).is_some_and(|inner| {
                inner.defined.contains(name) || inner.reexported.contains(name)
            });
            if has {
                return self.item(&[&target[..], &path[at..]].concat(), depth + 1);
            }
        }
        // The module neither declares nor imports the name, so a macro has generated the item in this module.
        Some(module.file)
    }
}
