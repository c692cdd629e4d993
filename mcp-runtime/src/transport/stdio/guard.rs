//! Guard that reserves the standard streams for the protocol.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::streams::{StdioInput, StdioOutput};
#[cfg(unix)]
use super::system_calls::StandardStream;

/// Changes that [`restore`] has to undo. `None` until a guard is installed.
static INSTALLED: Mutex<Option<platform::Changed>> = Mutex::new(None);

/// Reserves stdin and stdout for the protocol; see [`StdioGuard::install`].
///
/// Dropping the guard calls [`restore`]. fd 0 and fd 1 stay redirected for the rest of the process.
#[derive(Debug)]
#[must_use = "dropping the guard makes the wire blocking again"]
pub struct StdioGuard(());

impl StdioGuard {
    /// Moves the protocol to descriptors that child processes do not inherit.
    ///
    /// fd 0 then points to `/dev/null`, and fd 1 to stderr (to `/dev/null` if stderr is closed). On Windows the standard handles are
    /// replaced in the same way. C code that opened its own `stdout` before the call continues to use the old handle.
    ///
    /// Call this function before any other code of the process runs. The two streams need a tokio runtime with I/O enabled, but only from
    /// their first use on.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::AlreadyExists`] if an earlier call succeeded, because fd 1 then points to stderr. Other errors come from
    /// the system.
    pub fn install() -> io::Result<(StdioGuard, StdioInput, StdioOutput)> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if installed.is_some() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the standard streams are already guarded: a process can serve stdio, or run a command, only once",
            ));
        }
        let (changed, input, output) = platform::seize()?;
        *installed = Some(changed);
        Ok((StdioGuard(()), input, output))
    }

    /// Relays stderr, and fd 1 with it, if stderr is a pipe or a socket. A client that does not read its end then does not block the server.
    #[cfg(unix)]
    pub(crate) fn relay_stderr(&self) {
        super::stderr::relay();
        // If the call fails, fd 1 still points to the stderr that the process began with.
        let _ = StandardStream::Output.redirect_to(io::stderr());
    }

    /// Does nothing: stderr is relayed only on Unix.
    #[cfg(not(unix))]
    pub(crate) fn relay_stderr(&self) {}
}

impl Drop for StdioGuard {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the flags of the open file descriptions that [`StdioGuard::install`] changed. Other processes may continue to use these
/// descriptions.
///
/// Call this function before an exit that runs no destructors, such as [`std::process::exit`]. Flush the output first, because a later
/// write may block the runtime. This function takes a lock, so it must not be called in a signal handler.
pub fn restore() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(changed) = installed.as_mut() {
        platform::restore(changed);
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::{File, OpenOptions};
    use std::io::{self, IsTerminal};
    use std::os::fd::AsFd as _;
    use std::sync::{Arc, Weak};

    use super::super::{
        polled::{Descriptor, Stream},
        system_calls::{StandardStream, duplicate},
    };
    use super::{StdioInput, StdioOutput};

    pub(super) type Changed = Vec<Weak<Descriptor>>;

    pub(super) fn seize() -> io::Result<(Changed, StdioInput, StdioOutput)> {
        let terminal = io::stdin().is_terminal();
        let shared =
            StandardStream::Error.duplicate().and_then(|fd| File::from(fd).metadata()).ok();
        let input = Stream::seize(StandardStream::Input, shared.as_ref())?;
        let output = Stream::seize(StandardStream::Output, shared.as_ref())?;

        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        // If a standard stream was closed, `/dev/null` may have been opened under the number of that stream, which is redirected below. The
        // duplicate has a number of at least 3, so it stays open.
        let null = duplicate(null.as_fd())?;

        let mut changed = Vec::new();
        for stream in [&input, &output] {
            if let Stream::Polled(descriptor) = stream {
                descriptor.set_nonblocking()?;
                changed.push(Arc::downgrade(descriptor));
            }
        }
        if !StandardStream::Error.is_open() {
            // Otherwise the next file that the process opens would become fd 2, and panic messages would be written into that file.
            StandardStream::Error.redirect_to(&null)?;
        }
        StandardStream::Input.redirect_to(&null)?;
        StandardStream::Output.redirect_to(io::stderr())?;
        Ok((changed, StdioInput::new(input, terminal), StdioOutput::new(output)))
    }

    pub(super) fn restore(changed: &mut Changed) {
        for descriptor in changed.drain(..) {
            if let Some(descriptor) = descriptor.upgrade() {
                descriptor.restore();
            }
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::{File, OpenOptions};
    use std::io::{self, IsTerminal};
    use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, RawHandle};

    use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
    use windows_sys::Win32::System::Console::{
        STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
    };

    use super::{StdioInput, StdioOutput};

    pub(super) type Changed = ();

    pub(super) fn seize() -> io::Result<(Changed, StdioInput, StdioOutput)> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let terminal = stdin.is_terminal();
        let input = File::from(stdin.as_handle().try_clone_to_owned()?);
        let output = File::from(stdout.as_handle().try_clone_to_owned()?);
        let null = OpenOptions::new().read(true).open("NUL")?;
        let (old_input, old_output) = (stdin.as_raw_handle(), stdout.as_raw_handle());

        replace(STD_OUTPUT_HANDLE, io::stderr().as_raw_handle())?;
        // From here on the handle belongs to the process, like every standard handle.
        replace(STD_INPUT_HANDLE, null.into_raw_handle())?;
        keep_from_children(old_input);
        keep_from_children(old_output);
        Ok(((), StdioInput::new(input, terminal), StdioOutput::new(output)))
    }

    pub(super) fn restore((): &mut Changed) {}

    fn replace(which: STD_HANDLE, handle: RawHandle) -> io::Result<()> {
        // SAFETY: the call stores a value in the parameters of the process, and accesses no memory of this program. Neither handle is
        // closed later: `std` never closes the handle of stderr, and the caller has released the ownership of the other handle.
        if unsafe { SetStdHandle(which, handle) } == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Stops child processes from inheriting a handle. The call may fail for a console, but a child process has access to the console
    /// anyway.
    fn keep_from_children(handle: RawHandle) {
        // SAFETY: the call changes a flag of an open handle. The standard handles that a process begins with are never closed.
        unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
    }
}
