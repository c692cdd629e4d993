//! Table of the rules, with the public threads that each is based on.

use super::{
    Item, Problem, Published, fields, names, reserved, schemas, size, tasks, texts, undocumented,
};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// A known client drops the item or the whole server, or its requests fail.
    Error,
    /// A known client or model works worse.
    Warning,
}

use Severity::{Error, Warning};

/// Rule that `check` applies.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) severity: Severity,
    /// Public threads that show what goes wrong.
    pub(super) because: &'static [&'static str],
    pub(super) look: Look,
}

/// Part of the server that a rule examines.
#[derive(Clone, Copy)]
pub(super) enum Look {
    Server(fn(&Published) -> Vec<Problem>),
    /// Items of these kinds.
    Item(&'static [&'static str], fn(&Item<'_>) -> Vec<Problem>),
    /// Schemas of tools, with the rules, the severities and the threads of [`compatible`](crate::schema::compatible).
    Schemas,
}

const TOOLS: &[&str] = &["tool"];
const PROMPTS: &[&str] = &["prompt"];
/// Templates are left out: the resources of a template can have different media types.
const RESOURCES: &[&str] = &["resource"];

/// All rules, in the order in which their findings are printed. Violations of the specification itself are missing, because `build()`
/// rejects them.
pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "tool count",
        severity: Error,
        because: &[
            "microsoft/vscode-copilot-release#9375",
            "microsoft/copilot-intellij-feedback#1842",
        ],
        look: Look::Server(size::too_many_tools),
    },
    Rule {
        name: "many tools",
        severity: Warning,
        because: &["Snowflake-Labs/mcp#77"],
        look: Look::Server(size::many_tools),
    },
    Rule {
        name: "tokens",
        severity: Warning,
        because: &["anthropics/claude-code#12241", "getsentry/XcodeBuildMCP#153"],
        look: Look::Server(size::many_tokens),
    },
    Rule {
        name: "instructions",
        severity: Warning,
        because: &["RedHatInsights/insights-mcp#340"],
        look: Look::Server(texts::long_instructions),
    },
    Rule {
        name: "names alike",
        severity: Error,
        because: &["openai/openai-agents-js#1934", "NousResearch/hermes-agent#72032"],
        look: Look::Server(names::alike),
    },
    Rule {
        name: "names alike but for case",
        severity: Warning,
        because: &["keurcien/auxilia#254"],
        look: Look::Server(names::alike_but_for_case),
    },
    Rule {
        name: "tool name",
        severity: Error,
        because: &[
            "hostinger/api-mcp-server#49",
            "loomle/loomle#168",
            "github/copilot-cli#2581",
            "openai/codex#8174",
            "microsoft/wassette#56",
            "evoila/meho#2745",
        ],
        look: Look::Item(TOOLS, names::characters),
    },
    Rule {
        name: "tool name's start",
        severity: Error,
        because: &["mixelpixx/KiCAD-MCP-Server#7", "cline/cline#7339"],
        look: Look::Item(TOOLS, names::start),
    },
    Rule {
        name: "tool name's length",
        severity: Error,
        because: &["microsoft/vscode#243602", "getsentry/XcodeBuildMCP#3"],
        look: Look::Item(TOOLS, names::length),
    },
    Rule {
        name: "length with the server's name",
        severity: Warning,
        because: &["awslabs/mcp#1283", "ComposioHQ/composio#2788", "PostHog/posthog#51483"],
        look: Look::Item(TOOLS, names::length_with_server),
    },
    Rule {
        name: "argument name",
        severity: Error,
        because: &["freee/freee-mcp#15", "twilio-labs/mcp#56", "decocms/studio#6874"],
        look: Look::Item(TOOLS, names::arguments),
    },
    Rule {
        name: "reserved word",
        severity: Warning,
        because: &[
            "imbenrabi/Financial-Modeling-Prep-MCP-Server#93",
            "openclaw/mcporter#379",
            "PrimeIntellect-ai/prime-agent#1378",
        ],
        look: Look::Item(TOOLS, reserved::names),
    },
    Rule {
        name: "task only",
        severity: Warning,
        because: &["github/copilot-cli#2538"],
        look: Look::Item(TOOLS, tasks::required),
    },
    Rule {
        name: "no description",
        severity: Error,
        because: &["Softeria/ms-365-mcp-server#76", "danny-avila/LibreChat#13209"],
        look: Look::Item(TOOLS, texts::no_description),
    },
    Rule {
        name: "long description",
        severity: Warning,
        because: &["getsentry/sentry-mcp#106", "rusiaaman/wcgw#51", "anthropics/claude-code#87650"],
        look: Look::Item(TOOLS, texts::long_description),
    },
    Rule {
        name: "end of a comment",
        severity: Warning,
        because: &[
            "bcherny/json-schema-to-typescript#171",
            "fabien0102/openapi-codegen#57",
            "palantir/osdk-ts#3664",
        ],
        look: Look::Item(TOOLS, texts::ends_of_comments),
    },
    Rule {
        name: "undocumented argument",
        severity: Warning,
        because: &["modelcontextprotocol/servers#3669", "mick-gsk/drift#110"],
        look: Look::Item(TOOLS, undocumented::arguments),
    },
    Rule {
        name: "unnamed fields",
        severity: Warning,
        because: &[
            "run-llama/llama_index#22141",
            "microsoft/agent-framework#2747",
            "labring/FastGPT#6488",
        ],
        look: Look::Item(TOOLS, fields::unnamed),
    },
    Rule {
        name: "properties",
        severity: Error,
        because: &["openai/openai-agents-python#454", "unclecode/crawl4ai#2207"],
        look: Look::Item(TOOLS, schemas::no_properties),
    },
    Rule {
        name: "choice at the root",
        severity: Error,
        because: &[
            "anthropics/claude-code#40075",
            "anomalyco/opencode#35516",
            "makenotion/notion-mcp-server#341",
        ],
        look: Look::Item(TOOLS, schemas::choice_at_the_root),
    },
    Rule {
        name: "foreign keyword",
        severity: Error,
        because: &["danny-avila/LibreChat#13850", "tashfeenahmed/freellmapi#105"],
        look: Look::Item(TOOLS, schemas::foreign),
    },
    Rule {
        name: "required but unknown",
        severity: Error,
        because: &["anomalyco/opencode#3140", "iBUHub/AIStudioToAPI#154"],
        look: Look::Item(TOOLS, schemas::required_but_unknown),
    },
    Rule {
        name: "too large to be spelled out",
        severity: Error,
        because: &["zed-industries/zed#60162", "anthropics/claude-code#68438"],
        look: Look::Item(TOOLS, schemas::too_large),
    },
    Rule { name: "schemas", severity: Error, because: &[], look: Look::Schemas },
    Rule {
        name: "no media type",
        severity: Warning,
        because: &["modelcontextprotocol/csharp-sdk#516", "IBM/mcp-context-forge#1381"],
        look: Look::Item(RESOURCES, texts::no_media_type),
    },
    Rule {
        name: "prompt name",
        severity: Error,
        because: &["anthropics/claude-code#5542", "google-gemini/gemini-cli#12910"],
        look: Look::Item(PROMPTS, names::prompt),
    },
    Rule {
        name: "undocumented prompt argument",
        severity: Warning,
        because: &["anthropics/claude-code#30733"],
        look: Look::Item(PROMPTS, undocumented::prompt_arguments),
    },
];
