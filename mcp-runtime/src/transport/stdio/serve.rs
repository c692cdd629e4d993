//! [`Builder::serve_stdio`].

use crate::{builder::Builder, error::ServeError, transport::stdio};

impl Builder {
    /// Serves one client on stdin and stdout, on the caller's runtime.
    ///
    /// The runtime needs I/O and time enabled. From the start of the call, stdout belongs to the protocol: anything that is printed goes to
    /// stderr.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if reading or writing fails.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        stdio::serve(self.build()?, false).await
    }
}
