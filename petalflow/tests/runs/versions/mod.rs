//! Threads that wait for a person beside a placed node that has finished, while the program changes: every change of the guide
//! about upgrades, with each mixture of the versions of drivers and node hosts.

mod mixed;
mod program;
mod rows;

use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::ThreadRecords;

use mixed::{Deployed, drive};
use program::Program;

/// A change of a program.
struct Row {
    number: u32,
    change: &'static str,
    old: Box<dyn Program>,
    new: Box<dyn Program>,
    /// The version with which a thread always goes on.
    heals: Heals,
    /// What each of the sixteen mixtures comes to; see [`outcomes`].
    outcomes: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Heals {
    New,
    Old,
    /// That of the driver that has begun it.
    Begun,
    /// The new one, after a resume with `()`, with which it asks again.
    AskedAgain,
    /// That of the driver that was answered: after that, a key has data, and cannot get another reducer.
    Answered,
}

/// What the mixtures come to. The driver and the host that begin the thread, and those that go on after the answer, are the old
/// or the new version, in the order of the numbers 0000 to 1111. `F`: the thread finishes. `e`: it fails with words. `r`: the answer
/// is refused with words. After `e` and `r` it finishes once all have the version that heals it.
async fn outcomes(row: &Row) -> String {
    let versions = [&*row.old, &*row.new];
    let mut outcomes = String::new();
    for mixture in 0..16_usize {
        let version = |bit: usize| versions[(mixture >> bit) & 1];
        let begins = Deployed {
            driver: version(3),
            host: version(2),
        };
        let goes_on = Deployed {
            driver: version(1),
            host: version(0),
        };
        let place = format!("row {}, {}: mixture {mixture:04b}", row.number, row.change);
        outcomes.push(outcome(row, [begins, goes_on], &place).await);
    }
    outcomes
}

async fn outcome(row: &Row, [begins, goes_on]: [Deployed<'_>; 2], place: &str) -> char {
    let mut records = ThreadRecords::default();
    let begun = begins.driver.begin(&records).await;
    records.apply(&begun.expect(place));
    let mut rest = drive(begins, &mut records).await;
    let mut outcome = 'F';
    if next(goes_on, &mut records, &mut rest, place).await.is_err() {
        outcome = 'r';
    } else if rest.0 == ThreadStatus::Failed {
        outcome = 'e';
    }
    let healing = match row.heals {
        Heals::New | Heals::AskedAgain => &*row.new,
        Heals::Old => &*row.old,
        Heals::Begun => begins.driver,
        Heals::Answered => goes_on.driver,
    };
    let healing = Deployed {
        driver: healing,
        host: healing,
    };
    for _ in 0..3 {
        if rest.0 == ThreadStatus::Finished {
            break;
        }
        let gone_on = next(healing, &mut records, &mut rest, place).await;
        if gone_on.is_err() && row.heals == Heals::AskedAgain {
            let resumed = healing.driver.resume(&records).await;
            records.apply(&resumed.expect(place));
            rest = drive(healing, &mut records).await;
            continue;
        }
        gone_on.expect(place);
    }
    assert_eq!(rest.0, ThreadStatus::Finished, "{place}: {}", rest.1);
    let mut log = healing.driver.log(&records).await.expect(place);
    log.sort_unstable();
    assert_eq!(log, ["answer true", "end", "far"], "{place}");
    outcome
}

/// Answers the thread, or resumes it after a failure, and drives it. An error is a refusal.
async fn next(
    deployed: Deployed<'_>,
    records: &mut ThreadRecords,
    rest: &mut (ThreadStatus, String),
    place: &str,
) -> Result<(), String> {
    let changes = match rest.0 {
        ThreadStatus::Waiting => deployed.driver.answer(records).await,
        ThreadStatus::Failed => {
            assert!(!rest.1.is_empty(), "{place}: no words");
            deployed.driver.resume(records).await
        }
        other => panic!("{place}: {other}"),
    };
    records.apply(&changes?);
    *rest = drive(deployed, records).await;
    Ok(())
}

#[tokio::test]
async fn f42_each_change_of_a_program_goes_on_or_fails_with_words_in_each_mixture_of_versions() {
    let mut wrong = Vec::new();
    for row in rows::all() {
        let found = outcomes(&row).await;
        if found != row.outcomes {
            wrong.push(format!(
                "row {}, {}: {found}, expected {}",
                row.number, row.change, row.outcomes
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn f42_a_result_that_the_driver_cannot_use_is_not_requested_again_but_fails_with_words() {
    let rows = rows::all();
    let row = rows
        .iter()
        .find(|row| row.number == 6)
        .expect("a wider type");
    let (old, new) = (&*row.old, &*row.new);
    let all_old = Deployed {
        driver: old,
        host: old,
    };
    let mut records = ThreadRecords::default();
    records.apply(&old.begin(&records).await.expect("it begins"));
    assert_eq!(drive(all_old, &mut records).await.0, ThreadStatus::Waiting);
    records.apply(&new.answer(&records).await.expect("it is answered"));
    let mixed = Deployed {
        driver: new,
        host: old,
    };
    let (status, failure) = drive(mixed, &mut records).await;
    assert_eq!(status, ThreadStatus::Failed);
    assert_eq!(
        failure,
        "the result of node `far` cannot be used: a node host with another version of the program has made it, with other keys, routes \
         or items; deploy the same version of the program to drivers and node hosts, then resume the thread"
    );
    assert_eq!(records.status().expect("a status").0, ThreadStatus::Failed);
}

mod untracked {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
        #[key(untracked)]
        pub(super) scratch: u32,
    }

    #[node(Doc)]
    async fn far() -> DocScratch {
        DocScratch(7)
    }

    petalflow::flow!(pub(super) Review(Doc) { far; with far { remote: "pool" } });
}

#[tokio::test]
async fn f42_a_placed_node_that_writes_a_key_which_is_not_stored_fails_with_words() {
    let program = program::version::<_, program::MayI>(
        untracked::Review::new(),
        || true,
        |state| state.log.clone(),
    );
    let deployed = Deployed {
        driver: &*program,
        host: &*program,
    };
    let mut records = ThreadRecords::default();
    records.apply(&program.begin(&records).await.expect("it begins"));
    let (status, failure) = drive(deployed, &mut records).await;
    assert_eq!(status, ThreadStatus::Failed);
    assert_eq!(
        failure,
        "node `far` has written a key that is not stored (`untracked`), so its result cannot reach the driver: do not place the node, or \
         store the key"
    );
}
