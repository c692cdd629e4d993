//! Where bytes come from and go to.

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
    /// Serves one client over any pair of byte streams, a message a line: a socket, a pipe, an in-process
    /// duplex. Returns when the client has closed its side and running calls are answered.
    ///
    /// Needs a tokio runtime with time enabled.
    ///
    /// # Errors
    /// When the server cannot be built, `setup` fails, or reading or writing does.
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
