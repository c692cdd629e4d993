//! A notebook for each user, behind a login: `cargo run --example notes -- --http`, and give `http://127.0.0.1:8000/mcp` to a client.
//!
//! The server is its own authorization server: the client registers itself, and a page asks who you are. There are two users, `ada` and
//! `bob`, whose passwords come from the environment (`NOTES_ADA`, `NOTES_BOB`) or are made up and printed. Over stdio there is no login,
//! and the notes are those of whoever runs it.

use std::{
    collections::BTreeMap,
    env,
    sync::{Mutex, PoisonError},
};

use mcp_runtime::{Auth, AuthorizationServer, Exit, LoginPage, LoginRequest, User, prelude::*};

/// A note.
#[data]
#[derive(Clone)]
struct Note {
    /// What it is read and deleted by
    id: u64,
    /// What it says
    text: String,
}

/// The notes of everybody, by their owners. Nobody's notes can be reached but through the caller's own name.
#[derive(Default)]
struct Notebook(Mutex<BTreeMap<String, Vec<Note>>>);

/// Who calls: over stdio there is nobody else.
fn owner(caller: Option<&Auth>, scope: &str) -> Result<String> {
    match caller {
        Some(caller) if !caller.has_scope(scope) => {
            Err(Error::msg(format!("you have not granted `{scope}` to this application")))
        }
        Some(caller) => Ok(caller.principal().to_owned()),
        None => Ok("local".to_owned()),
    }
}

#[server]
impl Notebook {
    fn of<T>(&self, owner: String, work: impl FnOnce(&mut Vec<Note>) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(all.entry(owner).or_default())
    }

    /// Writes a note down. Returns it with its id.
    #[tool(destructive = false, open_world = false)]
    fn add_note(
        &self,
        /// What it says
        #[arg(len(1..=10_000))]
        text: String,
        caller: Option<Auth>,
    ) -> Result<Json<Note>> {
        let owner = owner(caller.as_ref(), "notes:write")?;
        self.of(owner, |notes| {
            if notes.len() >= 1000 {
                return Err(Error::msg("the notebook is full: delete a note first"));
            }
            let note = Note { id: notes.last().map_or(1, |it| it.id + 1), text };
            notes.push(note.clone());
            Ok(Json(note))
        })
    }

    /// All of your notes, or those that say something.
    #[tool(read_only, open_world = false)]
    fn list_notes(
        &self,
        /// Only notes with this text in them
        containing: Option<String>,
        caller: Option<Auth>,
    ) -> Result<Json<Vec<Note>>> {
        let owner = owner(caller.as_ref(), "notes:read")?;
        let wanted = containing.unwrap_or_default().to_lowercase();
        let is_wanted = |it: &&Note| it.text.to_lowercase().contains(&wanted);
        Ok(Json(self.of(owner, |notes| notes.iter().filter(is_wanted).cloned().collect())))
    }

    /// Throws a note away.
    #[tool(idempotent, open_world = false)]
    fn delete_note(
        &self,
        /// Id of the note
        id: u64,
        caller: Option<Auth>,
    ) -> Result<String> {
        let owner = owner(caller.as_ref(), "notes:write")?;
        self.of(owner, |notes| {
            let before = notes.len();
            notes.retain(|it| it.id != id);
            let is_gone = notes.len() < before;
            Ok(if is_gone {
                format!("note {id} is gone")
            } else {
                format!("there was no note {id}")
            })
        })
    }

    /// One of your notes.
    #[resource("note://{id}", mime_type = "text/plain")]
    fn note(&self, id: u64, caller: Option<Auth>) -> Result<Option<String>> {
        let owner = owner(caller.as_ref(), "notes:read")?;
        Ok(self.of(owner, |notes| notes.iter().find(|it| it.id == id).map(|it| it.text.clone())))
    }

    /// Sums up what is in your notebook.
    #[prompt]
    fn sum_up(&self, caller: Option<Auth>) -> Result<String> {
        let owner = owner(caller.as_ref(), "notes:read")?;
        let texts = self.of(owner, |notes| {
            notes.iter().map(|it| format!("- {}\n", it.text)).collect::<String>()
        });
        Ok(format!("Sum up these notes in three sentences:\n{texts}"))
    }
}

/// The users and their passwords.
fn users() -> Vec<(String, String)> {
    let is_served = env::args().any(|it| it.starts_with("--http"));
    let password = |name: &str| {
        let variable = format!("NOTES_{}", name.to_uppercase());
        env::var(&variable).ok().filter(|it| !it.is_empty()).unwrap_or_else(|| {
            let mut bytes = [0; 10];
            getrandom::fill(&mut bytes).expect("the system gives random numbers");
            let made: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
            if is_served {
                eprintln!("notes: {name} has the password {made} (set {variable} for another one)");
            }
            made
        })
    };
    ["ada", "bob"].map(|it| (it.to_owned(), password(it))).into()
}

/// In a time that does not tell how much of it is right.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn main() -> Exit {
    let users = users();
    let login = move |request: LoginRequest| {
        let is_known =
            |it: &&(String, String)| it.0 == request.name() && is_same(&it.1, request.password());
        let user = users.iter().find(is_known).map(|it| User::new(&*it.0));
        async { user.ok_or(LoginPage::form().message("No user has this name and this password.")) }
    };
    let authorization = AuthorizationServer::new(login)
        .scope("notes:read", "Read your notes")
        .scope("notes:write", "Write and delete your notes");
    mcp_runtime::server!(
        title = "Notes",
        instructions = "The notebook of the user who has logged in."
    )
    .auth(authorization)
    .state(Notebook::default())
    .run()
}
