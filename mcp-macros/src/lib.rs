//! The attributes of `mcp-runtime`.
#![forbid(unsafe_code)]
