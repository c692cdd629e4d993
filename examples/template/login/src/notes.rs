//! The notebook of each user, in memory.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_runtime::{auth::Auth, prelude::*};

/// Notes by the name of their owner.
#[derive(Default)]
pub(crate) struct Notes(Mutex<BTreeMap<String, Vec<String>>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the caller. Over stdio there is no login: the notes belong to the user who has started the program.
fn owner(caller: Option<&Auth>) -> &str {
    caller.map_or("local", Auth::principal)
}

#[handlers]
impl Notes {
    /// Adds a note, and returns its number.
    // The comment above is the description that models read. `scopes` names what the user must have allowed on the login page.
    #[tool(destructive = false, open_world = false, scopes("notes:write"))]
    fn add_note(
        &self,
        /// Text of the note
        #[arg(len(1..=1000))]
        text: String,
        caller: Option<Auth>,
    ) -> Result<usize> {
        let mut notes = self.lock();
        let own = notes.entry(owner(caller.as_ref()).to_owned()).or_default();
        if own.len() == 100 {
            return Err(Error::msg("the notebook is full"));
        }
        own.push(text);
        Ok(own.len())
    }

    /// A note of the caller.
    // A client reads a resource by its URI, such as `notes://1`. `None` means that there is no such resource.
    #[resource("notes://{number}", scopes("notes:read"))]
    fn note(&self, number: usize, caller: Option<Auth>) -> Option<String> {
        let notes = self.lock();
        let own = notes.get(owner(caller.as_ref()))?;
        own.get(number.checked_sub(1)?).cloned()
    }
}
