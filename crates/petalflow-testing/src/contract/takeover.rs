//! A run whose claim has ended continues after another run has had its thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Store, StoreError};
use petalflow::event::TaskId;
use petalflow::prelude::*;
use petalflow::thread::{Durability, Thread, ThreadError};
use tokio::sync::Notify;

use super::claims::granted_soon;
use super::fences::contents;
use super::samples::THREAD;
use super::{CaseResult, Stores};
use crate::FaultyStore;

#[state]
struct Mail {
    #[key(input)]
    text: String,
    #[key(append)]
    log: Vec<String>,
}

/// What the runs of a case share.
#[derive(Default)]
struct Scene {
    /// Whether the next run stalls in its first node.
    stalls: AtomicBool,
    stalled: Notify,
    goes_on: Notify,
    /// Whether the next run fails in its first node.
    fails: AtomicBool,
    tasks: Mutex<Vec<TaskId>>,
    /// Whether the node has an effect, and how often that has run.
    has_effect: bool,
    effects: AtomicUsize,
}

impl Scene {
    fn tasks(&self) -> MutexGuard<'_, Vec<TaskId>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[node(Mail)]
async fn read(text: &str, cx: Context, scene: Managed<Scene>) -> petalflow::Result<MailLog> {
    scene.tasks().push(cx.task_id());
    if scene.stalls.swap(false, Ordering::SeqCst) {
        scene.stalled.notify_one();
        scene.goes_on.notified().await;
    }
    if scene.fails.swap(false, Ordering::SeqCst) {
        return Err("the second run fails".into());
    }
    if scene.has_effect {
        let effect = async { Ok::<_, BoxError>(scene.effects.fetch_add(1, Ordering::SeqCst)) };
        cx.once("effect", effect).await?;
    }
    Ok(MailLog(vec![format!("read {text}")]))
}

#[node(Mail)]
async fn send(text: &str) -> MailLog {
    MailLog(vec![format!("sent {text}")])
}

flow!(Answer(Mail) { read -> send; interrupt before send; });

/// What happens to the thread while its first run stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    /// Another run continues it.
    Continued,
    /// It is deleted, and begins anew.
    BegunAnew,
    /// The same, and the new run fails in its first node. So the numbers of its checkpoints are those that the first run knows.
    BegunAnewAndFailed,
}

fn thread(store: &Arc<dyn Store>, scene: &Arc<Scene>, durability: Durability) -> Thread<Answer> {
    let launch = Answer::new().manage_with(Arc::clone(scene));
    launch.store(store).durability(durability).thread(THREAD)
}

/// A run stalls until its claim has ended. Meanwhile another run has the thread. Then the first run goes on.
async fn takeover(
    stores: &Stores,
    meanwhile: Meanwhile,
    durability: Durability,
    has_effect: bool,
) -> CaseResult {
    // The last release may still be on its way.
    assert!(granted_soon(&*stores.store, THREAD, "before").await?);
    stores.store.release(THREAD, "before");
    let case = format!("{meanwhile:?}, {durability:?}, with an effect: {has_effect}");
    let scene = Arc::new(Scene {
        stalls: AtomicBool::new(true),
        has_effect,
        ..Scene::default()
    });
    let process = FaultyStore::over(Arc::clone(&stores.store));
    let stalling: Arc<dyn Store> = Arc::new(process.clone());
    let (first, second) = (
        thread(&stalling, &scene, durability),
        thread(&stores.other, &scene, Durability::Sync),
    );
    let others = async {
        scene.stalled.notified().await;
        // A write that is still in flight would claim the thread again.
        while durability == Durability::Async
            && stores
                .store
                .read(Address::root(THREAD), None)
                .await?
                .is_none()
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.detach();
        // A release through another handle may take a moment to be visible.
        assert!(granted_soon(&*stores.other, THREAD, "third").await?);
        stores.other.release(THREAD, "third");
        if let Some(lasts) = stores.store.claim_lasts().filter(|_| has_effect) {
            // Until then the first run trusts the clock and not the store.
            tokio::time::sleep(lasts).await;
        }
        if meanwhile != Meanwhile::Continued {
            second.delete().await?;
        }
        if meanwhile == Meanwhile::BegunAnewAndFailed {
            scene.fails.store(true, Ordering::SeqCst);
            let failed = second.run("of Bob".to_string()).await;
            assert!(failed.is_err(), "the second run fails ({case})");
            let before = contents(&*stores.other).await?;
            scene.goes_on.notify_one();
            return Ok::<_, BoxError>(before);
        }
        let outcome = match second.snapshot().await? {
            Some(_) => second.resume(()).await?,
            None => second.run("of Bob".to_string()).await?,
        };
        assert_eq!(
            outcome.interrupts().len(),
            1,
            "the second run waits for a person ({case})"
        );
        let before = contents(&*stores.other).await?;
        scene.goes_on.notify_one();
        Ok(before)
    };
    let (late, before) = tokio::join!(first.run("of Ann".to_string()), others);
    let before = before?;
    let error = late
        .err()
        .ok_or_else(|| format!("the first run did not fail ({case})"))?;
    let refused = error.thread_error();
    assert!(
        matches!(
            refused,
            Some(ThreadError::Store(
                StoreError::ClaimLost { .. } | StoreError::Conflict { .. }
            ))
        ),
        "a run that has lost its thread says so ({case}): {error}"
    );
    assert_eq!(
        contents(&*stores.other).await?,
        before,
        "a run that has lost its thread writes nothing to it ({case})"
    );
    let tasks = scene.tasks().clone();
    // Otherwise nothing was stored that could be deleted.
    let was_stored = durability != Durability::Exit;
    assert!(
        !was_stored || (tasks[0] != tasks[1]) == (meanwhile != Meanwhile::Continued),
        "a task has another id in a thread that was deleted and begun anew, and no other id in one that goes on ({case})"
    );
    if has_effect {
        assert_eq!(
            scene.effects.load(Ordering::SeqCst),
            1,
            "a run that has lost its thread has no effect any more ({case})"
        );
    }
    second.delete().await?;
    Ok(())
}

/// A run that stalled until another run has continued its thread, or begun it anew for another user, changes nothing and says so.
pub async fn a_run_that_has_lost_its_thread_changes_nothing(stores: &Stores) -> CaseResult {
    takeover(
        stores,
        Meanwhile::BegunAnewAndFailed,
        Durability::Sync,
        false,
    )
    .await?;
    for meanwhile in [Meanwhile::Continued, Meanwhile::BegunAnew] {
        takeover(stores, meanwhile, Durability::Sync, true).await?;
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            takeover(stores, meanwhile, durability, false).await?;
        }
    }
    Ok(())
}
