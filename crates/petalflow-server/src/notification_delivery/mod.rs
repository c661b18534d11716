//! Notes which runs are to be told of, and delivers the notifications.

mod deliver;
mod expected;
mod watch;
