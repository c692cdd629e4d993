//! What people see. Everything that a client says of itself is text here and never markup; nothing runs, and nothing is loaded.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderValue, Response, StatusCode, header};
use ring::digest::{SHA256, digest};

use super::{
    authorize::Asked, core::Core, login::LoginPage, provider::Provider, redirect::Redirect,
    refusal::Refusal, reply::Reply, user::User, waiting::Held,
};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:1rem/1.5 system-ui,sans-serif;max-width:27rem;margin:3rem auto;padding:0 1rem}\
h1{font-size:1.4rem}b,dd{overflow-wrap:anywhere}\
dl{border:1px solid #8886;border-radius:.5rem;padding:.75rem 1rem}dt{opacity:.7;font-size:.85rem}dd{margin:0 0 .5rem}\
label{display:block;margin:.6rem 0}\
input:not([type=checkbox]){display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4rem .5rem}\
button{font:inherit;padding:.45rem 1.2rem;margin:.8rem .6rem 0 0}\
.message{border-left:4px solid #c33;padding-left:.75rem}";

/// A text as the content of an element or of an attribute in quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What turns the direction of writing around could make one name look like another.
            '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}' => {}
            it if it.is_control() => escaped.push(' '),
            it => escaped.push(it),
        }
    }
    escaped
}

/// What a page says of the one who asks.
pub(super) struct Shown {
    name: String,
    /// Who says so.
    origin: String,
    /// Where the browser goes.
    place: String,
    /// What the page must allow so that it gets there.
    source: String,
    /// What is to be thought of.
    warning: Option<&'static str>,
}

pub(super) fn source(asked: &Asked) -> Shown {
    let redirect = Redirect::parse(&asked.back.redirect);
    let known = redirect.map(|it| (it.place(), it.source(), it.warning()));
    let (place, source, warning) = known.unwrap_or_default();
    let client = &asked.client;
    // One that has nothing to be read in it would be a gap in a sentence of ours.
    let is_name = |it: &&str| it.chars().any(char::is_alphanumeric);
    let named = client.name.as_deref().map(str::trim).filter(is_name);
    let origin = match client.host() {
        Some(host) => format!("{host} says so"),
        None => "it says so itself; nobody has checked it".to_owned(),
    };
    let name = named.or(client.host()).unwrap_or("An unnamed application").to_owned();
    Shown { name, origin, place, source, warning }
}

fn html(status: StatusCode, body: String, policy: &str) -> Reply {
    let mut reply = Response::new(body.into_bytes());
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` a browser would hide from us that the form is our own: it says `Origin: null` then.
        (header::REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    reply
}

/// Forms may go nowhere but to us and, since browsers look at redirects too, to where the client waits.
fn policy(style: &str, forms: &str) -> String {
    format!(
        "default-src 'none'; {style}; form-action {forms}; frame-ancestors 'none'; base-uri 'none'"
    )
}

fn own_style() -> String {
    format!("style-src 'sha256-{}'", STANDARD.encode(digest(&SHA256, STYLE.as_bytes())))
}

fn framed(title: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{content}</body></html>"
    )
}

fn hidden(held: &Held) -> String {
    // Both are made of letters that mean nothing in HTML.
    let Held { id, ticket, .. } = held;
    format!(
        "<input type=\"hidden\" name=\"pending\" value=\"{id}\"><input type=\"hidden\" name=\"ticket\" value=\"{ticket}\">"
    )
}

/// A page with its `{{places}}` filled, in one go: what is filled in has no places.
fn filled(page: &str, fill: impl Fn(&str) -> String) -> String {
    let (first, rest) = page.split_once("{{").unwrap_or((page, ""));
    let mut filled = first.to_owned();
    for part in rest.split("{{") {
        match part.split_once("}}") {
            Some((name, text)) => filled.extend([&*fill(name), text]),
            None => filled.push_str(part),
        }
    }
    filled
}

/// Nothing can be done here.
pub(super) fn problem(core: &Core, refusal: &Refusal) -> Reply {
    let way = "Go back to the application that sent you here, and start again.";
    ended(core, refusal, way)
}

/// The same where the application can be told: at this URL, which is at this place.
pub(super) fn turned_back(core: &Core, refusal: &Refusal, url: &str, place: &str) -> Reply {
    let way = format!(
        "The application that sent you here asks for what it cannot get. <a href=\"{}\">Go to <b>{}</b></a> only if you have come from there.",
        escaped(url),
        escaped(place)
    );
    ended(core, refusal, &way)
}

/// `way` is markup.
fn ended(core: &Core, refusal: &Refusal, way: &str) -> Reply {
    let title = format!("{}: this does not work", core.name());
    let content = format!("<p class=\"message\">{}</p><p>{way}</p>", escaped(&refusal.why));
    let status = match refusal.status {
        StatusCode::UNAUTHORIZED => StatusCode::BAD_REQUEST,
        status => status,
    };
    html(status, framed(&title, &content), &policy(&own_style(), "'none'"))
}

/// The page on which somebody says who they are.
pub(super) fn login(core: &Core, held: &Held, shown: &Shown, page: &LoginPage) -> Reply {
    let forms = format!("'self' {}", shown.source);
    let message = page.message.as_deref().unwrap_or_default();
    let status = if message.is_empty() { StatusCode::OK } else { StatusCode::FORBIDDEN };
    if let Some(own) = &page.html {
        let own = filled(own, |name| match name {
            "server" => escaped(core.name()),
            "client" => escaped(&shown.name),
            "message" => escaped(message),
            "hidden" => hidden(held),
            _ => String::new(),
        });
        return html(status, own, &policy("style-src 'unsafe-inline'; img-src data:", &forms));
    }
    let message = match message {
        "" => String::new(),
        said => format!("<p class=\"message\" role=\"alert\">{}</p>", escaped(said)),
    };
    let content = format!(
        "<p><b>{}</b> wants to use it for you.</p>{message}\
         <form method=\"post\" action=\"authorize\">{}\
         <label>Name <input name=\"name\" autocomplete=\"username\" autocapitalize=\"none\" required autofocus></label>\
         <label>Password <input name=\"password\" type=\"password\" autocomplete=\"current-password\" required></label>\
         <button name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"deny\" formnovalidate>Cancel</button></form>",
        escaped(&shown.name),
        hidden(held)
    );
    let title = format!("Log in to {}", core.name());
    html(status, framed(&title, &content), &policy(&own_style(), &forms))
}

/// Whom a page asks.
pub(super) enum Who<'a> {
    /// Somebody who has logged in.
    User(&'a User),
    /// Somebody whom another provider knows.
    Elsewhere(&'a Provider),
}

/// The page on which a user decides.
pub(super) fn consent(core: &Core, held: &Held, asked: &Asked, who: &Who<'_>) -> Reply {
    let shown = source(asked);
    let mut scopes = String::new();
    let may = |scope: &str| match who {
        Who::User(user) => user.may(scope),
        Who::Elsewhere(_) => true,
    };
    for scope in asked.scopes.iter().filter(|it| may(it)) {
        let _ = write!(
            scopes,
            "<label><input type=\"checkbox\" name=\"scope\" value=\"{}\" checked> {}</label>",
            escaped(scope),
            escaped(core.words(scope))
        );
    }
    if scopes.is_empty() {
        scopes.push_str("<p>Use this server in your name.</p>");
    }
    let (introduction, further) = match who {
        Who::User(user) => (
            format!("<p>You are logged in as <b>{}</b>.</p>", escaped(user.shown())),
            String::new(),
        ),
        Who::Elsewhere(provider) => (
            format!(
                "<p>To go on you log in at <b>{}</b>, which is asked for: {}.</p>",
                escaped(provider.place()),
                escaped(&provider.scopes())
            ),
            // Browsers look at all redirects of a form, and a provider leads through hosts that nobody here knows.
            format!(" https: {}", provider.source()),
        ),
    };
    let warning = shown.warning.map(|it| format!("<p class=\"message\">{it}</p>"));
    let content = format!(
        "{introduction}\
         <dl><dt>Application</dt><dd><b>{}</b> ({})</dd><dt>You will be sent to</dt><dd>{}</dd></dl>{}\
         <form method=\"post\" action=\"authorize\">{}<p>It may:</p>{scopes}\
         <button name=\"action\" value=\"allow\">Allow</button>\
         <button name=\"action\" value=\"deny\">Deny</button></form>",
        escaped(&shown.name),
        escaped(&shown.origin),
        escaped(&shown.place),
        warning.unwrap_or_default(),
        hidden(held),
    );
    let title = format!("Let an application use {}?", core.name());
    let forms = format!("'self' {}{further}", shown.source);
    html(StatusCode::OK, framed(&title, &content), &policy(&own_style(), &forms))
}
