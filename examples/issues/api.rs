//! Client of the tracker: a key for one host, time limits, retries and pages. The tracker answers these requests:
//!
//! | request | answer |
//! |---|---|
//! | `GET issues?state=open&label=bug&per_page=50` | a page of issues; `Link: <…>; rel="next"` names the next page |
//! | `GET issues/7` | an issue with its comments |
//! | `POST issues` | the new issue, or that of an earlier request with the same `Idempotency-Key` |
//! | `POST issues/7/comments` | the new comment; the tracker ignores `Idempotency-Key` here |

use std::{
    error, iter, mem,
    str::FromStr,
    time::{Duration, SystemTime},
};

use mcp_runtime::prelude::*;
use reqwest::{
    Client, Method, Request, RequestBuilder, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, LINK, RETRY_AFTER},
    redirect::Policy,
};
use serde::de::DeserializeOwned;

/// Maximum number of attempts, for requests that are safe to repeat.
const ATTEMPTS: u32 = 4;
/// Longest wait between two attempts. If the tracker asks for a longer one, the call fails at once and names it.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// Maximum number of bytes of an answer.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Header with which the tracker recognizes a repeated POST.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Settings of the server. Times are in seconds.
#[config]
pub struct Config {
    /// URL of the API; begins with https, except on this machine
    url: Url,
    /// API key of the user
    #[config(secret)]
    key: String,
    /// Time limit of each request to the API, in seconds; by default 10
    #[config(default = Seconds(Duration::from_secs(10)))]
    timeout: Seconds,
    /// Wait before a request is repeated, in seconds; doubles with each attempt, up to 20; by default 0.5
    #[config(default = Seconds(Duration::from_millis(500)))]
    retry_delay: Seconds,
}

/// Time that is longer than zero, written as a number of seconds.
pub struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = time.filter(|time| !time.is_zero()).map(Self);
        time.ok_or("it is not a number of seconds above 0, such as 2.5")
    }
}

/// Access to the tracker. It has no `Debug`, which would print the key.
pub struct Api {
    http: Client,
    base: Url,
    key: String,
    /// Wait after the first attempt. Each further wait is twice as long.
    delay: Duration,
}

/// Status, headers and body.
type Answer = (StatusCode, HeaderMap, Vec<u8>);

/// Failure that may be over at the next attempt.
struct Passing {
    problem: String,
    /// Wait that the tracker asks for.
    wait: Option<Duration>,
    /// Whether the tracker may have carried out the request nevertheless.
    may_be_done: bool,
}

impl Api {
    /// Checks the settings. It sends no request, so the server also starts while the tracker is down.
    pub fn open(config: &Config) -> Result<Self, String> {
        let key = config.key.clone();
        let mut authorization = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| "ISSUES_KEY has a character that a header cannot have")?;
        // `Debug` and the logs of libraries then show `Sensitive`.
        authorization.set_sensitive(true);
        let mut base = config.url.clone();
        // Without a slash at the end, `join` would replace the last segment of the path.
        base.set_path(&format!("{}/", config.url.path().trim_end_matches('/')));
        let is_local = matches!(base.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if base.scheme() != "https" && !is_local {
            return Err("ISSUES_URL must begin with https://, to protect the key".to_owned());
        }
        // reqwest uses the cryptography of the process. The call fails only if the process already has some.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, authorization)]))
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            // A redirect may lead to another host, which must not get the key.
            .redirect(Policy::none())
            .timeout(config.timeout.0)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { http, base, key, delay: config.retry_delay.0 })
    }

    /// Reads a value. `None` means that it does not exist.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>> {
        let answer = self.send(self.http.get(self.base.join(path)?)).await?;
        Ok(answer.map(|(value, _)| value))
    }

    /// Creates a value. Without an idempotency key there is only one attempt. `None` means that the path does not exist.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        value: &impl Serialize,
        idempotency_key: Option<String>,
    ) -> Result<Option<T>> {
        let mut request = self.http.post(self.base.join(path)?).json(value);
        if let Some(key) = idempotency_key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        Ok(self.send(request).await?.map(|(value, _)| value))
    }

    /// Reads the first page of a list, or the page of a cursor. Returns the items and the cursor of the next page.
    pub async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        filter: &[(&str, &str)],
        cursor: Option<&str>,
    ) -> Result<(Vec<T>, Option<String>)> {
        let mut url = self.base.join(path)?;
        // The cursor comes from the model. As the query of a URL, it chooses neither the host nor the path.
        match cursor {
            Some(cursor) => url.set_query(Some(cursor)),
            None => drop(url.query_pairs_mut().extend_pairs(filter)),
        }
        let answer = self.send(self.http.get(url.clone())).await?;
        let (items, headers) = answer.ok_or_else(no_tracker)?;
        Ok((items, next(&url, &headers)?))
    }

    /// Sends a request, and repeats it as long as that is safe and may help. `None` stands for status 404.
    async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<Option<(T, HeaderMap)>> {
        let request = request.build()?;
        let is_read = request.method() == Method::GET;
        let is_safe = is_read || request.headers().contains_key(IDEMPOTENCY_KEY);
        let attempts = if is_safe { ATTEMPTS } else { 1 };
        let (mut attempt, mut delay, mut may_be_done) = (1, self.delay, false);
        loop {
            let copy = request.try_clone().expect("only streams cannot be cloned");
            let failure = match self.attempt(copy).await {
                Ok(answer) => return self.read(answer),
                Err(failure) => failure,
            };
            may_be_done |= failure.may_be_done && !is_read;
            // Half of the wait is random, so that clients that failed together do not return together.
            let backoff = delay.min(MAX_WAIT).mul_f64(0.5 + fastrand::f64() / 2.0);
            let wait = failure.wait.unwrap_or(backoff);
            let problem = format!("{} (attempt {attempt} of {attempts})", failure.problem);
            if attempt == attempts || wait > MAX_WAIT {
                let advice = match failure.wait {
                    _ if may_be_done => "it may be done nevertheless, so look before you try again",
                    Some(wait) => &format!("try again in {} seconds", wait.as_secs()),
                    None => "try again later",
                };
                return Err(Error::msg(format!("{problem}: {advice}")));
            }
            tracing::warn!("{problem}");
            tokio::time::sleep(wait).await;
            (attempt, delay) = (attempt + 1, delay.saturating_mul(2));
        }
    }

    async fn attempt(&self, request: Request) -> Result<Answer, Passing> {
        let mut response = self.http.execute(request).await?;
        let (status, headers) = (response.status(), mem::take(response.headers_mut()));
        if matches!(status.as_u16(), 429 | 502..=504) {
            return Err(Passing {
                problem: format!("the tracker answered {status}"),
                wait: retry_after(&headers),
                may_be_done: status != StatusCode::TOO_MANY_REQUESTS,
            });
        }
        let mut body = Vec::new();
        while body.len() <= MAX_BODY
            && let Some(part) = response.chunk().await?
        {
            body.extend_from_slice(&part);
        }
        Ok((status, headers, body))
    }

    /// Turns an answer into a value, or into an error that tells the model how to continue.
    fn read<T: DeserializeOwned>(
        &self,
        (status, headers, body): Answer,
    ) -> Result<Option<(T, HeaderMap)>> {
        let problem = match status.as_u16() {
            _ if body.len() > MAX_BODY => {
                format!("the answer of the tracker has more than {MAX_BODY} bytes: ask for less")
            }
            200..=299 => match serde_json::from_slice(&body) {
                Ok(value) => return Ok(Some((value, headers))),
                Err(error) => format!("the tracker did not answer with the expected JSON: {error}"),
            },
            300..=399 => {
                format!("the tracker answered {status}: ask the user to correct ISSUES_URL")
            }
            // The body names the fields that are wrong.
            400 | 422 => {
                format!("the tracker rejects the request: {}", String::from_utf8_lossy(&body))
            }
            401 => "the tracker rejects the key: ask the user to correct ISSUES_KEY".to_owned(),
            403 => "the key does not permit this: ask the user to extend its rights".to_owned(),
            404 => return Ok(None),
            _ => format!("the tracker answered {status}: tell the user"),
        };
        // Text of the tracker may be long, and may repeat the key.
        let problem = problem.replace(&self.key, "…").chars().take(500).collect::<String>();
        Err(Error::msg(problem))
    }
}

impl From<reqwest::Error> for Passing {
    fn from(error: reqwest::Error) -> Self {
        let cause = iter::successors(error::Error::source(&error), |error| error.source()).last();
        let problem = match cause {
            _ if error.is_timeout() => "the tracker did not answer in time".to_owned(),
            Some(cause) => format!("the tracker cannot be reached: {cause}"),
            None => "the tracker cannot be reached".to_owned(),
        };
        Self { problem, wait: None, may_be_done: !error.is_connect() }
    }
}

/// Returns the query of the next page of a list.
fn next(list: &Url, headers: &HeaderMap) -> Result<Option<String>> {
    let values = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    let mut links = values.flat_map(|value| value.split('<')).filter_map(|it| it.split_once('>'));
    let Some((link, _)) = links.find(|(_, rest)| rest.contains(r#"rel="next""#)) else {
        return Ok(None);
    };
    let next = list.join(link)?;
    if (next.origin(), next.path()) != (list.origin(), list.path()) {
        return Err(Error::msg("the link to the next page leads out of the list: tell the user"));
    }
    Ok(next.query().map(str::to_owned))
}

/// Reads `Retry-After`, which is a number of seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(SystemTime::now()).ok(),
    }
}

/// Returns the error for a path that every tracker has.
pub fn no_tracker() -> Error {
    Error::msg("there is no tracker at ISSUES_URL: ask the user to correct it")
}
