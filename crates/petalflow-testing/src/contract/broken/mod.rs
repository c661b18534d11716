//! Tests of the contract itself: each store with one defect fails the case that is about it.

mod defect;
mod store;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::{CaseResult, StoreUnderTest, Stores, under_test};
use super::{appends, claims, concurrency, descriptions, names, reads, removal, threads, writes};
use defect::Defect;
use store::BrokenStore;

crate::store_contract! {
    without_defect, async || Ok(under_test_with(Defect::Intact))
}

crate::store_contract! {
    without_defect_with_renewal, async || Ok(under_test_with(Defect::IntactWithRenewal))
}

/// The time limit of a case here. Only a store that hangs reaches it.
const TIME_LIMIT: Duration = Duration::from_secs(5);

fn under_test_with(defect: Defect) -> StoreUnderTest {
    let store = BrokenStore::new(defect);
    let other = store.other();
    StoreUnderTest::new(store).with_other(other)
}

/// The message with which a case fails for a store with a defect.
fn failure(defect: Defect, case: impl AsyncFnOnce(&Stores) -> CaseResult) -> Option<String> {
    let setup = async || Ok(under_test_with(defect));
    let run = || under_test::run_within(TIME_LIMIT, setup, case);
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let message = panic.downcast_ref::<String>().cloned();
    Some(message.unwrap_or_else(|| "a message without values".into()))
}

/// Makes a test of each line: a defect, the case that finds it, and a part of the message.
macro_rules! defects {
    ($($defect:ident: $topic:ident::$case:ident says $message:literal;)*) => {
        $(
            #[test]
            #[allow(non_snake_case)]
            fn $defect() {
                let found = failure(Defect::$defect, $topic::$case);
                let Some(message) = found else {
                    panic!("`{}` does not find the defect", stringify!($case));
                };
                assert!(message.contains($message), "{message}");
            }
        )*
    };
}

defects! {
    AppendChecksThenActs: concurrency::one_of_many_appends_wins says "exactly one";
    AppendWithoutAfterNeverConflicts: appends::an_append_after_another_number_is_a_conflict says "`Conflict`";
    BytesEndAtNul: reads::c88_bytes_are_opaque says "as it was appended";
    ChainHasOneCheckpoint: reads::c89_a_chain_begins_at_its_base says "from its base";
    ClaimChecksThenActs: claims::one_of_many_is_granted says "exactly one";
    ClaimNeverExpires: claims::a_claim_that_is_not_renewed_ends says "not renewed";
    ClaimsIgnoreCase: names::claims_are_by_bytes_too says "claim";
    ConflictNamesNoNumber: appends::an_append_after_another_number_is_a_conflict says "the number found";
    CreatedIsOldest: descriptions::pruning_leaves_the_time_of_creation says "also after that was pruned";
    DeleteByPrefix: removal::c93_deleting_takes_one_thread_and_all_of_it says "and no other";
    DeleteEndsClaim: removal::a_claim_survives_deletion says "claim";
    DeleteLeavesLabels: descriptions::deletion_forgets_what_was_listed says "a deleted one";
    DeleteLeavesNamespaces: removal::c93_deleting_takes_one_thread_and_all_of_it says "in all namespaces";
    DeletesFirstOnly: descriptions::many_threads_are_deleted says "each of the threads";
    DescriptionMakesThread: descriptions::a_description_makes_no_thread says "without checkpoints";
    DueIgnoresStatus: descriptions::a_status_holds_until_the_next_checkpoint says "ends a status";
    FiltersWithinPage: descriptions::threads_are_listed_by_what_is_known_of_them says "the pages of";
    Hangs: reads::c92_an_unknown_thread_has_no_checkpoint says "did not finish";
    HistoryIncludesBefore: reads::history_is_paged_newest_first says "lower number";
    HistoryOfTwoMoments: concurrency::what_is_read_fits_together says "no gaps";
    HistoryOldestFirst: reads::history_is_paged_newest_first says "newest first";
    LabelsIgnoreCase: descriptions::labels_are_any_text says "by bytes";
    LabelsMerged: descriptions::labels_are_any_text says "the place of all others";
    LimitIgnored: threads::threads_are_paged says "at most";
    NamespacesNeedCheckpoint: writes::writes_may_come_before_their_checkpoint says "namespace";
    NewestByText: reads::c92_without_a_number_the_newest_is_read says "by number";
    OtherHandleIsStale: reads::handles_see_each_others_writes says "had returned before it began";
    PageRepeatsLast: threads::a_page_may_begin_anywhere says "after";
    PrefixIgnoresCase: threads::a_prefix_is_compared_by_bytes says "by bytes";
    PruneIncludesNumber: removal::c94_pruning_forgets_what_is_older says "lower number";
    PruneLeavesWrites: removal::c94_pruning_forgets_what_is_older says "writes";
    ReclaimPrunes: descriptions::reclaiming_space_changes_nothing says "no contents";
    ReadOfTwoMoments: concurrency::a_read_is_of_one_moment says "one moment";
    ReleaseByAnyone: claims::a_stranger_cannot_release says "release";
    RenewalNotExtended: claims::a_claim_that_is_not_renewed_ends says "from its last renewal";
    SettlesInSecondStep: appends::a_dropped_append_is_whole_or_nothing says "settled the writes";
    SettlesOneMore: appends::c90_settled_writes_go_with_the_append says "no others";
    StatusEndsWithNested: descriptions::a_status_holds_until_the_next_checkpoint says "a status holds";
    StatusOutlivesCheckpoint: descriptions::a_status_holds_until_the_next_checkpoint says "ends a status";
    ThreadIdsTrimmed: names::thread_ids_are_any_text says "requires success";
    TimesAreFloats: reads::c88_numbers_go_up_to_the_largest says "2^63 - 1";
    WriteKeepsFirst: writes::c90_a_write_takes_the_place_of_the_one_before says "same task and name";
    WriteTornByDrop: writes::a_dropped_write_is_whole_or_nothing says "atomic";
    WritesReversed: writes::c90_writes_are_kept_apart_and_in_order says "order";
    WritesSeparately: concurrency::writes_of_one_call_appear_together says "atomic";
}
