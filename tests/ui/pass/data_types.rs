//! `#[data]` on types of every shape.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
// These lints are about the functions as written here, not about the code that the attributes generate.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self
)]

use mcp_runtime::prelude::*;
use std::borrow::Cow;

/// A page of anything.
#[data]
#[derive(Clone, Debug)]
struct Page<T> {
    /// What is on it
    items: Vec<T>,
    /// Where the next one begins
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A pair, with bounds of its own.
#[data]
struct Pair<A: Clone, B = u8>(A, B)
where
    B: Clone;

/// One of several.
#[data]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// Round
    Circle {
        /// From the middle
        radius: f64,
    },
    /// Cornered
    Square,
}

/// Nothing in it.
#[data]
struct Unit;

/// A name of its own.
#[data]
#[serde(transparent)]
struct Name(Cow<'static, str>);

/// All of them.
#[tool]
fn data_types(
    page: Page<Shape>,
    pair: Pair<u8>,
    unit: Option<Unit>,
    name: Name,
) -> Json<Page<String>> {
    let items = page.items.iter().map(|shape| match shape {
        Shape::Circle { radius } => radius.to_string(),
        Shape::Square => format!("{}{}{}{}", pair.0, pair.1, unit.is_some(), name.0),
    });
    Json(Page { items: items.collect(), next: page.next })
}

/// Types that contain each other: by name, in lists, and in generic types.
mod circles {
    use mcp_runtime::prelude::*;

    type Children = Pair<Branch>;

    #[data]
    struct Pair<T> {
        left: Vec<T>,
        right: Option<Box<T>>,
    }

    #[data]
    struct Branch {
        children: Children,
        leaf: Option<Box<Leaf>>,
        r#type: r#Kind,
    }

    #[data]
    enum Leaf {
        Branches(Vec<Branch>, Kind),
        Tree { branch: (u8, Box<Branch>), kind: [Kind; 2] },
        Empty,
    }

    #[data]
    enum Kind {
        Oak,
    }

    /// Counts the branches.
    #[tool]
    fn branches(branch: Branch, leaf: Option<Leaf>) -> Json<Vec<Branch>> {
        let _ = leaf;
        Json(vec![branch])
    }
}
