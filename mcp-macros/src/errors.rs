//! Collector for the mistakes in one item, so that the macro reports them together and in the order of the source.

use proc_macro2::{Span, TokenStream};
use std::cell::RefCell;
use std::fmt::Display;

/// Collects errors behind a shared reference, so that every phase can report errors and continue.
///
/// # Panics
/// Panics if it is dropped without [`finish`](Self::finish), because an unreported mistake is worse than a crash.
pub(crate) struct Errors {
    found: RefCell<Option<Vec<syn::Error>>>,
    offered: RefCell<TokenStream>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self { found: RefCell::new(Some(Vec::new())), offered: RefCell::default() }
    }

    pub(crate) fn at(&self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(found) = self.found.borrow_mut().as_mut() {
            found.extend(error.into_iter().map(reworded));
        }
    }

    /// Adds code with which an editor completes a key. It precedes the errors, because an editor looks for the key at the same place of the code
    /// with and without it, and an unknown key is an error.
    pub(crate) fn offer(&self, code: TokenStream) {
        self.offered.borrow_mut().extend(code);
    }

    /// Returns the value of a result, or collects its error.
    pub(crate) fn keep<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Ends the collection.
    ///
    /// # Errors
    /// If there were mistakes, returns one `compile_error!` for each. In an editor, fails without mistakes too if code was offered, and returns
    /// that code.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        let mut found = self.found.borrow_mut().take().unwrap_or_default();
        let mut all = self.offered.take();
        if found.is_empty() && all.is_empty() {
            return Ok(());
        }
        found.sort_by_key(|error| position(error.span()));
        // A key of `#[handlers]` is checked with each item that inherits it, so the same error may occur several times.
        found.dedup_by_key(|error| (position(error.span()), error.to_string()));
        all.extend(found.iter().map(syn::Error::to_compile_error));
        Err(all)
    }
}

/// Returns the error in the words of the author, who knows nothing of syn's features.
fn reworded(error: syn::Error) -> syn::Error {
    if error.to_string().starts_with("unsupported expression") {
        let message = "the macro cannot read this expression: give its value a name, as in `const LENGTH: usize = …;`, and write the name here";
        return syn::Error::new(error.span(), message);
    }
    error
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.found.get_mut().is_none() || std::thread::panicking(),
            "the errors of an item were dropped unread"
        );
    }
}

/// Returns the line and column of the span in the user's file. In tests, the position is the byte offset instead.
pub(crate) fn position(span: Span) -> (usize, usize) {
    if proc_macro::is_available() {
        let span = span.unwrap();
        return (span.line(), span.column());
    }
    #[cfg(test)]
    return (0, span.byte_range().start);
    #[cfg(not(test))]
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_in_source_order() {
        let tokens: Vec<_> = "first second".parse::<TokenStream>().unwrap().into_iter().collect();
        let errors = Errors::new();
        errors.at(tokens[1].span(), "two");
        errors.at(tokens[0].span(), "one");
        let text = errors.finish().unwrap_err().to_string();
        assert!(text.find("\"one\"").unwrap() < text.find("\"two\"").unwrap(), "{text}");
    }

    #[test]
    #[should_panic(expected = "dropped unread")]
    fn dropping_unread_errors_panics() {
        drop(Errors::new());
    }

    #[test]
    fn an_error_names_no_feature_of_syn() {
        let errors = Errors::new();
        errors.at(Span::call_site(), "unsupported expression; enable syn's features=[\"full\"]");
        let text = errors.finish().unwrap_err().to_string();
        assert!(text.contains("write the name here") && !text.contains("syn"), "{text}");
    }

    #[test]
    fn no_errors_are_no_errors() {
        assert!(Errors::new().finish().is_ok());
    }
}
