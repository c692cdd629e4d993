//! Running a future to its end on a runtime of our own.

use std::pin::Pin;

use tokio::runtime::Runtime;

/// Blocks until the future is ready, and leaves alone what else runs on the runtime: a blocking job that loops would hold the
/// process for ever, and its answer has been given up already.
///
/// The future is behind a pointer because `Runtime::block_on` is compiled once for each kind of runtime and each type of
/// future, with all that the future does in it.
pub(crate) fn block_on<T>(runtime: Runtime, future: Pin<&mut dyn Future<Output = T>>) -> T {
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    output
}
