//! What the keys `scopes` and `auth` of an attribute become. Whether there is anybody to ask the macros cannot know: it depends on
//! the features of this crate.

/// What a caller must have been granted.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => { &[$($scope),*] };
}

/// Who decides. A function of its own, in which a closure finds nothing to capture.
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
