//! Promises that a tool makes with hints such as `readOnlyHint`.

use serde_json::Value;

use super::{change::Class, item::Comparison};

/// Hint with its default, and the value that makes a promise.
struct Hint {
    name: &'static str,
    default: bool,
    promising: bool,
    /// Promise, in words that follow "it".
    promise: &'static str,
    /// Attribute key with which the author makes the promise.
    key: &'static str,
    /// Whether a tool that changes nothing keeps this promise too.
    is_implied: bool,
}

const READ_ONLY: &str = "readOnlyHint";

/// All hints, the most important ones first.
const HINTS: [Hint; 4] = [
    Hint {
        name: READ_ONLY,
        default: false,
        promising: true,
        promise: "changes nothing",
        key: "read_only",
        is_implied: false,
    },
    Hint {
        name: "destructiveHint",
        default: true,
        promising: false,
        promise: "destroys nothing",
        key: "destructive = false",
        is_implied: true,
    },
    Hint {
        name: "idempotentHint",
        default: false,
        promising: true,
        promise: "may be called again without more effect",
        key: "idempotent",
        is_implied: true,
    },
    Hint {
        name: "openWorldHint",
        default: true,
        promising: false,
        promise: "reaches nothing outside",
        key: "open_world = false",
        is_implied: false,
    },
];

/// Annotations of a tool, if it has any.
#[derive(Clone, Copy)]
struct Hints<'a>(Option<&'a Value>);

impl Hints<'_> {
    fn said(self, name: &str) -> Option<bool> {
        self.0?.get(name)?.as_bool()
    }

    fn promises(self, hint: &Hint) -> bool {
        self.said(hint.name).unwrap_or(hint.default) == hint.promising
            || hint.is_implied && self.said(READ_ONLY) == Some(true)
    }

    /// Returns the value as text: `true`, or `false by default`.
    fn shown(self, hint: &Hint) -> String {
        match self.said(hint.name) {
            Some(value) => value.to_string(),
            None => format!("{} by default", hint.default),
        }
    }
}

impl Comparison<'_> {
    /// Compares the hints of a tool. Clients use hints to decide whether to ask their user, so a promise that is taken back breaks. A hint
    /// and the promises that it implied are one difference.
    pub(super) fn hints(&mut self, was: Option<&Value>, is: Option<&Value>) {
        let (was, is) = (Hints(was), Hints(is));
        let now = |of: Hints<'_>, than: Hints<'_>| -> Vec<&'static Hint> {
            HINTS.iter().filter(|it| of.promises(it) && !than.promises(it)).collect()
        };
        let (lost, gained) = (now(was, is), now(is, was));
        if !lost.is_empty() {
            let is_read_only = lost.iter().any(|it| it.name == READ_ONLY);
            let keys = lost.iter().filter(|it| !(is_read_only && it.is_implied));
            let keys = list(keys.map(|it| format!("`{}`", it.key)));
            let advice = format!(
                "keep {keys}, or make it another tool: clients decide by that whether to ask their user"
            );
            let text = format!("does not promise any more that it {}", told(&lost, was, is));
            self.change(Class::Breaking, text, Some(&advice));
        }
        if !gained.is_empty() {
            let text = format!("promises now that it {}", told(&gained, was, is));
            self.change(Class::Additive, text, None);
        }
    }
}

/// Returns the promises, and the hints behind them before and after the change.
fn told(promises: &[&Hint], was: Hints<'_>, is: Hints<'_>) -> String {
    let concerns = |hint: &Hint| {
        promises.iter().any(|it| it.name == hint.name || it.is_implied && hint.name == READ_ONLY)
    };
    let differs = |hint: &Hint| {
        was.said(hint.name).unwrap_or(hint.default) != is.said(hint.name).unwrap_or(hint.default)
    };
    let seen = HINTS
        .iter()
        .filter(|it| concerns(it) && differs(it))
        .map(|it| format!("`{}` was {} and is {} now", it.name, was.shown(it), is.shown(it)));
    let promised = list(promises.iter().map(|it| it.promise.to_owned()));
    format!("{promised}: {}", list(seen))
}

/// Joins the parts as in `a, b and c`.
fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}
