//! A user with a browser who logs in to a server on this machine and agrees to everything that a client asks for.

use std::{future::Future, net::SocketAddr, time::Duration};

use crate::http::{connection::Connection, head::Head};

const PATIENCE: Duration = crate::clock::LIMIT;

/// A whole response.
#[derive(Debug)]
pub struct Page {
    head: Head,
    /// Body of the response.
    pub text: String,
}

impl Page {
    /// Returns the status of the response.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Returns the text after each `before`, up to the next double quote.
    fn values(&self, before: &str) -> Vec<&str> {
        self.text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    fn hidden<'a>(&'a self, name: &'a str) -> (&'a str, &'a str) {
        let before = format!("name=\"{name}\" value=\"");
        let [value] = self.values(&before)[..] else { panic!("no {name}: {}", self.text) };
        (name, value)
    }

    /// Submits the form of this page with these fields and the origin of `url`, and returns the next page.
    fn submit(&self, url: &str, cookie: &str, fields: &[(&str, &str)]) -> Self {
        let origin = format!("http://{}", split(url).0);
        let headers = [
            ("Cookie", cookie),
            ("Origin", &*origin),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let bound = [self.hidden("pending"), self.hidden("ticket")];
        let fields = bound.iter().chain(fields);
        let form: Vec<_> =
            fields.map(|field| format!("{}={}", field.0, encoded(field.1))).collect();
        // The forms of all pages go to the URL of the first page, without its query.
        let action = url.split('?').next().unwrap_or(url);
        send("POST", action, &headers, &form.join("&"))
    }
}

/// Follows the pages of an authorization, allows every scope, and follows the redirect to the client, which also listens on this machine.
///
/// # Panics
///
/// When a page is not as expected, or the client does not answer the redirect with status 200.
pub fn log_in(url: &str, name: &str, password: &str) {
    let page = send("GET", url, &[], "");
    assert_eq!(page.head.status, 200, "{}", page.text);
    let cookie = page.head.get("set-cookie").expect("the authorization is bound to the browser");
    let cookie = cookie.split(';').next().unwrap_or_default();
    let entered = [("name", name), ("password", password), ("action", "login")];
    let page = page.submit(url, cookie, &entered);
    let mut agreed = vec![("action", "allow")];
    agreed.extend(page.values("name=\"scope\" value=\"").iter().map(|scope| ("scope", *scope)));
    let page = page.submit(url, cookie, &agreed);
    let back = page.head.get("location").unwrap_or_else(|| panic!("no redirect: {}", page.text));
    assert_eq!(send("GET", &back, &[], "").head.status, 200, "{back}");
}

/// Sends a request to a server on this machine, and reads the whole response.
///
/// # Panics
///
/// When there is no answer.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Page {
    let (host, path) = split(url);
    let address: SocketAddr = host.parse().expect("an address of this machine");
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()));
    block_on(async {
        let mut connection = Connection::open(address).await.expect("somebody listens there");
        connection.send(request.as_bytes(), PATIENCE).await.expect("the request is read");
        let head = connection.head(false, PATIENCE).await.expect("a response");
        let body = connection.body(PATIENCE).await.expect("a whole body");
        Page { head, text: String::from_utf8_lossy(&body).into_owned() }
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().expect("a runtime").block_on(future)
}

/// Splits an `http` URL into host and path.
fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("an http URL");
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Percent-encodes a value of a form.
fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

#[test]
fn forms_and_urls_are_understood() {
    assert_eq!(split("http://127.0.0.1:8000/a?b=http://c/"), ("127.0.0.1:8000", "/a?b=http://c/"));
    assert_eq!(split("http://127.0.0.1:8000"), ("127.0.0.1:8000", ""));
    assert_eq!(encoded("b & é-1"), "b%20%26%20%C3%A9-1");
    let text = r#"<input type="hidden" name="ticket" value="x">"#.to_owned();
    let page = Page { head: Head::default(), text };
    assert_eq!(page.hidden("ticket"), ("ticket", "x"));
}
