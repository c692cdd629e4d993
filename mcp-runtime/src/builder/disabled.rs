//! Stand-ins for the methods of disabled features. A call of a stand-in fails to compile, with an error that names the feature.

use std::future::Ready;

use super::settings::Builder;
use crate::{
    error::ServeError,
    unavailable::{self, unavailable},
};

/// Return type of the stand-ins for methods that start the server.
#[allow(dead_code, reason = "no such method is missing where `stdio` and `axum` are on")]
type StartResult<T> = Ready<Result<T, ServeError>>;

#[cfg(not(feature = "stdio"))]
unavailable! {
    impl Builder where unavailable::StdioFeature {
        fn run<T>(self) -> T;
        fn run_from<T, A>(self, _arguments: A) -> T;
        fn serve_stdio(self) -> StartResult<()>;
        fn serve_stdio_until<S>(self, _stop: S) -> StartResult<()>;
    }
}

#[cfg(not(feature = "http"))]
unavailable! {
    impl Builder where unavailable::HttpFeature {
        fn path<P>(self, _: P) -> Self;
        fn allow_host<H>(self, _: H) -> Self;
        fn allow_origin<O>(self, _: O) -> Self;
        fn trust_proxy<N>(self, _: N) -> Self;
        fn drain<D>(self, _: D) -> Self;
        fn legacy_sse<S>(self, _: S) -> Self;
        fn serve_http<A>(self, _: A) -> StartResult<()>;
        fn bind_http<A, T>(self, _: A) -> StartResult<T>;
        fn into_service<T>(self) -> StartResult<T>;
    }
}

#[cfg(not(feature = "axum"))]
unavailable! {
    impl Builder where unavailable::AxumFeature {
        fn into_router<T>(self) -> StartResult<T>;
    }
}

#[cfg(not(feature = "playground"))]
unavailable! {
    impl Builder where unavailable::PlaygroundFeature {
        fn playground<S>(self, _: S) -> Self;
        fn allow_remote_playground<A>(self, _: A) -> Self;
    }
}

#[cfg(not(feature = "state-key"))]
unavailable! {
    impl Builder where unavailable::StateKeyFeature {
        fn state_key<K>(self, _: K) -> Self;
    }
}

#[cfg(not(feature = "auth"))]
unavailable! {
    impl Builder where unavailable::AuthFeature {
        fn auth_with<F>(self, _: F) -> Self;
        fn policy<P>(self, _: P) -> Self where {
            P: Fn(&unavailable::OfPolicy, &unavailable::OfPolicy) -> bool,
        };
    }
}

/// Stand-in for `Builder::auth`. Its bound applies to the type of the argument. Without the feature, an argument such as `Jwt::new(…)` does
/// not compile either, so its type is unknown, and the bound causes no second error.
#[doc(hidden)]
#[cfg(not(feature = "auth"))]
#[allow(missing_docs, reason = "it is not part of the documentation")]
impl Builder {
    pub fn auth<R: unavailable::AuthFeature>(self, _: R) -> Self {
        unreachable!("no call of it compiles")
    }
}
