//! Somebody with a browser who logs in and agrees.

use std::{net::SocketAddr, time::Duration};

use support::http::{connection::Connection, head::Head};

const PATIENCE: Duration = Duration::from_secs(20);

/// A whole response.
pub(crate) struct Page {
    head: Head,
    pub(crate) text: String,
}

impl Page {
    /// The values that stand after this, as long as they are in quotes.
    fn values(&self, before: &str) -> Vec<&str> {
        self.text.split(before).skip(1).filter_map(|it| it.split('"').next()).collect()
    }

    fn hidden(&self, name: &str) -> String {
        let before = format!("name=\"{name}\" value=\"");
        let [value] = self.values(&before)[..] else { panic!("no {name}: {}", self.text) };
        format!("{name}={value}")
    }
}

/// Sends a request to a server of this machine.
pub(crate) async fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Page {
    let (host, path) = split(url);
    let address: SocketAddr = host.parse().expect("an address of this machine");
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()));
    let mut connection = Connection::open(address).await.expect("somebody listens there");
    connection.send(request.as_bytes(), PATIENCE).await.expect("the request is read");
    let head = connection.head(false, PATIENCE).await.expect("a response");
    let body = connection.body(PATIENCE).await.expect("a whole body");
    Page { head, text: String::from_utf8_lossy(&body).into_owned() }
}

/// Host and path of an `http` URL.
fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("an http URL");
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Follows the pages of an authorization to its end, and the redirect to whoever waits for it. Neither name nor password may need
/// to be encoded.
pub(crate) async fn log_in(url: &str, name: &str, password: &str) {
    let page = send("GET", url, &[], "").await;
    assert_eq!(page.head.status, 200, "{}", page.text);
    let cookie = page.head.get("set-cookie").expect("the authorization is bound to the browser");
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let origin = format!("http://{}", split(url).0);
    let authorize = format!("{origin}/authorize");
    let headers = [
        ("Cookie", &*cookie),
        ("Origin", &*origin),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ];
    let bound = |page: &Page| format!("{}&{}", page.hidden("pending"), page.hidden("ticket"));
    let entered = format!("{}&name={name}&password={password}&action=login", bound(&page));
    let page = send("POST", &authorize, &headers, &entered).await;
    let mut agreed = format!("{}&action=allow", bound(&page));
    for scope in page.values("name=\"scope\" value=\"") {
        agreed.extend(["&scope=", scope]);
    }
    let page = send("POST", &authorize, &headers, &agreed).await;
    let back = page.head.get("location").unwrap_or_else(|| panic!("no redirect: {}", page.text));
    assert_eq!(send("GET", &back, &[], "").await.head.status, 200, "{back}");
}
