//! The contract of drivers: programs that execute the supersteps of a thread, such as a durable execution engine.
//!
//! [`driver_contract!`](crate::driver_contract) makes a test of each case. A case is a flow and what happens to a thread of it. It
//! runs once with the local driver, on a thread in a store, and once with the driver under test. Then the checkpoints of both
//! threads have the same bytes.

pub mod cases;
mod flows;
mod local;
mod macros;
mod stepped;

pub use stepped::{Interruptions, SteppedDriver};

use petalflow::engine::ThreadRecords;
use petalflow::middleware::BoxFuture;
use petalflow::run::RunErrorKind;
use petalflow::state::Storable;
use petalflow::thread::Thread;
use petalflow::{BoxError, Flow, Launch, RunError, async_trait};

/// A program that executes the supersteps of threads, under test.
///
/// ```
/// use petalflow::engine::ThreadRecords;
/// use petalflow::state::Storable;
/// use petalflow::{BoxError, Flow, async_trait};
/// use petalflow_testing::{Driver, DriverCase, SteppedDriver, cases};
///
/// /// Prints the names of the cases.
/// struct Announced(SteppedDriver);
///
/// #[async_trait]
/// impl Driver for Announced {
///     async fn drive<F: Flow<State: Storable>>(&self, case: &DriverCase<F>) -> Result<ThreadRecords, BoxError> {
///         println!("{}", case.name);
///         self.0.drive(case).await
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// cases::chain(&Announced(SteppedDriver::new())).await
/// # }
/// ```
#[async_trait]
pub trait Driver: Send + Sync {
    /// Does the steps of the case one after the other with the thread [`DriverCase::THREAD`], each until the thread ends or waits.
    /// Returns the records of the thread.
    ///
    /// # Errors
    ///
    /// The driver failed. A run that fails is not a failure of the driver.
    async fn drive<F: Flow<State: Storable>>(
        &self,
        case: &DriverCase<F>,
    ) -> Result<ThreadRecords, BoxError>;
}

/// What a step of a case does with the thread. A run in it may end with an error, which is not the error of the step.
pub type CaseStep<F> = fn(Thread<F>) -> BoxFuture<'static, Result<(), BoxError>>;

/// A flow, and what happens to a thread of it. See [`Driver`] for an example.
#[derive(Debug)]
pub struct DriverCase<F: Flow> {
    /// The name of the case.
    pub name: &'static str,
    /// The launch of the flow. A driver may change its settings.
    pub launch: fn() -> Launch<F>,
    /// The steps. Each begins or resumes the thread once.
    pub steps: Vec<CaseStep<F>>,
    /// The nodes that a driver with several processes places on others.
    pub placed: &'static [&'static str],
    /// Whether checkpoints contain the time of a decision. Then only the last checkpoint of each flow is compared.
    pub has_times: bool,
}

impl<F: Flow<State: Storable>> DriverCase<F> {
    /// The id of the thread of every case.
    pub const THREAD: &'static str = "contract";

    /// Runs the case with the local driver and with this one.
    ///
    /// # Errors
    ///
    /// A driver failed, or what they have stored differs.
    pub(crate) async fn check(&self, driver: &impl Driver) -> Result<(), BoxError> {
        let expected = local::drive(self).await?;
        let found = driver.drive(self).await?;
        let (status, found_status) = (expected.status()?, found.status()?);
        if status.0 != found_status.0 {
            return Err(format!(
                "case `{}`: the thread is {}, and with the local driver {}",
                self.name, found_status.0, status.0
            )
            .into());
        }
        let (expected, found) = (self.compared(&expected)?, self.compared(&found)?);
        for (one, other) in expected.iter().zip(&found) {
            if one != other {
                return Err(format!(
                    "case `{}`: checkpoint {} of flow `{}` is\n{}\nand with the local driver it is checkpoint {} of flow `{}`\n{}",
                    self.name,
                    other.1,
                    other.0,
                    text(&other.2),
                    one.1,
                    one.0,
                    text(&one.2),
                )
                .into());
            }
        }
        if expected.len() == found.len() {
            return Ok(());
        }
        Err(format!(
            "case `{}`: {} checkpoints were compared, and with the local driver there are {}",
            self.name,
            found.len(),
            expected.len()
        )
        .into())
    }

    /// The checkpoints that have to be equal.
    fn compared(&self, records: &ThreadRecords) -> Result<Vec<(String, u64, Vec<u8>)>, BoxError> {
        let all = records.checkpoints()?;
        if !self.has_times {
            return Ok(all);
        }
        let is_last = |at: usize| all.get(at + 1).is_none_or(|next| next.0 != all[at].0);
        let last = (0..all.len()).filter(|at| is_last(*at));
        Ok(last.map(|at| all[at].clone()).collect())
    }
}

/// A payload that a person can read.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// The result of a step whose run may end with an error that is stored with the thread.
pub(crate) fn ran<T>(outcome: Result<T, RunError>) -> Result<(), BoxError> {
    match outcome {
        Err(error) if matches!(error.kind(), RunErrorKind::Thread { .. }) => Err(error.into()),
        _ => Ok(()),
    }
}
