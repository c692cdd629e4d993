//! Running a future to completion on a runtime of our own.

use std::pin::Pin;

use tokio::runtime::Runtime;

/// Blocks until the future is ready, and does not wait for anything else on the runtime. A blocking job that loops would keep the process
/// alive for ever, and its answer has been given up already.
///
/// `Runtime::block_on` is compiled for each kind of runtime and each type of future, together with all the code of the future. Behind a
/// pointer, there is only one type.
pub(crate) fn block_on<T>(runtime: Runtime, future: Pin<&mut dyn Future<Output = T>>) -> T {
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    output
}
