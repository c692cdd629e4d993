use std::sync::Arc;

use mcp_runtime_wire::Raw;

use super::{Dispatched, Dispatcher, Pending, Reference, texts};
use crate::{
    call::context::Caller,
    call::extract::{Arguments, Mode},
    catalog::{Entry, EntryKind, Snapshot},
    error::{Error, ErrorKind, shown},
    item::Completer,
    model::{Completion, Done, ListKind, OperationResult},
};

impl Dispatcher {
    pub(super) fn complete(
        &self,
        snapshot: &Snapshot,
        caller: Caller,
        reference: &Reference<'_>,
        argument: &str,
        typed: &str,
        given: Option<Raw<'_>>,
    ) -> Dispatched {
        let entry = match find(snapshot, reference) {
            Ok(entry) => entry,
            Err(error) => return Dispatched::Ready(Err(error)),
        };
        let Some(argument) = entry.arguments().iter().find(|it| it.name == argument) else {
            let text = format!("`{}` has no argument `{}`", entry.name, shown(argument));
            return Dispatched::failed(ErrorKind::InvalidParams, text);
        };
        let values: Vec<String> = match argument.completer {
            Some(Completer::Function(identity)) => {
                return match snapshot.completion(identity()) {
                    Some(function) => self.run_completion(function, caller, typed, given),
                    None => Dispatched::Ready(Err(Error::internal(
                        "the completion function is not registered",
                    ))),
                };
            }
            Some(Completer::Values(values)) => values.iter().map(|it| (*it).to_owned()).collect(),
            None => (argument.values)().into_iter().map(str::to_owned).collect(),
        };
        Dispatched::Ready(Ok(Done::Completion(matching(values, typed))))
    }

    fn run_completion(
        &self,
        function: &Arc<Entry>,
        caller: Caller,
        typed: &str,
        given: Option<Raw<'_>>,
    ) -> Dispatched {
        let given = match texts(given) {
            Ok(given) => given,
            Err(error) => return Dispatched::Ready(Err(error)),
        };
        let mode = Mode::Completion { text: typed };
        let filters = matches!(function.kind, EntryKind::Completion { takes_typed_text: true });
        match self.start(function, mode, Arguments::Text(given), caller, None) {
            Dispatched::Ready(answer) => Dispatched::Ready(filtered(answer, filters, typed)),
            Dispatched::Pending(pending) => {
                let context = pending.context().clone();
                let typed = typed.to_owned();
                let future = Box::pin(async move {
                    let answer = pending.await.unwrap_or_else(|| Err(Error::msg("cancelled")));
                    filtered(answer, filters, &typed)
                });
                Dispatched::Pending(Pending::bare(future, context, self.settings))
            }
        }
    }
}

pub(super) fn find<'a>(
    snapshot: &'a Snapshot,
    reference: &Reference<'_>,
) -> Result<&'a Arc<Entry>, Error> {
    match reference {
        Reference::Prompt(name) => snapshot
            .find(ListKind::Prompts, name)
            .ok_or_else(|| Error::invalid_params(format_args!("unknown prompt `{}`", shown(name)))),
        Reference::Resource(uri) => snapshot
            .find(ListKind::Templates, uri)
            .or_else(|| snapshot.find(ListKind::Resources, uri))
            .or_else(|| {
                let matches = |it: &&Arc<Entry>| {
                    it.resource()
                        .and_then(|it| it.template.as_ref())
                        .is_some_and(|it| it.matches(uri).is_some())
                };
                snapshot.list(ListKind::Templates).iter().find(matches)
            })
            .ok_or_else(|| {
                Error::invalid_params(format_args!("no template is or matches `{}`", shown(uri)))
            }),
    }
}

/// Filters the values of a completion function by the typed text. A function that took the text (`already`) or returned a total has
/// filtered them itself, perhaps better.
fn filtered(answer: OperationResult, already: bool, typed: &str) -> OperationResult {
    match answer {
        Ok(Done::Completion(found)) if !already && found.total.is_none() => {
            Ok(Done::Completion(matching(found.values, typed)))
        }
        other => other,
    }
}

/// Returns the values that begin with the typed text, then those that contain it, without regard to case.
fn matching(values: Vec<String>, typed: &str) -> Completion {
    let typed = typed.to_lowercase();
    let (mut first, mut then) = (Vec::new(), Vec::new());
    for value in values {
        match value.to_lowercase().find(&typed) {
            Some(0) => first.push(value),
            Some(_) => then.push(value),
            None => {}
        }
    }
    first.append(&mut then);
    Completion { values: first, total: None }
}

#[cfg(test)]
mod tests {
    use super::matching;

    #[test]
    fn prefixes_come_before_other_matches() {
        let values = ["Malta", "Guatemala", "mali", "Oslo"].map(str::to_owned).to_vec();
        assert_eq!(matching(values.clone(), "mal").values, ["Malta", "mali", "Guatemala"]);
        assert_eq!(matching(values, "").values.len(), 4);
    }
}
