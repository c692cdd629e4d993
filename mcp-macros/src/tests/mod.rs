//! Tests of the entry points on source text.

mod errors;
mod expansions;

use crate::entry;
use crate::item::Kind;
use crate::syntax::path_of;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Expands the first attribute of an item, or `server!(…)`, or `items![…]`.
fn expand(source: &str) -> TokenStream {
    let tokens: Vec<TokenTree> = source.parse::<TokenStream>().unwrap().into_iter().collect();
    let ours = |token: &TokenTree| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let path = path_of(&group.stream());
            let entry = Entry::of(path.last()?)?;
            Some((entry, arguments(&group.stream())))
        }
        _ => None,
    };
    for (index, token) in tokens.iter().enumerate() {
        if let Some((entry, attr)) = ours(token) {
            let mut rest = tokens.clone();
            rest.drain(index - 1..=index);
            return entry.run(attr, rest.into_iter().collect());
        }
    }
    let [TokenTree::Ident(name), _, TokenTree::Group(group)] = tokens.as_slice() else {
        panic!("nothing of ours in {source}")
    };
    match name.to_string().as_str() {
        "server" => entry::server(group.stream()),
        "items" => entry::items(group.stream()),
        name => panic!("{name}! is not ours"),
    }
}

enum Entry {
    Function(Kind),
    Handlers,
    Data,
    Form,
    Schema,
    Config,
}

impl Entry {
    fn of(word: &str) -> Option<Self> {
        match word {
            "handlers" => Some(Self::Handlers),
            "data" => Some(Self::Data),
            "form" => Some(Self::Form),
            "config" => Some(Self::Config),
            "derive" => Some(Self::Schema),
            word => Kind::ALL.into_iter().find(|all| all.word() == word).map(Self::Function),
        }
    }

    fn run(self, attr: TokenStream, item: TokenStream) -> TokenStream {
        match self {
            Self::Function(kind) => entry::function(kind, attr, item),
            Self::Handlers => entry::handlers(attr, item),
            Self::Data => entry::data(attr, item),
            Self::Form => entry::form(attr, item),
            Self::Schema => entry::schema(item),
            Self::Config => entry::config(attr, item),
        }
    }
}

/// Returns the tokens between the parentheses of an attribute.
fn arguments(attribute: &TokenStream) -> TokenStream {
    match attribute.clone().into_iter().last() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    }
}
