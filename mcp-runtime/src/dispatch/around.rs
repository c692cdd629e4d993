use std::{fmt, future::Future, pin::Pin, sync::Arc};

use mcp_runtime_wire::Raw;

use super::{Dispatched, Dispatcher, Pending, Reference, Request};
use crate::{
    call::context::{Caller, Context},
    catalog::Snapshot,
    error::Error,
    model::{ListKind, Operation, Outcome},
    unwind::{self, Panicked},
};

type OutcomeFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Function that runs around every operation.
#[derive(Clone)]
pub(crate) struct Around(Arc<dyn Fn(OperationCall, Next) -> OutcomeFuture + Send + Sync>);

/// Operation that is passed to the function of [`around`](crate::Builder::around), with its context.
#[derive(Debug)]
pub struct OperationCall {
    operation: Operation,
    context: Context,
}

impl OperationCall {
    /// Returns the requested operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the context of the operation: its caller and the server's state.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// Continuation of an operation: [`run`](Self::run) it to get the outcome, or answer with [`Outcome::failed`] instead.
pub struct Next {
    dispatcher: Arc<Dispatcher>,
    snapshot: Arc<Snapshot>,
    caller: Caller,
    request: Owned,
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

impl Next {
    /// Runs the operation and returns its outcome.
    pub async fn run(self, call: OperationCall) -> Outcome {
        drop(call);
        match self.dispatcher.run(&self.snapshot, None, self.caller, self.request.borrow()) {
            Dispatched::Ready(answer) => Outcome(answer),
            Dispatched::Pending(pending) => {
                Outcome(pending.await.unwrap_or_else(|| Err(Error::msg("cancelled"))))
            }
        }
    }
}

impl Around {
    pub(crate) fn new<F, R>(around: F) -> Self
    where
        F: Fn(OperationCall, Next) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        Self(Arc::new(move |call, next| Box::pin(around(call, next))))
    }

    /// Calls the function of `around`. The `Next` that it gets runs the request.
    pub(super) fn start(
        &self,
        dispatcher: &Arc<Dispatcher>,
        snapshot: &Arc<Snapshot>,
        caller: Caller,
        request: Request<'_>,
    ) -> Dispatched {
        let context = Context::new(dispatcher.environment.clone(), caller.clone(), None);
        let call = OperationCall { operation: request.operation(), context: context.clone() };
        let next = Next {
            dispatcher: dispatcher.clone(),
            snapshot: snapshot.clone(),
            caller: Caller { outer: Some(context.clone()), ..caller },
            request: Owned::from(request),
        };
        let started = {
            let _scope = crate::call::context::enter(&context);
            unwind::catch(|| (self.0)(call, next))
        };
        match started {
            Ok(outcome) => Dispatched::Pending(Pending::bare(
                Box::pin(async move { outcome.await.0 }),
                context,
                dispatcher.settings,
            )),
            Err(Panicked) => Dispatched::Ready(Err(around_panicked())),
        }
    }
}

#[cold]
pub(super) fn around_panicked() -> Error {
    Error::internal("`around` panicked")
}

/// Owned copy of a request. The function of `around` may run its `Next` after the bytes of the message are gone.
enum Owned {
    List(ListKind, Option<String>),
    CallTool(String, Option<String>),
    ReadResource(String),
    GetPrompt(String, Option<String>),
    Complete {
        of_prompt: bool,
        target: String,
        argument: String,
        value: String,
        given: Option<String>,
    },
}

impl From<Request<'_>> for Owned {
    fn from(request: Request<'_>) -> Self {
        let text = |it: Option<Raw<'_>>| it.map(|it| it.as_str().to_owned());
        match request {
            Request::List { kind, cursor } => Self::List(kind, cursor.map(Into::into)),
            Request::CallTool { name, arguments } => {
                Self::CallTool(name.into(), text(arguments.map(|it| it.whole)))
            }
            Request::ReadResource { uri } => Self::ReadResource(uri.into()),
            Request::GetPrompt { name, arguments } => Self::GetPrompt(name.into(), text(arguments)),
            Request::Complete { reference, argument, value, given } => {
                let (of_prompt, target) = match reference {
                    Reference::Prompt(it) => (true, it.into()),
                    Reference::Resource(it) => (false, it.into()),
                };
                Self::Complete {
                    of_prompt,
                    target,
                    argument: argument.into(),
                    value: value.into(),
                    given: text(given),
                }
            }
        }
    }
}

impl Owned {
    fn borrow(&self) -> Request<'_> {
        fn raw(it: &Option<String>) -> Option<Raw<'_>> {
            it.as_deref().map(Raw::trusted)
        }
        match self {
            Self::List(kind, cursor) => {
                Request::List { kind: *kind, cursor: cursor.as_deref().map(Into::into) }
            }
            Self::CallTool(name, arguments) => {
                let arguments = raw(arguments).map(Into::into);
                Request::CallTool { name: name.into(), arguments }
            }
            Self::ReadResource(uri) => Request::ReadResource { uri: uri.into() },
            Self::GetPrompt(name, arguments) => {
                Request::GetPrompt { name: name.into(), arguments: raw(arguments) }
            }
            Self::Complete { of_prompt, target, argument, value, given } => Request::Complete {
                reference: if *of_prompt {
                    Reference::Prompt(target.into())
                } else {
                    Reference::Resource(target.into())
                },
                argument: argument.into(),
                value: value.into(),
                given: raw(given),
            },
        }
    }
}
