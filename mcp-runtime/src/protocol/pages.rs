use std::{
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
};

use crate::random::random;

/// Pages that the user of a session was sent to and has perhaps not finished. Only the client of the session knows the id of each page
/// (rule ELIC-08).
#[derive(Default)]
pub(super) struct SentPages(VecDeque<SentPage>);

struct SentPage {
    url: Box<str>,
    id: String,
}

impl SentPages {
    /// Maximum number of pages. The oldest page is forgotten, because not every user comes to an end.
    const MOST: usize = 64;

    /// Remembers a page, and returns an id for it.
    pub(super) fn send_to(&mut self, url: &str) -> String {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        let id = elicitation_id();
        self.0.push_back(SentPage { url: url.into(), id: id.clone() });
        id
    }

    /// Removes a page that the user has finished, and returns its ids.
    pub(super) fn completed(&mut self, url: &str) -> Vec<String> {
        let (done, left) = self.0.drain(..).partition(|it: &SentPage| *it.url == *url);
        self.0 = left;
        let done: VecDeque<SentPage> = done;
        done.into_iter().map(|it| it.id).collect()
    }
}

/// Returns an id that no server gives twice and that cannot be guessed.
fn elicitation_id() -> String {
    if let Ok(bits) = random() {
        return format!("{:032x}", u128::from_ne_bytes(bits));
    }
    // On wasm without a generator the keys of the standard library are the only randomness. Each `RandomState` has different, secret keys.
    let half = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_completed_once_and_the_oldest_is_forgotten() {
        let mut pages = SentPages::default();
        let ids = ["a", "b", "a"].map(|it| pages.send_to(it));
        assert_eq!(pages.completed("a"), [ids[0].clone(), ids[2].clone()]);
        assert_eq!(pages.completed("a"), Vec::<String>::new());
        for _ in 0..SentPages::MOST {
            pages.send_to("c");
        }
        assert_eq!(pages.completed("b"), Vec::<String>::new());
        assert_eq!(pages.completed("c").len(), SentPages::MOST);
    }

    #[test]
    fn no_two_ids_are_alike() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| elicitation_id()).collect();
        assert_eq!(ids.len(), 1000);
        // The ids do not count up, and do not begin alike within one process.
        let starts: std::collections::BTreeSet<_> = ids.iter().map(|it| &it[..8]).collect();
        assert!(ids.iter().all(|it| it.len() == 32) && starts.len() > 990, "{}", starts.len());
    }
}
