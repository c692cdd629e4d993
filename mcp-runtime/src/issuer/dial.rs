//! TCP connection to the first of several addresses that answers (RFC 8305, "Happy Eyeballs").

use std::{collections::VecDeque, future::Future, io, net::SocketAddr, time::Duration};

use tokio::{
    net::TcpStream,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};

/// Time between the starts of two attempts, as long as neither fails (RFC 8305, section 5).
const DELAY: Duration = Duration::from_millis(250);

/// Maximum time of one attempt. It is long enough for the system to send a lost packet again, which it does after one second.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Maximum number of addresses that are tried, so that a name server cannot make this process open many sockets.
const MOST: usize = 8;

/// Resolver that finds the addresses of a host.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find the addresses of a host",
    label = "does not implement `Resolve`",
    note = "`SystemResolver` asks the operating system"
)]
pub trait Resolve: Send + Sync + 'static {
    /// Returns the addresses of a host, in the order in which to try them.
    ///
    /// # Errors
    /// Fails if the host is not known, or the resolver does not answer.
    fn resolve(
        &self,
        host: &str,
        port: u16,
    ) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;
}

/// Resolver of the operating system.
pub struct SystemResolver;

impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        tokio::net::lookup_host((host, port)).await.map(Iterator::collect)
    }
}

/// Connects to the address that answers first.
///
/// # Errors
/// Fails if `addresses` is empty or all attempts fail. The error is that of the attempt that failed last.
pub(super) async fn dial(addresses: Vec<SocketAddr>) -> Result<TcpStream, String> {
    race(addresses, TcpStream::connect).await
}

/// Runs connection attempts concurrently. Each attempt starts as soon as the previous one has failed, or has not succeeded within
/// [`DELAY`]. The first success cancels the other attempts.
async fn race<T, F>(
    addresses: Vec<SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<T, String>
where
    T: Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    let mut waiting: VecDeque<_> = interleaved(addresses).into_iter().take(MOST).collect();
    let mut attempts = JoinSet::new();
    let mut next_start = Instant::now();
    let mut problem = "it has no address".to_owned();
    loop {
        let is_due = attempts.is_empty() || next_start <= Instant::now();
        if let Some(address) = waiting.front().copied().filter(|_| is_due) {
            waiting.pop_front();
            let attempt = timeout(ATTEMPT, connect(address));
            attempts.spawn(async move {
                match attempt.await {
                    Ok(Ok(connected)) => Ok(connected),
                    Ok(Err(error)) => Err(format!("{address} does not answer: {error}")),
                    Err(_) => {
                        Err(format!("{address} does not answer within {} s", ATTEMPT.as_secs()))
                    }
                }
            });
            next_start = Instant::now() + DELAY;
            continue;
        }
        let ended = if waiting.is_empty() {
            attempts.join_next().await
        } else {
            match timeout_at(next_start, attempts.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            }
        };
        match ended {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(failed))) => problem = failed,
            Some(Err(error)) => problem = error.to_string(),
            None => return Err(problem),
        }
        // A failure starts the next attempt at once.
        next_start = Instant::now();
    }
}

/// Returns IPv6 and IPv4 addresses in turn, beginning with the family that the resolver prefers (RFC 8305, section 4).
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let prefers_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (preferred, others): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == prefers_v6);
    let (mut preferred, mut others) = (preferred.into_iter(), others.into_iter());
    let mut ordered = Vec::new();
    loop {
        let pair = [preferred.next(), others.next()];
        if pair == [None, None] {
            return ordered;
        }
        ordered.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Behaviour of an address in the tests.
    #[derive(Clone, Copy)]
    enum Host {
        /// Packets to this address are dropped.
        BlackHole,
        Refuses,
        Answers,
        AnswersAfter(Duration),
    }

    /// Runs [`race`] with these hosts, in the order in which the resolver returns them. Returns the winner, the duration of the race, and
    /// the order of the attempts.
    async fn check(hosts: &[(&str, Host)]) -> (Result<String, String>, Duration, Vec<String>) {
        let address = |text: &str| SocketAddr::new(text.parse().unwrap(), 443);
        let table: Vec<_> = hosts.iter().map(|(text, host)| (address(text), *host)).collect();
        let tried = Arc::new(Mutex::new(Vec::new()));
        let log = tried.clone();
        let connect = move |address: SocketAddr| {
            log.lock().unwrap().push(address.ip().to_string());
            let host = table.iter().find(|entry| entry.0 == address).unwrap().1;
            async move {
                match host {
                    Host::BlackHole => std::future::pending().await,
                    Host::Refuses => Err(io::ErrorKind::ConnectionRefused.into()),
                    Host::Answers => Ok(address.ip().to_string()),
                    Host::AnswersAfter(time) => {
                        tokio::time::sleep(time).await;
                        Ok(address.ip().to_string())
                    }
                }
            }
        };
        let from = Instant::now();
        let addresses = hosts.iter().map(|host| address(host.0)).collect();
        let connected = race(addresses, connect).await;
        let tried = tried.lock().unwrap().clone();
        (connected, from.elapsed(), tried)
    }

    #[tokio::test(start_paused = true)]
    async fn a_black_holed_address_delays_a_connection_by_a_quarter_of_a_second() {
        let hosts = [("2001:db8::1", Host::BlackHole), ("192.0.2.1", Host::Answers)];
        let (connected, took, tried) = check(&hosts).await;
        assert_eq!((connected.as_deref(), took), (Ok("192.0.2.1"), DELAY));
        assert_eq!(tried, ["2001:db8::1", "192.0.2.1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn families_of_addresses_are_tried_in_turn() {
        let (connected, took, tried) = check(&[
            ("2001:db8::1", Host::BlackHole),
            ("2001:db8::2", Host::BlackHole),
            ("2001:db8::3", Host::Answers),
            ("192.0.2.1", Host::BlackHole),
        ])
        .await;
        assert_eq!(connected.as_deref(), Ok("2001:db8::3"));
        assert_eq!(took, 3 * DELAY);
        assert_eq!(tried, ["2001:db8::1", "192.0.2.1", "2001:db8::2", "2001:db8::3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_starts_the_next_attempt_at_once() {
        let (connected, took, _) = check(&[
            ("192.0.2.1", Host::Refuses),
            ("192.0.2.2", Host::Refuses),
            ("192.0.2.3", Host::Answers),
        ])
        .await;
        assert_eq!((connected.as_deref(), took), (Ok("192.0.2.3"), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_is_slow_goes_on_beside_the_next() {
        let slow = Host::AnswersAfter(2 * DELAY - Duration::from_millis(1));
        let hosts = [("192.0.2.1", slow), ("192.0.2.2", Host::BlackHole)];
        let (connected, took, _) = check(&hosts).await;
        assert_eq!(connected.as_deref(), Ok("192.0.2.1"));
        assert!(took < 2 * DELAY, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_attempt_has_a_deadline_and_a_bound_of_addresses_holds() {
        let (connected, took, tried) = check(&[("192.0.2.1", Host::BlackHole)]).await;
        assert_eq!((connected.unwrap_err().contains("within 2 s"), took), (true, ATTEMPT));
        assert_eq!(tried.len(), 1);
        let many: Vec<_> = (1..=20).map(|number| format!("192.0.2.{number}")).collect();
        let hosts: Vec<_> = many.iter().map(|address| (&**address, Host::Refuses)).collect();
        let (connected, _, tried) = check(&hosts).await;
        assert!(connected.unwrap_err().contains("192.0.2.8:443 does not answer"));
        assert_eq!(tried.len(), MOST);
    }
}
