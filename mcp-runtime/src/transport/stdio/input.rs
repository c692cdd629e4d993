//! Reading end of the protocol: stdin.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use super::blocking::Reader;

/// Byte stream from the client, made by [`Guard::install`](super::Guard::install).
#[derive(Debug)]
pub struct Input {
    source: Source,
    terminal: bool,
}

#[derive(Debug)]
enum Source {
    #[cfg(unix)]
    Polled(polled::Source),
    Blocking(Reader),
}

impl Input {
    #[cfg(unix)]
    pub(super) fn new(stream: super::descriptor::Stream, terminal: bool) -> Self {
        use super::descriptor::Stream;

        let source = match stream {
            Stream::Polled(descriptor) => Source::Polled(polled::Source::new(descriptor)),
            Stream::Blocking { file, .. } => Source::Blocking(Reader::new(file)),
        };
        Input { source, terminal }
    }

    #[cfg(windows)]
    pub(super) fn new(file: std::fs::File, terminal: bool) -> Self {
        Input { source: Source::Blocking(Reader::new(file)), terminal }
    }

    /// Returns another descriptor of the stream, if the stream is polled.
    #[cfg(unix)]
    pub(super) fn try_clone_polled(&self) -> Option<std::os::fd::OwnedFd> {
        match &self.source {
            Source::Polled(source) => source.try_clone().ok(),
            Source::Blocking(_) => None,
        }
    }

    /// Whether stdin is a terminal. Then a person sits at the other end, and would like to be told what this program is.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.source {
            #[cfg(unix)]
            Source::Polled(source) => source.poll_read(cx, buf),
            Source::Blocking(reader) => reader.poll_read(cx, buf),
        }
    }
}

#[cfg(unix)]
mod polled {
    use std::io;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncRead, ReadBuf};
    use tokio::net::unix::pipe;

    use super::super::descriptor::Descriptor;

    /// Pipe or socket, registered with the reactor at the first read, since the guard is installed before there is a runtime.
    #[derive(Debug)]
    pub(super) struct Source {
        // Declared before the descriptor and so dropped first: the flags are put back when nothing polls any more.
        receiver: Option<pipe::Receiver>,
        descriptor: Arc<Descriptor>,
    }

    impl Source {
        pub(super) fn new(descriptor: Arc<Descriptor>) -> Self {
            Source { receiver: None, descriptor }
        }

        pub(super) fn try_clone(&self) -> io::Result<std::os::fd::OwnedFd> {
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
                // Unchecked, because a socket works as well: only read(2) is called.
                none => none
                    .insert(pipe::Receiver::from_owned_fd_unchecked(self.descriptor.try_clone()?)?),
            };
            Pin::new(receiver).poll_read(cx, buf)
        }
    }
}
