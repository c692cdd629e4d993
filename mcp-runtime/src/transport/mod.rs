//! Transports: stdio, HTTP, byte streams, and the in-process connection.

#[cfg(any(feature = "http", all(feature = "stdio", unix)))]
mod alarm;
#[cfg(any(feature = "http", feature = "stdio"))]
mod blocking_on;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod lines;
pub(crate) mod memory;
#[cfg(all(feature = "stdio", any(unix, windows)))]
pub(crate) mod stdio;
pub(crate) mod stream;

#[cfg(any(feature = "http", feature = "stdio"))]
pub(crate) use self::blocking_on::block_on;

use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    builder::Builder,
    error::ServeError,
    protocol::{Peer, Service},
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
