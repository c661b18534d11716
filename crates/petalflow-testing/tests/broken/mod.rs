//! Tests of the contract itself: each store with one mistake fails the case that is about it.

mod defect;
mod flaw;
mod flawed;
mod rare;
mod rarely_wrong;
mod store;
mod subtle;
mod subtly_wrong;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use petalflow::checkpoint::{InMemoryStore, Store as _, StoreError, ThreadInfo, ThreadQuery};
use petalflow_testing::contract::{
    CaseResult, Stores, amounts, appends, bounds, claims, concurrency, descriptions, dropped,
    fences, index, names, prefixes, pruned, reads, removal, run_within, takeover, threads, writes,
};
use petalflow_testing::{StoreUnderTest, store_contract};

use defect::Defect;
use flaw::Flaw;
use flawed::FlawedStore;
use rare::Rare;
use rarely_wrong::RarelyWrongStore;
use store::BrokenStore;
use subtle::Subtle;
use subtly_wrong::SubtlyWrongStore;

store_contract! {
    without_defect, async || Ok(defective(Defect::Intact))
}

store_contract! {
    without_defect_with_renewal, async || Ok(defective(Defect::IntactWithRenewal))
}

/// The time limit of a case here. Only a store that hangs reaches it.
const TIME_LIMIT: Duration = Duration::from_secs(20);

fn defective(defect: Defect) -> StoreUnderTest {
    let store = BrokenStore::new(defect);
    let other = store.other();
    StoreUnderTest::new(store).with_other(other)
}

fn flawed(flaw: Flaw) -> StoreUnderTest {
    let store = FlawedStore::new(flaw);
    StoreUnderTest::new(store.clone()).with_other(store)
}

/// What a store lists of a thread.
async fn listed(store: &InMemoryStore, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
    let query = ThreadQuery {
        prefix: thread,
        limit: Some(1),
        ..ThreadQuery::default()
    };
    // The id itself is the first one that begins with it.
    let found = store.threads(query).await?.pop();
    Ok(found.filter(|info| info.id == thread))
}

fn rarely_wrong(mistake: Rare) -> StoreUnderTest {
    let store = RarelyWrongStore::new(mistake);
    StoreUnderTest::new(store.clone()).with_other(store)
}

fn subtly_wrong(mistake: Subtle) -> StoreUnderTest {
    let store = SubtlyWrongStore::new(mistake);
    StoreUnderTest::new(store.clone()).with_other(store)
}

/// The message with which a case fails for a store.
fn failure(store: StoreUnderTest, case: impl AsyncFnOnce(&Stores) -> CaseResult) -> Option<String> {
    let setup = async || Ok(store);
    let run = || run_within(TIME_LIMIT, setup, case);
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let message = panic.downcast_ref::<String>().cloned().or(text);
    Some(message.unwrap_or_else(|| "a panic without a message".into()))
}

/// Makes a test of each line: a mistake, the case that finds it, and a part of the message.
macro_rules! broken_stores {
    ($store:ident: $kind:ident { $($mistake:ident: $topic:ident::$case:ident says $message:literal;)* }) => {
        $(
            #[test]
            #[allow(non_snake_case)]
            fn $mistake() {
                let found = failure($store($kind::$mistake), $topic::$case);
                let Some(message) = found else {
                    panic!("`{}` does not find the mistake", stringify!($case));
                };
                assert!(message.contains($message), "{message}");
            }
        )*
    };
}

broken_stores! { defective: Defect {
    AppendChecksThenActs: concurrency::one_of_many_appends_wins says "exactly one";
    AppendWithoutAfterNeverConflicts: appends::an_append_after_another_number_is_a_conflict says "`Conflict`";
    BytesEndAtNul: reads::c88_bytes_are_opaque says "as it was appended";
    ChainHasOneCheckpoint: reads::c89_a_chain_begins_at_its_base says "from its base";
    ClaimChecksThenActs: claims::one_of_many_is_granted says "exactly one";
    ClaimNeverExpires: claims::a_claim_that_is_not_renewed_ends says "not renewed";
    ClaimsIgnoreCase: names::claims_are_by_bytes_too says "claim";
    ConflictNamesNoNumber: appends::an_append_after_another_number_is_a_conflict says "the number found";
    CreatedIsOldest: pruned::pruning_leaves_the_time_of_creation says "also after that was pruned";
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
} }

broken_stores! { flawed: Flaw {
    AnyClaimIsEnough: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    AppendIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    ApplyIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    AskIsNeverSettled: amounts::every_kind_of_write_is_settled says "of every name";
    BytesIgnorePrune: pruned::sizes_follow_what_is_pruned says "what is left";
    ChainHasAPage: amounts::many_checkpoints_are_read says "as a whole";
    ClaimIsGrantedLate: dropped::a_dropped_claim_is_not_granted_late says "not granted after";
    ConfirmGrants: fences::a_claim_is_confirmed says "is not confirmed";
    ConfirmIsTrue: fences::a_claim_is_confirmed says "is not confirmed";
    CountsAreLost: concurrency::namespaces_of_a_thread_at_once says "all counted";
    CountsIgnorePrune: pruned::sizes_follow_what_is_pruned says "what is left";
    CreatedIsThatOfTheNewestNamespace: pruned::a_thread_is_as_old_as_its_first_checkpoint says "first checkpoint";
    CreatedIsThatOfWhatIsLeft: pruned::a_thread_is_as_old_as_its_first_checkpoint says "remains while";
    DeleteComesLate: dropped::a_dropped_call_does_not_come_late says "no effect after";
    DeleteIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    DeleteIsTornByDrop: dropped::a_dropped_deletion_is_whole_or_nothing says "atomic";
    DeleteManyIsAllOrNothing: fences::only_claimed_threads_are_deleted says "whose claims the owner has";
    DeleteManyIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    DeleteManyStopsAtUnknown: amounts::many_threads_are_listed_and_deleted says "past those that are unknown";
    DeletesAPageOfNamespaces: amounts::many_namespaces_are_listed_and_deleted says "all namespaces";
    DeletesAPageOfThreads: amounts::many_threads_are_listed_and_deleted says "all threads that it names";
    DeletionEndsTheFence: fences::the_owner_writes_after_a_deletion says "the claim";
    DueIsKept: descriptions::a_due_time_changes_and_goes says "takes the place";
    DueNeverGoes: descriptions::a_due_time_changes_and_goes says "takes the place";
    FenceChecksThenActs: fences::nothing_is_written_after_another_owner_has_the_claim says "refused";
    FenceComesAfterTheWrite: fences::a_write_without_the_claim_changes_nothing says "changes nothing";
    FreeThreadsAreNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    HistoryHasAPage: amounts::many_checkpoints_are_read says "history";
    IncarnationBeginsAtOne: fences::deletions_change_the_incarnation says "is zero";
    IncarnationIsZero: fences::deletions_change_the_incarnation says "no earlier one";
    LabelsAreNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    LabelsHaveAPage: amounts::many_labels_are_listed says "all labels";
    LargeValuesAreCut: amounts::large_values_are_stored says "32 MiB";
    LargeValuesAreRefused: amounts::large_values_are_stored says "requires success";
    NamesOfWritesByPrefix: prefixes::names_of_writes_are_not_prefixes says "the same name";
    NamespacesConflict: concurrency::namespaces_of_a_thread_at_once says "requires success";
    NamespacesHaveAPage: amounts::many_namespaces_are_listed_and_deleted says "all namespaces";
    NamespacesWithWritesComeLast: amounts::many_namespaces_are_listed_and_deleted says "in the order of their bytes";
    NothingIsFenced: takeover::a_run_that_has_lost_its_thread_changes_nothing says "did not fail";
    OldWritesAreHidden: reads::an_older_checkpoint_is_read_with_its_writes says "the writes beside it";
    OnceIsNeverSettled: amounts::every_kind_of_write_is_settled says "of every name";
    OwnersByPrefix: prefixes::owners_are_not_prefixes says "busy for";
    PruneEndsStatus: pruned::a_status_outlives_a_prune says "leaves the status";
    PruneForgetsDue: pruned::a_status_outlives_a_prune says "leaves the status";
    PruneIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    PruneIsTornByDrop: dropped::a_dropped_prune_is_whole_or_nothing says "atomic";
    PrunesAPage: amounts::many_writes_are_settled_and_pruned says "below the number";
    PrunesAPageOfWrites: amounts::many_writes_are_settled_and_pruned says "however many";
    PrunesNamespacesByPrefix: prefixes::namespaces_are_not_prefixes says "changes no other";
    ReleasesByPrefix: prefixes::owners_are_not_prefixes says "busy for";
    SettlesAPage: amounts::many_writes_are_settled_and_pruned says "however many";
    SettlesNamespacesByPrefix: prefixes::namespaces_are_not_prefixes says "changes no other";
    StatusIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    ThreadsHaveAPage: amounts::many_threads_are_listed_and_deleted says "has all threads";
    UnclaimedIsRefused: fences::the_owner_of_the_claim_writes says "not refused";
    UpdatedIgnoresPrune: pruned::a_thread_is_as_old_as_its_first_checkpoint says "not the newest";
    WriteIsNotFenced: fences::a_write_without_the_claim_changes_nothing says "ClaimLost";
    WritesArePrunedByTheNumberOfCheckpoints: removal::writes_are_pruned_by_their_own_number says "writes beside";
    WritesHaveAPage: amounts::many_checkpoints_are_read says "in a range";
    WritesOfNamespacesByPrefix: prefixes::namespaces_are_not_prefixes says "changes no other";
} }

broken_stores! { rarely_wrong: Rare {
    BytesAbove16MiBAreCut: amounts::large_values_are_stored says "32 MiB";
    ChainsAreCutAt1000: amounts::many_checkpoints_are_read says "as a whole";
    CountsOfNamespacesAreLost: concurrency::namespaces_of_a_thread_at_once says "all counted";
    CreatedChangesWithAPruneOfASubFlow: pruned::no_prune_changes_the_time_of_creation says "leaves the time";
    DroppedClaimIsGrantedWhenFree: dropped::a_dropped_claim_is_never_granted_afterwards says "is not granted after";
    DroppedClaimTakesTheThread: dropped::a_dropped_claim_is_never_granted_afterwards says "is not granted after";
    HistoriesAreCutAt1000: amounts::many_checkpoints_are_read says "history";
    ListsOfNamespacesAreCutAt1000: amounts::many_namespaces_are_listed_and_deleted says "all namespaces";
    ListsOfThreadsAreCutAt1000: amounts::many_threads_are_listed_and_deleted says "has all threads";
    NamespacesConflictAtTheSameTime: concurrency::namespaces_of_a_thread_at_once says "requires success";
    WritesAreCutAt1000: amounts::many_checkpoints_are_read says "in a range";
} }

broken_stores! { subtly_wrong: Subtle {
    ApplyOfNothingIsNotFenced: bounds::a_call_with_nothing_needs_the_claim says "`apply` with nothing";
    ConflictEndsClaim: bounds::a_conflict_leaves_the_claim says "after a conflict";
    CountsAreOfOnePage: index::threads_are_ordered_by_time says "the counts of";
    CountsIgnoreConditions: index::conditions_are_combined says "the counts of";
    CursorIsAnId: index::threads_are_ordered_by_time says "each thread once";
    DeleteManyRefusesNone: bounds::threads_to_delete_may_be_named_twice says "requires success";
    DeleteManyRefusesTheSameTwice: bounds::threads_to_delete_may_be_named_twice says "requires success";
    HistoryBeforeTheLargestIsEmpty: bounds::a_history_is_limited_by_any_number says "before the largest number";
    HistoryOfNoneHasOne: bounds::a_history_is_limited_by_any_number says "at most 0 checkpoints";
    IncarnationCountsCheckpointsOnly: bounds::a_deleted_thread_without_checkpoints_is_counted says "that had writes";
    IndexKeepsTheStatus: index::the_index_follows_each_change says "after a checkpoint: it is";
    LabelsEndStatus: bounds::a_status_and_labels_are_apart says "labels leave the status";
    LimitOfNoneIsIgnored: bounds::a_list_of_no_thread_is_empty says "at most 0 threads";
    NewestIsOldest: index::threads_are_ordered_by_time says "in its order";
    NoLabelsAreIgnored: bounds::a_status_and_labels_are_apart says "the place of all others";
    NotIsIgnored: index::conditions_are_combined says "lists what it covers";
    NumbersFollowEachOther: bounds::numbers_have_gaps says "requires success";
    OneClaimForEachOwner: bounds::an_owner_has_several_threads says "leaves that on the first";
    OrdersAreIgnored: index::threads_are_ordered_by_time says "in its order";
    RangesAreTurned: bounds::a_range_may_have_no_end_or_be_empty says "ends before it begins";
    RangesOfTimeAreIgnored: index::conditions_are_combined says "lists what it covers";
    ReleaseFreesAllOfTheOwner: bounds::an_owner_has_several_threads says "about one thread";
    SettledWithoutEndIsIgnored: bounds::a_range_may_have_no_end_or_be_empty says "without an end";
    StatusEndsLabels: bounds::a_status_and_labels_are_apart says "leaves the labels";
    UpdatesAreThoseOfTheStatus: index::the_index_follows_each_change says "after a checkpoint: it is";
    WriteOfNothingIsNotFenced: bounds::a_call_with_nothing_needs_the_claim says "`write` with nothing";
} }

/// Each mistake has a line above.
#[test]
fn every_mistake_has_a_case() {
    let lines = include_str!("mod.rs");
    for kinds in [
        include_str!("defect.rs"),
        include_str!("flaw.rs"),
        include_str!("rare.rs"),
        include_str!("subtle.rs"),
    ] {
        let names = kinds.lines().filter_map(|line| line.strip_suffix(','));
        for name in names
            .map(str::trim)
            .filter(|name| name.chars().all(char::is_alphanumeric) && !name.starts_with("Intact"))
        {
            let is_named = lines
                .lines()
                .any(|line| line.trim().starts_with(&format!("{name}: ")));
            assert!(is_named, "no case is said to find `{name}`");
        }
    }
}
