//! The macro that makes a test of each case.

/// Tests a [`Store`](petalflow::checkpoint::Store) against its contract: makes a module with a test for each case.
///
/// The first argument names the module. The second is called once per test and returns a new, empty store: an async closure or
/// the path of an async function that returns `Result<StoreUnderTest, BoxError>`. Each test has its own runtime, so this is a
/// complete test file:
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_testing::StoreUnderTest;
///
/// petalflow_testing::store_contract! {
///     memory, async || {
///         let store = InMemoryStore::new();
///         Ok(StoreUnderTest::new(store.clone()).with_other(store))
///     }
/// }
/// # fn main() {}
/// ```
///
/// With a second handle, opened as another process would open it, the cases also test writers that compete; see
/// [`with_other`](crate::StoreUnderTest::with_other). Where the server that a store needs is not running, give
/// [`StoreUnderTest::skipped`](crate::StoreUnderTest::skipped): the tests pass and say so.
///
/// Some names of tests begin with a number, such as `c90_`. The series `c` are cases with exact values that other agent
/// frameworks have in their own test suites. `docs/reference/compatibility.md` in the repository of petalflow names these
/// frameworks, and explains the other series.
#[macro_export]
macro_rules! store_contract {
    ($name:ident, $setup:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports, clippy::wildcard_imports)]
            use super::*;

            async fn __setup() -> ::core::result::Result<
                $crate::StoreUnderTest,
                $crate::__private::BoxError,
            > {
                ($setup)().await
            }

            $crate::store_contract! { @cases
            reads: [
                c88_a_checkpoint_comes_back_as_it_was_given,
                c88_bytes_are_opaque,
                c88_numbers_go_up_to_the_largest,
                c89_a_chain_begins_at_its_base,
                c92_an_unknown_thread_has_no_checkpoint,
                c92_without_a_number_the_newest_is_read,
                reading_gives_the_writes_beside_a_checkpoint,
                an_older_checkpoint_is_read_with_its_writes,
                history_is_paged_newest_first,
                handles_see_each_others_writes,
            ]
            appends: [
                an_append_after_another_number_is_a_conflict,
                each_address_has_its_own_numbers,
                a_conflict_changes_nothing,
                c90_settled_writes_go_with_the_append,
                a_dropped_append_is_whole_or_nothing,
            ]
            batches: [
                changes_take_effect_in_their_order,
                a_batch_with_a_conflict_changes_nothing,
                a_thread_begins_with_a_batch,
                a_dropped_batch_is_whole_or_nothing,
            ]
            bounds: [
                a_history_is_limited_by_any_number,
                a_range_may_have_no_end_or_be_empty,
                numbers_have_gaps,
                a_list_of_no_thread_is_empty,
                a_status_and_labels_are_apart,
                threads_to_delete_may_be_named_twice,
                a_call_with_nothing_needs_the_claim,
                an_owner_has_several_threads,
                a_conflict_leaves_the_claim,
                a_deleted_thread_without_checkpoints_is_counted,
            ]
            writes: [
                c90_a_write_takes_the_place_of_the_one_before,
                c90_writes_are_kept_apart_and_in_order,
                writes_may_come_before_their_checkpoint,
                writing_nothing_changes_nothing,
                writes_are_read_by_ranges,
                many_writes_in_one_call,
                a_dropped_write_is_whole_or_nothing,
            ]
            threads: [
                threads_are_listed_with_what_they_hold,
                a_prefix_is_compared_by_bytes,
                threads_are_paged,
                a_page_may_begin_anywhere,
                namespaces_are_listed,
            ]
            descriptions: [
                a_status_holds_until_the_next_checkpoint,
                a_description_makes_no_thread,
                labels_are_any_text,
                threads_are_listed_by_what_is_known_of_them,
                a_due_time_changes_and_goes,
                deletion_forgets_what_was_listed,
                many_threads_are_deleted,
                reclaiming_space_changes_nothing,
            ]
            attributes: [
                f43_threads_are_found_by_their_attributes,
                f43_attributes_change_with_their_checkpoint,
                f43_attributes_end_with_their_thread,
                f43_attributes_have_any_value,
                f43_attributes_are_fenced,
            ]
            index: [
                threads_are_ordered_by_time,
                conditions_are_combined,
                the_index_follows_each_change,
                the_newest_checkpoint_has_the_time_of_the_change,
                pages_stay_right_while_threads_change,
            ]
            amounts: [
                many_checkpoints_are_read,
                many_writes_are_settled_and_pruned,
                every_kind_of_write_is_settled,
                many_namespaces_are_listed_and_deleted,
                many_labels_are_listed,
                many_threads_are_listed_and_deleted,
                large_values_are_stored,
            ]
            dropped: [
                a_dropped_claim_is_not_granted_late,
                a_dropped_claim_is_never_granted_afterwards,
                a_dropped_prune_is_whole_or_nothing,
                a_dropped_deletion_is_whole_or_nothing,
                a_dropped_call_does_not_come_late,
            ]
            prefixes: [
                namespaces_are_not_prefixes,
                threads_are_not_prefixes,
                owners_are_not_prefixes,
                names_of_writes_are_not_prefixes,
            ]
            events: [
                logged_events_are_read_from_any_number,
                old_events_are_removed,
                events_are_deleted_with_their_thread,
            ]
            pruned: [
                pruning_leaves_the_time_of_creation,
                no_prune_changes_the_time_of_creation,
                a_thread_is_as_old_as_its_first_checkpoint,
                sizes_follow_what_is_pruned,
                a_status_outlives_a_prune,
            ]
            removal: [
                c94_pruning_forgets_what_is_older,
                pruning_everything_leaves_nothing,
                writes_are_pruned_by_their_own_number,
                c93_deleting_takes_one_thread_and_all_of_it,
                a_deleted_thread_can_begin_anew,
                a_claim_survives_deletion,
            ]
            names: [
                thread_ids_are_any_text,
                namespaces_are_any_text,
                names_of_writes_are_any_text,
                threads_and_namespaces_do_not_run_together,
                claims_are_by_bytes_too,
            ]
            claims: [
                a_claimed_thread_is_busy,
                a_claim_is_not_a_thread,
                a_released_thread_is_free,
                a_stranger_cannot_release,
                one_of_many_is_granted,
                a_claim_that_is_not_renewed_ends,
            ]
            fences: [
                a_write_without_the_claim_changes_nothing,
                the_owner_of_the_claim_writes,
                the_owner_writes_after_a_deletion,
                only_claimed_threads_are_deleted,
                a_claim_is_confirmed,
                an_expired_claim_is_lost,
                nothing_is_written_after_another_owner_has_the_claim,
                deletions_change_the_incarnation,
            ]
            takeover: [
                a_run_that_has_lost_its_thread_changes_nothing,
            ]
            concurrency: [
                one_of_many_appends_wins,
                appends_that_retry_all_get_through,
                many_threads_at_once,
                namespaces_of_a_thread_at_once,
                a_read_is_of_one_moment,
                writes_of_one_call_appear_together,
                what_is_read_fits_together,
            ]
            }
        }
    };
    (@cases $($topic:ident: [$($case:ident,)*])*) => {
        $($(
            #[test]
            fn $case() {
                $crate::contract::run(
                    __setup,
                    $crate::contract::$topic::$case,
                );
            }
        )*)*
    };
}

#[cfg(test)]
mod tests {
    /// A case that is written but not in the list would never run.
    #[test]
    fn every_case_is_in_the_list() {
        let listed = include_str!("store_contract.rs");
        for topic in [
            include_str!("amounts.rs"),
            include_str!("appends.rs"),
            include_str!("batches.rs"),
            include_str!("bounds.rs"),
            include_str!("claims.rs"),
            include_str!("concurrency.rs"),
            include_str!("descriptions.rs"),
            include_str!("dropped.rs"),
            include_str!("events.rs"),
            include_str!("fences.rs"),
            include_str!("index.rs"),
            include_str!("names.rs"),
            include_str!("prefixes.rs"),
            include_str!("pruned.rs"),
            include_str!("reads.rs"),
            include_str!("removal.rs"),
            include_str!("takeover.rs"),
            include_str!("threads.rs"),
            include_str!("writes.rs"),
        ] {
            for case in topic.split("pub async fn ").skip(1) {
                let name = case.split('(').next().unwrap_or_default();
                assert!(
                    listed.contains(&format!(" {name},")),
                    "case `{name}` is missing in `store_contract!`"
                );
            }
        }
    }
}
