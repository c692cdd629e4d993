use super::Builder;
use crate::{limits::Wanted, model::Rate};

impl Builder {
    /// Sets how often one caller may call each tool, resource and prompt that sets no `rate` of its own: `.rate(Rate::per_second(10))`.
    /// Default: no limit.
    ///
    /// A caller is the [`Principal`](crate::Principal) if one is known, otherwise the session or the connection. Over HTTP without a
    /// session it is the address that the request came from; for IPv6 it is the network of 64 bits. An axum application provides this
    /// address with `into_make_service_with_connect_info::<SocketAddr>()`. If it does not, all such requests count as one caller. Headers
    /// are read only behind a [trusted proxy](Builder::trust_proxy).
    #[must_use]
    #[track_caller]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.wanted.rate = Some(rate);
        self.want("rate", Wanted { rate: Some(rate), concurrency: None })
    }

    /// Sets how many calls of each tool, resource and prompt that sets no `concurrency` of its own may run at once, for all callers
    /// together. Default: no limit except those of all items together ([`Limits`](crate::Limits)).
    #[must_use]
    #[track_caller]
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.wanted.concurrency = Some(calls);
        self.want("concurrency", Wanted { rate: None, concurrency: Some(calls) })
    }

    #[track_caller]
    fn want(mut self, method: &str, wanted: Wanted) -> Self {
        if let Some(problem) = wanted.problem() {
            self.refuse(method, problem);
        }
        self
    }
}
