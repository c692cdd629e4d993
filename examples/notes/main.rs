//! A notebook for each user, behind a login: `cargo run -p example-notes -- --http`, and give `http://127.0.0.1:8000/mcp` to a client.
//!
//! The server is its own authorization server: the client registers itself, and a page asks the user to log in. There are two users, `ada`
//! and `bob`. Their passwords are settings (`NOTES_ADA`, `NOTES_BOB`), or are generated and printed. Over stdio there is no login: the
//! notes belong to the user who starts the program.
//!
//! By default everything is in memory. If the environment variable `NOTES_DB` names a file, the server keeps notes in that file and logins
//! beside it, so that a restart loses neither. `NOTES_URL` is the address of a public server: `https://notes.example.com`. Both are needed
//! before the server reads its options, so they are variables only.

use std::{
    env,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use mcp_runtime::{
    Exit,
    auth::{Auth, ProtectedResource},
    prelude::*,
    store::SqliteStore,
};
use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, User};
use rusqlite::{Connection, OptionalExtension as _, params};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS note (
        owner TEXT NOT NULL,
        id INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (owner, id)
    ) STRICT, WITHOUT ROWID;";

/// Maximum number of notes of one user.
const MOST: i64 = 1000;

#[config]
struct Config {
    /// Password of `ada`; without it, the server generates one
    #[config(secret)]
    ada: Option<String>,
    /// Password of `bob`; without it, the server generates one
    #[config(secret)]
    bob: Option<String>,
}

/// A note.
#[data]
struct Note {
    /// Id by which the note is read and deleted
    id: i64,
    /// Text of the note
    text: String,
}

/// Notes of all users. Every statement names the owner, so that no user reaches the notes of another.
struct Notebook(Mutex<Connection>);

/// Returns the principal of the caller. Over stdio there is a single caller, `local`.
fn owner(caller: Option<&Auth>) -> &str {
    caller.map_or("local", Auth::principal)
}

#[handlers]
impl Notebook {
    fn open(file: Option<&str>) -> Result<Self> {
        let connection = match file {
            Some(file) => Connection::open(file)?,
            None => Connection::open_in_memory()?,
        };
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(connection)))
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(work(&connection)?)
    }

    fn find(&self, owner: &str, containing: &str) -> Result<Vec<Note>> {
        let sql = "SELECT id, text FROM note WHERE owner = ?1 AND instr(lower(text), lower(?2)) ORDER BY id";
        self.with(|notes| {
            let mut rows = notes.prepare(sql)?;
            let read = rows.query_map([owner, containing], |row| {
                Ok(Note { id: row.get(0)?, text: row.get(1)? })
            })?;
            read.collect()
        })
    }

    /// Writes a note down. Returns it with its id.
    #[tool(destructive = false, open_world = false, blocking, scopes("notes:write"))]
    fn add_note(
        &self,
        /// Text of the note
        #[arg(len(1..=10_000))]
        text: String,
        caller: Option<Auth>,
    ) -> Result<Json<Note>> {
        let owner = owner(caller.as_ref());
        // Ids are counted for each owner, so that they do not reveal how much other users write.
        let sql = "INSERT INTO note (owner, id, text) SELECT ?1, coalesce(max(id), 0) + 1, ?2 FROM note WHERE owner = ?1
                   HAVING count(*) < ?3 RETURNING id";
        let added = params![owner, text, MOST];
        let id = self.with(|notes| notes.query_row(sql, added, |row| row.get(0)).optional())?;
        let id = id.ok_or_else(|| Error::msg("the notebook is full: delete a note first"))?;
        Ok(Json(Note { id, text }))
    }

    /// Lists your notes, or those that contain a text.
    #[tool(read_only, open_world = false, blocking, scopes("notes:read"))]
    fn list_notes(
        &self,
        /// Only notes with this text in them
        containing: Option<String>,
        caller: Option<Auth>,
    ) -> Result<Json<Vec<Note>>> {
        let owner = owner(caller.as_ref());
        self.find(owner, containing.as_deref().unwrap_or_default()).map(Json)
    }

    /// Throws a note away.
    #[tool(idempotent, open_world = false, blocking, scopes("notes:write"))]
    fn delete_note(
        &self,
        /// Id of the note
        id: i64,
        caller: Option<Auth>,
    ) -> Result<String> {
        let owner = owner(caller.as_ref());
        let sql = "DELETE FROM note WHERE owner = ?1 AND id = ?2";
        let gone = self.with(|notes| notes.execute(sql, params![owner, id]))?;
        Ok(if gone > 0 { format!("note {id} is gone") } else { format!("there was no note {id}") })
    }

    /// A note of yours.
    #[resource("note://{id}", mime_type = "text/plain", blocking, scopes("notes:read"))]
    fn note(&self, id: i64, caller: Option<Auth>) -> Result<Option<String>> {
        let owner = owner(caller.as_ref());
        let sql = "SELECT text FROM note WHERE owner = ?1 AND id = ?2";
        self.with(|notes| notes.query_row(sql, params![owner, id], |row| row.get(0)).optional())
    }

    /// Sums up what is in your notebook.
    #[prompt(blocking, scopes("notes:read"))]
    fn sum_up(&self, caller: Option<Auth>) -> Result<String> {
        let owner = owner(caller.as_ref());
        let notes = self.find(owner, "")?;
        let texts: String = notes.iter().map(|note| format!("- {}\n", note.text)).collect();
        Ok(format!("Sum up these notes in three sentences:\n{texts}"))
    }
}

/// Users with their passwords, from the start of the server on.
type Users = Arc<OnceLock<[(&'static str, String); 2]>>;

/// Returns the users and their passwords. Generated passwords are printed only over HTTP, because stdio has no login.
fn users(config: &Config) -> [(&'static str, String); 2] {
    let serves = |argument: String| argument.starts_with("--http") || argument == "playground";
    let is_served = env::args().any(serves);
    let password = |name: &str, given: &Option<String>| {
        given.clone().unwrap_or_else(|| {
            let mut bytes = [0; 10];
            getrandom::fill(&mut bytes).expect("the system provides random numbers");
            let made: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            if is_served {
                let variable = format!("NOTES_{}", name.to_uppercase());
                eprintln!("notes: {name} has the password {made} (set {variable} for another one)");
            }
            made
        })
    };
    [("ada", &config.ada), ("bob", &config.bob)].map(|(name, given)| (name, password(name, given)))
}

/// Compares two texts. If they have the same length, the time that this takes does not reveal where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn authorization(users: Users) -> AuthorizationServer {
    let login = move |request: LoginRequest| {
        let is_known = |user: &&(&str, String)| {
            user.0 == request.name() && is_same(&user.1, request.password())
        };
        let user = users.get().and_then(|users| users.iter().find(is_known));
        let user = user.map(|user| User::new(user.0));
        async { user.ok_or(LoginPage::form().message("No user has this name and this password.")) }
    };
    AuthorizationServer::new(login)
        .scope("notes:read", "Read your notes")
        .scope("notes:write", "Write and delete your notes")
}

fn main() -> Exit {
    let (file, url) = (env::var("NOTES_DB").ok(), env::var("NOTES_URL").ok());
    let accounts = Users::default();
    let mut authorization = authorization(accounts.clone());
    if let Some(url) = url {
        authorization = authorization.issuer(url);
    }
    let mut server =
        server!(title = "Notes", instructions = "The notebook of the user who has logged in.");
    if let Some(file) = &file {
        // Logins survive a restart too.
        server = server.store(SqliteStore::new(format!("{file}-logins")));
    }
    server
        // `list_beyond_scopes` shows the tools that change notes to every user. A client asks for the missing scope when it calls one of
        // them.
        .auth(
            ProtectedResource::from(authorization)
                .implies("notes:write", ["notes:read"])
                .list_beyond_scopes(),
        )
        .setup(async move |config: State<Config>| {
            accounts.get_or_init(|| users(&config));
            Notebook::open(file.as_deref())
        })
        .run()
}
