use std::collections::BTreeMap;

use mcp_runtime_wire::{ObjectWriter, Raw, write};

use crate::collect::collect_by_insert;

/// JSON texts by their keys.
pub(super) type Texts = BTreeMap<Box<str>, Box<str>>;

/// State that earlier rounds leave to later ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// Answers of the client.
    pub(super) answers: Texts,
    /// Results of the work that the handler has completed.
    pub(super) done: Texts,
    /// Digests of the words that each question was asked in.
    pub(super) asked: Texts,
}

impl State {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
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

    /// Reads the text that [`write`](Self::write) has made.
    pub(super) fn read(text: Raw<'_>) -> Self {
        let [answers, done, asked] = text.pick(["a", "d", "q"]);
        let texts = |of: Option<Raw<'_>>| -> Texts {
            let members = of.into_iter().flat_map(Raw::members);
            collect_by_insert(members.map(|(key, json)| (key.into(), json.as_str().into())))
        };
        let members = asked.into_iter().flat_map(Raw::members);
        let digest = |it: Raw<'_>| it.string().unwrap_or_default().into();
        let asked = collect_by_insert(members.map(|(key, it)| (key.into(), digest(it))));
        Self { answers: texts(answers), done: texts(done), asked }
    }

    /// Returns the key that takes the most room, and the size of key and value in bytes.
    pub(super) fn largest(&self) -> Option<(&str, usize)> {
        let all = self.answers.iter().chain(&self.done);
        all.map(|(key, json)| (&**key, key.len() + json.len())).max_by_key(|it| it.1)
    }
}
