//! One connection over a pair of byte streams, a message a line: stdio, and whatever else frames like it (STDIO-09).

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::lines::{Line, Lines};
use crate::protocol::{Arrival, Peer, PendingCall, Turn};

/// While more than this waits to be written, no further message is looked at: a client that does not read its
/// answers gets no more of them.
const HIGH_WATER: usize = 1 << 20;

/// How often a client that always has more to say is read before anybody looks whether to stop.
const LOOKS: u32 = 32;

/// Serves until the input ends, `stop` is ready, or the output is closed. Calls that run then are finished
/// and answered for up to the limits' grace period, and given up after that, or when `stop` is ready then: who asks a second
/// time does not want to wait.
///
/// `stop` is polled like a stream: each time it is ready counts.
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
    let mut connection = Connection {
        peer,
        plainly: peer.plainly(),
        input,
        lines: Lines::new(peer.limits().message),
        behind: false,
        writer: Writer::new(output),
    };
    let served = connection.until_end(&mut stop).await;
    peer.close();
    let drained = match served {
        Ok(()) => connection.drain(&mut stop).await,
        Err(error) => Err(error),
    };
    peer.cancel_all();
    match drained {
        // The client left without reading on. It has nothing to be told, and nothing went wrong here.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

struct Connection<'p, R, W> {
    peer: &'p Peer,
    /// How all its messages come.
    plainly: Arrival,
    input: R,
    lines: Lines,
    /// Lines that have been read wait for the writer.
    behind: bool,
    writer: Writer<W>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Connection<'_, R, W> {
    async fn until_end(
        &mut self,
        stop: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> io::Result<()> {
        let peer = self.peer;
        poll_fn(|cx| {
            // Whatever is added from here on is looked for before this task waits again.
            peer.outbox().unwatch();
            let mut turn = 0u32;
            loop {
                // What the signal interrupts has not been said to its end, so it is no message.
                if turn.is_multiple_of(LOOKS) && stop(cx).is_ready() {
                    return Poll::Ready(Ok(()));
                }
                turn = turn.wrapping_add(1);
                // What was answered at once goes out in one write before anything is waited for.
                self.writer.poll(peer, cx)?;
                let next = match self.behind {
                    _ if self.writer.waiting(peer) > HIGH_WATER => Poll::Pending,
                    true => Poll::Ready(Next::Read),
                    false => poll_read(&mut self.input, &mut self.lines, cx)?,
                };
                match next {
                    Poll::Ready(Next::Read) => self.take_lines(),
                    Poll::Ready(Next::End) => {
                        self.take_rest();
                        return Poll::Ready(Ok(()));
                    }
                    // With bytes that cannot be written now, the output wakes this task.
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
        let mut turn = Turn::default();
        self.behind = loop {
            // One read can hold requests for far more than is good to keep.
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

    /// A last line without a newline is a message like any other.
    fn take_rest(&mut self) {
        let mut turn = Turn::default();
        if let Some(Line::Unterminated(line)) = self.lines.finish() {
            self.peer.receive_as(line, &self.plainly, &mut turn);
        }
        spawn(turn.waiting);
    }

    /// Waits for the calls that run and writes what is left.
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
            // In this order: a call has answered before it counts as done.
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
                tracing::warn!("calls that were still running and have been given up: {count}");
            }
        }
        Ok(())
    }
}

enum Next {
    /// There are bytes to look at.
    Read,
    /// There will be no more.
    End,
}

#[inline]
fn poll_read<R: AsyncRead + Unpin>(
    input: &mut R,
    lines: &mut Lines,
    cx: &mut Context<'_>,
) -> Poll<io::Result<Next>> {
    let count = {
        let mut buffer = ReadBuf::new(lines.room());
        match Pin::new(input).poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => buffer.filled().len(),
        }
    };
    lines.filled(count);
    Poll::Ready(Ok(if count == 0 { Next::End } else { Next::Read }))
}

/// Handlers that wait become tasks; the others never were any.
pub(crate) fn spawn(waiting: Vec<PendingCall>) {
    for call in waiting {
        tokio::spawn(call);
    }
}

/// What is being written: whole messages, in one write for all that is ready.
struct Writer<W> {
    output: W,
    buffer: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    fn new(output: W) -> Self {
        Self { output, buffer: Vec::new(), written: 0 }
    }

    /// Bytes that have not been written.
    fn waiting(&self, peer: &Peer) -> usize {
        self.buffer.len() - self.written + peer.outbox().len()
    }

    /// Whether the output takes no more now.
    fn is_blocked(&self) -> bool {
        self.written < self.buffer.len()
    }

    /// Writes as much as goes without waiting.
    fn poll(&mut self, peer: &Peer, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.written == self.buffer.len() {
                self.buffer.clear();
                self.written = 0;
                if self.buffer.capacity() > HIGH_WATER {
                    // One large answer must not cost its memory for the rest of the connection.
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
