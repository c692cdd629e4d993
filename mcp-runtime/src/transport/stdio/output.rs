//! Writing end of the protocol: stdout.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::blocking::Writer;

/// Number of bytes that a pipe takes in one piece. Outside of Linux it is the minimum that POSIX guarantees.
#[cfg(unix)]
const PIPE_BUF: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 4096 } else { 512 };

/// Byte stream to the client, made by [`Guard::install`](super::Guard::install).
///
/// Write whole lines at a time. If stderr goes to the same pipe, a write that ends with a newline is then never interrupted within a line.
/// This holds for lines that fit what a pipe takes in one piece (4 KiB on Linux, at least 512 bytes elsewhere). After a flush, all written
/// bytes have left the process. After a shutdown, the client sees the end of the stream.
#[derive(Debug)]
pub struct Output {
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    #[cfg(unix)]
    Polled(polled::Sink),
    Blocking(Writer),
    Closed,
}

impl Output {
    #[cfg(unix)]
    pub(super) fn new(stream: super::descriptor::Stream) -> Self {
        use super::descriptor::Stream;

        let sink = match stream {
            Stream::Polled(descriptor) => Sink::Polled(polled::Sink::new(descriptor)),
            Stream::Blocking { file, pipe: true } => Sink::Blocking(Writer::new(file, PIPE_BUF)),
            Stream::Blocking { file, pipe: false } => Sink::Blocking(Writer::new(file, usize::MAX)),
        };
        Output { sink }
    }

    #[cfg(windows)]
    pub(super) fn new(file: std::fs::File) -> Self {
        Output { sink: Sink::Blocking(Writer::new(file, usize::MAX)) }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.sink {
            #[cfg(unix)]
            Sink::Polled(sink) => sink.poll_write(cx, bytes),
            Sink::Blocking(writer) => writer.poll_write(cx, bytes),
            Sink::Closed => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.sink {
            #[cfg(unix)]
            Sink::Polled(_) => Poll::Ready(Ok(())),
            Sink::Blocking(writer) => writer.poll_flush(cx),
            Sink::Closed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.as_mut().poll_flush(cx));
        self.sink = Sink::Closed;
        Poll::Ready(flushed)
    }
}

#[cfg(unix)]
mod polled {
    use std::io;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use tokio::io::AsyncWrite;
    use tokio::net::unix::pipe;

    use super::super::descriptor::Descriptor;

    /// Pipe or socket, registered with the reactor at the first write that must wait. Most never have to wait, and a socket would otherwise
    /// wake the reactor whenever the client has read something.
    #[derive(Debug)]
    pub(super) struct Sink {
        // Declared before the descriptor and so dropped first: the flags are put back when nothing polls any more.
        sender: Option<pipe::Sender>,
        descriptor: Arc<Descriptor>,
    }

    impl Sink {
        pub(super) fn new(descriptor: Arc<Descriptor>) -> Self {
            Sink { sender: None, descriptor }
        }

        pub(super) fn poll_write(
            &mut self,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let sender = match &mut self.sender {
                Some(sender) => sender,
                none => {
                    match rustix::io::retry_on_intr(|| rustix::io::write(&self.descriptor, bytes)) {
                        // Unchecked, because a socket works as well: only write(2) is called.
                        Err(rustix::io::Errno::AGAIN) => none.insert(
                            pipe::Sender::from_owned_fd_unchecked(self.descriptor.try_clone()?)?,
                        ),
                        done => return Poll::Ready(Ok(done?)),
                    }
                }
            };
            Pin::new(sender).poll_write(cx, bytes)
        }
    }
}
