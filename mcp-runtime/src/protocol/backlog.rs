use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::wire::{Id, IdBuf};

/// Events that wait for a slow reader, without duplicates and in the order in which they came. However many a client makes wait, adding one
/// more costs about the same.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: BTreeMap<u64, WaitingEvent>,
    places: HashMap<EventSubject, u64>,
    /// Places of events about tasks. The oldest of them is dropped first.
    news: BTreeSet<u64>,
    next: u64,
    bytes: usize,
}

struct WaitingEvent {
    subject: EventSubject,
    /// Listen stream that the event belongs to, if any.
    stream: Option<IdBuf>,
    message: Arc<[u8]>,
}

/// Subject of an event. Of two events with the same subject only one waits.
#[derive(Clone, PartialEq, Eq, Hash)]
enum EventSubject {
    /// The message itself, so that equal messages wait once.
    Event(Arc<[u8]>),
    /// A task on one stream. Only its newest state counts.
    Task(Arc<str>, Option<IdBuf>),
}

impl Backlog {
    #[cfg(feature = "http")]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds an event, unless an equal one waits already.
    pub(super) fn event(&mut self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let message: Arc<[u8]> = message.into();
        let subject = EventSubject::Event(message.clone());
        if !self.places.contains_key(&subject) {
            self.push(WaitingEvent { subject, stream: stream.cloned(), message });
        }
    }

    /// Adds the state of a task and drops its previous one. The oldest states of tasks are dropped while more than `most` bytes wait.
    pub(super) fn news(
        &mut self,
        stream: Option<&IdBuf>,
        task: &Arc<str>,
        message: Vec<u8>,
        most: usize,
    ) {
        let subject = EventSubject::Task(task.clone(), stream.cloned());
        if let Some(place) = self.places.get(&subject) {
            self.remove(*place);
        }
        self.news.insert(self.next);
        self.push(WaitingEvent { subject, stream: stream.cloned(), message: message.into() });
        while self.bytes > most
            && let Some(oldest) = self.news.first()
        {
            self.remove(*oldest);
        }
    }

    /// Drops the events of a listen stream.
    pub(super) fn forget(&mut self, stream: Id<'_>) {
        let is_of = |it: &WaitingEvent| it.stream.as_ref().map(IdBuf::as_id) == Some(stream);
        let all = self.waiting.iter().filter(|it| is_of(it.1)).map(|it| *it.0);
        for place in all.collect::<Vec<_>>() {
            self.remove(place);
        }
    }

    pub(super) fn into_messages(self) -> impl Iterator<Item = Arc<[u8]>> {
        self.waiting.into_values().map(|it| it.message)
    }

    fn push(&mut self, waiting: WaitingEvent) {
        self.bytes += waiting.message.len();
        self.places.insert(waiting.subject.clone(), self.next);
        self.waiting.insert(self.next, waiting);
        self.next += 1;
    }

    fn remove(&mut self, place: u64) {
        self.news.remove(&place);
        if let Some(it) = self.waiting.remove(&place) {
            self.places.remove(&it.subject);
            self.bytes -= it.message.len();
        }
    }
}
