//! Whatever the official clients can be asked, by the example `everything` and by the server of this suite.
