//! Expansion of the attribute keys `scopes` and `auth`. It is left to macros of this crate, because the attribute macros cannot know
//! whether the feature `auth` is on.

/// Scopes that a caller must have been granted.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => { &[$($scope),*] };
}

/// Policy that decides who may use the item. It is wrapped in a function, so that a closure finds nothing to capture.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($policy:expr) => {{
        fn decide(
            caller: &$crate::Authorization,
            access: &$crate::Access<'_>,
        ) -> ::core::primitive::bool {
            $crate::__private::decide($policy, caller, access)
        }
        decide
    }};
}

#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => {
        ::core::compile_error!(
            "`scopes` needs the feature `auth` of mcp-runtime, which verifies callers: run `cargo add mcp-runtime --features auth`"
        )
    };
}

#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($policy:expr) => {
        ::core::compile_error!(
            "`auth` needs the feature `auth` of mcp-runtime, which verifies callers: run `cargo add mcp-runtime --features auth`"
        )
    };
}
