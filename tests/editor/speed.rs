//! Time from a keystroke to a list of completions, in 60 methods of one block.

use std::time::Duration;

use support::clock::Stopwatch;

use crate::{
    project::{Project, Side},
    shops,
};

/// Keystrokes whose times are compared.
const KEYSTROKES: usize = 30;

/// Runs after which the times count. Busy processes can slow down one of the two sides.
const RUNS: usize = 3;

/// After a keystroke, rust-analyzer expands the block and completes a field. The best of some runs counts, because both sides run in one
/// server, one after the other, and other processes may disturb one of them.
#[support::test]
fn completion_in_60_methods_needs_at_most_the_time_of_rmcp() {
    let mut project = Project::open();
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let [plain, ours, rmcp] = Side::ALL.map(|side| median(&mut project, side));
        let ratio = ours.as_secs_f64() / rmcp.as_secs_f64();
        eprintln!(
            "completion in 60 methods: plain {} ms, ours {} ms, rmcp {} ms, ours/rmcp {ratio:.2}",
            plain.as_millis(),
            ours.as_millis(),
            rmcp.as_millis()
        );
        ratios.push(ratio);
        if ratio <= 1.0 {
            return;
        }
    }
    panic!("each time slower than rmcp: {ratios:?}");
}

fn median(project: &mut Project, side: Side) -> Duration {
    let whole = shops::sixty(side);
    project.set_text(side, &whole);
    project.diagnostics(side);
    let mut times: Vec<Duration> = (0..KEYSTROKES)
        .map(|index| {
            let start = whole.find(&format!("fn write_{index}(")).expect("a method");
            let (before, method) = whole.split_at(start);
            // Each text differs from the last, as after a keystroke.
            let typed = format!("person.{}", if index % 2 == 0 { "" } else { "em" });
            let method = method.replacen("person.name.clone()", &typed, 1);
            let text = format!("{before}{method}");
            let watch = Stopwatch::start();
            project.set_text(side, &text);
            let names = project.completions(side, &text, &format!("{typed}|;"));
            let time = watch.elapsed();
            assert!(names.iter().any(|name| name == "email"), "{side:?}: {names:?}");
            time
        })
        .collect();
    times.sort();
    times[KEYSTROKES / 2]
}
