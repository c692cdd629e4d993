//! HTML pages for users. Data from a client is always escaped, so it is never interpreted as markup. Scripts do not run, and pages load no
//! external resources.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderValue, Response, StatusCode, header};
use ring::digest::{SHA256, digest};

use crate::{
    authorization_request::AuthorizationRequest,
    login::{LoginPage, User},
    oauth_error::OAuthError,
    pending::PageBinding,
    provider::Provider,
    redirect_uri::RedirectUri,
    response::{Reply, advise_retry},
    state::ServerState,
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

/// Escapes a text for the content of an HTML element or for a quoted attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Drops characters that change the text direction, because they could make one name look like a different one.
            '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}' => {}
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Description of a client, as pages show it.
pub(crate) struct ShownClient {
    name: String,
    /// Text that says where the name comes from: from the client's host, or from the client itself.
    origin: String,
    /// Description of the redirect URI for the user.
    destination: String,
    /// Source expression for `form-action` in the `Content-Security-Policy`, which allows a redirect to the destination.
    source: String,
    /// Warning about the destination.
    warning: Option<&'static str>,
}

impl ShownClient {
    /// Describes the client of an authorization.
    pub(crate) fn of(authorization: &AuthorizationRequest) -> Self {
        let redirect = RedirectUri::parse(&authorization.target.redirect);
        let described = redirect.map(|uri| (uri.destination(), uri.source(), uri.warning()));
        let (destination, source, warning) = described.unwrap_or_default();
        let client = &authorization.client;
        // A name without a letter or digit would leave a gap in the sentence on the page, so it counts as missing.
        let is_name = |name: &&str| name.chars().any(char::is_alphanumeric);
        let named = client.name.as_deref().map(str::trim).filter(is_name);
        let origin = match client.host() {
            Some(host) => format!("according to {host}"),
            None => "this name is not verified".to_owned(),
        };
        let name = named.or(client.host()).unwrap_or("An unnamed application").to_owned();
        Self { name, origin, destination, source, warning }
    }
}

/// Builds a response with a page.
fn html(status: StatusCode, body: String, policy: &str) -> Reply {
    let mut reply = Response::new(body.into_bytes());
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer`, browsers send `Origin: null`, so the server could not recognize its own form.
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

/// Builds the `Content-Security-Policy`. Forms may be sent only to the sources in `forms`. Browsers also check the redirects that follow,
/// so `forms` includes the client's redirect URI.
fn policy(style: &str, forms: &str) -> String {
    format!(
        "default-src 'none'; {style}; form-action {forms}; frame-ancestors 'none'; base-uri 'none'"
    )
}

/// Builds the `style-src` directive that allows the style of these pages.
fn own_style() -> String {
    format!("style-src 'sha256-{}'", STANDARD.encode(digest(&SHA256, STYLE.as_bytes())))
}

/// Builds a page with this title. `content` is markup.
fn framed(title: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{content}</body></html>"
    )
}

/// Builds the hidden fields of a form.
fn hidden(binding: &PageBinding) -> String {
    // The id and the ticket are base64url, which needs no escaping in HTML.
    let PageBinding { id, ticket, .. } = binding;
    format!(
        "<input type=\"hidden\" name=\"pending\" value=\"{id}\"><input type=\"hidden\" name=\"ticket\" value=\"{ticket}\">"
    )
}

/// Fills the `{{placeholders}}` of a page in one pass, so that inserted texts are not searched for placeholders.
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

/// Shows an error and asks the user to start again in the application.
pub(crate) fn problem(server: &ServerState, refusal: &OAuthError) -> Reply {
    let advice = "Go back to the application that sent you here, and start again.";
    error_page(server, refusal, advice)
}

/// Shows an error with a link to `url`, which reports the error to the application. `destination` is the text that describes where the link
/// leads.
pub(crate) fn rejected(
    server: &ServerState,
    refusal: &OAuthError,
    url: &str,
    destination: &str,
) -> Reply {
    let advice = format!(
        "The application that sent you here made a request that cannot be granted. <a href=\"{}\">Go to <b>{}</b></a> only if you came from there.",
        escaped(url),
        escaped(destination)
    );
    error_page(server, refusal, &advice)
}

/// Shows an error. `advice` is markup.
fn error_page(server: &ServerState, refusal: &OAuthError, advice: &str) -> Reply {
    let title = format!("{}: something went wrong", server.name());
    let content = format!("<p class=\"message\">{}</p><p>{advice}</p>", escaped(&refusal.why));
    let status = match refusal.status {
        StatusCode::UNAUTHORIZED => StatusCode::BAD_REQUEST,
        status => status,
    };
    let mut reply = html(status, framed(&title, &content), &policy(&own_style(), "'none'"));
    advise_retry(&mut reply);
    reply
}

/// Shows the login page.
pub(crate) fn login(
    server: &ServerState,
    binding: &PageBinding,
    shown: &ShownClient,
    page: &LoginPage,
) -> Reply {
    let forms = format!("'self' {}", shown.source);
    let message = page.message.as_deref().unwrap_or_default();
    let status = if message.is_empty() { StatusCode::OK } else { StatusCode::FORBIDDEN };
    if let Some(own) = &page.html {
        let own = filled(own, |name| match name {
            "server" => escaped(server.name()),
            "client" => escaped(&shown.name),
            "message" => escaped(message),
            "hidden" => hidden(binding),
            _ => String::new(),
        });
        return html(status, own, &policy("style-src 'unsafe-inline'; img-src data:", &forms));
    }
    let message = match message {
        "" => String::new(),
        said => format!("<p class=\"message\" role=\"alert\">{}</p>", escaped(said)),
    };
    let content = format!(
        "<p><b>{}</b> wants to use this server on your behalf.</p>{message}\
         <form method=\"post\" action=\"authorize\">{}\
         <label>Name <input name=\"name\" autocomplete=\"username\" autocapitalize=\"none\" required autofocus></label>\
         <label>Password <input name=\"password\" type=\"password\" autocomplete=\"current-password\" required></label>\
         <button name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"deny\" formnovalidate>Cancel</button></form>",
        escaped(&shown.name),
        hidden(binding)
    );
    let title = format!("Log in to {}", server.name());
    html(status, framed(&title, &content), &policy(&own_style(), &forms))
}

/// User whom a consent page addresses.
pub(crate) enum ConsentUser<'a> {
    /// User who has logged in here.
    LoggedIn(&'a User),
    /// User who will log in at this upstream provider.
    AtProvider(&'a Provider),
}

/// Shows the consent page, on which the user decides.
pub(crate) fn consent(
    server: &ServerState,
    binding: &PageBinding,
    authorization: &AuthorizationRequest,
    user: &ConsentUser<'_>,
) -> Reply {
    let shown = ShownClient::of(authorization);
    let mut scopes = String::new();
    let may = |scope: &str| match user {
        ConsentUser::LoggedIn(user) => user.may(scope),
        ConsentUser::AtProvider(_) => true,
    };
    for scope in authorization.scopes.iter().filter(|scope| may(scope)) {
        let _ = write!(
            scopes,
            "<label><input type=\"checkbox\" name=\"scope\" value=\"{}\" checked> {}</label>",
            escaped(scope),
            escaped(server.description(scope))
        );
    }
    if scopes.is_empty() {
        scopes.push_str("<p>Use this server on your behalf.</p>");
    }
    let (introduction, further) = match user {
        ConsentUser::LoggedIn(user) => (
            format!("<p>You are logged in as <b>{}</b>.</p>", escaped(user.shown())),
            String::new(),
        ),
        ConsentUser::AtProvider(provider) => (
            format!(
                "<p>You will continue at <b>{}</b> to log in. This server requests these scopes there: {}.</p>",
                escaped(provider.display_name()),
                escaped(&provider.scopes())
            ),
            // Browsers check all redirects of a form, and a provider may redirect through hosts that are unknown here, so every `https`
            // host is allowed.
            format!(" https: {}", provider.source()),
        ),
    };
    let warning = shown.warning.map(|warning| format!("<p class=\"message\">{warning}</p>"));
    let content = format!(
        "{introduction}\
         <dl><dt>Application</dt><dd><b>{}</b> ({})</dd><dt>You will be sent to</dt><dd>{}</dd></dl>{}\
         <form method=\"post\" action=\"authorize\">{}<p>It may:</p>{scopes}\
         <button name=\"action\" value=\"allow\">Allow</button>\
         <button name=\"action\" value=\"deny\">Deny</button></form>",
        escaped(&shown.name),
        escaped(&shown.origin),
        escaped(&shown.destination),
        warning.unwrap_or_default(),
        hidden(binding),
    );
    let title = format!("Let an application use {}?", server.name());
    let forms = format!("'self' {}{further}", shown.source);
    html(StatusCode::OK, framed(&title, &content), &policy(&own_style(), &forms))
}
