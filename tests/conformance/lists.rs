//! What `everything` cannot do yet, by the suite's names. Every other scenario must pass, whether the suite scores it or not.

/// Scenarios, and why they cannot pass.
pub(crate) type NotYet = &'static [(&'static [&'static str], &'static str)];

/// The revisions that the suite has requirements for.
pub(crate) const REVISIONS: [(&str, NotYet); 2] = [("2025-11-25", LEGACY), ("2026-07-28", MODERN)];

const LEGACY: NotYet = &[(
    &[
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ],
    "a running call cannot ask its client yet",
)];

const MODERN: NotYet = &[
    (
        &[
            "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-request-state",
            "input-required-result-multiple-input-requests",
            "input-required-result-multi-round",
            "input-required-result-missing-input-response",
            "input-required-result-non-tool-request",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "input-required-result-capability-check",
            "input-required-result-ignore-extra-params",
        ],
        "a result cannot ask for input yet",
    ),
    (
        &[
            "tasks-lifecycle",
            "tasks-capability-negotiation",
            "tasks-wire-fields",
            "tasks-request-state-removal",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-dispatch-and-envelope",
            "tasks-required-task-error",
            "tasks-mrtr-composition",
        ],
        "the extension of tasks is not there yet; the suite does not score it",
    ),
    (&["tasks-status-notifications"], "the suite skips it, whatever the server does"),
];
