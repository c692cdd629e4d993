//! The two streams of the protocol: input from the client, and output to the client.

#[cfg(windows)]
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[cfg(unix)]
use super::blocking::PIPE_BUF;
use super::blocking::{BlockingReader, BlockingWriter};
#[cfg(unix)]
use super::polled::{PolledSink, PolledSource, Stream};

/// Byte stream from the client, returned by [`StdioGuard::install`](super::StdioGuard::install).
#[derive(Debug)]
pub struct StdioInput {
    source: InputSource,
    terminal: bool,
}

#[derive(Debug)]
enum InputSource {
    #[cfg(unix)]
    Polled(PolledSource),
    Blocking(BlockingReader),
}

impl StdioInput {
    #[cfg(unix)]
    pub(super) fn new(stream: Stream, terminal: bool) -> Self {
        let source = match stream {
            Stream::Polled(descriptor) => InputSource::Polled(PolledSource::new(descriptor)),
            Stream::Blocking { file, .. } => InputSource::Blocking(BlockingReader::new(file)),
        };
        StdioInput { source, terminal }
    }

    #[cfg(windows)]
    pub(super) fn new(file: File, terminal: bool) -> Self {
        StdioInput { source: InputSource::Blocking(BlockingReader::new(file)), terminal }
    }

    /// Duplicates the descriptor of the stream, if the stream is polled.
    #[cfg(unix)]
    pub(super) fn try_clone_polled(&self) -> Option<OwnedFd> {
        match &self.source {
            InputSource::Polled(source) => source.try_clone().ok(),
            InputSource::Blocking(_) => None,
        }
    }

    /// Whether stdin is a terminal. If so, a person has started the program by hand, and needs a usage hint.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }
}

impl AsyncRead for StdioInput {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.source {
            #[cfg(unix)]
            InputSource::Polled(source) => source.poll_read(cx, buf),
            InputSource::Blocking(reader) => reader.poll_read(cx, buf),
        }
    }
}

/// Byte stream to the client, returned by [`StdioGuard::install`](super::StdioGuard::install).
///
/// Write whole lines at a time. If stderr shares the pipe, other output then never appears inside of a line. This holds for lines up to the
/// size of an atomic write to a pipe (4 KiB on Linux, at least 512 bytes elsewhere). After a flush, all written bytes have left the
/// process. After a shutdown, the client sees the end of the stream.
#[derive(Debug)]
pub struct StdioOutput {
    sink: OutputSink,
}

#[derive(Debug)]
enum OutputSink {
    #[cfg(unix)]
    Polled(PolledSink),
    Blocking(BlockingWriter),
    Closed,
}

impl StdioOutput {
    #[cfg(unix)]
    pub(super) fn new(stream: Stream) -> Self {
        let sink = match stream {
            Stream::Polled(descriptor) => OutputSink::Polled(PolledSink::new(descriptor)),
            Stream::Blocking { file, pipe: true } => {
                OutputSink::Blocking(BlockingWriter::new(file, PIPE_BUF))
            }
            Stream::Blocking { file, pipe: false } => {
                OutputSink::Blocking(BlockingWriter::new(file, usize::MAX))
            }
        };
        StdioOutput { sink }
    }

    #[cfg(windows)]
    pub(super) fn new(file: File) -> Self {
        StdioOutput { sink: OutputSink::Blocking(BlockingWriter::new(file, usize::MAX)) }
    }
}

impl AsyncWrite for StdioOutput {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.sink {
            #[cfg(unix)]
            OutputSink::Polled(sink) => sink.poll_write(cx, bytes),
            OutputSink::Blocking(writer) => writer.poll_write(cx, bytes),
            OutputSink::Closed => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.sink {
            #[cfg(unix)]
            OutputSink::Polled(_) => Poll::Ready(Ok(())),
            OutputSink::Blocking(writer) => writer.poll_flush(cx),
            OutputSink::Closed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.as_mut().poll_flush(cx));
        self.sink = OutputSink::Closed;
        Poll::Ready(flushed)
    }
}
