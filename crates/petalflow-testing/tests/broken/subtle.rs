//! What is wrong with a [`SubtlyWrongStore`](super::subtly_wrong::SubtlyWrongStore).

/// What is wrong with a store, in calls that are seldom made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subtle {
    ApplyOfNothingIsNotFenced,
    ConflictEndsClaim,
    CountsAreOfOnePage,
    CountsIgnoreConditions,
    CursorIsAnId,
    DeleteManyRefusesNone,
    DeleteManyRefusesTheSameTwice,
    HistoryBeforeTheLargestIsEmpty,
    HistoryOfNoneHasOne,
    IncarnationCountsCheckpointsOnly,
    LabelsEndStatus,
    IndexKeepsTheStatus,
    LimitOfNoneIsIgnored,
    NewestIsOldest,
    NoLabelsAreIgnored,
    NotIsIgnored,
    NumbersFollowEachOther,
    OneClaimForEachOwner,
    OrdersAreIgnored,
    RangesAreTurned,
    RangesOfTimeAreIgnored,
    ReleaseFreesAllOfTheOwner,
    SettledWithoutEndIsIgnored,
    StatusEndsLabels,
    UpdatesAreThoseOfTheStatus,
    WriteOfNothingIsNotFenced,
}
