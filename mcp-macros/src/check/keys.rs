//! Rules for keys: keys that contradict each other, or that do not fit the function.

use crate::errors::{Errors, position};
use crate::item::{Item, Kind, Mode};
use crate::keys::Given;
use crate::keys::attributes::ItemKeys;
use crate::keys::nested::Task;
use crate::keys::text::Flag;

pub(super) fn check(item: &Item<'_>, errors: &Errors) {
    name(item, errors);
    contradictions(&item.keys, errors);
    mode(item, errors);
    task(item, errors);
    useless(item, errors);
}

/// Reports pairs of keys that exclude each other, and returns whether there are any.
pub(super) fn contradictions(keys: &ItemKeys, errors: &Errors) -> bool {
    let pairs = [
        (&keys.read_only, &keys.destructive, "a tool that only reads destroys nothing"),
        (&keys.strict, &keys.lenient, "one rejects what the other accepts"),
    ];
    let mut found = false;
    for (one, other, reason) in pairs {
        found |= contradiction(one.as_ref(), other.as_ref(), reason, errors);
    }
    found
}

/// Rejects names of tools that some clients or models do not accept (rule TOOLS-02).
fn name(item: &Item<'_>, errors: &Errors) {
    let (name, span) = item.name();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if item.kind == Kind::Tool && !(name.bytes().all(allowed) && (1..=128).contains(&name.len())) {
        let plain: String = name
            .trim()
            .chars()
            .map(|char| if char.is_ascii() && allowed(char as u8) { char } else { '_' })
            .collect();
        let fix = if item.keys.name.is_none() {
            "; set another name with `#[tool(name = \"…\")]`".to_owned()
        } else if plain.len() <= 128 {
            format!(": write `\"{plain}\"`")
        } else {
            String::new()
        };
        errors.at(
            span,
            format!("a tool's name is 1 to 128 letters (A-Z, a-z), digits, `_`, `-` and `.`{fix}"),
        );
    }
}

/// Reports two flags that exclude each other. The error points at the flag that comes second in the source.
fn contradiction(
    one: Option<&Given<Flag>>,
    other: Option<&Given<Flag>>,
    reason: &str,
    errors: &Errors,
) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    if !(one.value.0 && other.value.0) {
        return false;
    }
    let (first, second) =
        if position(one.span()) < position(other.span()) { (one, other) } else { (other, one) };
    errors.at(
        second.span(),
        format!(
            "`{}` contradicts `{}`, because {reason}: remove one of the two",
            second.key, first.key
        ),
    );
    true
}

fn mode(item: &Item<'_>, errors: &Errors) {
    let is_async = item.function.sig.asyncness.is_some();
    match &item.keys.blocking {
        Some(blocking) if is_async && blocking.value.0 => {
            let message = "`blocking` moves a plain `fn` to another thread, and an `async fn` waits with `.await`: remove `blocking`, and run code that blocks by `tokio::task::spawn_blocking`";
            errors.at(blocking.span(), message);
        }
        _ => {}
    }
    if let Some(timeout) = &item.keys.timeout
        && item.mode() == Mode::InPlace
    {
        let message = "`timeout` cannot end a plain `fn`, which runs in place and must return at once: add `blocking`, or make it `async`";
        errors.at(timeout.span(), message);
    }
    if let Some(task) = &item.keys.task
        && item.mode() == Mode::InPlace
    {
        let message = "`task` is for work that continues after the call, but a plain `fn` has returned by then: add `blocking`, or make it `async`";
        errors.at(task.span(), message);
    }
}

/// Reports a `poll` or `timeout` that is too long for the `ttl` of the task. A task expires after its `ttl`, even while it runs.
fn task(item: &Item<'_>, errors: &Errors) {
    let Some(Given { value: Task { ttl: Some(ttl), poll, .. }, .. }) = &item.keys.task else {
        return;
    };
    if let Some(poll) = poll
        && poll.value.0 >= ttl.value.0
    {
        let message = "the task expires before a client polls for the first time: make `poll` shorter than `ttl`";
        errors.at(poll.span(), message);
    }
    if let Some(timeout) = &item.keys.timeout
        && timeout.value.0 > ttl.value.0
    {
        let message = "a task expires after its `ttl`, so a longer `timeout` has no effect: make `ttl` at least as long, or remove `timeout`";
        errors.at(timeout.span(), message);
    }
}

/// Reports keys that have no effect or no valid meaning, because of another key or because of the function.
fn useless(item: &Item<'_>, errors: &Errors) {
    let keys = &item.keys;
    if let Some(size) = &keys.size
        && item.template.as_ref().is_some_and(|template| template.variables().next().is_some())
    {
        let message = "a template stands for many resources, whose sizes differ: remove `size`";
        errors.at(size.span(), message);
    }
    let guarded = keys.scopes.as_ref().map(Given::span).or(keys.auth.as_ref().map(Given::span));
    if let (Some(_), Some(cache)) = (guarded, &keys.cache)
        && let Some(public) = cache.value.public.as_ref().filter(|public| public.value.0)
    {
        let message =
            "a resource with `scopes` or `auth` must not be in a shared cache: remove `public`";
        errors.at(public.span(), message);
    }
    if let Some(single_use) = &keys.single_use
        && single_use.value.0
        && item.mode() == Mode::InPlace
    {
        let message = "`single_use` is for a call that waits for an answer from the user, but a plain `fn` cannot wait: make it `async`";
        errors.at(single_use.span(), message);
    }
}
