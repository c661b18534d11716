//! What is wrong with a [`RarelyWrongStore`](super::rarely_wrong::RarelyWrongStore).

/// What is wrong with a store, only with much data, after a long time, or in a short moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rare {
    BytesAbove16MiBAreCut,
    ChainsAreCutAt1000,
    CountsOfNamespacesAreLost,
    CreatedChangesWithAPruneOfASubFlow,
    DroppedClaimIsGrantedWhenFree,
    DroppedClaimTakesTheThread,
    HistoriesAreCutAt1000,
    ListsOfNamespacesAreCutAt1000,
    ListsOfThreadsAreCutAt1000,
    NamespacesConflictAtTheSameTime,
    WritesAreCutAt1000,
}
