//! Threads that sleep again and again, while the processes that wake them are killed. Whichever process lives wakes the next one.

use super::*;

/// Each item sleeps so often in each of the rounds of a thread.
const NAPS: u64 = 3;
const ITEMS: u64 = 2;
const ROUNDS: u64 = 3;
const THREADS: usize = 3;
const PROCESSES: usize = 2;

/// Two processes want each thread. A claim lasts longer than a process is not scheduled.
const CLAIM_LASTS: Duration = Duration::from_millis(400);

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Naps {
    #[key(sum)]
    round: u64,
    #[key(append)]
    log: Vec<String>,
}

#[node(Naps)]
async fn lie_down() -> (NapsRound, Each<u64>) {
    (NapsRound(1), Each((0..ITEMS).collect()))
}

/// Each sleep lasts as long as it should, also if several processes wait for its end.
#[node(Naps)]
async fn nap(
    #[item] item: &u64,
    round: &u64,
    world: Managed<World>,
    cx: Context,
) -> petalflow::Result<NapsLog> {
    for nap in 0..NAPS {
        let length = 5 + 20 * ((nap + item) % 2);
        let begun = world.once(&cx, &format!("nap {nap}"), now_ms).await?;
        cx.sleep(Duration::from_millis(length)).await?;
        let slept = now_ms().saturating_sub(begun);
        if slept < length {
            return Err(format!("{length} ms ended after {slept} ms").into());
        }
    }
    Ok(NapsLog(vec![format!("{round}.{item}")]))
}

#[node(Naps)]
async fn get_up(round: &u64) -> bool {
    *round < ROUNDS
}

flow!(Sleepers(Naps) {
    START -> lie_down;
    lie_down -> each nap -> get_up;
    get_up -> match { true => lie_down, false => END };
});

fn now_ms() -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed();
    u64::try_from(now.expect("it is later").as_millis()).expect("it is soon")
}

fn threads(
    store: &(impl Store + Clone),
    number: usize,
    folder: &Path,
) -> (Threads<Sleepers>, Vec<String>) {
    let round = number / PROCESSES;
    let threads = Sleepers::new()
        .manage(World(folder.join(format!("log-{round}"))))
        .store(store)
        .durability(durability(round));
    let ids = (0..THREADS).map(|thread| format!("nap-{round}-{thread}"));
    (threads, ids.collect())
}

/// What the process does: continues what a process has left, and then wakes what is due, until all has ended.
async fn work(store: impl Store + Clone, _: OnBusy, folder: &Path, number: usize) {
    let (threads, ids) = threads(&store, number, folder);
    for id in &ids {
        // A dead process may still have a thread, and the other one may have it.
        match threads.thread(id).resume(()).await {
            Ok(_) => {}
            Err(error) if is_busy(&error) => {}
            Err(error) => panic!("{id}: {error}"),
        }
    }
    let waking = threads.wake().interval(Duration::from_millis(20));
    let waking = waking
        .on_end(|id, ended| drop(ended.unwrap_or_else(|error| panic!("{id}: {error}"))))
        .on_error(|error| panic!("{error}"));
    let ended = async {
        for id in &ids {
            while !is_finished(&threads, id).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    tokio::select! {
        () = waking.run() => unreachable!("it has no end"),
        () = ended => {}
    }
}

fn is_busy(error: &petalflow::RunError) -> bool {
    matches!(error.thread_error(), Some(ThreadError::Busy { .. }))
}

async fn is_finished(threads: &Threads<Sleepers>, id: &str) -> bool {
    let info = threads.thread(id).info().await;
    let info = info.expect("it can be read").expect("it exists");
    assert_ne!(info.status, ThreadStatus::Failed, "{id}: {info:?}");
    info.status == ThreadStatus::Finished
}

fn kill<St: Store + Clone, M: Future<Output = St>>(
    child: &str,
    folder: &Path,
    place: &str,
    open: impl Fn(String) -> M,
) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    let mut kills = Kills::begin();
    for round in 0.. {
        if round >= 4 && kills.are_enough() {
            break;
        }
        let number = round * PROCESSES;
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            let (threads, ids) = threads(&store, number, folder);
            for id in ids {
                let asleep = threads.thread(&id).run(()).await.expect("it runs");
                asleep.into_finished().expect_err("it sleeps");
            }
        });
        kills.count += kill_until_all_end(PROCESSES, |process| {
            start(child, folder, place, number + process)
        });
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            let (threads, ids) = threads(&store, number, folder);
            for id in ids {
                let ended = threads.thread(&id).snapshot().await.unwrap().unwrap();
                assert!(ended.is_finished());
                let expected = (1..=ROUNDS).flat_map(|round| (0..ITEMS).map(move |it| (round, it)));
                let expected: Vec<_> = expected.map(|(a, b)| format!("{a}.{b}")).collect();
                assert_eq!(ended.state.log, expected, "{id}");
            }
        });
        let effects = usize::try_from(NAPS * ITEMS * ROUNDS).unwrap() * THREADS;
        check_effects(&folder.join(format!("log-{round}")), effects);
    }
    kills.check();
}

for_each_store!(f43_threads_that_sleep_go_on_and_repeat_nothing_although_processes_are_killed);
