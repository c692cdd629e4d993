//! Compares the results of all scenarios with the list of scenarios that cannot pass yet.

use crate::{
    lists::NotYet,
    suite::{Check, Scenario},
};

/// Returns every result that is not as expected, as text of one or more lines.
///
/// For the suite, a scenario passes if it has at least one success and no failure. Here it must also have no warning, because three
/// scenarios report mistakes only as warnings.
pub(crate) fn problems(scenarios: &[Scenario], not_yet: NotYet) -> Vec<String> {
    let mut problems = Vec::new();
    let listed: Vec<_> = not_yet
        .iter()
        .flat_map(|(names, why)| names.iter().map(move |name| (*name, *why)))
        .collect();
    for (name, _) in &listed {
        if scenarios.iter().all(|scenario| scenario.name != *name) {
            problems.push(format!("{name}: is listed, but the suite has no such scenario"));
        }
    }
    for Scenario { name, checks } in scenarios {
        let wrong: Vec<_> = checks.iter().filter(|check| is_wrong(check)).map(shown).collect();
        let passed = wrong.is_empty() && checks.iter().any(|check| check.status == "SUCCESS");
        match listed.iter().find(|entry| entry.0 == name) {
            Some((_, why)) if passed => {
                problems.push(format!("{name}: passes; take it off the list ({why})"))
            }
            Some(_) => {}
            None if passed => {}
            None if wrong.is_empty() => problems.push(format!("{name}: no check succeeded")),
            None => problems.extend(wrong.into_iter().map(|check| format!("{name}: {check}"))),
        }
    }
    problems
}

fn is_wrong(check: &Check) -> bool {
    matches!(check.status.as_str(), "FAILURE" | "WARNING")
}

fn shown(check: &Check) -> String {
    let Check { id, description, status, error_message, details } = check;
    let message = error_message.as_deref().unwrap_or(description);
    let details = if details.is_null() { String::new() } else { format!("\n    {details}") };
    format!("{id}: {status}: {message}{details}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOT_YET: NotYet = &[(&["later", "never"], "a reason")];

    #[track_caller]
    fn check(scenarios: &[(&str, &[&str])], expected: &[&str]) {
        let scenarios: Vec<_> = scenarios
            .iter()
            .map(|(name, statuses)| Scenario {
                name: (*name).to_owned(),
                checks: statuses
                    .iter()
                    .map(|status| Check {
                        id: "id".to_owned(),
                        description: "what".to_owned(),
                        status: (*status).to_owned(),
                        error_message: (*status == "FAILURE").then(|| "why".to_owned()),
                        details: Value::Null,
                    })
                    .collect(),
            })
            .collect();
        assert_eq!(problems(&scenarios, NOT_YET), expected);
    }

    #[support::test]
    fn expected_outcomes_are_not_reported() {
        check(
            &[
                ("now", &["SUCCESS", "SKIPPED", "INFO"]),
                ("later", &["SUCCESS", "FAILURE"]),
                ("never", &["SKIPPED"]),
            ],
            &[],
        );
    }

    #[support::test]
    fn a_failure_and_a_warning_are_reported() {
        check(
            &[
                ("now", &["SUCCESS", "FAILURE", "WARNING"]),
                ("later", &["FAILURE"]),
                ("never", &["WARNING"]),
            ],
            &["now: id: FAILURE: why", "now: id: WARNING: what"],
        );
    }

    #[support::test]
    fn a_scenario_without_a_successful_check_did_not_pass() {
        check(
            &[("now", &["INFO"]), ("later", &[]), ("never", &["FAILURE"])],
            &["now: no check succeeded"],
        );
    }

    #[support::test]
    fn an_outdated_entry_of_the_list_is_reported() {
        check(
            &[("later", &["SUCCESS"])],
            &[
                "never: is listed, but the suite has no such scenario",
                "later: passes; take it off the list (a reason)",
            ],
        );
    }
}
