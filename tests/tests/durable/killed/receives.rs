//! A thread whose node receives messages, while the processes that send them and those that wake the thread are killed.

use super::*;

const SENDERS: usize = 2;
const LETTERS: usize = 12;
/// How many letters the node receives each time.
const AT_ONCE: usize = 2;
const WAKERS: usize = 2;
const PROCESSES: usize = WAKERS + SENDERS;

/// Two processes want the thread. A claim lasts longer than a process is not scheduled.
const CLAIM_LASTS: Duration = Duration::from_millis(400);

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Reader {
    #[key(receive)]
    letter: u64,
    #[key(append)]
    letters: Vec<u64>,
}

/// A node that runs again gets the letters that it has recorded elsewhere.
#[node(Reader)]
async fn read(
    letters: &[u64],
    cx: Context,
    world: Managed<World>,
) -> petalflow::Result<(ReaderLetters, bool)> {
    let mut read = Vec::new();
    for at in 0..AT_ONCE {
        let letter = cx.receive::<ReaderLetter>().await?;
        let first = world.once(&cx, &format!("letter {at}"), || letter).await?;
        if first != letter {
            return Err(format!("letter {at} was {first}, and is {letter}").into());
        }
        read.push(letter);
    }
    let has_more = letters.len() + AT_ONCE < SENDERS * LETTERS;
    Ok((ReaderLetters(read), has_more))
}

flow!(ReadAll(Reader) {
    START -> read;
    read -> match { true => read, false => END };
});

fn threads(
    store: &(impl Store + Clone),
    round: usize,
    folder: &Path,
) -> (Threads<ReadAll>, String) {
    let threads = ReadAll::new()
        .manage(World(folder.join(format!("log-{round}"))))
        .store(store)
        .durability(durability(round));
    (threads, format!("reader-{round}"))
}

async fn work(store: impl Store + Clone, _: OnBusy, folder: &Path, number: usize) {
    let (round, process) = (number / PROCESSES, number % PROCESSES);
    let (threads, id) = threads(&store, round, folder);
    if process < WAKERS {
        wake(&threads, &id).await;
    } else {
        let sent = folder.join(format!("sent-{round}-{process}"));
        send(&threads.thread(&id), process, &sent).await;
    }
}

/// Continues what a process has left, and then wakes the thread until it has all letters.
async fn wake(threads: &Threads<ReadAll>, id: &str) {
    match threads.thread(id).resume(()).await {
        Ok(_) => {}
        Err(error) if matches!(error.thread_error(), Some(ThreadError::Busy { .. })) => {}
        Err(error) => panic!("{error}"),
    }
    let waking = threads.wake().interval(Duration::from_millis(20));
    let waking = waking
        .on_end(|id, ended| drop(ended.unwrap_or_else(|error| panic!("{id}: {error}"))))
        .on_error(|error| panic!("{error}"));
    let ended = async {
        loop {
            let info = threads.thread(id).info().await.expect("it can be read");
            let status = info.expect("it exists").status;
            assert_ne!(status, ThreadStatus::Failed);
            if status == ThreadStatus::Finished {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = waking.run() => unreachable!("it has no end"),
        () = ended => {}
    }
}

/// Who has sent a letter, and which one it is.
fn number(sender: usize, letter: usize) -> u64 {
    u64::try_from(100 * sender + letter).expect("they are few")
}

/// Sends all letters. What was acknowledged is in a file, a byte for each: a process sends the last two again.
async fn send(thread: &Thread<ReadAll>, sender: usize, acknowledged: &Path) {
    let sent = std::fs::read(acknowledged).unwrap_or_default().len();
    for letter in sent.saturating_sub(2)..LETTERS {
        let message = ReaderLetter(number(sender, letter));
        let number = thread
            .send_once(format!("{sender}-{letter}"), message)
            .await;
        number.expect("it is stored");
        if letter >= sent {
            let file = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(acknowledged);
            let written = file.and_then(|mut file| file.write_all(b"."));
            written.expect("it can be written");
        }
    }
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
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            let (threads, id) = threads(&store, round, folder);
            let waits = threads.thread(&id).run(()).await.expect("it runs");
            waits.into_finished().expect_err("it waits for letters");
        });
        kills.count += kill_until_all_end(PROCESSES, |process| {
            start(child, folder, place, round * PROCESSES + process)
        });
        runtime.block_on(async {
            let store = open(place.to_string()).await;
            let (threads, id) = threads(&store, round, folder);
            check(&store, &threads.thread(&id)).await;
        });
        check_effects(&folder.join(format!("log-{round}")), SENDERS * LETTERS);
    }
    kills.check();
}

/// Each letter was received once, and those of each sender in their order.
async fn check(store: &(impl Store + Clone), thread: &Thread<ReadAll>) {
    let stored = thread.snapshot().await.unwrap().unwrap();
    assert!(stored.is_finished());
    let letters = stored.state.letters;
    let mut of_senders = letters.clone();
    // Stable: the order of each sender remains.
    of_senders.sort_by_key(|letter| letter / 100);
    let senders = WAKERS..PROCESSES;
    let expected = senders.flat_map(|it| (0..LETTERS).map(move |letter| number(it, letter)));
    assert_eq!(of_senders, expected.collect::<Vec<_>>(), "{letters:?}");
    let stored = petalflow::thread::StoredThreads::new(store);
    let problems = stored.verify(thread.id()).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

for_each_store!(f43_messages_are_received_once_and_in_order_although_processes_are_killed);
