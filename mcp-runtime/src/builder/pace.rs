use super::Builder;
use crate::{limits::Wanted, model::Rate};

impl Builder {
    /// How often one caller may call each tool, resource and prompt that says no `rate` of its own: `.rate(Rate::per_second(10))`. Without it
    /// there is no limit.
    ///
    /// A caller is the [`Principal`](crate::Principal) where one is known, else the session or the connection; over HTTP without a
    /// session it is the address that the request came from, of IPv6 its network of 64 bits. An axum application says it with
    /// `into_make_service_with_connect_info::<SocketAddr>()`; where it does not, all of those are one caller. Headers are asked only behind a
    /// [proxy that is believed](Builder::trust_proxy).
    #[must_use]
    #[track_caller]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.wanted.rate = Some(rate);
        self.want("rate", Wanted { rate: Some(rate), concurrency: None })
    }

    /// How many calls of each tool, resource and prompt that says no `concurrency` of its own may run at once, of all callers together.
    /// Without it there is no limit but those of all items together ([`Limits`](crate::Limits)).
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
