use std::collections::BTreeMap;
#[cfg(feature = "ask")]
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(feature = "ask")]
use crate::{
    gathered::gathered,
    wire::{Object, Raw, write},
};

/// JSON texts by their keys.
pub(super) type Texts = BTreeMap<Box<str>, Box<str>>;

/// What earlier rounds leave to later ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// What the client answered.
    pub(super) answers: Texts,
    /// What the handler got done.
    pub(super) done: Texts,
    /// Digests of the words that each question was asked in.
    pub(super) asked: Texts,
}

#[cfg(feature = "ask")]
impl State {
    pub(super) fn write(&self, expires: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.u64("e", expires);
        for (name, texts) in [("a", &self.answers), ("d", &self.done)] {
            let mut members = object.object(name);
            for (key, json) in texts {
                write::raw(members.given_key(key), json);
            }
        }
        let mut asked = object.object("q");
        for (key, digest) in &self.asked {
            write::string(asked.given_key(key), digest);
        }
        asked.end();
        object.end();
        out
    }

    /// What was written and when it expires, unless it has.
    pub(super) fn read(text: Raw<'_>, now: u64) -> Option<(Self, u64)> {
        let [expires, answers, done, asked] = text.pick(["e", "a", "d", "q"]);
        let expires = expires.and_then(Raw::u64).filter(|it| *it >= now)?;
        let texts = |of: Option<Raw<'_>>| -> Texts {
            let members = of.into_iter().flat_map(Raw::members);
            gathered(members.map(|(key, json)| (key.into(), json.as_str().into())))
        };
        let members = asked.into_iter().flat_map(Raw::members);
        let digest = |it: Raw<'_>| it.string().unwrap_or_default().into();
        let asked = gathered(members.map(|(key, it)| (key.into(), digest(it))));
        Some((Self { answers: texts(answers), done: texts(done), asked }, expires))
    }

    /// The key that takes the most room.
    pub(super) fn largest(&self) -> Option<(&str, usize)> {
        let all = self.answers.iter().chain(&self.done);
        all.map(|(key, json)| (&**key, key.len() + json.len())).max_by_key(|it| it.1)
    }
}

/// Seconds since 1970: what several machines agree on.
#[cfg(feature = "ask")]
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

#[cfg(feature = "ask")]
pub(super) fn after(lifetime: Duration) -> u64 {
    now().saturating_add(lifetime.as_secs().max(1))
}
