//! Rules that concern several keys, or a key and the function. The parser of a single key cannot check them.

mod config;
mod handlers;
mod keys;
mod params;
mod signature;
mod types;

use crate::errors::Errors;
use crate::item::Item;

pub(crate) use config::config;
pub(crate) use handlers::{check as handlers, completions, duplicates, shared};
pub(crate) use params::refused_by_rustc;
pub(crate) use types::{data, form, schema};

/// Reports all mistakes of an item.
pub(crate) fn check(item: &Item<'_>, errors: &Errors) {
    keys::check(item, errors);
    signature::check(item, errors);
    params::check(item, errors);
    params::variables(item, errors);
}
