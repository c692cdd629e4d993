//! Browser that acts like a user on the pages of an authorization server, and an OAuth client that sends the browser there.

use std::{fmt::Write as _, net::SocketAddr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::client::{Reply, Request};

pub(crate) const CALLBACK: &str = "http://127.0.0.1:4711/callback";

pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

const FORM: &str = "application/x-www-form-urlencoded";

pub(crate) type Fields<'a> = &'a [(&'a str, &'a str)];

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte as char);
            }
            _ => write!(encoded, "%{byte:02X}").unwrap(),
        }
    }
    encoded
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits = |rest: &mut std::str::Bytes<'_>| {
            let pair = [rest.next().unwrap(), rest.next().unwrap()];
            u8::from_str_radix(str::from_utf8(&pair).unwrap(), 16).unwrap()
        };
        bytes.push(if byte == b'%' { digits(&mut rest) } else { byte });
    }
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
    pairs.map(|pair| (decoded(pair.0), decoded(pair.1))).collect()
}

pub(crate) fn form(fields: Fields<'_>) -> String {
    let pairs: Vec<_> =
        fields.iter().map(|field| format!("{}={}", field.0, encoded(field.1))).collect();
    pairs.join("&")
}

/// Returns `fields` with changes: each field of `but` replaces all fields of the same name. A field with an empty value only removes the
/// other fields.
pub(crate) fn but<'a>(fields: Fields<'a>, but: Fields<'a>) -> Vec<(&'a str, &'a str)> {
    let others = fields.iter().filter(|field| but.iter().all(|but| but.0 != field.0));
    others.chain(but.iter().filter(|field| !field.1.is_empty())).copied().collect()
}

/// Redirect to the redirect URI of a client.
#[derive(Debug)]
pub(crate) struct Back {
    pub(crate) url: String,
    parameters: Vec<(String, String)>,
}

impl Back {
    #[track_caller]
    pub(crate) fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status(), 303, "{reply:?} {}", text(reply));
        let location = reply.head.get("location").unwrap();
        let (url, query) = location.split_once('?').unwrap();
        Self { url: url.to_owned(), parameters: parameters(query) }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.parameters.iter().filter(|parameter| parameter.0 == name);
        let first = named.next().map(|parameter| &*parameter.1);
        assert!(named.next().is_none(), "{self:?}");
        first
    }

    #[track_caller]
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.get("error"), None, "{self:?}");
        self.get("code").unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn check_error(&self, error: &str) {
        assert_eq!((self.get("error"), self.get("code")), (Some(error), None), "{self:?}");
    }
}

pub(crate) fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

/// A client that has registered itself.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) host: String,
    pub(crate) id: String,
}

/// Returns the registration of a client that has no secret and uses refresh tokens.
pub(crate) fn registration() -> Value {
    json!({
        "client_name": "Suite",
        "redirect_uris": [CALLBACK, "https://app.example/callback?from=us"],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    })
}

pub(crate) async fn register(address: SocketAddr, said: &Value) -> Reply {
    Request::sending("/register", "application/json", said.to_string()).ask(address).await
}

impl Client {
    pub(crate) async fn register(address: SocketAddr) -> Self {
        let reply = register(address, &registration()).await;
        assert_eq!(reply.status(), 201, "{}", text(&reply));
        let id = reply.json()["client_id"].as_str().unwrap().to_owned();
        Self { address, host: "localhost".to_owned(), id }
    }

    pub(crate) fn resource(&self) -> String {
        format!("http://{}/mcp", self.host)
    }

    /// Returns the path of the authorization request. `other` replaces parameters, see [`but`].
    pub(crate) fn authorize(&self, other: Fields<'_>) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
        let resource = self.resource();
        let usual = [
            ("response_type", "code"),
            ("client_id", &*self.id),
            ("redirect_uri", CALLBACK),
            ("state", "s t&=/ü"),
            ("scope", "notes:read notes:write"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
        ];
        format!("/authorize?{}", form(&but(&usual, other)))
    }

    pub(crate) async fn token(&self, fields: Fields<'_>) -> Reply {
        self.post("/token", fields).await
    }

    pub(crate) async fn post(&self, path: &str, fields: Fields<'_>) -> Reply {
        Request::sending(path, FORM, form(fields)).host(&self.host).ask(self.address).await
    }

    pub(crate) async fn exchange(&self, code: &str, other: Fields<'_>) -> Reply {
        let usual = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("client_id", &*self.id),
            ("code_verifier", VERIFIER),
        ];
        self.token(&but(&usual, other)).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> Reply {
        let id = &*self.id;
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", id)];
        self.token(&fields).await
    }

    /// Runs the whole authorization flow, with a user who allows everything.
    pub(crate) async fn log_in(&self, name: &str) -> Tokens {
        let code = Browser::new(self).allow(name, &self.authorize(&[])).await.code();
        Tokens::of(&self.exchange(&code, &[]).await)
    }
}

/// Tokens that a client received.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) scope: String,
    pub(crate) expires_in: u64,
}

impl Tokens {
    #[track_caller]
    pub(crate) fn of(reply: &Reply) -> Self {
        let tokens = Self::of_any(reply);
        // Seconds may have passed since the tokens were issued.
        assert!((3540..=3600).contains(&tokens.expires_in), "{tokens:?}");
        tokens
    }

    /// Reads tokens that may have a shorter lifetime than the default.
    #[track_caller]
    pub(crate) fn of_any(reply: &Reply) -> Self {
        assert_eq!(reply.status(), 200, "{}", text(reply));
        let said = reply.json();
        assert_eq!(said["token_type"], "Bearer");
        assert_eq!(reply.head.get("cache-control").as_deref(), Some("no-store"));
        let get = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        Self {
            access: get("access_token"),
            refresh: get("refresh_token"),
            scope: get("scope"),
            expires_in: said["expires_in"].as_u64().unwrap(),
        }
    }
}

/// Browser that keeps cookies and fills in forms.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(crate) address: SocketAddr,
    pub(crate) host: String,
    pub(crate) cookies: Vec<(String, String)>,
    /// `Origin` header that is sent with a form.
    pub(crate) origin: Option<String>,
    /// `X-Forwarded-For` header, as a proxy adds it.
    pub(crate) forwarded_for: Option<String>,
}

/// A form that a page shows.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) pending: String,
    pub(crate) ticket: String,
    pub(crate) scopes: Vec<String>,
}

impl Page {
    #[track_caller]
    pub(crate) fn of(reply: &Reply) -> Self {
        let html = text(reply);
        let values = |name: &str| {
            let before = format!("name=\"{name}\" value=\"");
            let found = html.split(&*before).skip(1).map(|rest| rest.split('"').next().unwrap());
            found.map(str::to_owned).collect::<Vec<_>>()
        };
        let one = |name: &str| values(name).pop().unwrap_or_else(|| panic!("{name}: {html}"));
        Self { pending: one("pending"), ticket: one("ticket"), scopes: values("scope") }
    }
}

impl Browser {
    pub(crate) fn new(client: &Client) -> Self {
        let (address, host) = (client.address, client.host.clone());
        let origin = Some(format!("http://{host}"));
        Self { address, host, cookies: Vec::new(), origin, forwarded_for: None }
    }

    async fn send(&mut self, request: Request) -> Reply {
        let cookies: Vec<_> =
            self.cookies.iter().map(|cookie| format!("{}={}", cookie.0, cookie.1)).collect();
        let mut request = request.host(&self.host);
        if !cookies.is_empty() {
            request = request.header("Cookie", cookies.join("; "));
        }
        if let Some(said) = &self.forwarded_for {
            request = request.header("X-Forwarded-For", said.as_str());
        }
        let reply = request.ask(self.address).await;
        if let Some(cookie) = reply.head.get("set-cookie") {
            assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.retain(|cookie| cookie.0 != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        reply
    }

    pub(crate) async fn open(&mut self, path: &str) -> Reply {
        self.send(Request::new("GET", path)).await
    }

    pub(crate) async fn submit(&mut self, page: &Page, fields: Fields<'_>) -> Reply {
        let hidden = [("pending", &*page.pending), ("ticket", &*page.ticket)];
        let request = Request::sending("/authorize", FORM, form(&but(&hidden, fields)));
        let request = match &self.origin {
            Some(origin) => request.header("Origin", &**origin),
            None => request,
        };
        self.send(request).await
    }

    pub(crate) async fn log_in(&mut self, page: &Page, name: &str, password: &str) -> Reply {
        let fields = [("name", name), ("password", password), ("action", "login")];
        self.submit(page, &fields).await
    }

    /// Allows every scope that the page shows.
    pub(crate) async fn agree(&mut self, page: &Page) -> Reply {
        let mut fields = vec![("action", "allow")];
        fields.extend(page.scopes.iter().map(|scope| ("scope", &**scope)));
        self.submit(page, &fields).await
    }

    /// Opens the path of an authorization request, logs in and allows everything.
    pub(crate) async fn allow(&mut self, name: &str, path: &str) -> Back {
        let page = Page::of(&self.open(path).await);
        let page = Page::of(&self.log_in(&page, name, "right").await);
        Back::of(&self.agree(&page).await)
    }
}
