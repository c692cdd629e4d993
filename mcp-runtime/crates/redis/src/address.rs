//! Addresses of Redis: a server, the sentinels of a service, or the nodes of a cluster.

use std::time::Duration;

use redis::{
    Client, ConnectionInfo, IntoConnectionInfo as _, RedisResult, TlsMode,
    cluster::ClusterClient,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
    sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType},
};

/// End of the scheme of a URL for sentinels, after `redis` or `rediss`.
const SENTINEL: &str = "+sentinel://";

/// End of the scheme of a URL for a cluster.
const CLUSTER: &str = "+cluster://";

/// Idle time after which the system asks whether the machine at the other end of a connection is there. On Linux, it is also the time
/// without an answer after which the system closes the connection.
const LOST: Duration = Duration::from_secs(10);

/// Time between two such questions, if the machine does not answer.
const PROBE: Duration = Duration::from_secs(5);

/// Clients of the library, by the kind of the address.
pub(crate) enum Address {
    Server(Client),
    /// The client asks the sentinels for the current primary, of which the database with this number is used.
    Sentinel(tokio::sync::Mutex<SentinelClient>, i64),
    Cluster(ClusterClient, Vec<Client>),
}

impl Address {
    /// Parses a URL. Does not connect.
    ///
    /// # Errors
    /// Fails if the URL names no Redis. The error does not contain the URL, which may contain a password.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (is_secure, rest) = match url.strip_prefix("rediss") {
            Some(rest) => (true, rest),
            None => (false, url.strip_prefix("redis").unwrap_or_default()),
        };
        if is_secure {
            #[cfg(not(feature = "tls"))]
            return Err("a URL that begins with `rediss` needs the feature `tls`: run `cargo add mcp-runtime-redis --features tls`".to_owned());
            #[cfg(feature = "tls")]
            choose_cryptography();
        }
        let scheme = if is_secure { "rediss" } else { "redis" };
        if let Some(hosts) = rest.strip_prefix(CLUSTER) {
            return cluster(&nodes(scheme, hosts));
        }
        if let Some(rest) = rest.strip_prefix(SENTINEL) {
            return sentinel(scheme, rest);
        }
        open(url).map(Self::Server).map_err(text)
    }

    /// Returns the number of the database. A cluster has a single one.
    pub(crate) fn database(&self) -> i64 {
        match self {
            Self::Server(client) => client.get_connection_info().redis_settings().db(),
            Self::Sentinel(_, database) => *database,
            Self::Cluster(..) => 0,
        }
    }

    /// Returns a client for the server that accepts writes. In a cluster, returns a client for the node with this number, counted around.
    pub(crate) async fn client(&self, number: usize) -> RedisResult<Client> {
        match self {
            Self::Server(client) => Ok(client.clone()),
            Self::Sentinel(client, _) => client.lock().await.async_get_client().await,
            Self::Cluster(_, nodes) => Ok(nodes[number % nodes.len()].clone()),
        }
    }
}

fn text(why: redis::RedisError) -> String {
    why.to_string()
}

/// Returns the address of a cluster with these nodes.
fn cluster(nodes: &[String]) -> Result<Address, String> {
    // The library would repeat commands also after a connection has failed, when the server may have executed them.
    let cluster = ClusterClient::builder(nodes.iter().map(String::as_str));
    let cluster = cluster.retries(0).tcp_settings(tcp()).build().map_err(text)?;
    let clients: RedisResult<_> = nodes.iter().map(|node| open(node)).collect();
    Ok(Address::Cluster(cluster, clients.map_err(text)?))
}

/// Returns the address of a service that sentinels watch. `rest` is the URL after its scheme.
fn sentinel(scheme: &str, rest: &str) -> Result<Address, String> {
    let (hosts, service) = rest
        .split_once('/')
        .filter(|parts| !parts.1.is_empty())
        .ok_or("the name of the service is missing: `redis+sentinel://host:26379/service`")?;
    let (service, database) = service.split_once('/').unwrap_or((service, "0"));
    // User and password are those of Redis itself, as in a URL of a single server.
    let (login, hosts) = hosts.rsplit_once('@').unwrap_or(("", hosts));
    let separator = if login.is_empty() { "" } else { "@" };
    let primary = format!("{scheme}://{login}{separator}localhost/{database}");
    let primary: ConnectionInfo = primary.into_connection_info().map_err(text)?;
    let mut settings = SentinelNodeConnectionInfo::default()
        .set_redis_connection_info(primary.redis_settings().clone())
        .set_tcp_settings(tcp());
    if scheme == "rediss" {
        settings = settings.set_tls_mode(TlsMode::Secure);
    }
    let client = SentinelClient::build(
        nodes(scheme, hosts),
        // With the feature `tls` of the library, the parameter has another type.
        String::from(service),
        Some(settings),
        SentinelServerType::Master,
    );
    let database = primary.redis_settings().db();
    Ok(Address::Sentinel(tokio::sync::Mutex::new(client.map_err(text)?), database))
}

/// Returns the hosts of a URL with the path after them, without user, password and query.
pub(crate) fn hosts(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    rest.split_once('?').map_or(rest, |(hosts, _)| hosts).trim_end_matches('/')
}

/// Returns the settings of all connections. The library leaves all of them off.
fn tcp() -> TcpSettings {
    let probes = TcpKeepalive::new().with_time(LOST).with_interval(PROBE);
    let tcp = TcpSettings::default().set_nodelay(true).set_keepalive(probes);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let tcp = tcp.set_user_timeout(LOST);
    tcp
}

fn open(url: &str) -> RedisResult<Client> {
    Client::open(url.into_connection_info()?.set_tcp_settings(tcp()))
}

/// Chooses the cryptography of TLS connections, unless the program has chosen it. Without this choice, the crate `redis` panics at its first
/// connection if the dependencies of the program enable no cryptography or more than one.
#[cfg(feature = "tls")]
fn choose_cryptography() {
    use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

    if CryptoProvider::get_default().is_none() {
        // This fails only if another thread has installed a provider in the meantime, so the error is ignored.
        let _ = ring::default_provider().install_default();
    }
}

/// Returns the URLs of a list of hosts. A user and a password before the first host hold for all of them.
fn nodes(scheme: &str, hosts: &str) -> Vec<String> {
    let (login, hosts) = hosts.rsplit_once('@').unwrap_or(("", hosts));
    let separator = if login.is_empty() { "" } else { "@" };
    hosts.split(',').map(|host| format!("{scheme}://{login}{separator}{host}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_an_error_contain_no_password() {
        for (url, expected) in [
            ("redis://127.0.0.1:6379", "127.0.0.1:6379"),
            ("redis://ada:secret@example.com:6379/2?protocol=resp3", "example.com:6379/2"),
            ("redis+cluster://:p@ss@one:7000,two:7001/", "one:7000,two:7001"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(hosts(url), expected);
        }
    }

    #[test]
    fn each_kind_of_url_is_known() {
        let kind = |url: &str| match Address::parse(url) {
            Ok(Address::Server(_)) => "server".to_owned(),
            Ok(Address::Sentinel(..)) => "sentinel".to_owned(),
            Ok(Address::Cluster(_, nodes)) => format!("cluster of {}", nodes.len()),
            Err(why) => why,
        };
        assert_eq!(kind("redis://127.0.0.1:6379/3"), "server");
        assert_eq!(kind("redis+cluster://ada:pw@one:7000,two:7001"), "cluster of 2");
        assert_eq!(kind("redis+sentinel://one:26379,two:26379/mymaster/2"), "sentinel");
        assert!(kind("redis+sentinel://one:26379").contains("the name of the service is missing"));
        assert!(!kind("http://user:secret@example.com").contains("secret"));
        for (url, expected) in [
            ("rediss://example.com", "server"),
            ("rediss+cluster://ada:pw@one:7000", "cluster of 1"),
            ("rediss+sentinel://one:26379/mymaster", "sentinel"),
        ] {
            let expected = if cfg!(feature = "tls") { expected } else { "needs the feature `tls`" };
            assert!(kind(url).contains(expected), "{url}: {}", kind(url));
        }
    }
}
