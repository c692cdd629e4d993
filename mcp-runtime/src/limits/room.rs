use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Number of bytes that all clients together have taken.
#[derive(Debug, Default)]
pub(crate) struct Room(AtomicUsize);

/// Bytes that one holder has taken, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    of: Option<Arc<Room>>,
    bytes: usize,
}

impl Taken {
    /// Takes more bytes. All holders together may have `most`. Returns whether there was room.
    #[must_use]
    pub(crate) fn grow(&mut self, room: &Arc<Room>, bytes: usize, most: usize) -> bool {
        let room = self.of.get_or_insert_with(|| room.clone());
        let grown = |all: usize| all.checked_add(bytes).filter(|it| *it <= most);
        let is_taken = room.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown).is_ok();
        if is_taken {
            self.bytes += bytes;
        }
        is_taken
    }

    /// Takes more bytes than there is room for. The caller has made sure that as many are about to be given back.
    #[cfg(feature = "http")]
    pub(crate) fn grow_over(&mut self, room: &Arc<Room>, bytes: usize) {
        self.of.get_or_insert_with(|| room.clone()).0.fetch_add(bytes, Ordering::AcqRel);
        self.bytes += bytes;
    }

    /// Gives bytes back, no more than were taken.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(room) = &self.of {
            let bytes = bytes.min(self.bytes);
            self.bytes -= bytes;
            room.0.fetch_sub(bytes, Ordering::AcqRel);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_holders_together_take_no_more_than_the_room() {
        let room = Arc::<Room>::default();
        let [mut one, mut other] = [Taken::default(), Taken::default()];
        assert!(one.grow(&room, 6, 10) && !other.grow(&room, 5, 10) && other.grow(&room, 4, 10));
        assert!(!one.grow(&room, usize::MAX, 10));
        one.shrink(1);
        assert!(other.grow(&room, 1, 10) && !one.grow(&room, 1, 10));
        drop(other);
        assert!(one.grow(&room, 5, 10) && !one.grow(&room, 1, 10));
    }
}
