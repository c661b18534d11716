//! The parts of a superstep that only a stored run has.

use std::future::{Future, ready};

use petalflow_graph::NodeIdx;

use super::barrier::{tasks_ended, write_barrier};
use super::driver::Driver;
use super::interrupt_points::dispositions;
use super::single::run_single;
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::Watch;
use crate::exec::persistence::{Committed, NoPersistence, Persistence, TaskDisposition};
use crate::exec::task::requests::serve;
use crate::exec::task::task_run::TaskRun;
use crate::flow::Flow;
use crate::superstep::{Planner, Task};
use crate::task_services::DriverRequest;

/// The steps that the driver makes for a stored run only.
///
/// A trait, because the compiler also generates the code of a branch that [`Persistence::STORED`] rules out. The default
/// methods are those of a stored run. So a program that stores nothing compiles none of the functions that they call.
pub(crate) trait StoredSteps<F: Flow>: Persistence<F::State> + Sized {
    /// Runs a superstep of one task that nothing surrounds.
    fn single(
        &mut self,
        driver: &mut Driver<F>,
        planner: &mut Planner,
        frontier: &mut Vec<Task>,
        node: NodeIdx,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        run_single(driver, planner, frontier, self, node)
    }

    /// Decides what to do with each task of the frontier; tasks beyond the end of the list run.
    fn begin(
        &mut self,
        driver: &Driver<F>,
        frontier: &[Task],
    ) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>> {
        dispositions(driver, frontier, self)
    }

    /// Serves the request of a task.
    fn serve(
        &mut self,
        request: DriverRequest,
        watch: &mut Option<Box<Watch>>,
        committed: Committed<'_, F::State>,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        serve(request, watch, self, committed)
    }

    /// Reports that no task runs any more.
    fn end(
        &mut self,
        driver: &mut Driver<F>,
        finished: &[Box<TaskRun<F::State>>],
        result: Result<(), Abort<F::State>>,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        tasks_ended(driver, self, finished, result)
    }

    /// Reports that the superstep was committed.
    fn committed(
        &mut self,
        driver: &mut Driver<F>,
        planner: &Planner,
        frontier: &[Task],
        ended: &[Box<TaskRun<F::State>>],
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        let ended = ended.iter().map(|task| task.scope.node);
        write_barrier(driver, self, planner, frontier, ended)
    }
}

impl<F: Flow> StoredSteps<F> for NoPersistence {
    fn single(
        &mut self,
        _: &mut Driver<F>,
        _: &mut Planner,
        _: &mut Vec<Task>,
        _: NodeIdx,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        ready(Ok(()))
    }

    fn begin(
        &mut self,
        _: &Driver<F>,
        _: &[Task],
    ) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>> {
        Ok(Vec::new())
    }

    fn serve(
        &mut self,
        _: DriverRequest,
        _: &mut Option<Box<Watch>>,
        _: Committed<'_, F::State>,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        ready(Ok(()))
    }

    fn end(
        &mut self,
        _: &mut Driver<F>,
        _: &[Box<TaskRun<F::State>>],
        result: Result<(), Abort<F::State>>,
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        ready(result)
    }

    fn committed(
        &mut self,
        _: &mut Driver<F>,
        _: &Planner,
        _: &[Task],
        _: &[Box<TaskRun<F::State>>],
    ) -> impl Future<Output = Result<(), Abort<F::State>>> + Send {
        ready(Ok(()))
    }
}
