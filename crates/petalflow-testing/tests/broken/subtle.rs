//! What is wrong with a [`SubtlyWrongStore`](super::subtly_wrong::SubtlyWrongStore).

/// What is wrong with a store, in calls that are seldom made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subtle {
    ApplyOfNothingIsNotFenced,
    ConflictEndsClaim,
    DeleteManyRefusesNone,
    DeleteManyRefusesTheSameTwice,
    HistoryBeforeTheLargestIsEmpty,
    HistoryOfNoneHasOne,
    IncarnationCountsCheckpointsOnly,
    LabelsEndStatus,
    LimitOfNoneIsIgnored,
    NoLabelsAreIgnored,
    NumbersFollowEachOther,
    OneClaimForEachOwner,
    RangesAreTurned,
    ReleaseFreesAllOfTheOwner,
    SettledWithoutEndIsIgnored,
    StatusEndsLabels,
    WriteOfNothingIsNotFenced,
}
