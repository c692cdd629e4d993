//! Proxy for TLS connections, configured by the environment variables that curl reads.

use std::net::IpAddr;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderValue, Request, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use mcp_runtime_contract::percent;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
};

use super::reachable::Target;

/// Variables that name the proxy. The first variable that is set is used.
const PROXY: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Variables that name hosts to connect to directly.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Proxy settings of the environment.
pub(super) struct ProxySettings {
    proxy: Option<Result<HttpProxy, String>>,
    /// Entries of `NO_PROXY`, in lower case.
    direct: Vec<String>,
}

/// HTTP proxy that opens tunnels (`CONNECT`, RFC 9110, section 9.3.6).
#[derive(Debug)]
pub(super) struct HttpProxy {
    pub(super) target: Target,
    authorization: Option<HeaderValue>,
}

impl ProxySettings {
    pub(super) fn from_environment() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the settings. `variable` returns the value of the variable with this name.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&'static str]| {
            let mut set = names.iter().filter_map(|name| Some((*name, variable(name)?)));
            set.find(|(_, value)| !value.trim().is_empty())
        };
        let proxy = first(&PROXY).map(|(name, value)| {
            // The error leaves out the value, which may contain a password.
            HttpProxy::parse(value.trim()).map_err(|why| format!("the variable `{name}` {why}"))
        });
        let direct = first(&NO_PROXY).map(|variable| variable.1).unwrap_or_default();
        let direct = direct.split([',', ' ']).filter(|entry| !entry.is_empty());
        Self { proxy, direct: direct.map(str::to_ascii_lowercase).collect() }
    }

    /// Returns the proxy for this target, or `None` for a direct connection. Loopback hosts are never reached through a proxy, because the
    /// proxy would connect to its own loopback interface.
    ///
    /// # Errors
    /// Fails if the environment variable does not contain the URL of a proxy.
    pub(super) fn find(&self, target: &Target) -> Result<Option<&HttpProxy>, String> {
        let Some(proxy) = &self.proxy else { return Ok(None) };
        if !target.has_tls
            || target.is_loopback()
            || self.direct.iter().any(|entry| is_direct(entry, target))
        {
            return Ok(None);
        }
        proxy.as_ref().map(Some).map_err(Clone::clone)
    }
}

/// Whether an entry of `NO_PROXY` matches this target. An entry is `*`, an address, a network, or a name with or without a port. A name
/// also matches its subdomains.
fn is_direct(entry: &str, target: &Target) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(address) = target.host.parse::<IpAddr>() {
        let entry = entry.trim_start_matches('[').trim_end_matches(']');
        return match entry.split_once('/') {
            Some((network, bits)) => is_in(address, network, bits),
            None => entry.parse() == Ok(address),
        };
    }
    let (name, port) = match entry.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (entry, None),
    };
    let name = name.strip_prefix('*').unwrap_or(name);
    let name = name.strip_prefix('.').unwrap_or(name);
    let is_below = || target.host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    port.is_none_or(|port| port.parse() == Ok(target.port)) && (target.host == name || is_below())
}

fn is_in(address: IpAddr, network: &str, bits: &str) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            (address.to_bits() ^ network.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            (address.to_bits() ^ network.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

impl HttpProxy {
    /// Parses the URL of a proxy.
    ///
    /// # Errors
    /// Fails if the text is not the URL of a proxy. The error shows the expected form.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || "is not a usable proxy: write `http://host:port` or `https://host:port`".to_owned();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let authorization = user.map(|user| {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let (name, password) = (percent::decode(name)?, percent::decode(password)?);
            let value = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        let authorization = match authorization {
            Some(None) => return Err(wrong()),
            Some(Some(value)) => Some(value),
            None => None,
        };
        let url = format!("{}://{host}", scheme.to_ascii_lowercase());
        let target = Target::parse(&url).map_err(|_| wrong())?;
        Ok(Self { target, authorization })
    }

    /// Opens a tunnel to `authority`, on a connection to this proxy.
    ///
    /// # Errors
    /// Fails if the proxy opens no tunnel.
    pub(super) async fn tunnel<S>(
        &self,
        stream: S,
        authority: &str,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<S>, String>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "the proxy {} did not open a tunnel to {authority}: {why}",
                self.target.authority
            )
        };
        let broke = |error: hyper::Error| failed(&error);
        let (mut sender, connection) =
            http1::handshake::<_, String>(TokioIo::new(stream)).await.map_err(broke)?;
        // Dropping the set at the end of this function aborts the tokio task that drives the connection. By then the tunnel has been taken
        // out of the connection.
        let mut driven = JoinSet::new();
        driven.spawn(connection.with_upgrades());
        let mut request = Request::connect(authority).header(header::HOST, authority);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::PROXY_AUTHORIZATION, authorization);
        }
        let request = request.body(String::new()).map_err(|error| failed(&error))?;
        let response = sender.send_request(request).await.map_err(broke)?;
        if !response.status().is_success() {
            return Err(failed(&format_args!("it responded with {}", response.status())));
        }
        hyper::upgrade::on(response).await.map(TokioIo::new).map_err(broke)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> ProxySettings {
        ProxySettings::read(|name| {
            let value = variables.iter().find(|variable| variable.0 == name)?.1;
            Some(value.to_owned())
        })
    }

    /// Returns the proxy for a URL, if there is one.
    fn found(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let (settings, target) = (settings(variables), Target::parse(url).unwrap());
        let proxy = settings.find(&target).unwrap();
        proxy.map(|proxy| format!("{}:{}", proxy.target.host, proxy.target.port))
    }

    #[test]
    fn the_environment_names_the_proxy() {
        let url = "https://login.example/x";
        for (variables, expected) in [
            (&[][..], None),
            (&[("HTTPS_PROXY", "http://proxy:3128")], Some("proxy:3128")),
            (&[("https_proxy", "proxy:3128/")], Some("proxy:3128")),
            (&[("HTTPS_PROXY", "https://user:p%40ss@Proxy")], Some("proxy:443")),
            (&[("ALL_PROXY", "http://[::1]:8080")], Some("::1:8080")),
            (&[("HTTPS_PROXY", " "), ("ALL_PROXY", "http://all")], Some("all:80")),
            (&[("HTTPS_PROXY", "http://upper"), ("https_proxy", "http://lower")], Some("lower:80")),
            // These variables apply to connections without TLS, which the server opens only to this machine, so it does not read them.
            (&[("HTTP_PROXY", "http://proxy:3128"), ("http_proxy", "http://proxy:3128")], None),
        ] {
            assert_eq!(found(variables, url).as_deref(), expected, "{variables:?}");
        }
        let sign_in = settings(&[("HTTPS_PROXY", "http://user:p%40ss@proxy")]);
        let proxy = sign_in.find(&Target::parse(url).unwrap()).unwrap().unwrap();
        assert_eq!(proxy.authorization.as_ref().unwrap(), "Basic dXNlcjpwQHNz");
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_an_error_without_its_password() {
        for wrong in ["socks5://secret:secret@proxy", "http://", "http://se%zzcret@proxy", "a b"] {
            let settings = settings(&[("HTTPS_PROXY", wrong)]);
            let why = settings.find(&Target::parse("https://a.example").unwrap()).unwrap_err();
            assert!(why.contains("`HTTPS_PROXY`") && why.contains("write `http://"), "{why}");
            assert!(!why.contains("cret"), "{why}");
            let local = Target::parse("http://localhost:1").unwrap();
            assert!(settings.find(&local).unwrap().is_none());
        }
    }

    #[test]
    fn hosts_of_no_proxy_are_asked_directly() {
        let check = |direct: &str, url: &str, expected: bool| {
            let variables = [("HTTPS_PROXY", "http://proxy:1"), ("NO_PROXY", direct)];
            assert_eq!(found(&variables, url).is_none(), expected, "{direct} {url}");
        };
        for local in ["https://localhost:1", "https://127.0.0.2", "https://[::1]"] {
            check("", local, true);
        }
        check("*", "https://a.example", true);
        for direct in ["example", ".example", "*.example", "x, EXAMPLE", "example:443", "x example"]
        {
            check(direct, "https://a.example", true);
        }
        for direct in ["", "xample", "b.example", "example:8443", "10.0.0.0/8", "a.example.org"] {
            check(direct, "https://a.example", false);
        }
        check(".example", "https://example", true);
        check("10.0.0.0/8", "https://10.255.0.1", true);
        check("10.0.0.7/8", "https://10.255.0.1", true);
        check("10.0.0.0/8", "https://11.0.0.1", false);
        check("10.0.0.1", "https://10.0.0.1", true);
        check("10.0.0.1", "https://10.0.0.2", false);
        check("0.0.0.0/0", "https://10.0.0.2", true);
        check("10.0.0.0/33", "https://10.0.0.0", false);
        check("[2001:db8::1]", "https://[2001:db8::1]", true);
        check("2001:db8::/32", "https://[2001:db8:1::]", true);
        check("2001:db8::/32", "https://[2001:db9::]", false);
        check("2001:db8::/32", "https://10.0.0.1", false);
    }
}
