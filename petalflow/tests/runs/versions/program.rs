//! A version of a program, without its types.

use petalflow::engine::{Pass, RecordChanges, TaskRequest, ThreadEngine, ThreadRecords};
use petalflow::event::TaskId;
use petalflow::interrupt::Ask;
use petalflow::state::{InputOf, Storable};
use petalflow::{Flow, Launch, async_trait};

/// The thread of every case.
const THREAD: &str = "t";

/// The question of most cases.
#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
pub(super) struct MayI {}

/// A version of a program, which a driver, a node host or a client has.
#[async_trait]
pub(super) trait Program: Send + Sync {
    async fn begin(&self, records: &ThreadRecords) -> Result<RecordChanges, String>;
    async fn answer(&self, records: &ThreadRecords) -> Result<RecordChanges, String>;
    async fn resume(&self, records: &ThreadRecords) -> Result<RecordChanges, String>;
    fn advance(&self, records: &ThreadRecords, used: u64) -> Pass;
    fn commit(&self, records: &ThreadRecords, used: u64) -> Pass;
    fn records_for(&self, records: &ThreadRecords, request: &TaskRequest) -> ThreadRecords;
    fn run_task(&self, records: ThreadRecords, used: u64, task: TaskId) -> Pass;
    async fn log(&self, records: &ThreadRecords) -> Result<Vec<String>, String>;
}

struct Version<F: Flow, A: Ask> {
    engine: ThreadEngine<F>,
    /// The answer of a person to the question of this version.
    answer: fn() -> A::Answer,
    log: fn(&F::State) -> Vec<String>,
}

pub(super) fn version<F: Flow<State: Storable>, A: Ask>(
    launch: Launch<F>,
    answer: fn() -> A::Answer,
    log: fn(&F::State) -> Vec<String>,
) -> Box<dyn Program>
where
    String: InputOf<F::State>,
{
    let engine = ThreadEngine::new(launch);
    Box::new(Version::<F, A> {
        engine,
        answer,
        log,
    })
}

#[async_trait]
impl<F: Flow<State: Storable>, A: Ask> Program for Version<F, A>
where
    String: InputOf<F::State>,
{
    async fn begin(&self, records: &ThreadRecords) -> Result<RecordChanges, String> {
        let begun = self.engine.begin(THREAD, records, "text".to_string()).await;
        begun.map_err(|error| error.to_string())
    }

    async fn answer(&self, records: &ThreadRecords) -> Result<RecordChanges, String> {
        let answer = self.engine.edit(THREAD, records, async |thread| {
            thread.answer::<A>((self.answer)()).await
        });
        let (answered, changes) = answer.await.map_err(|error| error.to_string())?;
        match answered {
            Err(error) if !error.to_string().contains("drained") => Err(error.to_string()),
            _ => Ok(changes),
        }
    }

    async fn resume(&self, records: &ThreadRecords) -> Result<RecordChanges, String> {
        let resumed = self.engine.resume(THREAD, records, ()).await;
        resumed.map_err(|error| error.to_string())
    }

    fn advance(&self, records: &ThreadRecords, used: u64) -> Pass {
        self.engine.advance(THREAD, records.clone(), used, [])
    }

    fn commit(&self, records: &ThreadRecords, used: u64) -> Pass {
        self.engine.commit(THREAD, records.clone(), used)
    }

    fn records_for(&self, records: &ThreadRecords, request: &TaskRequest) -> ThreadRecords {
        self.engine.records_for(records, request)
    }

    fn run_task(&self, records: ThreadRecords, used: u64, task: TaskId) -> Pass {
        self.engine.run_task(THREAD, records, used, task)
    }

    async fn log(&self, records: &ThreadRecords) -> Result<Vec<String>, String> {
        let read = self
            .engine
            .edit(THREAD, records, async |thread| thread.snapshot().await);
        let (snapshot, _) = read.await.map_err(|error| error.to_string())?;
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        Ok((self.log)(&snapshot.expect("the thread exists").state))
    }
}
