//! Taking the standard streams for the wire alone.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::input::Input;
use super::output::Output;

/// What [`restore`] has to put right; `None` until a guard is installed.
static INSTALLED: Mutex<Option<platform::Changed>> = Mutex::new(None);

/// Keeps stdin and stdout for the wire; see [`Guard::install`].
///
/// Dropping it calls [`restore`]. What fd 0 and fd 1 point to stays as it is for the rest of the process.
#[derive(Debug)]
#[must_use = "dropping the guard makes the wire blocking again"]
pub struct Guard(());

impl Guard {
    /// Moves the wire to descriptors that no child inherits, and points fd 0 to `/dev/null` and fd 1 to stderr (to
    /// `/dev/null` where stderr is closed). On Windows the standard handles are replaced in the same way; C code that
    /// opened its own `stdout` before goes on with the old handle.
    ///
    /// Call it before anything else runs in the process. The two streams need a tokio runtime with I/O enabled from
    /// their first use on, not before.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] for every call but the first that succeeded: by then stdout is stderr. Else
    /// those of the system.
    pub fn install() -> io::Result<(Guard, Input, Output)> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if installed.is_some() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the standard streams are guarded already",
            ));
        }
        let (changed, input, output) = platform::seize()?;
        *installed = Some(changed);
        Ok((Guard(()), input, output))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Puts back the flags that [`Guard::install`] changed on descriptions which others may use after us.
///
/// For ways out of the process that run no destructors, such as [`std::process::exit`]. Flush first: what is written
/// afterwards may block the runtime. It takes a lock, so it is not for signal handlers.
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
    use std::sync::{Arc, Weak};

    use rustix::fs::fstat;
    use rustix::io::{fcntl_dupfd_cloexec, fcntl_getfd};
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};

    use super::super::descriptor::{Descriptor, Stream};
    use super::{Input, Output};

    pub(super) type Changed = Vec<Weak<Descriptor>>;

    pub(super) fn seize() -> io::Result<(Changed, Input, Output)> {
        let terminal = stdin().is_terminal();
        let shared = fstat(stderr()).ok();
        let input = Stream::seize(stdin(), shared.as_ref())?;
        let output = Stream::seize(stdout(), shared.as_ref())?;

        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        // It must not sit on a number that is about to be replaced, as it does where one of the three was closed.
        let null = File::from(fcntl_dupfd_cloexec(&null, 3)?);

        let mut changed = Vec::new();
        for stream in [&input, &output] {
            if let Stream::Polled(descriptor) = stream {
                descriptor.set_nonblocking()?;
                changed.push(Arc::downgrade(descriptor));
            }
        }
        if fcntl_getfd(stderr()).is_err() {
            // Otherwise the next file that somebody opens becomes fd 2, and collects panic messages.
            dup2_stderr(&null)?;
        }
        dup2_stdin(&null)?;
        dup2_stdout(stderr())?;
        Ok((changed, Input::new(input, terminal), Output::new(output)))
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

    use super::{Input, Output};

    pub(super) type Changed = ();

    pub(super) fn seize() -> io::Result<(Changed, Input, Output)> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let terminal = stdin.is_terminal();
        let input = File::from(stdin.as_handle().try_clone_to_owned()?);
        let output = File::from(stdout.as_handle().try_clone_to_owned()?);
        let null = OpenOptions::new().read(true).open("NUL")?;
        let (old_input, old_output) = (stdin.as_raw_handle(), stdout.as_raw_handle());

        replace(STD_OUTPUT_HANDLE, io::stderr().as_raw_handle())?;
        // From here on it belongs to the process, like every standard handle.
        replace(STD_INPUT_HANDLE, null.into_raw_handle())?;
        keep_from_children(old_input);
        keep_from_children(old_output);
        Ok(((), Input::new(input, terminal), Output::new(output)))
    }

    pub(super) fn restore((): &mut Changed) {}

    fn replace(which: STD_HANDLE, handle: RawHandle) -> io::Result<()> {
        // SAFETY: it stores a value in the process's parameters and touches no memory of ours. The handles given to it
        // are never closed: stderr's by the rules of `std`, the other because ownership of it was given up.
        if unsafe { SetStdHandle(which, handle) } == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// A console may refuse, and then a child has the console anyway.
    fn keep_from_children(handle: RawHandle) {
        // SAFETY: it changes a flag of a handle that is open: nobody closes the standard handles a process begins with.
        unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
    }
}
