//! Functions that share their name with a macro, a module or a type, which live in namespaces of their own.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]
#![allow(clippy::needless_pass_by_value)]

use mcp_runtime::prelude::*;

mod macros {
    macro_rules! quoted {
        ($text:expr) => {
            std::format!("“{}”", $text)
        };
    }
    pub(super) use quoted;
}
use macros::{quoted, quoted as authors};

mod filed {
    #[mcp_runtime::prelude::data]
    pub(super) struct Book {
        /// What it is called.
        pub(super) title: String,
    }
}

/// Called like a macro that is imported.
#[tool]
fn quoted(#[arg(default = quoted!("nothing"))] text: String) -> String {
    quoted!(text)
}

/// Called like a module that its parameter comes from.
#[tool]
async fn filed(book: filed::Book) -> String {
    book.title
}

/// Called like a macro that is imported under this name.
#[completion]
fn authors(typed: &str) -> Vec<String> {
    vec![authors!(typed)]
}

/// Has a completion function with the same name as a macro.
#[prompt]
fn biography(#[complete(authors)] of: &str) -> String {
    of.to_owned()
}
