//! Model Context Protocol servers from plain functions.
//!
//! Put `#[tool]`, `#[resource]` or `#[prompt]` on a function, and `cargo run` starts a server for MCP clients:
//!
//! ```no_run
//! use mcp_runtime::prelude::*;
//!
//! #[data]
//! struct Profile {
//!     name: String,
//! }
//!
//! struct Db;
//!
//! impl Db {
//!     async fn open() -> Result<Self> {
//!         Ok(Self)
//!     }
//!
//!     async fn profile(&self, id: u64) -> Result<Profile> {
//!         Ok(Profile { name: format!("User {id}") })
//!     }
//! }
//!
//! /// Adds two numbers.
//! #[tool(read_only, idempotent)]
//! fn add(
//!     /// First addend
//!     a: i64,
//!     /// Second addend
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! /// A user's profile.
//! #[resource("users://{id}/profile", mime_type = "application/json")]
//! async fn profile(id: u64, db: State<Db>) -> Result<Json<Profile>> {
//!     Ok(Json(db.profile(id).await?))
//! }
//!
//! /// Reviews code.
//! #[prompt]
//! fn review(#[complete(languages)] language: &str, code: &str) -> String {
//!     format!("Review this {language} code:\n{code}")
//! }
//!
//! #[completion]
//! fn languages(typed: &str) -> Vec<String> {
//!     ["rust", "python", "go"]
//!         .iter()
//!         .filter(|name| name.starts_with(typed))
//!         .map(ToString::to_string)
//!         .collect()
//! }
//!
//! # #[cfg(feature = "stdio")]
//! fn main() -> Exit {
//!     server!().setup(async || Db::open().await).run()
//! }
//! # #[cfg(not(feature = "stdio"))]
//! # fn main() {}
//! ```
//!
//! The schemas come from the signatures of the functions. The framework does the rest: registration, advertisement, pagination, completion,
//! progress, cancellation, subscriptions and transports. It speaks all five protocol revisions: 2024-11-05, 2025-03-26, 2025-06-18,
//! 2025-11-25 and 2026-07-28.
//!
//! **Guide.** The module [`guide`] has a page for each task, each with a program to paste. Begin with its page `first_server`.
//!
//! **Parameters.** A parameter whose type implements [`FromCall`](extract::FromCall) gets its value from the server. Every other parameter
//! gets its value from the client. `&T` is shared state; `&str` and `&[T]` are arguments.
//!
//! **Results.** See [`ToolReply`](reply::ToolReply), [`ResourceReply`](reply::ResourceReply) and [`PromptReply`](reply::PromptReply).
//!
//! **Serving.** [`Builder::run`] serves stdio, or HTTP if the program is started with `--http` (feature `http`). A tokio application calls
//! [`Builder::serve_stdio`], [`Builder::serve`], [`Builder::serve_http`] or [`Builder::bind_http`]. A web application mounts
//! [`Builder::into_service`] (tower) or [`Builder::into_router`] (axum).
//!
//! **Attributes.** See [`tool`](prelude::tool), [`resource`](prelude::resource), [`prompt`](prelude::prompt),
//! [`completion`](prelude::completion), [`handlers`](prelude::handlers) and [`server!`](server!).
//!
//! # Features
//!
//! Code that uses a disabled feature does not compile. The compiler names the feature and the command that enables it.
//!
//! | feature | adds |
//! |---|---|
//! | `stdio` (default) | [`Builder::run`] with its command line, [`Builder::serve_stdio`] |
//! | `client-log` (default) | [`logging::client_log`], which sends the `tracing` events of a call to a client that asked for them |
//! | `http` | one HTTP endpoint for every protocol revision: `--http`, [`Builder::serve_http`], [`Builder::bind_http`], [`Builder::into_service`] |
//! | `axum` | [`Builder::into_router`], for axum applications |
//! | `auth` | access tokens for HTTP requests: [`Builder::auth`], [`auth::Jwt`], [`auth::TokenVerifier`], [`auth::Auth`]; the crate [`mcp-runtime-authorization-server`](https://docs.rs/mcp-runtime-authorization-server) issues them |
//! | `state-key` | [`Builder::state_key`]: under protocol revision 2026-07-28, another instance or a restarted server can continue a call |
//! | `contract` | `check --against` and [`testing::assert_contract!`], which compare the server with its lock file; for tests and CI |
//! | `store-suite` | [`testing::store_suite!`], the tests for a store of your own |
//! | `workbench` | commands that help to write and to publish a server: `dev`, `complete`, `config`, `install`, `uninstall`, `bundle`, `server-json`, `record` and `replay`, and `--json` for the others; [`testing::assert_replays!`]; `cargo run --features mcp-runtime/workbench -- …` |
//! | `playground` | a page that tries the server out in a browser: the command `playground`, and `--http --playground`; `cargo run --features mcp-runtime/playground -- playground` |
//! | `sqlite` | [`store::SqliteStore`], which keeps tasks and logins in a file across restarts; compiles SQLite from its C source |
//! | `inventory` | registration of items through the crate `inventory` instead of `linkme` (always the case on wasm) |
//!
// Where a feature is off, the links to its items lead to the documentation site.
#![cfg_attr(
    not(all(
        feature = "auth",
        feature = "axum",
        feature = "client-log",
        feature = "contract",
        feature = "sqlite",
        feature = "state-key",
        feature = "stdio",
        feature = "store-suite",
        feature = "workbench",
    )),
    doc = include_str!("../docs/links.md")
)]
// docs.rs builds with a nightly compiler, where `doc_cfg` shows the feature that each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Compiles the example of README.md as a test.
#[cfg(all(doctest, feature = "stdio"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod ask;
#[cfg(feature = "auth")]
mod authorization;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench;
mod builder;
mod call;
mod catalog;
#[cfg(feature = "stdio")]
mod cli;
#[allow(missing_docs, reason = "public only for generated code")]
mod config;
mod contract;
mod dispatch;
mod error;
#[cfg(all(
    any(doc, doctest),
    feature = "auth",
    feature = "axum",
    feature = "contract",
    feature = "sqlite",
    feature = "state-key",
    feature = "stdio",
))]
pub mod guide;
#[cfg(feature = "auth")]
mod issuer;
mod item;
pub mod limits;
mod model;
mod node;
mod observe;
mod protocol;
mod random;
#[allow(missing_docs, reason = "public only for generated code")]
mod registry;
mod schema;
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
mod storage;
mod task;
pub mod testing;
mod transport;
mod unavailable;
mod unwind;

// Some of these names need a feature or another crate. If a name is not available, the compiler error shows the `cfg` line of the name. The
// comment on that line is the command that adds the feature or the crate.
pub use builder::{Builder, Items};
#[doc(hidden)]
pub use builder::{Made, Opening, Setup, Size};
#[doc(hidden)]
pub use call::context::Amount;
pub use call::{
    context::{Cancel, Context, Progress},
    extract::{Args, State},
    reply::Json,
};
pub use catalog::{Handle, Item, Prompt, Resource, Tool, Variables};
#[cfg(feature = "stdio")] // cargo add mcp-runtime --features stdio
pub use cli::Exit;
pub use error::{BuildError, Error, Result, ServeError};
pub use mcp_macros::{items, server};
#[cfg(false)] // cargo add mcp-runtime-authorization-server
pub use mcp_runtime_authorization_server::AuthorizationServer;
pub use schema::SchemaProfile;
pub use server::{Identity, Server};

/// Access tokens, principals and policies of servers over HTTP (feature `auth`).
///
/// A server accepts tokens with [`Builder::auth`](crate::Builder::auth). Handlers take `Auth` as a
/// parameter, or call [`Context::principal`]. A server that issues tokens itself uses the crate `mcp-runtime-authorization-server`.
pub mod auth {
    #[cfg(feature = "auth")] // cargo add mcp-runtime --features auth
    pub use crate::authorization::{Denied, ProtectedResource, StaticTokens, TokenVerifier};
    pub use crate::call::context::Principal;
    #[cfg(feature = "auth")] // cargo add mcp-runtime --features auth
    pub use crate::call::context::{Access, Authorization, Policy};
    #[cfg(feature = "auth")] // cargo add mcp-runtime --features auth
    pub use crate::call::extract::Auth;
    #[cfg(feature = "auth")] // cargo add mcp-runtime --features auth
    pub use crate::issuer::{Algorithm, Jwt};
    #[cfg(false)] // cargo add mcp-runtime-authorization-server
    pub use mcp_runtime_authorization_server::{
        AuthorizationServer, LoginPage, LoginRequest, User,
    };
    #[cfg(false)] // cargo add mcp-runtime-authorization-server
    pub use mcp_runtime_authorization_server::{Login, Logins, Upstream, UpstreamUser};
}

/// Content of results, resources and messages.
pub mod content {
    pub use crate::model::{
        Audio, Blob, Completion, Content, Embedded, Icon, Image, Message, Meta, OtherContent,
        ResourceContents, ResourceLink, Role, Text,
    };
}

/// Elicitation: requests that ask the user of the client to fill in a form or to visit a URL.
pub mod elicitation {
    pub use crate::call::{
        context::{AskAll, Asked},
        extract::Elicit,
        read::{Form, FormField},
    };
    pub use crate::error::Unanswered;
}

/// Parameters of handlers that get their value from the server, and [`FromCall`](crate::extract::FromCall), which adds types of your own.
pub mod extract {
    pub use crate::call::{
        context::{ProgressIter, ProgressStream},
        extract::{Client, FromCall, Requirements, Roots, Shared},
    };
    pub use crate::config::Configuration;
    pub use crate::model::{ClientInfo, Root};
}

/// Servers over HTTP, and the parts of a request that a handler can read (feature `http`).
#[cfg(feature = "http")] // cargo add mcp-runtime --features http
pub mod http {
    pub use http::HeaderMap;

    pub use crate::call::extract::Extension;
    pub use crate::transport::http::{HttpBody, HttpServer, HttpService};
}

/// Log messages for clients.
pub mod logging {
    pub use crate::model::Level;
    #[cfg(feature = "client-log")] // cargo add mcp-runtime --features client-log
    pub use crate::observe::{ClientLog, client_log};
}

/// Code that runs around every operation: [`Builder::around`](crate::Builder::around).
pub mod middleware {
    pub use crate::dispatch::{Next, OperationCall};
    pub use crate::model::{Operation, Outcome};
}

/// Return types of handlers: one trait for each kind of item, which lists the possible types.
pub mod reply {
    pub use crate::call::reply::{
        CompletionReply, IntoFailure, PromptReply, ResourceReply, ToolReply, WithMeta, WithText,
    };
}

/// Requests to the client's model.
pub mod sampling {
    pub use crate::call::extract::Sample;
    pub use crate::model::{
        IncludeContext, Sampled, SampledContent, Sampling, SamplingContent, SamplingTool,
        ToolChoice, ToolUse,
    };
}

/// Stores, which keep the data that outlasts a process or that several processes share.
///
/// [`Builder::store`](Builder::store) sets the store of a server: [`MemoryStore`](store::MemoryStore), which is the default, or `SqliteStore`
/// (feature `sqlite`). The other types, and [`offer_store!`](store::offer_store), are for stores of your own.
///
/// A store knows no tasks, sessions or logins. It keeps these things, which [`Transaction`](store::Transaction)s read and change:
///
/// | thing | is | operations |
/// |---|---|---|
/// | record | a value with a version | `Get`, `Put`, `Touch`, `Remove` |
/// | log | a bounded list of events | `Append`, `Read`, `Clear`, and [`Store::follow`](store::Store::follow) |
/// | index | names in an order | `Enlist`, `Delist`, `List` |
/// | rate | how often something may happen | `Pass` |
/// | places | how often something may happen at the same time | `Enter`, `Leave` |
pub mod store {
    #[doc(inline)]
    pub use crate::__offer_store as offer_store;
    #[cfg(feature = "sqlite")] // cargo add mcp-runtime --features sqlite
    pub use crate::sqlite::SqliteStore;
    pub use crate::storage::{
        Condition, Follower, IndexEntry, LogEvent, MemoryStore, Output, Record, Rejection, Store,
        StoreError, StoreFuture, StoreOperation, StoreStats, Transaction, TransactionResult,
    };
}

/// Calls that continue as tasks after their response.
pub mod tasks {
    pub use crate::model::TaskSupport;
}

/// Names that most servers use: `use mcp_runtime::prelude::*;`.
///
/// ```no_run
/// use mcp_runtime::prelude::*;
///
/// # #[cfg(feature = "stdio")]
/// fn main() -> Exit {
///     server!().run()
/// }
/// # #[cfg(not(feature = "stdio"))]
/// # fn main() {}
/// ```
///
/// The prelude contains only the traits `Serialize`, `Deserialize` and `JsonSchema`, which [`data`](macro@prelude::data) derives. To use
/// the derive macros with these names, add `serde` and `schemars` to your dependencies, and import the macros from there, as in
/// `use serde::Deserialize;`.
pub mod prelude {
    pub use mcp_macros::{
        Deserialize, JsonSchema, Schema, Serialize, completion, config, data, form, handlers,
        items, prompt, resource, server, tool,
    };

    // The glob import lets the derives above shadow the derives of serde and schemars.
    pub use super::traits::*;
    #[cfg(feature = "stdio")] // cargo add mcp-runtime --features stdio
    pub use crate::Exit;
    pub use crate::{
        Args, Cancel, Context, Error, Handle, Json, Progress, Prompt, Resource, Result, State,
        Tool, Variables,
        content::{
            Audio, Blob, Completion, Content, Embedded, Icon, Image, Message, Meta,
            ResourceContents, ResourceLink, Role, Text,
        },
        elicitation::{Elicit, Form, Unanswered},
        extract::{Client, FromCall, Roots},
        reply::{WithMeta, WithText},
        sampling::{Sample, Sampling},
    };
}

/// Traits of the prelude, with the derive macros of the same names.
mod traits {
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
}

/// Exports for the integration test of the stdio guard, which runs in a process of its own because the guard replaces stdout.
#[doc(hidden)]
#[cfg(all(feature = "stdio", any(unix, windows)))]
pub mod __stdio {
    pub use crate::transport::stdio::{StdioGuard, StdioInput, StdioOutput, restore};
}

/// Names that the crate `mcp-runtime-authorization-server` uses. They are not part of the public API, and may change in any release.
#[cfg(feature = "auth")]
#[doc(hidden)]
pub mod __companion {
    pub use crate::{
        authorization::{
            AuthorizationPages, LOGIN_PARTITION, PageRequest, SEAL_KEY, ServedResource,
            VerifierPages, scope_problem,
        },
        issuer::{Fetch, Web, discover},
        limits::{CallerKey, RateLimiter, RefusalCounters},
        storage::try_while_unavailable,
        unwind::discard,
    };
    pub use mcp_runtime_contract::percent::{decode, encode};
}

/// Names that generated code uses. They are not part of the public API, and may change in any release.
#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
pub mod __private {
    pub use std::{borrow::Cow, sync::OnceLock, time::Duration};

    #[cfg(any(target_family = "wasm", feature = "inventory"))]
    pub use inventory;
    #[cfg(not(any(target_family = "wasm", feature = "inventory")))]
    pub use linkme;
    pub use mcp_macros::Schema;
    pub use schemars;
    pub use serde;

    pub use crate::{
        __policy as policy, __register as register, __register_config as register_config,
        __scopes as scopes,
        builder::{builder, items, named},
        call::extract::{
            Args, Borrows, Call, ItemParams as Params, Probe, Running, from_default, from_text,
        },
        call::read::{BoundedForm, Form, FormChoice, choices, field, form},
        call::reply::{ConstantOutput, completion_reply, prompt_reply, resource_reply, tool_reply},
        config::{
            ConfigChoice, ConfigDef, ConfigField, ConfigProbe, ConfigReader, ConfigRegistration,
            Configuration,
        },
        item::{
            ArgDef, Completer, InputSchema, Property, Segment, SourceLocation as Origin,
            VariableKind, judge_form, judge_text,
        },
        model::{
            Asks, CachePolicy, Choices, FormSchema, Icon, Rate, Role, TaskSupport, TextFormat,
        },
        registry::{
            Completes, ItemDef, MetaValue, Registered, Unmarked, completed, completed_by, identity,
            meta_value, placed, stand_in, unmarked,
        },
        schema::{
            CompiledPattern, Data, FieldBound, Range, SchemaProfile, Whole,
            constant::{
                Body, Branch, Depth, Described, Full, Known, Literal, Member, Name, Node, Object,
                OfSchemars, Part, Schema, Serialized,
            },
        },
        server::Identity,
        storage::OfferedStore,
        testing::builds::{assert_builds, assert_package_builds},
    };

    #[cfg(feature = "contract")]
    pub use crate::testing::contract::assert_contract;
    #[cfg(feature = "workbench")]
    pub use crate::testing::replay::assert_replays;

    #[cfg(feature = "auth")]
    pub use crate::call::context::decide;
    #[cfg(any(target_family = "wasm", feature = "inventory"))]
    pub use crate::registry::RegistryEntry as Entry;
    #[cfg(not(any(target_family = "wasm", feature = "inventory")))]
    pub use crate::{
        config::MCP_RUNTIME_CONFIGS_0, registry::MCP_RUNTIME_ITEMS_0, storage::MCP_RUNTIME_STORES_0,
    };

    /// Traits that generated code imports. Method resolution among them selects how a parameter gets its value, and whether a result has an
    /// output schema or a media type.
    pub mod param {
        pub use crate::call::extract::{
            probe::{
                ArgumentLevel as _, Check as _, LiveLevel as _, OptionalStrLevel as _,
                ParsedLevel as _, ParsedOptionLevel as _, ReadLevel as _, ServerLevel as _,
                SliceLevel as _, SliceOptionLevel as _, StrLevel as _, UnknownParam as _,
            },
            server_handles::UnfitReceiverLevel as _,
            spread::{FieldLevel as _, SpreadLevel as _, UnfitFieldLevel as _},
            unfit_handles::{UnfitBorrowedLevel as _, UnfitLevel as _, UnfitStateLevel as _},
        };
        pub use crate::call::reply::{
            MediaTypeLevel as _, NoMediaTypeLevel as _, NoOutputLevel as _, OutputLevel as _,
            UnknownOutput as _,
        };
    }

    /// Traits that the code generated by `#[config]` imports.
    pub mod settings {
        pub use crate::config::{ConfigValueLevel as _, UnfitConfigLevel as _};
    }

    /// Traits that the code generated by `#[derive(Schema)]` imports.
    pub mod known {
        pub use crate::schema::constant::{
            LazyArgumentLevel as _, LazyLevel as _, NotKnown as _, NotSerialized as _,
            UnfitLazyLevel as _,
        };
    }

    /// Function that generated code calls for a doc comment from `include_str!`, whose text the macro cannot read.
    pub mod doc {
        pub use crate::item::trim_doc as trim;
    }

    pub use crate::schema::{input_schema, output_schema};
}
