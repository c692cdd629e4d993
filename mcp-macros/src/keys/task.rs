//! Whether calls of a tool may become tasks.

use super::number::Duration;
use super::tables::TASK;
use super::text::{Flag, literal};
use super::{Given, Value, keys, parenthesized};
use crate::errors::Errors;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Token};

keys! {
    /// `task`, `task = "required"`, or `task(required, later, ttl = "1h", poll = "2s")`.
    struct Task {
        required: Option<Given<Flag>>,
        later: Option<Given<Flag>>,
        ttl: Option<Given<Duration>>,
        poll: Option<Given<Duration>>,
    }
}

impl Value for Task {
    const USAGE: &'static str =
        "`, `task = \"required\"` or `task(required, later, ttl = \"1h\", poll = \"2s\")";

    fn read(key: &Ident, input: ParseStream<'_>, errors: &Errors) -> syn::Result<Self> {
        let mut task = Self::default();
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(task);
        }
        if input.peek(Token![=]) {
            let text: LitStr = literal::<Self>(key, input)?;
            match text.value().as_str() {
                "required" => {
                    task.required = Some(Given { key: key.clone(), value: Flag(true) });
                }
                "optional" => {}
                _ => {
                    let message = "write \"required\" when the call must be a task, or \"optional\" when it may be one";
                    return Err(syn::Error::new(text.span(), message));
                }
            }
            return Ok(task);
        }
        parenthesized::<Self, _>(key, input, |input| {
            super::read(&mut task, input, &TASK, errors);
            Ok(())
        })?;
        Ok(task)
    }
}
