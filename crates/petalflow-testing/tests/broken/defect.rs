//! The defects.

use petalflow::checkpoint::StoredCheckpoint;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// Nothing, and claims last until they are released.
    Intact,
    /// Nothing, and claims must be renewed.
    IntactWithRenewal,
    AppendChecksThenActs,
    AppendWithoutAfterNeverConflicts,
    BytesEndAtNul,
    ChainHasOneCheckpoint,
    ClaimChecksThenActs,
    ClaimNeverExpires,
    ClaimsIgnoreCase,
    ConflictNamesNoNumber,
    CreatedIsOldest,
    DeleteByPrefix,
    DeleteEndsClaim,
    DeleteLeavesLabels,
    DeleteLeavesNamespaces,
    DeletesFirstOnly,
    DescriptionMakesThread,
    DueIgnoresStatus,
    FiltersWithinPage,
    Hangs,
    HistoryIncludesBefore,
    HistoryOfTwoMoments,
    HistoryOldestFirst,
    LabelsIgnoreCase,
    LabelsMerged,
    LimitIgnored,
    NamespacesNeedCheckpoint,
    NewestByText,
    OtherHandleIsStale,
    PageRepeatsLast,
    PrefixIgnoresCase,
    PruneIncludesNumber,
    PruneLeavesWrites,
    ReadOfTwoMoments,
    ReclaimPrunes,
    ReleaseByAnyone,
    RenewalNotExtended,
    SettlesInSecondStep,
    SettlesOneMore,
    StatusEndsWithNested,
    StatusOutlivesCheckpoint,
    ThreadIdsTrimmed,
    TimesAreFloats,
    WriteKeepsFirst,
    WriteTornByDrop,
    WritesReversed,
    WritesSeparately,
}

impl Defect {
    /// The checkpoint as a store with this defect stores it.
    pub(super) fn damage_checkpoint(self, checkpoint: &StoredCheckpoint) -> StoredCheckpoint {
        let mut checkpoint = checkpoint.clone();
        if self == Defect::BytesEndAtNul {
            let end = checkpoint.bytes.iter().position(|byte| *byte == 0);
            checkpoint.bytes.truncate(end.unwrap_or(usize::MAX));
        }
        if self == Defect::TimesAreFloats {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "this is the defect"
            )]
            let time = checkpoint.created_ms as f64 as u64;
            checkpoint.created_ms = time;
        }
        checkpoint
    }
}
