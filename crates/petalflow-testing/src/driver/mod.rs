//! The contract of drivers: programs that execute the supersteps of a thread, such as a durable execution engine.
//!
//! [`driver_contract!`](crate::driver_contract) makes a test of each case. A case is a flow and what happens to a thread of it. It
//! runs once with the local driver, on a thread in a store, and once with the driver under test. Then the checkpoints of both
//! threads have the same bytes.

mod case;
pub mod cases;
mod changed;
mod check;
mod flows;
mod local;
mod macros;
mod stepped;

pub use case::{CaseStep, Driver, DriverCase};
pub use stepped::{Interruptions, SteppedDriver};
