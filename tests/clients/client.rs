//! Description of a third-party client under test: its origin, its abilities and its transports.

use std::{
    process::Command,
    sync::{Mutex, PoisonError},
};

use support::{node::Node, python::Python, requirement::Missing, server::target};

use crate::matrix::Cell;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Transport {
    Stdio,
    Http,
    /// HTTP+SSE of protocol revision 2024-11-05.
    Sse,
}

impl Transport {
    pub(crate) const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::Sse];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// Recovery of a client after a restart of its server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Again {
    /// The next call succeeds.
    Call,
    /// The next call reports the end of the session, and the call after it succeeds. The text is the reason.
    SecondCall(&'static str),
    /// The application has to open another connection. The text is the reason.
    Open(&'static str),
}

/// Registry that a client comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Text of a requirements file, and the name of the client's package in it.
    Python(&'static str, &'static str),
    /// Name of the client's package in `node/package.json`.
    Node(&'static str),
}

const PACKAGE: &str = include_str!("node/package.json");
const LOCK: &str = include_str!("node/package-lock.json");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");

/// A client of the matrix.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// Name of the client's adapter, a file in `python/adapters` or `node/adapters`.
    pub(crate) adapter: &'static str,
    /// Arguments of the adapter.
    pub(crate) options: &'static [&'static str],
    pub(crate) source: Source,
    /// Reason why a cell is not applicable to the client, or `None` if the cell is applicable.
    pub(crate) lacks: fn(Transport, Cell) -> Option<&'static str>,
    pub(crate) again: fn(Transport) -> Again,
    /// Tools whose fields the client cannot keep, each with the reason.
    pub(crate) loses: &'static [(&'static str, &'static str)],
    /// Reason why a model learns of the fields of nested objects only from the description of the argument.
    pub(crate) hides: Option<&'static str>,
}

impl Client {
    /// A client with all transports and abilities.
    pub(crate) const NEW: Self = Self {
        name: "",
        adapter: "",
        options: &[],
        source: Source::Node(""),
        lacks: |_, _| None,
        again: |_| Again::Call,
        loses: &[],
        hides: None,
    };

    /// Whether the client has a transport.
    pub(crate) fn has(&self, transport: Transport) -> bool {
        Cell::ALL.iter().any(|cell| (self.lacks)(transport, *cell).is_none())
    }

    /// Returns the reason why a cell is not applicable, or `None` if the cell is applicable.
    pub(crate) fn lacks(&self, transport: Transport, cell: Cell) -> Option<&'static str> {
        match (transport, cell) {
            (Transport::Stdio, Cell::Login) => Some("there is no login over stdio"),
            _ => (self.lacks)(transport, cell),
        }
    }

    pub(crate) fn again(&self, transport: Transport) -> Again {
        (self.again)(transport)
    }

    /// Returns a limitation that users of the client have to know about even if the cell passes.
    pub(crate) fn note(&self, transport: Transport, cell: Cell) -> Option<&'static str> {
        match (cell, self.again(transport)) {
            (Cell::List, _) => self.loses.first().map(|loss| loss.1).or(self.hides),
            (Cell::Reconnect, Again::SecondCall(note) | Again::Open(note))
                if transport != Transport::Stdio =>
            {
                Some(note)
            }
            _ => None,
        }
    }

    /// Returns the pinned version of the client.
    pub(crate) fn version(&self) -> &'static str {
        let found = match self.source {
            Source::Python(requirements, package) => requirements
                .lines()
                .find_map(|line| line.trim().strip_prefix(package)?.strip_prefix("=="))
                .map(|pin| pin.split([' ', ';']).next().unwrap_or(pin)),
            Source::Node(package) => {
                let pin = format!("\"{package}\": \"");
                PACKAGE.split_once(&pin).and_then(|(_, rest)| rest.split('"').next())
            }
        };
        found.unwrap_or("not pinned")
    }

    /// Returns the command that starts the driver of the client. Installs the client first if necessary.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let mut command = self.install().map_err(|missing| missing.to_string())?;
        // Some clients send telemetry. Tests must not send data to other machines.
        command.envs(QUIET).env("HOME", target().join("tmp"));
        Ok(command)
    }

    /// Installs the client if necessary. Returns the command that starts the driver of the client, without the environment of a test.
    pub(crate) fn install(&self) -> Result<Command, Missing> {
        let parent = target().join("clients");
        let mut command = match self.source {
            Source::Python(requirements, _) => {
                let python = Python::installed(&parent, self.name, requirements)?;
                python.run(format!("{FOLDER}/python/driver.py"))
            }
            Source::Node(_) => {
                // All clients from npm share a folder, and only one test at a time may install into it.
                static FILLED: Mutex<()> = Mutex::new(());
                let _turn = FILLED.lock().unwrap_or_else(PoisonError::into_inner);
                let node = Node::locked(&parent, "npm", PACKAGE, LOCK)?;
                let mut command = node.run(format!("{FOLDER}/node/driver.mjs"));
                command.arg(&node.folder);
                command
            }
        };
        command.arg(self.adapter).args(self.options);
        Ok(command)
    }
}

/// Switches that turn off telemetry, update checks and traces.
const QUIET: [(&str, &str); 13] = [
    ("AGNO_TELEMETRY", "false"),
    ("ANONYMIZED_TELEMETRY", "false"),
    ("CREWAI_DISABLE_TELEMETRY", "true"),
    ("CREWAI_DISABLE_TRACKING", "true"),
    ("CREWAI_TRACING_ENABLED", "false"),
    ("CREWAI_DISABLE_VERSION_CHECK", "true"),
    ("DO_NOT_TRACK", "1"),
    ("FASTMCP_CHECK_FOR_UPDATES", "off"),
    ("LANGSMITH_TRACING", "false"),
    ("MASTRA_TELEMETRY_DISABLED", "1"),
    ("MCP_USE_ANONYMIZED_TELEMETRY", "false"),
    ("OPENAI_AGENTS_DISABLE_TRACING", "1"),
    ("OTEL_SDK_DISABLED", "true"),
];
