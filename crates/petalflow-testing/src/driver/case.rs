//! A case of the contract of drivers.

use petalflow::engine::ThreadRecords;
use petalflow::middleware::BoxFuture;
use petalflow::state::Storable;
use petalflow::thread::Thread;
use petalflow::{BoxError, Flow, Launch, async_trait};

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
    /// The thread begins with the records of the case, if it has some. Returns the records of the thread.
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
    /// The records that the thread begins with, which another version of the program has made.
    pub records: Option<ThreadRecords>,
    /// Whether checkpoints contain the time of a decision. Then only the last checkpoint of each flow is compared.
    pub has_times: bool,
}

impl<F: Flow<State: Storable>> DriverCase<F> {
    /// The id of the thread of every case.
    pub const THREAD: &'static str = "contract";
}
