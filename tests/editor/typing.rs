//! Half-typed items: rust-analyzer's own diagnostics, and the types in other functions.

use crate::{
    project::{Project, Side},
    shops::shop,
    texts::{self, FEWEST, KINDS},
};

/// Variables in other functions, two in functions with the same attribute and one in a method of the same block.
const OTHERS: [&str; 3] = ["let |early", "let |late", "let |near"];

/// What one side shows for the texts of a kind.
#[derive(Default)]
struct Counts {
    texts: usize,
    diagnostics: usize,
    /// Texts in which another function has lost a type.
    lost: usize,
}

impl Counts {
    /// Counts for a text, and returns the diagnostics.
    fn add(&mut self, project: &mut Project, side: Side, text: &str) -> Vec<String> {
        project.set_text(side, text);
        let diagnostics = project.diagnostics(side);
        self.texts += 1;
        self.diagnostics += diagnostics.len();
        let mut is_lost = |other: &str| !project.hover(side, text, other).contains("usize");
        self.lost += usize::from(OTHERS.into_iter().any(&mut is_lost));
        diagnostics
    }
}

/// Our items have no more diagnostics in all texts of a kind than plain items, and other functions lose no more types. A half-typed attribute may
/// have an error of its own. Cut items have no more diagnostics than those of rmcp on average, unless the same plain items have as many: the
/// item of rmcp has other parameters, so other cuts of it are mistakes.
#[support::test]
fn half_typed_items_are_like_plain_functions() {
    let mut project = Project::open();
    let mut wrong = Vec::new();
    eprintln!(
        "half-typed    texts   diagnostics: plain   ours (in attributes)   rmcp   lost: plain   ours   rmcp"
    );
    for kind in KINDS {
        let (mut plain, mut ours) = (Counts::default(), Counts::default());
        let (mut inside, mut cut, mut rmcp) =
            (Counts::default(), Counts::default(), Counts::default());
        // Diagnostics of the plain shop in the texts that `cut` counts.
        let mut least = 0;
        let mut worse = Vec::new();
        for pair in texts::pairs(kind) {
            if pair.is_in_attribute {
                let lost = inside.lost;
                let found = inside.add(&mut project, Side::Ours, &pair.ours);
                if found.len() > 1 || inside.lost > lost {
                    worse.push((pair.ours, found, Vec::new()));
                }
                continue;
            }
            let lost = (plain.lost, ours.lost);
            let as_plain = plain.add(&mut project, Side::Plain, &pair.plain);
            let found = ours.add(&mut project, Side::Ours, &pair.ours);
            if pair.is_cut {
                cut.texts += 1;
                cut.diagnostics += found.len();
                least += as_plain.len();
                cut.lost += ours.lost - lost.1;
            }
            if found.len() > as_plain.len() || ours.lost - lost.1 > plain.lost - lost.0 {
                worse.push((pair.ours, found, as_plain));
            }
        }
        for text in texts::of_rmcp(kind) {
            rmcp.add(&mut project, Side::Rmcp, &text);
        }
        for side in Side::ALL {
            project.set_text(side, shop(side));
        }
        let texts = ours.texts + inside.texts;
        eprintln!(
            "{kind:<11} {texts:>7} {:>20} {:>6} {:>15} {:>6} {:>13} {:>6} {:>6}",
            plain.diagnostics,
            ours.diagnostics,
            inside.diagnostics,
            rmcp.diagnostics,
            plain.lost,
            ours.lost,
            rmcp.lost
        );
        for (text, found, as_plain) in &worse {
            let (_, after) = text.split_once(&format!("// item: {kind}\n")).expect("the item");
            let item = after.split("// end").next().unwrap_or_default();
            support::note!("{kind}: {found:?}\nplain: {as_plain:?}\n{item}\n");
        }
        let average = |count: usize, of: &Counts| count as f64 / of.texts.max(1) as f64;
        let is_compared = rmcp.texts > 0;
        let is_fine = texts >= FEWEST
            && ours.diagnostics <= plain.diagnostics
            && ours.lost <= plain.lost
            && inside.lost == 0
            && (!is_compared
                || average(cut.diagnostics, &cut)
                    <= average(rmcp.diagnostics, &rmcp).max(average(least, &cut))
                    && average(cut.lost, &cut) <= average(rmcp.lost, &rmcp));
        if !is_fine {
            wrong.push(kind);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
