//! [`Builder::serve`].

use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    builder::Builder,
    error::ServeError,
    protocol::{Peer, Service},
    transport::stream,
};

impl Builder {
    /// Serves one client over any pair of byte streams: a socket, a pipe, an in-process duplex. Each message is one line.
    ///
    /// Returns when the client has closed its side and running calls are answered. Calls that take longer than the grace period of the
    /// limits are given up.
    ///
    /// Needs a tokio runtime with time enabled.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if reading or writing fails.
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let started = self.build()?.start().await?;
        let peer = Peer::new(Service::new(&started));
        let served = stream::serve(&peer, input, output, |_| Poll::Pending).await;
        started.stop().await;
        Ok(served?)
    }
}
