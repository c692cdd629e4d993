//! Size of the events in the logs of streams. Each node bounds the events that it writes, so that clients cannot fill the store.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::limits::Limits;

/// Time for which a log keeps each event even beyond the maximum number, as long as its events are within the limits on bytes. A client that
/// reads along reads the events within this time.
const RECENT: Duration = Duration::from_secs(10);

/// Time within which appended events are counted together.
const TOGETHER: Duration = Duration::from_secs(1);

/// Bounds of the logs that this node writes, and the size of their events.
pub(super) struct LogMemory {
    /// Maximum number and size of the events of a stream.
    most: usize,
    each: usize,
    /// Maximum size of the events of all streams.
    all: usize,
    bytes: AtomicUsize,
    /// Sizes of the logs that this node no longer writes, each with the time at which the log expires. The earliest time comes first.
    ended: Mutex<BinaryHeap<Reverse<(Instant, usize)>>>,
}

impl LogMemory {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.events.max(1),
            each: limits.event_bytes,
            all: limits.all_event_bytes,
            bytes: AtomicUsize::new(0),
            ended: Mutex::default(),
        }
    }

    /// Returns the maximum number of events of a stream.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    fn is_full(&self) -> bool {
        let is_full = || self.bytes.load(Ordering::Relaxed) > self.all;
        if !is_full() {
            return false;
        }
        let (now, mut expired) = (Instant::now(), 0);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while ended.peek().is_some_and(|Reverse((until, _))| *until <= now) {
            expired += ended.pop().map_or(0, |Reverse((_, bytes))| bytes);
        }
        drop(ended);
        self.bytes.fetch_sub(expired, Ordering::Relaxed);
        is_full()
    }
}

/// Events that one writer has appended to a log and that the log still keeps.
pub(super) struct KeptEvents {
    memory: Arc<LogMemory>,
    sizes: VecDeque<usize>,
    bytes: usize,
    /// Numbers of events that were appended lately, each with the time of the first of them.
    recent: VecDeque<(Instant, usize)>,
    /// Time after which the log expires when the writer appends no more events.
    after: Duration,
    /// Set when the store has removed the log.
    is_cleared: Option<Arc<AtomicBool>>,
}

impl KeptEvents {
    pub(super) fn new(
        memory: Arc<LogMemory>,
        after: Duration,
        is_cleared: Option<Arc<AtomicBool>>,
    ) -> Self {
        let (sizes, recent) = (VecDeque::new(), VecDeque::new());
        Self { memory, sizes, bytes: 0, recent, after, is_cleared }
    }

    /// Returns a reference to the bounds of the logs. A server that stops waits until all of these references are dropped.
    pub(super) fn memory(&self) -> Arc<LogMemory> {
        self.memory.clone()
    }

    /// Counts events that are appended now. Returns the number of recent events.
    fn count_recent(&mut self, count: usize) -> usize {
        let now = Instant::now();
        self.recent.retain(|(first, _)| *first + TOGETHER + RECENT > now);
        match self.recent.back_mut() {
            Some((first, together)) if *first + TOGETHER > now => *together += count,
            _ => self.recent.push_back((now, count)),
        }
        self.recent.iter().map(|(_, count)| count).sum()
    }

    /// Adds events, each with its newline. Returns the maximum number of events that the log may keep from now on, which is at least one.
    pub(super) fn add(&mut self, lines: &[u8]) -> usize {
        let count = lines.iter().filter(|byte| **byte == b'\n').count();
        let most = self.memory.most.max(self.count_recent(count));
        let mut is_too_large = false;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.sizes.push_back(line.len());
            self.bytes += line.len();
            self.memory.bytes.fetch_add(line.len(), Ordering::Relaxed);
            while self.sizes.len() > most {
                self.drop_first();
            }
            while self.sizes.len() > 1 && (self.bytes > self.memory.each || self.memory.is_full()) {
                self.drop_first();
                is_too_large = true;
            }
        }
        // Other writers may have events in the same log, which stay if there is room.
        match self.sizes.len() {
            kept if is_too_large => kept,
            kept if kept > self.memory.most => kept + self.memory.most,
            _ => self.memory.most,
        }
    }

    fn drop_first(&mut self) {
        let size = self.sizes.pop_front().unwrap_or(0);
        self.bytes -= size;
        self.memory.bytes.fetch_sub(size, Ordering::Relaxed);
    }

    /// Returns whether the store has removed the log, because its session has ended.
    pub(super) fn is_cleared(&self) -> bool {
        self.is_cleared.as_ref().is_some_and(|is_cleared| is_cleared.load(Ordering::Relaxed))
    }
}

impl Drop for KeptEvents {
    fn drop(&mut self) {
        if self.is_cleared() {
            self.memory.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        } else if self.bytes > 0 {
            let mut ended = self.memory.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.push(Reverse((Instant::now() + self.after, self.bytes)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_secs(60);
    const LONG: Duration = Duration::from_secs(3600);

    fn kept(memory: &Arc<LogMemory>, after: Duration) -> KeptEvents {
        KeptEvents::new(memory.clone(), after, None)
    }

    fn memory(events: usize, each: usize, all: usize) -> Arc<LogMemory> {
        let limits = Limits::new().events(events).event_bytes(each).all_event_bytes(all);
        Arc::new(LogMemory::new(&limits))
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_keeps_the_newest_events_that_fit() {
        let mut kept = kept(&memory(5, 10, 1000), SHORT);
        assert_eq!(kept.add(b"12\n34\n56\n"), 5);
        // The first event is dropped, so that four events have ten bytes.
        assert_eq!(kept.add(b"\n"), 5);
        assert_eq!(kept.add(b"78\n"), 4);
        assert_eq!(kept.add(b"a long line of more than ten bytes\n"), 1);
        assert_eq!(kept.add(b"\n"), 1);
        assert_eq!(kept.add(b"\n"), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_keeps_recent_events_beyond_the_maximum_number() {
        let mut kept = kept(&memory(2, 100, 100), SHORT);
        assert_eq!(kept.add(b"\n\n\n"), 3 + 2);
        tokio::time::advance(RECENT).await;
        assert_eq!(kept.add(b"\n"), 4 + 2);
        tokio::time::advance(RECENT).await;
        assert_eq!(kept.add(b"\n"), 2);
        // The number of bytes bounds recent events, too.
        assert_eq!(kept.add(&[b'\n'; 300]), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn all_logs_of_a_node_share_a_bound_until_they_expire() {
        let memory = memory(5, 100, 12);
        let [mut one, mut two] = [(); 2].map(|()| kept(&memory, SHORT));
        assert_eq!(one.add(b"1234\n1234\n"), 5);
        assert_eq!(two.add(b"1234\n"), 5);
        assert_eq!(two.add(b"1234\n"), 1);
        drop((one, two));
        let mut three = kept(&memory, SHORT);
        assert_eq!(three.add(b"1\n2\n"), 1);
        tokio::time::advance(SHORT).await;
        assert_eq!(three.add(b"3\n4\n"), 5);
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_counts_until_it_expires_or_is_cleared() {
        let memory = memory(5, 100, 10);
        let is_cleared = Arc::new(AtomicBool::new(false));
        let mut long = kept(&memory, LONG);
        let mut cleared = KeptEvents::new(memory.clone(), LONG, Some(is_cleared.clone()));
        long.add(b"1234567\n");
        drop(long);
        let mut short = kept(&memory, SHORT);
        short.add(b"1\n");
        drop(short);
        cleared.add(b"123\n");
        is_cleared.store(true, Ordering::Relaxed);
        drop(cleared);
        tokio::time::advance(SHORT).await;
        let mut next = kept(&memory, SHORT);
        assert_eq!(next.add(b"123\n1\n"), 1);
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 8 + 2);
        tokio::time::advance(LONG).await;
        assert_eq!(next.add(b"123\n1\n"), 5);
    }
}
