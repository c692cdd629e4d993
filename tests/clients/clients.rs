//! Clients of the matrix. Each entry names the abilities that the client lacks, with the reason.

use crate::{
    client::{Again, Client, Source, Transport},
    matrix::Cell::{Elicit, Login, Progress},
};
use Transport::{Http, Sse, Stdio};

/// Source of a Python client, from the name of its requirements file and the name of its package.
macro_rules! python {
    ($file:literal, $package:literal) => {
        Source::Python(include_str!(concat!("requirements/", $file, ".txt")), $package)
    };
}

/// Declares the clients, and for each client a test with the same name.
macro_rules! clients {
    ($($test:ident = $client:expr;)*) => {
        /// Number of clients.
        pub(crate) const NUMBER: usize = [$(stringify!($test)),*].len();

        $(
            #[support::test]
            #[ignore = "installs hundreds of megabytes of clients; see CONTRIBUTING.md"]
            fn $test() {
                static CLIENT: Client = $client;
                crate::check(&CLIENT);
            }
        )*
    };
}

const NO_PROGRESS: Option<&str> = Some("the client has nothing that could hear of progress");
const NO_QUESTIONS: Option<&str> = Some("the client does not declare elicitation");
const ONLY_HEADERS: Option<&str> =
    Some("the client sends headers that it is given, and does not log in");
const NO_SSE: Option<&str> = Some("the client does not speak HTTP+SSE");

/// The application has to open a new session.
const ANEW: fn(Transport) -> Again = |_| Again::Open(SESSION);
const SESSION: &str = "a session that is over stays so: the application opens another";
/// The client opens a new HTTP session by itself, but no new SSE stream.
const ANEW_OVER_SSE: fn(Transport) -> Again = |transport| match transport {
    Sse => Again::Open(SESSION),
    Stdio | Http => Again::Call,
};

/// Tool whose schema the conformance suite prescribes. The server publishes this schema as it is written.
const PRESCRIBED: &str = "json_schema_2020_12_tool";

clients! {
    supergateway = Client {
        name: "supergateway",
        adapter: "supergateway",
        source: Source::Node("supergateway"),
        lacks: |transport, cell| match (transport, cell) {
            (Http | Sse, Progress) => Some("the gateway to stdio passes no progress on"),
            (Http | Sse, Elicit) => Some("the gateway to stdio passes no question on"),
            (_, Login) => ONLY_HEADERS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    google_genai = Client {
        name: "google-genai",
        adapter: "google_genai",
        source: python!("google-genai", "google-genai"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            _ => None,
        },
        again: ANEW,
        // The adapter leaves this tool out, because the client would otherwise drop all other tools too.
        options: &[PRESCRIBED],
        loses: &[(PRESCRIBED, "google-genai refuses all tools of a list in which one has `additionalProperties: false` (json_schema_2020_12_tool, which has to be left out)")],
        ..Client::NEW
    };
    openai_agents = Client {
        name: "openai-agents",
        adapter: "openai_agents",
        source: python!("openai-agents", "openai-agents"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            Elicit => NO_QUESTIONS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    strands = Client {
        name: "strands",
        adapter: "strands",
        source: python!("strands", "strands-agents"),
        again: ANEW,
        ..Client::NEW
    };
    smolagents = Client {
        name: "smolagents",
        adapter: "smolagents",
        source: python!("smolagents", "smolagents"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            Elicit => NO_QUESTIONS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    crewai = Client {
        name: "crewai",
        adapter: "crewai",
        source: python!("crewai", "crewai"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            Elicit => NO_QUESTIONS,
            Login => ONLY_HEADERS,
            _ => None,
        },
        loses: &[(PRESCRIBED, "crewai makes no model of a schema with `if` and `allOf` (json_schema_2020_12_tool)")],
        ..Client::NEW
    };
    google_adk = Client {
        name: "google-adk",
        adapter: "google_adk",
        source: python!("google-adk", "google-adk"),
        lacks: |_, cell| match cell {
            Login => Some("the client asks the user interface of an agent to log in, and finds no authorization server itself"),
            _ => None,
        },
        again: |transport| match transport {
            Http => Again::SecondCall("google-adk repeats no call: the call that finds a session over reports it, and the next call opens another session"),
            Stdio | Sse => Again::Call,
        },
        ..Client::NEW
    };
    mcp_use = Client {
        name: "mcp-use",
        adapter: "mcp_use",
        source: python!("mcp-use", "mcp-use"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    ai_sdk = Client {
        name: "ai-sdk",
        adapter: "ai_sdk",
        source: Source::Node("@ai-sdk/mcp"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            _ => None,
        },
        again: ANEW_OVER_SSE,
        ..Client::NEW
    };
    ai_sdk_with_sessions = Client {
        name: "ai-sdk without discovery",
        adapter: "ai_sdk",
        options: &["legacy"],
        source: Source::Node("@ai-sdk/mcp"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            _ => None,
        },
        again: ANEW_OVER_SSE,
        ..Client::NEW
    };
    mcporter = Client {
        name: "mcporter",
        adapter: "mcporter",
        source: Source::Node("mcporter"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            Elicit => NO_QUESTIONS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    mcp_remote = Client {
        name: "mcp-remote",
        adapter: "mcp_remote",
        source: Source::Node("mcp-remote"),
        lacks: |transport, _| match transport {
            Stdio => Some("the client connects to servers over HTTP only"),
            Http | Sse => None,
        },
        again: ANEW_OVER_SSE,
        ..Client::NEW
    };
    fastmcp = Client {
        name: "fastmcp",
        adapter: "fastmcp",
        source: python!("fastmcp", "fastmcp"),
        again: ANEW_OVER_SSE,
        ..Client::NEW
    };
    pydantic_ai = Client {
        name: "pydantic-ai",
        adapter: "pydantic_ai",
        source: python!("pydantic-ai", "pydantic-ai-slim"),
        again: ANEW_OVER_SSE,
        ..Client::NEW
    };
    langchain = Client {
        name: "langchain",
        adapter: "langchain",
        source: python!("langchain", "langchain-mcp-adapters"),
        again: ANEW,
        ..Client::NEW
    };
    llama_index = Client {
        name: "llama-index",
        adapter: "llama_index",
        source: python!("llama-index", "llama-index-tools-mcp"),
        lacks: |_, cell| match cell {
            Elicit => NO_QUESTIONS,
            _ => None,
        },
        hides: Some("LlamaIndex shows no fields of objects within an argument (run-llama/llama_index#22141): the description of the argument names them"),
        ..Client::NEW
    };
    agno = Client {
        name: "agno",
        adapter: "agno",
        source: python!("agno", "agno"),
        lacks: |_, cell| match cell {
            Progress => NO_PROGRESS,
            Elicit => NO_QUESTIONS,
            Login => ONLY_HEADERS,
            _ => None,
        },
        again: ANEW,
        ..Client::NEW
    };
    mastra = Client {
        name: "mastra",
        adapter: "mastra",
        source: Source::Node("@mastra/mcp"),
        lacks: |transport, _| match transport {
            Sse => NO_SSE,
            Stdio | Http => None,
        },
        ..Client::NEW
    };
}
