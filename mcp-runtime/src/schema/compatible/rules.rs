//! The rules of the compatible form, each with the issue threads that show why it is needed.

use super::{
    choices::{
        constant, named_values, null, null_default, nullable, one_of, other_values, single,
        type_list,
    },
    keywords::{
        ApplyAll, annotations, any_value, content, examples, exclusive_bounds, format,
        further_members, items, multiple_of, names, not, older_draft, pattern, tuple, unevaluated,
        unique_items,
    },
};
use crate::schema::{Map, SchemaSide};

/// Rule of the compatible form, with the reasons for the rule.
#[derive(Clone)]
#[cfg_attr(
    not(feature = "stdio"),
    allow(dead_code, reason = "`check` says what is wrong, and why")
)]
pub(super) struct RewriteRule {
    pub(super) name: &'static str,
    /// Complaint of `check` about a schema that the rule would rewrite.
    ///
    /// `{}` stands for those of `keywords` that the schema has.
    pub(super) says: &'static str,
    pub(super) keywords: &'static [&'static str],
    /// Whether at least one known client rejects such a schema. Otherwise, some client accepts the schema but handles it badly.
    pub(super) refused: bool,
    /// Public issue threads (`owner/repository#number`) that show what goes wrong without the rule.
    pub(super) because: &'static [&'static str],
    pub(super) sides: &'static [SchemaSide],
    pub(super) stage: RewriteStage,
}

/// Stage of the rewriting at which a rule applies.
#[derive(Clone, Copy)]
pub(super) enum RewriteStage {
    /// Removes `$schema` from the root.
    Dialect,
    /// Removes the title of the root if it is the name of a Rust type.
    Title,
    /// Replaces each reference with the schema that it refers to, before the subschemas are rewritten.
    References,
    /// Cuts off a type that contains itself, before the subschemas are rewritten.
    Recursion,
    /// Rewrites each schema object, before the schemas inside it.
    Before(fn(&mut Map)),
    /// Rewrites each schema object, after the schemas inside it.
    Each(fn(&mut Map, SchemaSide)),
    /// Like `Each`, for values that a client can leave out.
    Omissible(fn(&mut Map)),
    /// Like `Each`, for a rule that creates new schemas. The rule applies all rules to these schemas.
    EachWithNew(fn(&mut Map, SchemaSide, ApplyAll)),
}

const BOTH: &[SchemaSide] = &[SchemaSide::Argument, SchemaSide::Result];
const ARGUMENTS: &[SchemaSide] = &[SchemaSide::Argument];

/// Rules in the order in which they are applied. The table is a `static` instead of a `const`, like every table here. Each codegen unit
/// would have its own copy of a `const`, and the addresses in every copy would be relocated whenever a program starts.
pub(super) static RULES: &[RewriteRule] = &[
    RewriteRule {
        // Without `$schema`, the dialect is the default of the MCP specification. Some clients reject a schema that names another dialect.
        name: "$schema",
        says: "declares its dialect (`$schema`)",
        keywords: &[],
        refused: true,
        because: &[
            "google-gemini/gemini-cli#14970",
            "google-gemini/gemini-cli#17235",
            "anthropics/claude-code#88882",
        ],
        sides: BOTH,
        stage: RewriteStage::Dialect,
    },
    RewriteRule {
        // The name of a Rust type costs tokens without helping the model. Weak models mistake the title for the name of the tool.
        name: "title",
        says: "has the name of a Rust type for a `title`",
        keywords: &[],
        refused: false,
        because: &["modelcontextprotocol/python-sdk#3391", "boettiger-lab/mcp-data-server#327"],
        sides: BOTH,
        stage: RewriteStage::Title,
    },
    RewriteRule {
        // Without `$schema`, a schema is read as JSON Schema 2020-12, which has other forms for the same rules.
        name: "older draft",
        says: "has a form of an older JSON Schema: {}",
        keywords: &[
            "items",
            "additionalItems",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "dependencies",
        ],
        refused: true,
        because: &["modelcontextprotocol/typescript-sdk#745", "acomagu/vscode-as-mcp-server#6"],
        sides: BOTH,
        stage: RewriteStage::Before(older_draft),
    },
    RewriteRule {
        // Some clients lose the definition before the schema reaches the model. Others drop the tool, or all tools.
        name: "references",
        says: "refers to a definition (`$ref`) instead of containing its schema",
        keywords: &[],
        refused: true,
        because: &[
            "Goldziher/basemind#50",
            "mikeyobrien/ralph-orchestrator#351",
            "zed-industries/zed#60162",
            "anthropics/claude-code#76881",
            "PrefectHQ/fastmcp#2808",
            "github/copilot-cli#1876",
            "openai/codex#3152",
            "modelcontextprotocol/rust-sdk#251",
        ],
        sides: BOTH,
        stage: RewriteStage::References,
    },
    RewriteRule {
        // Clients that replace references themselves fail at a cycle, and then load none of the server's tools.
        name: "recursion",
        says: "contains itself (`$ref`)",
        keywords: &[],
        refused: true,
        because: &["anthropics/claude-code#77106", "google/adk-python#3870"],
        sides: BOTH,
        stage: RewriteStage::Recursion,
    },
    RewriteRule {
        // `nullable` belongs to OpenAPI, and strict validators reject it.
        name: "nullable",
        says: "has `nullable`, a keyword of OpenAPI",
        keywords: &[],
        refused: true,
        because: &["MikkoParkkola/nab#61"],
        sides: BOTH,
        stage: RewriteStage::Each(nullable),
    },
    RewriteRule {
        // Older generators wrap a reference in an `allOf`, which few dialects know.
        name: "single schema",
        says: "wraps one schema in a list: {}",
        keywords: &["allOf", "anyOf", "oneOf"],
        refused: false,
        because: &["eric-tramel/moraine#256"],
        sides: BOTH,
        stage: RewriteStage::Each(single),
    },
    RewriteRule {
        // A client can omit an optional member instead of sending `null`. Any other `null` stays, in a branch of its own.
        name: "null",
        says: "may be `null`, but an optional value is better left out",
        keywords: &[],
        refused: true,
        because: &[
            "cursor/cursor#3778",
            "anthropics/claude-code#3966",
            "modelcontextprotocol/rust-sdk#135",
            "github/copilot-cli#4623",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::Omissible(null),
    },
    RewriteRule {
        // Dialects with one `type` per schema cannot express a list of types. The MCP Inspector calls such a list `type-union`.
        name: "type list",
        says: "has several types in one `type`",
        keywords: &[],
        refused: true,
        because: &["google/adk-js#199", "anomalyco/opencode#48073"],
        sides: BOTH,
        stage: RewriteStage::EachWithNew(type_list),
    },
    RewriteRule {
        // This rule rewrites only strings, because Gemini rejects every other value in an `enum`. Other constants may stay, because a
        // client that ignores the unknown keyword `const` still works.
        name: "const",
        says: "has a `const` instead of an `enum` with one value",
        keywords: &[],
        refused: true,
        because: &["danny-avila/LibreChat#11784", "cortexkit/antigravity-auth#17"],
        sides: BOTH,
        stage: RewriteStage::Each(constant),
    },
    RewriteRule {
        // schemars describes an enum with documented variants as a `oneOf` of constants.
        name: "enum",
        says: "describes a choice between names with branches instead of one `enum`",
        keywords: &[],
        refused: false,
        because: &["anomalyco/opencode#12908", "modelcontextprotocol/modelcontextprotocol#2806"],
        sides: BOTH,
        stage: RewriteStage::Each(named_values),
    },
    RewriteRule {
        // Gemini accepts only non-empty strings as values of an `enum`. For numbers, bounds and a sentence replace the values.
        name: "values",
        says: "lists values that are not strings, or an empty string",
        keywords: &[],
        refused: true,
        because: &[
            "router-for-me/CLIProxyAPI#1075",
            "chrisdoc/hevy-mcp#1161",
            "zed-extensions/mcp-server-brave-search#12",
            "sbroenne/mcp-server-excel#607",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(other_values),
    },
    RewriteRule {
        // The variants of a Rust enum exclude each other, so `anyOf` accepts the same values. In a result, other rules may also widen a
        // branch. With `anyOf`, the result stays valid even if a second branch matches.
        name: "oneOf",
        says: "has `oneOf`, which fewer clients read than `anyOf`",
        keywords: &[],
        refused: true,
        because: &["can1357/oh-my-pi#920", "ayunis-core/ayunis-core#998"],
        sides: BOTH,
        stage: RewriteStage::Each(one_of),
    },
    RewriteRule {
        // For an integer, the bound is moved by one and becomes inclusive. For other numbers, the published range contains the bound
        // itself, and the server rejects an argument with that value.
        name: "exclusive bounds",
        says: "has an exclusive bound: {}",
        keywords: &["exclusiveMinimum", "exclusiveMaximum"],
        refused: true,
        because: &["modelcontextprotocol/servers#1624", "ahmadrosid/nakama#292"],
        sides: BOTH,
        stage: RewriteStage::Each(exclusive_bounds),
    },
    RewriteRule {
        // Formats such as `uint32` are specific to schemars. Clients also reject some standard formats: gpt-5-codex rejects `uri`. OpenAI
        // lists nine formats, of which Gemini's API is known to accept only `date-time`. The reference of Gemini's API allows any format,
        // but the last issue thread below reports that requests with `email` and `uri` were rejected.
        name: "format",
        says: "has a `format` that not all clients know",
        keywords: &[],
        refused: true,
        because: &[
            "anomalyco/opencode#31002",
            "Piebald-AI/splitrail#113",
            "longbridge/developers#1264",
            "cyanheads/git-mcp-server#47",
            "google-gemini/gemini-cli#2237",
            "BerriAI/litellm#11427",
            "weave-os/router#387",
        ],
        sides: BOTH,
        stage: RewriteStage::Each(format),
    },
    RewriteRule {
        // schemars uses `not` to exclude 0 from a `NonZeroI64`.
        name: "not",
        says: "rules out single values with `not`",
        keywords: &[],
        refused: true,
        because: &["tashfeenahmed/freellmapi#105"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(not),
    },
    RewriteRule {
        // The regex engines of OpenAI and llama.cpp have no lookaround. One such pattern makes them reject all tools of the request.
        name: "pattern",
        says: "has a `pattern` with lookaround, such as `(?!…)`",
        keywords: &[],
        refused: true,
        because: &["cline/cline#14019", "can1357/oh-my-pi#2784", "codefuturist/email-mcp#72"],
        sides: BOTH,
        stage: RewriteStage::Each(pattern),
    },
    RewriteRule {
        // Applied before the rule "items", because a tuple has no `items`: `prefixItems` describes the elements.
        name: "tuple",
        says: "describes the elements of a list one by one: {}",
        keywords: &["prefixItems", "items"],
        refused: true,
        because: &[
            "danny-avila/LibreChat#13850",
            "diegosouzapw/OmniRoute#12540",
            "diegosouzapw/OmniRoute#12872",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::EachWithNew(tuple),
    },
    RewriteRule {
        name: "items",
        says: "is a list that does not describe its elements",
        keywords: &[],
        refused: true,
        because: &[
            "microsoft/vscode#244467",
            "ckreiling/mcp-server-docker#25",
            "D4Vinci/Scrapling#150",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(items),
    },
    RewriteRule {
        // A bare `true` makes a client drop all tools of the server, `{}` makes clients send strings, and a list of all types fails with
        // Gemini. The only form left is a union of typed branches, each of which is an ordinary schema.
        name: "any value",
        says: "has no type",
        keywords: &[],
        refused: true,
        because: &[
            "anthropics/claude-code#92900",
            "anthropics/claude-code#17742",
            "anthropics/claude-code#82652",
            "joshrotenberg/tower-mcp#582",
            "ryan-voitiskis/reklawdbox#32",
            "cyanheads/mcp-ts-core#141",
            "modelcontextprotocol/inspector#1005",
        ],
        sides: BOTH,
        stage: RewriteStage::Each(any_value),
    },
    RewriteRule {
        // A default of `null` would suggest a value that the schema does not allow.
        name: "null default",
        says: "has `null` as its default, but not among its types",
        keywords: &[],
        refused: false,
        because: &["cursor/cursor#3778"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(null_default),
    },
    RewriteRule {
        // This rule and the rules after it remove keywords that Gemini's API does not know. Gemini rejects a request in which such a
        // keyword occurs anywhere. In the first issue thread below, each keyword was tested with the models available at the time.
        //
        // Three features stay in the schema on purpose:
        // - The schema of a map's values (`additionalProperties`). Gemini does not know this keyword either (zed-industries/zed#52670), so
        //   clients for Gemini remove it. Without the keyword, other clients would read a map as an empty object.
        // - Objects without `properties`. An issue thread reports that Gemini rejected such objects (MarkusPfundstein/mcp-obsidian#21), but
        //   clients also send them to Gemini in order to repair other schemas (Kilo-Org/kilocode#11955, code-yeongyu/oh-my-openagent#1465).
        // - `x-mcp-header`, which the specification defines.
        //
        // The server does not need `uniqueItems`: a set that is deserialized from a list keeps one of several equal values.
        name: "uniqueItems",
        says: "has `uniqueItems`",
        keywords: &[],
        refused: true,
        because: &[
            "danny-avila/LibreChat#13850",
            "diegosouzapw/OmniRoute#9617",
            "router-for-me/CLIProxyAPI#2142",
            "noho/dayu-agent#165",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(unique_items),
    },
    RewriteRule {
        // schemars writes a pattern for the keys of a map if the keys are numbers.
        name: "names of members",
        says: "describes the names of members: {}",
        keywords: &["patternProperties", "propertyNames", "dependentRequired"],
        refused: true,
        because: &[
            "danny-avila/LibreChat#13850",
            "Wei-Shaw/sub2api#795",
            "rikkahub/rikkahub#1935",
            "langchain-ai/langchainjs#9526",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::EachWithNew(names),
    },
    RewriteRule {
        // schemars uses `unevaluatedProperties` to forbid unknown members in a struct that has a field with `flatten`.
        name: "unevaluated",
        says: "has {}",
        keywords: &["unevaluatedProperties", "unevaluatedItems"],
        refused: true,
        because: &["decolua/9router#3018"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(unevaluated),
    },
    RewriteRule {
        // Applied after the rules that read `additionalProperties`. The server rejects unknown arguments in any case, and clients that turn
        // on OpenAI's strict mode close every object themselves.
        name: "further members",
        says: "only allows or forbids further members (`additionalProperties`)",
        keywords: &[],
        refused: true,
        because: &[
            "googleapis/python-genai#2393",
            "googleapis/python-genai#2476",
            "run-llama/llama_index#19899",
        ],
        sides: BOTH,
        stage: RewriteStage::Each(further_members),
    },
    RewriteRule {
        name: "multipleOf",
        says: "has `multipleOf`",
        keywords: &[],
        refused: true,
        because: &["danny-avila/LibreChat#13850", "decolua/9router#2309"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(multiple_of),
    },
    RewriteRule {
        name: "content",
        says: "describes the content of a string: {}",
        keywords: &["contentEncoding", "contentMediaType", "contentSchema"],
        refused: true,
        because: &["danny-avila/LibreChat#13850"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(content),
    },
    RewriteRule {
        // schemars writes these keywords for Rust and serde attributes.
        name: "annotations",
        says: "has an annotation: {}",
        keywords: &["deprecated", "readOnly", "writeOnly", "$comment", "$id", "id"],
        refused: true,
        because: &["danny-avila/LibreChat#13850", "tashfeenahmed/freellmapi#105"],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(annotations),
    },
    RewriteRule {
        name: "examples",
        says: "has `examples` beside its description",
        keywords: &[],
        refused: true,
        because: &[
            "danny-avila/LibreChat#13850",
            "tashfeenahmed/freellmapi#105",
            "datastax/astra-assistants-api#73",
        ],
        sides: ARGUMENTS,
        stage: RewriteStage::Each(examples),
    },
];

/// Applies the rules for `side` to one schema, whose subschemas have been rewritten already. `is_omissible` tells whether a client can leave
/// out the value.
pub(super) fn apply(rules: &[RewriteRule], map: &mut Map, side: SchemaSide, is_omissible: bool) {
    for rule in rules.iter().filter(|rule| rule.sides.contains(&side)) {
        match rule.stage {
            RewriteStage::Each(rewrite) => rewrite(map, side),
            RewriteStage::Omissible(rewrite) if is_omissible => rewrite(map),
            RewriteStage::EachWithNew(rewrite) => rewrite(map, side, apply_all),
            _ => {}
        }
    }
}

fn apply_all(map: &mut Map, side: SchemaSide) {
    apply(RULES, map, side, false);
}

/// Applies the rules that come before the schemas inside a schema.
pub(super) fn prepare(rules: &[RewriteRule], map: &mut Map, side: SchemaSide) {
    for rule in rules.iter().filter(|rule| rule.sides.contains(&side)) {
        if let RewriteStage::Before(rewrite) = rule.stage {
            rewrite(map);
        }
    }
}

/// Whether one of the rules belongs to this stage.
pub(super) fn has(rules: &[RewriteRule], stage: RewriteStage) -> bool {
    let wanted = std::mem::discriminant(&stage);
    rules.iter().any(|rule| std::mem::discriminant(&rule.stage) == wanted)
}
