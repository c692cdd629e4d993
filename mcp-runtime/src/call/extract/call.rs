//! [`Call`]: reads the arguments for generated code, collects their problems, and runs the handler.

use std::{borrow::Cow, cell::Cell, future::Future};

use mcp_runtime_wire::{IndexedObject, Raw};

use crate::{
    call::{
        context::{Context, LazyContext},
        read::unknown::{UnknownMembers, unknown_argument},
    },
    error::{Error, truncated},
    model::{Done, OperationResult, ToolResult},
    unwind,
};

use futures_core::future::BoxFuture;

/// Call whose arguments are being read, with the problems found so far.
pub struct Call<'a> {
    pub(crate) mode: Mode<'a>,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) context: &'a LazyContext<'a>,
    pub(crate) names: &'a ArgumentNames,
    pub(crate) problems: Vec<String>,
    /// Unknown members of values inside the arguments.
    unknown: Option<Box<UnknownInside>>,
}

/// Unknown members of values inside the arguments, as described to the client.
#[derive(Default)]
struct UnknownInside {
    described: Vec<String>,
    /// Number of all such members.
    count: usize,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Returns the beginning of the text with which a tool refuses its arguments. The first problem follows it.
pub(crate) fn wrong_arguments(tool: &str) -> String {
    format!("The arguments of `{tool}` are wrong:\n- ")
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode<'a> {
    Tool {
        name: &'a str,
        strict: bool,
        lenient: bool,
    },
    Prompt {
        name: &'a str,
    },
    /// `misfit` is set to `true` if a variable does not fit its type. The dispatcher then looks for another template that matches the URI.
    Resource {
        uri: &'a str,
        misfit: &'a Cell<bool>,
    },
    /// Only checks whether the variables of a template fit their types. No handler runs.
    Fit {
        fits: &'a Cell<bool>,
    },
    Completion {
        text: &'a str,
    },
}

/// Names of an item's arguments.
#[derive(Default)]
pub(crate) struct ArgumentNames {
    /// Names of the arguments that have a parameter of their own.
    pub(crate) own: Vec<Cow<'static, str>>,
    /// Names of the fields of spread structs.
    pub(crate) spread: Vec<String>,
}

impl ArgumentNames {
    fn known(&self) -> Vec<&str> {
        self.own.iter().map(|name| &**name).chain(self.spread.iter().map(String::as_str)).collect()
    }
}

/// Arguments by name. `taken` marks the arguments that a parameter has read.
pub(crate) enum Arguments<'a> {
    /// Members as indexed by the parser. Bit `i` of `taken` is set when a parameter has read member `i`.
    Noted {
        members: &'a [Option<(&'a str, Raw<'a>)>],
        taken: u32,
    },
    Json(Vec<ArgumentMember<'a, Raw<'a>>>),
    Text(Vec<ArgumentMember<'a, Cow<'a, str>>>),
}

pub(crate) struct ArgumentMember<'a, V> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: V,
    pub(crate) taken: bool,
}

impl<'a, V> ArgumentMember<'a, V> {
    pub(crate) fn new(name: Cow<'a, str>, value: V) -> Self {
        Self { name, value, taken: false }
    }
}

impl<'a> Arguments<'a> {
    /// Creates the arguments from the members of an object.
    pub(crate) fn json(object: IndexedObject<'a>) -> Self {
        match object.members {
            Some(members) if members.len() <= 32 => Self::Noted { members, taken: 0 },
            _ => Self::Json(
                object
                    .whole
                    .members()
                    .map(|(name, value)| ArgumentMember::new(name, value))
                    .collect(),
            ),
        }
    }

    /// Returns the JSON arguments as a list, for code that needs all of them. `None` for text arguments.
    pub(crate) fn listed(&mut self) -> Option<&mut Vec<ArgumentMember<'a, Raw<'a>>>> {
        if let Self::Noted { members, taken } = *self {
            let all = members.iter().flatten().enumerate();
            let listed = |(at, (name, value)): (usize, &(&'a str, Raw<'a>))| ArgumentMember {
                name: Cow::Borrowed(*name),
                value: *value,
                taken: taken >> at & 1 == 1,
            };
            *self = Self::Json(all.map(listed).collect());
        }
        match self {
            Self::Json(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the JSON argument of this name, and marks it as taken. If several members have the name, the last one wins.
    fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        match self {
            Self::Noted { members, taken } => {
                let at = members
                    .iter()
                    .rposition(|member| member.is_some_and(|(own, _)| own == name))?;
                *taken |= 1 << at;
                members[at].map(|member| member.1)
            }
            Self::Json(members) => {
                let member = members.iter_mut().rfind(|member| member.name == name)?;
                member.taken = true;
                Some(member.value)
            }
            Self::Text(_) => None,
        }
    }

    /// Returns the names of the arguments that no parameter has read.
    fn unknown(&self) -> Vec<&str> {
        fn left<'s, V>(members: &'s [ArgumentMember<'_, V>]) -> Vec<&'s str> {
            members.iter().filter(|member| !member.taken).map(|member| &*member.name).collect()
        }
        match self {
            // Fast path for the usual case that all arguments have been read.
            Self::Noted { members, taken } if taken.count_ones() as usize == members.len() => {
                Vec::new()
            }
            Self::Noted { members, taken } => {
                let all = members.iter().flatten().enumerate();
                all.filter(|(at, _)| taken >> at & 1 == 0).map(|(_, member)| member.0).collect()
            }
            Self::Json(members) => left(members),
            Self::Text(members) => left(members),
        }
    }
}

/// Outcome of a generated function: the answer itself, or a future that resolves to the answer.
pub enum Running {
    Ready(OperationResult),
    Pending(BoxFuture<'static, OperationResult>),
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Pending(_) => "Pending",
        })
    }
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        mode: Mode<'a>,
        arguments: Arguments<'a>,
        names: &'a ArgumentNames,
        context: &'a LazyContext<'a>,
    ) -> Self {
        Self { mode, arguments, context, names, problems: Vec::new(), unknown: None }
    }

    /// Records a problem with an argument. Long texts are truncated, because error messages, including those of the author's types, may
    /// repeat the client's input.
    pub(crate) fn problem(&mut self, text: String) {
        self.problems.push(match truncated(&text, LONGEST_PROBLEM) {
            all if all.len() == text.len() => text,
            start => format!("{start}…"),
        });
    }

    /// Records the unknown members of a value. `base` is the name of the argument, and `text` the text that was read.
    #[cold]
    pub(crate) fn unknown_members(&mut self, base: &str, text: &str, members: &UnknownMembers) {
        if self.is_lenient() {
            return;
        }
        let inside = self.unknown.get_or_insert_default();
        let (count, described) = members.described(base, text);
        inside.count += count;
        inside.described.extend(described.take(MOST_UNKNOWN - inside.described.len()));
    }

    /// Returns the JSON argument of this name, and marks it as taken.
    pub(crate) fn json(&mut self, name: &str) -> Option<Raw<'a>> {
        self.arguments.take(name)
    }

    /// Returns the text argument of this name, and marks it as taken.
    pub(crate) fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let Arguments::Text(members) = &mut self.arguments else { return None };
        let member = members.iter_mut().rfind(|member| member.name == name)?;
        member.taken = true;
        Some(member.value.clone())
    }

    /// Returns the text that the user has typed so far, for a `#[completion]` function. Empty for other items.
    pub(crate) fn typed(&self) -> &'a str {
        match self.mode {
            Mode::Completion { text } => text,
            _ => "",
        }
    }

    /// Returns the separator of a list sent as one text: a slash for templates, a comma for prompts.
    pub(crate) fn list_separator(&self) -> char {
        if matches!(self.mode, Mode::Resource { .. } | Mode::Fit { .. }) { '/' } else { ',' }
    }

    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.mode, Mode::Tool { strict: true, .. })
    }

    /// Whether the call may have arguments that the item does not have.
    fn is_lenient(&self) -> bool {
        match self.mode {
            Mode::Tool { lenient, .. } => lenient,
            Mode::Prompt { .. } => false,
            // A resource has no unknown arguments. Its arguments are the variables of the template, and a variable without a parameter is a
            // compile error. A completion function takes only the arguments that it needs.
            Mode::Resource { .. } | Mode::Fit { .. } | Mode::Completion { .. } => true,
        }
    }

    /// Records unknown arguments as problems. Returns `true` if the handler can run: if there are no problems and the mode is not `Fit`.
    pub fn accept(&mut self) -> bool {
        if let Mode::Fit { fits } = self.mode {
            fits.set(self.problems.is_empty());
            return false;
        }
        if !self.is_lenient() {
            let unknown = self.arguments.unknown();
            if !unknown.is_empty() || self.unknown.is_some() {
                let known = self.names.known();
                let inside = self.unknown.take().unwrap_or_default();
                let count = unknown.len() + inside.count;
                let unknown = unknown.into_iter().map(|name| unknown_argument(name, name, &known));
                let mut texts: Vec<_> =
                    unknown.chain(inside.described).take(MOST_UNKNOWN).collect();
                if count > texts.len() {
                    texts.push(format!("and {} more unknown arguments", count - texts.len()));
                }
                texts.into_iter().for_each(|text| self.problem(text));
            }
        }
        self.problems.is_empty()
    }

    /// Returns the error for a call with wrong arguments.
    #[cold]
    pub fn refuse(self) -> Running {
        let list = self.problems.join("\n- ");
        Running::Ready(match self.mode {
            Mode::Tool { name, .. } => {
                Ok(Done::Tool(ToolResult::failure(wrong_arguments(name) + &list)))
            }
            Mode::Prompt { name } => Err(Error::invalid_params(format!(
                "wrong arguments for prompt `{name}`: {}",
                self.problems.join("; ")
            ))),
            // If a variable does not fit its type, the URI names no resource.
            Mode::Resource { uri, misfit } => {
                misfit.set(true);
                Err(Error::no_resource(uri))
            }
            Mode::Fit { .. } | Mode::Completion { .. } => Err(Error::invalid_params(list)),
        })
    }

    /// Runs a plain function on the current thread.
    pub fn ready(self, run: impl FnOnce(&LazyContext<'_>) -> OperationResult) -> Running {
        Running::Ready(run(self.context))
    }

    /// Returns the future of an `async` function.
    pub fn future<F>(self, run: impl FnOnce(Context) -> F) -> Running
    where
        F: Future<Output = OperationResult> + Send + 'static,
    {
        Running::Pending(Box::pin(run(self.context.get().clone())))
    }

    /// Runs a plain function on a thread for blocking work. The job keeps its permit and the call's share of the limits until the function
    /// returns, even if the call is cancelled or times out earlier.
    pub fn blocking(
        self,
        run: impl FnOnce(&Context) -> OperationResult + Send + 'static,
    ) -> Running {
        let context = self.context.get().clone();
        Running::Pending(Box::pin(async move {
            let Some(permit) = context.0.environment.blocking_permit() else {
                let max = context.0.environment.max_blocking();
                return Err(Error::msg(format!(
                    "the server is busy: {max} blocking calls are running; try again later"
                )));
            };
            let reservation = context.reservation();
            let job = move || {
                let _held = (permit, reservation);
                let _scope = crate::call::context::enter(&context);
                // Panics are caught on this thread, because tokio would wrap them in a `JoinError`.
                unwind::catch(|| run(&context))
            };
            match tokio::task::spawn_blocking(job).await {
                Ok(Ok(answer)) => answer,
                // Resumes with a marker. The original payload is gone: `unwind::catch` dropped it under its own guard, because the
                // payload's `Drop` could panic too.
                Ok(Err(panicked)) => std::panic::resume_unwind(Box::new(panicked)),
                Err(error) => Err(Error::internal(error)),
            }
        }))
    }
}

/// Maximum length of the problem of one argument, in characters.
const LONGEST_PROBLEM: usize = 1000;

/// Maximum number of unknown arguments that an error names. Further arguments are only counted.
const MOST_UNKNOWN: usize = 10;
