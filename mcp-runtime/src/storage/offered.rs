//! Stores that crates offer for an environment variable, collected as items are.

use std::{env, fmt, sync::Arc};

use super::interface::{Store, StoreError};

/// Store of the environment, with the name of its variable.
type NamedStore = (&'static str, Arc<dyn Store>);

/// Store that a crate offers to servers without a store of their own. [`offer_store!`](crate::store::offer_store) registers it.
pub struct OfferedStore {
    /// Environment variable with the address.
    pub variable: &'static str,
    /// Creates the store for an address and the name of the server.
    pub create: fn(&str, &str) -> Arc<dyn Store>,
}

impl fmt::Debug for OfferedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfferedStore").field(&self.variable).finish()
    }
}

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
#[allow(missing_docs, reason = "public only for `offer_store!`")]
mod collected {
    use super::OfferedStore;

    #[linkme::distributed_slice]
    pub static MCP_RUNTIME_STORES_0: [OfferedStore];

    pub(super) fn all() -> impl Iterator<Item = &'static OfferedStore> {
        MCP_RUNTIME_STORES_0.iter()
    }
}

#[cfg(any(target_family = "wasm", feature = "inventory"))]
mod collected {
    use super::OfferedStore;

    inventory::collect!(OfferedStore);

    pub(super) fn all() -> impl Iterator<Item = &'static OfferedStore> {
        inventory::iter::<OfferedStore>()
    }
}

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use collected::MCP_RUNTIME_STORES_0;

/// Offers a store to the servers of each program that links this crate. A crate with a store calls this macro once.
///
/// A server without [`Builder::store`](crate::Builder::store) reads the environment variable when it starts. If the variable is set and not
/// empty, the server uses the store that the function creates from the value of the variable and the name of the server. The function does
/// no I/O: [`Store::open`](crate::store::Store::open) reports an address that is wrong or cannot be reached, and the server names the
/// variable in front of that error. A program whose environment sets the variables of two stores does not start.
///
/// The linker drops a crate that the program does not mention, together with its offer, so the program writes `use my_store as _;`.
///
/// ```
/// use mcp_runtime::store::{MemoryStore, offer_store};
///
/// offer_store!("MY_STORE_URL", |_url, _server| MemoryStore::new());
/// # fn main() {}
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __offer_store {
    ($variable:literal, $create:expr $(,)?) => {
        const _: () = {
            fn create(
                address: &::core::primitive::str,
                server: &::core::primitive::str,
            ) -> ::std::sync::Arc<dyn $crate::store::Store> {
                let create: fn(&::core::primitive::str, &::core::primitive::str) -> _ = $create;
                ::std::sync::Arc::new(create(address, server))
            }
            $crate::__submit_store!($crate::__private::OfferedStore {
                variable: $variable,
                create
            });
        };
    };
}

/// Adds a store to the distributed slice.
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_store {
    ($store:expr) => {
        #[$crate::__private::linkme::distributed_slice($crate::__private::MCP_RUNTIME_STORES_0)]
        #[linkme(crate = $crate::__private::linkme)]
        static STORE: $crate::__private::OfferedStore = $store;
    };
}

/// Submits a store to `inventory`.
#[cfg(any(target_family = "wasm", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __submit_store {
    ($store:expr) => {
        $crate::__private::inventory::submit! { $store }
    };
}

/// Returns the store whose environment variable is set, with the name of that variable.
///
/// # Errors
/// Fails if the variables of several stores are set, or if a value is not Unicode.
pub(crate) fn offered_store(server: &str) -> Result<Option<NamedStore>, StoreError> {
    let value = |variable: &str| match env::var(variable) {
        Err(env::VarError::NotUnicode(_)) => {
            Err(StoreError::failed(format_args!("`{variable}` is not valid Unicode")))
        }
        value => Ok(value.ok()),
    };
    let warn = |variable: &str| {
        tracing::warn!(
            "`{variable}` is empty, so this server does not share its store with others: set a URL, or unset the variable"
        );
    };
    choose(collected::all(), server, value, warn)
}

fn choose<'a>(
    offered: impl Iterator<Item = &'a OfferedStore>,
    server: &str,
    value: impl Fn(&str) -> Result<Option<String>, StoreError>,
    mut warn_of_empty: impl FnMut(&str),
) -> Result<Option<NamedStore>, StoreError> {
    let mut chosen: Option<(&OfferedStore, String)> = None;
    for store in offered {
        let Some(address) = value(store.variable)? else { continue };
        if address.is_empty() {
            warn_of_empty(store.variable);
            continue;
        }
        if let Some((other, _)) = chosen {
            return Err(StoreError::failed(format_args!(
                "`{}` and `{}` are both set, but a server has one store: unset one of them",
                other.variable, store.variable
            )));
        }
        chosen = Some((store, address));
    }
    Ok(chosen.map(|(store, address)| (store.variable, (store.create)(&address, server))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;

    /// Returns the outcome if the variables with these values are set.
    fn chosen(set: &[(&str, &str)]) -> Result<Option<&'static str>, String> {
        let offered = ["FIRST_URL", "SECOND_URL"].map(|variable| OfferedStore {
            variable,
            create: |address, server| {
                assert_eq!((address, server), ("one", "notes"));
                Arc::new(MemoryStore::new())
            },
        });
        let value = |variable: &str| {
            let found = set.iter().find(|(name, _)| *name == variable);
            Ok(found.map(|(_, value)| (*value).to_owned()))
        };
        let chosen = choose(offered.iter(), "notes", value, |_| ());
        chosen.map(|store| store.map(|store| store.0)).map_err(|why| why.to_string())
    }

    #[test]
    fn the_store_whose_variable_is_set_is_chosen() {
        assert_eq!(chosen(&[]), Ok(None));
        assert_eq!(chosen(&[("FIRST_URL", "")]), Ok(None));
        assert_eq!(chosen(&[("SECOND_URL", "one")]), Ok(Some("SECOND_URL")));
        assert_eq!(chosen(&[("FIRST_URL", "one"), ("SECOND_URL", "")]), Ok(Some("FIRST_URL")));
        let why = chosen(&[("FIRST_URL", "one"), ("SECOND_URL", "two")]).unwrap_err();
        assert!(why.contains("`FIRST_URL` and `SECOND_URL` are both set"), "{why}");
    }
    #[test]
    fn an_empty_variable_is_reported() {
        let (mut empty, offered) = (Vec::new(), ["FIRST_URL", "SECOND_URL"]);
        let offered = offered
            .map(|variable| OfferedStore { variable, create: |_, _| Arc::new(MemoryStore::new()) });
        let value = |variable: &str| Ok((variable == "SECOND_URL").then(String::new));
        let chosen = choose(offered.iter(), "notes", value, |name| empty.push(name.to_owned()));
        assert!(chosen.unwrap().is_none());
        assert_eq!(empty, ["SECOND_URL"]);
    }
}
