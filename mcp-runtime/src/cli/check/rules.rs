//! Table of all rules, with the public issue threads that each rule is based on, and the code that applies the rules.

use super::{
    descriptions,
    finding::{
        CheckFinding, CheckedItem, CheckedServer, FindingGroup, Problem,
        Severity::{self, Error, Warning},
    },
    names, schemas, size,
};
use crate::catalog::Entry;

/// Rule that `check` applies.
pub(super) struct CheckRule {
    pub(super) name: &'static str,
    pub(super) severity: Severity,
    /// Public issue threads that show the problem.
    pub(super) because: &'static [&'static str],
    pub(super) look: Look,
}

/// Part of the server that a rule examines.
#[derive(Clone, Copy)]
pub(super) enum Look {
    Server(fn(&CheckedServer) -> Vec<Problem>),
    /// Items of these kinds.
    Item(&'static [&'static str], fn(&CheckedItem<'_>) -> Vec<Problem>),
    /// Schemas of tools. Their rules, severities and issue threads come from [`compatible`](crate::schema::compatible).
    Schemas,
}

const TOOLS: &[&str] = &["tool"];
const FUNCTIONS: &[&str] = &["tool", "resource", "template", "prompt"];
const PROMPTS: &[&str] = &["prompt"];
/// Kinds of items that the rule about media types examines. Templates are left out, because the resources of a template can have different
/// media types.
const RESOURCES: &[&str] = &["resource"];

/// All rules, in the order in which their findings are printed. There are no rules for violations of the specification itself, because
/// `build()` rejects them.
pub(super) static RULES: &[CheckRule] = &[
    CheckRule {
        name: "tool count",
        severity: Error,
        because: &[
            "microsoft/vscode-copilot-release#9375",
            "microsoft/copilot-intellij-feedback#1842",
        ],
        look: Look::Server(size::too_many_tools),
    },
    CheckRule {
        name: "many tools",
        severity: Warning,
        because: &["Snowflake-Labs/mcp#77"],
        look: Look::Server(size::many_tools),
    },
    CheckRule {
        name: "tokens",
        severity: Warning,
        because: &["anthropics/claude-code#12241", "getsentry/XcodeBuildMCP#153"],
        look: Look::Server(size::many_tokens),
    },
    CheckRule {
        name: "instructions",
        severity: Warning,
        because: &["RedHatInsights/insights-mcp#340"],
        look: Look::Server(descriptions::long_instructions),
    },
    CheckRule {
        name: "names alike",
        severity: Error,
        because: &["openai/openai-agents-js#1934", "NousResearch/hermes-agent#72032"],
        look: Look::Server(names::alike),
    },
    CheckRule {
        name: "names alike but for case",
        severity: Warning,
        because: &["keurcien/auxilia#254"],
        look: Look::Server(names::alike_but_for_case),
    },
    CheckRule {
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
    CheckRule {
        name: "tool name's start",
        severity: Error,
        because: &["mixelpixx/KiCAD-MCP-Server#7", "cline/cline#7339"],
        look: Look::Item(TOOLS, names::start),
    },
    CheckRule {
        name: "tool name's length",
        severity: Error,
        because: &["microsoft/vscode#243602", "getsentry/XcodeBuildMCP#3"],
        look: Look::Item(TOOLS, names::length),
    },
    CheckRule {
        name: "length with the server's name",
        severity: Warning,
        because: &["awslabs/mcp#1283", "ComposioHQ/composio#2788", "PostHog/posthog#51483"],
        look: Look::Item(TOOLS, names::length_with_server),
    },
    CheckRule {
        name: "argument name",
        severity: Error,
        because: &["freee/freee-mcp#15", "twilio-labs/mcp#56", "decocms/studio#6874"],
        look: Look::Item(TOOLS, names::arguments),
    },
    CheckRule {
        name: "reserved word",
        severity: Warning,
        because: &[
            "imbenrabi/Financial-Modeling-Prep-MCP-Server#93",
            "openclaw/mcporter#379",
            "PrimeIntellect-ai/prime-agent#1378",
        ],
        look: Look::Item(TOOLS, names::reserved),
    },
    CheckRule {
        name: "task only",
        severity: Warning,
        because: &["github/copilot-cli#2538"],
        look: Look::Item(TOOLS, required_task),
    },
    CheckRule {
        name: "held thread",
        severity: Warning,
        because: &[
            "modelcontextprotocol/python-sdk#1646",
            "ykuwai/ppt-mcp#198",
            "UMEP-dev/SUEWS#1412",
        ],
        look: Look::Item(FUNCTIONS, held_thread),
    },
    CheckRule {
        name: "no description",
        severity: Error,
        because: &["Softeria/ms-365-mcp-server#76", "danny-avila/LibreChat#13209"],
        look: Look::Item(TOOLS, descriptions::no_description),
    },
    CheckRule {
        name: "long description",
        severity: Warning,
        because: &["getsentry/sentry-mcp#106", "rusiaaman/wcgw#51", "anthropics/claude-code#87650"],
        look: Look::Item(TOOLS, descriptions::long_description),
    },
    CheckRule {
        name: "end of a comment",
        severity: Warning,
        because: &[
            "bcherny/json-schema-to-typescript#171",
            "fabien0102/openapi-codegen#57",
            "palantir/osdk-ts#3664",
        ],
        look: Look::Item(TOOLS, descriptions::ends_of_comments),
    },
    CheckRule {
        name: "undocumented argument",
        severity: Warning,
        because: &["modelcontextprotocol/servers#3669", "mick-gsk/drift#110"],
        look: Look::Item(TOOLS, descriptions::undocumented_arguments),
    },
    CheckRule {
        name: "unnamed fields",
        severity: Warning,
        because: &[
            "run-llama/llama_index#22141",
            "microsoft/agent-framework#2747",
            "labring/FastGPT#6488",
        ],
        look: Look::Item(TOOLS, descriptions::unnamed_fields),
    },
    CheckRule {
        name: "properties",
        severity: Error,
        because: &["openai/openai-agents-python#454", "unclecode/crawl4ai#2207"],
        look: Look::Item(TOOLS, schemas::no_properties),
    },
    CheckRule {
        name: "choice at the root",
        severity: Error,
        because: &[
            "anthropics/claude-code#40075",
            "anomalyco/opencode#35516",
            "makenotion/notion-mcp-server#341",
        ],
        look: Look::Item(TOOLS, schemas::choice_at_the_root),
    },
    CheckRule {
        name: "foreign keyword",
        severity: Error,
        because: &["danny-avila/LibreChat#13850", "tashfeenahmed/freellmapi#105"],
        look: Look::Item(TOOLS, schemas::foreign),
    },
    CheckRule {
        name: "required but unknown",
        severity: Error,
        because: &["anomalyco/opencode#3140", "iBUHub/AIStudioToAPI#154"],
        look: Look::Item(TOOLS, schemas::required_but_unknown),
    },
    CheckRule {
        name: "too large to be spelled out",
        severity: Error,
        because: &["zed-industries/zed#60162", "anthropics/claude-code#68438"],
        look: Look::Item(TOOLS, schemas::too_large),
    },
    CheckRule { name: "schemas", severity: Error, because: &[], look: Look::Schemas },
    CheckRule {
        name: "no media type",
        severity: Warning,
        because: &["modelcontextprotocol/csharp-sdk#516", "IBM/mcp-context-forge#1381"],
        look: Look::Item(RESOURCES, descriptions::no_media_type),
    },
    CheckRule {
        name: "prompt name",
        severity: Error,
        because: &["anthropics/claude-code#5542", "google-gemini/gemini-cli#12910"],
        look: Look::Item(PROMPTS, names::prompt),
    },
    CheckRule {
        name: "undocumented prompt argument",
        severity: Warning,
        because: &["anthropics/claude-code#30733"],
        look: Look::Item(PROMPTS, descriptions::undocumented_prompt_arguments),
    },
];

/// Returns all findings, grouped by item. The first group is about the server as a whole.
pub(super) fn look(published: &CheckedServer) -> Vec<FindingGroup> {
    let mut server = Vec::new();
    for rule in RULES {
        if let Look::Server(find) = rule.look {
            server.extend(find(published).into_iter().map(|problem| rule.finding(problem)));
        }
    }
    let title = format!("server `{}`", published.identity.name);
    let mut groups = vec![FindingGroup { item: "server".to_owned(), title, findings: server }];
    for item in published.items() {
        let all = RULES.iter().flat_map(|rule| rule.about(&item));
        let (mut findings, warnings): (Vec<CheckFinding>, Vec<_>) =
            all.partition(|finding| finding.severity == Error);
        findings.extend(warnings);
        groups.push(FindingGroup { item: item.name(), title: item.title(), findings });
    }
    groups.retain(|group| !group.findings.is_empty());
    groups
}

impl CheckRule {
    fn finding(&self, problem: Problem) -> CheckFinding {
        CheckFinding { rule: self.name, severity: self.severity, problem, because: self.because }
    }

    pub(super) fn about(&self, item: &CheckedItem<'_>) -> Vec<CheckFinding> {
        match self.look {
            Look::Item(kinds, find) if kinds.contains(&item.kind) => {
                find(item).into_iter().map(|problem| self.finding(problem)).collect()
            }
            Look::Schemas if item.kind == "tool" => schemas::findings(item),
            _ => Vec::new(),
        }
    }
}

/// Finds tools that run only as tasks. A client without tasks lists such a tool, but the server rejects its calls.
fn required_task(tool: &CheckedItem<'_>) -> Vec<Problem> {
    if !tool.entry.and_then(Entry::task).is_some_and(|task| task.required) {
        return Vec::new();
    }
    let what = "it runs only as a task: clients without tasks list it but cannot call it";
    vec![Problem::new(
        what,
        "use `task` without `required`, so that those clients wait for the result",
    )]
}

/// Finds functions that hold the thread of other calls. The macros have looked for known calls in the body only, so functions that compute
/// for long, or that wait inside of another function, are not found. The server logs these when they run.
fn held_thread(item: &CheckedItem<'_>) -> Vec<Problem> {
    let Some(call) = item.entry.and_then(|entry| entry.held_thread) else { return Vec::new() };
    let may_panic = call.starts_with("block") || call.starts_with("reqwest");
    let panics = if may_panic { ", or panics there" } else { "" };
    let what =
        format!("`{call}` in the body of the function holds the thread of other calls{panics}");
    let fix = "`blocking` in the attribute of a plain `fn`; in an `async fn`, an equivalent with `.await`, or `tokio::task::spawn_blocking`";
    vec![Problem::new(what, fix)]
}
