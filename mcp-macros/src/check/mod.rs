//! Rules that need more than one token, which the parser of a single key cannot check.

mod form;
mod handlers;
mod keys;
mod params;
mod schema;
mod signature;
mod values;
mod variables;

use crate::errors::Errors;
use crate::item::Item;

pub(crate) use form::{borrows, check as form};
pub(crate) use handlers::{check as handlers, duplicates, shared};
pub(crate) use params::{is_borrowed_argument, refused_by_rustc, strip_groups};
pub(crate) use schema::check as schema;

/// Reports all mistakes of an item.
pub(crate) fn check(item: &Item<'_>, errors: &Errors) {
    keys::check(item, errors);
    signature::check(item, errors);
    params::check(item, errors);
    variables::check(item, errors);
}
