//! A file descriptor of the wire, and what must be put right when it is let go of.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, OFlags, Stat, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::fcntl_dupfd_cloexec;

/// How a stream of the wire is to be used.
#[derive(Debug)]
pub(super) enum Stream {
    /// Non-blocking, for tokio's reactor.
    Polled(Arc<Descriptor>),
    /// For a thread that blocks. `pipe` is true if others may write to the same pipe in between.
    Blocking { file: File, pipe: bool },
}

impl Stream {
    /// Duplicates `fd` out of reach of this process's children, and decides how to use it.
    ///
    /// That two descriptors share one open file description cannot be asked for portably. The same device and inode
    /// are taken for it, so at worst a thread is used where polling would have done.
    pub(super) fn seize(fd: BorrowedFd<'_>, stderr: Option<&Stat>) -> io::Result<Self> {
        let fd = fcntl_dupfd_cloexec(fd, 3)?;
        let stat = fstat(&fd)?;
        let pipe =
            matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::Socket);
        let shared = stderr
            .is_some_and(|stderr| (stat.st_dev, stat.st_ino) == (stderr.st_dev, stderr.st_ino));
        if pipe && !shared {
            Ok(Stream::Polled(Arc::new(Descriptor { fd, changed: AtomicBool::new(false) })))
        } else {
            Ok(Stream::Blocking { file: File::from(fd), pipe })
        }
    }
}

/// A descriptor whose description is non-blocking for as long as this lives and [`Descriptor::restore`] is not called.
#[derive(Debug)]
pub(super) struct Descriptor {
    fd: OwnedFd,
    changed: AtomicBool,
}

impl Descriptor {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        let flags = fcntl_getfl(&self.fd)?;
        if !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&self.fd, flags | OFlags::NONBLOCK)?;
            self.changed.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Makes the description block again if it did so before.
    ///
    /// Whoever started this process may go on using it, as a shell does with `(server; echo done) | client`.
    pub(super) fn restore(&self) {
        if self.changed.swap(false, Ordering::AcqRel)
            && let Ok(flags) = fcntl_getfl(&self.fd)
        {
            let _ = fcntl_setfl(&self.fd, flags - OFlags::NONBLOCK);
        }
    }

    /// Another descriptor of the same description, which does not put anything back.
    pub(super) fn try_clone(&self) -> io::Result<OwnedFd> {
        self.fd.try_clone()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.restore();
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
