//! Protocol streams that tokio's I/O driver polls, and their file descriptors. Dropping a descriptor restores its flags.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

use super::system_calls::{StandardStream, is_nonblocking, set_nonblocking};

/// Protocol stream, which is either polled or served by a thread.
#[derive(Debug)]
pub(super) enum Stream {
    /// Non-blocking stream for tokio's I/O driver.
    Polled(Arc<Descriptor>),
    /// Blocking stream for a thread. `pipe` is true for a pipe or a socket, where another process may write between two writes.
    Blocking { file: File, pipe: bool },
}

impl Stream {
    /// Duplicates a standard stream so that child processes do not inherit it, and decides whether the stream is polled.
    ///
    /// There is no portable way to find out whether two descriptors share one open file description. Two descriptors with the same device
    /// and inode are assumed to share one. At worst, a thread is used for a stream that could have been polled.
    pub(super) fn seize(stream: StandardStream, stderr: Option<&Metadata>) -> io::Result<Self> {
        let file = File::from(stream.duplicate()?);
        let metadata = file.metadata()?;
        let pipe = metadata.file_type().is_fifo() || metadata.file_type().is_socket();
        let shared = stderr
            .is_some_and(|stderr| (metadata.dev(), metadata.ino()) == (stderr.dev(), stderr.ino()));
        if pipe && !shared {
            Ok(Stream::Polled(Arc::new(Descriptor { file, changed: AtomicBool::new(false) })))
        } else {
            Ok(Stream::Blocking { file, pipe })
        }
    }
}

/// Descriptor whose open file description can be made non-blocking. [`Descriptor::restore`] undoes this, and so does dropping the
/// descriptor.
#[derive(Debug)]
pub(super) struct Descriptor {
    file: File,
    changed: AtomicBool,
}

impl Descriptor {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        if !is_nonblocking(&self.file)? {
            set_nonblocking(&self.file, true)?;
            self.changed.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Makes the description blocking again if it was blocking before.
    ///
    /// The parent process may continue to use the description, as a shell does with `(server; echo done) | client`.
    pub(super) fn restore(&self) {
        if self.changed.swap(false, Ordering::AcqRel) {
            let _ = set_nonblocking(&self.file, false);
        }
    }

    /// Writes bytes without waiting. Repeats a write that a signal has interrupted.
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match (&self.file).write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    /// Duplicates the descriptor. Dropping the duplicate does not restore the flags.
    pub(super) fn try_clone(&self) -> io::Result<OwnedFd> {
        self.file.try_clone().map(OwnedFd::from)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Pipe or socket for input. It is registered with tokio's I/O driver at the first read, because the guard is installed before the runtime
/// exists.
#[derive(Debug)]
pub(super) struct PolledSource {
    // Declared before the descriptor, so that it is dropped first. The flags are then restored after the last poll.
    receiver: Option<pipe::Receiver>,
    descriptor: Arc<Descriptor>,
}

impl PolledSource {
    pub(super) fn new(descriptor: Arc<Descriptor>) -> Self {
        PolledSource { receiver: None, descriptor }
    }

    pub(super) fn try_clone(&self) -> io::Result<OwnedFd> {
        self.descriptor.try_clone()
    }

    #[inline]
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let receiver = match &mut self.receiver {
            Some(receiver) => receiver,
            // A pipe is not required here: a socket works as well, because tokio only calls read(2) on the descriptor.
            none => {
                none.insert(pipe::Receiver::from_owned_fd_unchecked(self.descriptor.try_clone()?)?)
            }
        };
        Pin::new(receiver).poll_read(cx, buf)
    }
}

/// Pipe or socket for output. It is registered with tokio's I/O driver only when a write would block for the first time. Most outputs never
/// block, and a registered socket would wake the I/O driver whenever the client reads.
#[derive(Debug)]
pub(super) struct PolledSink {
    // Declared before the descriptor, so that it is dropped first. The flags are then restored after the last poll.
    sender: Option<pipe::Sender>,
    descriptor: Arc<Descriptor>,
}

impl PolledSink {
    pub(super) fn new(descriptor: Arc<Descriptor>) -> Self {
        PolledSink { sender: None, descriptor }
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sender = match &mut self.sender {
            Some(sender) => sender,
            none => match self.descriptor.write(bytes) {
                // A pipe is not required here: a socket works as well, because tokio only calls write(2) on the descriptor.
                Err(error) if error.kind() == ErrorKind::WouldBlock => none
                    .insert(pipe::Sender::from_owned_fd_unchecked(self.descriptor.try_clone()?)?),
                done => return Poll::Ready(done),
            },
        };
        Pin::new(sender).poll_write(cx, bytes)
    }
}
