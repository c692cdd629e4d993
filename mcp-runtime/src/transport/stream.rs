//! Connection over a pair of byte streams, with one message per line: stdio, and other transports with the same framing (rule STDIO-09).

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::lines::{Line, Lines};
use crate::protocol::{Arrival, Peer, PendingCall, Received};

/// Number of unwritten bytes above which the server handles no further messages. This limits the memory for responses to a client that does
/// not read.
const HIGH_WATER: usize = 1 << 20;

/// Number of loop iterations between two polls of `stop`, while input is always ready.
const LOOKS: u32 = 32;

/// Serves until the input ends, `stop` is ready, or reading or writing fails.
///
/// After the end of the input or a stop, running calls may finish within the grace period of the limits. A second stop cancels the
/// remaining calls at once, because a user who stops the server twice does not want to wait. `stop` is therefore polled like a stream, and
/// can be ready several times.
pub(crate) async fn serve<R, W>(
    peer: &Peer,
    input: R,
    output: W,
    mut stop: impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut connection = StreamConnection {
        peer,
        plainly: peer.plainly(),
        input,
        lines: Lines::new(peer.limits().message),
        behind: false,
        writer: MessageWriter::new(output),
    };
    let served = connection.until_end(&mut stop).await;
    peer.close();
    let drained = match served {
        Ok(()) => connection.drain(&mut stop).await,
        Err(error) => Err(error),
    };
    peer.cancel_all();
    match drained {
        // A client that disconnects before it has read every response is not an error of the server.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

struct StreamConnection<'p, R, W> {
    peer: &'p Peer,
    /// Origin of all messages of this connection, and destination of their responses.
    plainly: Arrival,
    input: R,
    lines: Lines,
    /// Whether lines have been read but not handled, because too many bytes wait to be written.
    behind: bool,
    writer: MessageWriter<W>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> StreamConnection<'_, R, W> {
    async fn until_end(
        &mut self,
        stop: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> io::Result<()> {
        let peer = self.peer;
        poll_fn(|cx| {
            // During the loop, the outbox need not wake this task, because the loop checks the outbox again before the task waits.
            peer.outbox().unwatch();
            let mut turn = 0u32;
            loop {
                // After a stop, the rest of the buffer is not handled as a message, because it may be an incomplete line.
                if turn.is_multiple_of(LOOKS) && stop(cx).is_ready() {
                    log_stop(peer.in_flight(), peer.limits().grace);
                    return Poll::Ready(Ok(()));
                }
                turn = turn.wrapping_add(1);
                // Writes all ready responses at once, before this task waits.
                self.writer.poll(peer, cx)?;
                let next = match self.behind {
                    _ if self.writer.waiting(peer) > HIGH_WATER => Poll::Pending,
                    true => Poll::Ready(ReadProgress::Read),
                    false => poll_read(&mut self.input, &mut self.lines, cx)?,
                };
                match next {
                    Poll::Ready(ReadProgress::Read) => self.take_lines(),
                    Poll::Ready(ReadProgress::End) => {
                        self.take_rest();
                        return Poll::Ready(Ok(()));
                    }
                    // If the output is blocked, the task waits although the outbox has messages. The output wakes the task when it accepts
                    // more bytes.
                    Poll::Pending if !peer.outbox().watch(cx) || self.writer.is_blocked() => {
                        return Poll::Pending;
                    }
                    Poll::Pending => {}
                }
            }
        })
        .await
    }

    #[inline]
    fn take_lines(&mut self) {
        let mut turn = Received::default();
        self.behind = loop {
            // Checked before each line, because a single read can contain many requests, whose responses together may far exceed the limit.
            if self.writer.waiting(self.peer) > HIGH_WATER {
                break true;
            }
            match self.lines.next() {
                None => break false,
                Some(Line::Complete(line) | Line::Unterminated(line)) => {
                    self.peer.receive_as(line, &self.plainly, &mut turn);
                }
                Some(Line::TooLong) => self.peer.too_long(),
            }
        };
        spawn(turn.waiting);
    }

    /// Handles a last line without a newline like any other message.
    fn take_rest(&mut self) {
        let mut turn = Received::default();
        if let Some(Line::Unterminated(line)) = self.lines.finish() {
            self.peer.receive_as(line, &self.plainly, &mut turn);
        }
        spawn(turn.waiting);
    }

    /// Waits for running calls, and writes the remaining responses. Returns early after the grace period, or when `stop` is ready.
    async fn drain(
        &mut self,
        stop: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> io::Result<()> {
        let peer = self.peer;
        let finish = poll_fn(|cx| {
            if stop(cx).is_ready() {
                return Poll::Ready(None);
            }
            peer.outbox().watch(cx);
            if let Err(error) = self.writer.poll(peer, cx) {
                return Poll::Ready(Some(Err(error)));
            }
            // `is_busy` is checked first, because a call adds its answer before it counts as done, so no answer is missed.
            if peer.is_busy() || self.writer.waiting(peer) > 0 {
                return Poll::Pending;
            }
            Pin::new(&mut self.writer.output).poll_shutdown(cx).map(Some)
        });
        if let Ok(Some(done)) = tokio::time::timeout(peer.limits().grace, finish).await {
            return done;
        }
        match peer.in_flight() {
            0 => tracing::warn!("the client did not read its last answers"),
            count => {
                tracing::warn!("calls that were still running have been cancelled: {count}");
            }
        }
        Ok(())
    }
}

/// Logs for which calls a stop waits. Without calls the server stops at once, which needs no explanation.
#[cold]
pub(super) fn log_stop(calls: usize, grace: Duration) {
    if calls > 0 {
        let noun = if calls == 1 { "call" } else { "calls" };
        tracing::info!("stopping: waits for {calls} {noun}, at most {grace:?}");
    }
}

enum ReadProgress {
    /// Bytes were read.
    Read,
    /// The input has ended.
    End,
}

#[inline]
fn poll_read<R: AsyncRead + Unpin>(
    input: &mut R,
    lines: &mut Lines,
    cx: &mut Context<'_>,
) -> Poll<io::Result<ReadProgress>> {
    let count = {
        let mut buffer = ReadBuf::new(lines.room());
        match Pin::new(input).poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => buffer.filled().len(),
        }
    };
    lines.filled(count);
    Poll::Ready(Ok(if count == 0 { ReadProgress::End } else { ReadProgress::Read }))
}

/// Spawns a tokio task for each call whose handler has to wait. All other handlers have finished already.
pub(crate) fn spawn(waiting: Vec<PendingCall>) {
    for call in waiting {
        tokio::spawn(call);
    }
}

/// Writer of whole messages, which writes all ready messages at once.
struct MessageWriter<W> {
    output: W,
    buffer: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> MessageWriter<W> {
    fn new(output: W) -> Self {
        Self { output, buffer: Vec::new(), written: 0 }
    }

    /// Returns the number of bytes that have not been written, including those in the outbox.
    fn waiting(&self, peer: &Peer) -> usize {
        self.buffer.len() - self.written + peer.outbox().len()
    }

    /// Whether the output currently accepts no more bytes.
    fn is_blocked(&self) -> bool {
        self.written < self.buffer.len()
    }

    /// Writes as many bytes as possible without waiting.
    fn poll(&mut self, peer: &Peer, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.written == self.buffer.len() {
                self.buffer.clear();
                self.written = 0;
                if self.buffer.capacity() > HIGH_WATER {
                    // Frees the memory of a large response, which would otherwise stay allocated for the rest of the connection.
                    self.buffer = Vec::new();
                }
                if !peer.outbox().take(&mut self.buffer) {
                    return match Pin::new(&mut self.output).poll_flush(cx) {
                        Poll::Ready(Err(error)) => Err(error),
                        _ => Ok(()),
                    };
                }
            }
            match Pin::new(&mut self.output).poll_write(cx, &self.buffer[self.written..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests;
