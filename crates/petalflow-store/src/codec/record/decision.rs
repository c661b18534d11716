//! The kinds of decisions.

use std::fmt;

/// What a person decided at an `interrupt before` or `interrupt after`.
///
/// ```
/// use petalflow::checkpoint::DecisionKind;
///
/// assert_eq!(DecisionKind::Edited.to_string(), "edited");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionKind {
    /// The run resumed.
    Approved,
    /// The run ended.
    Rejected,
    /// Values were written before the run resumed.
    Edited,
    /// The run resumed without running the node.
    Skipped,
}

impl DecisionKind {
    const ALL: [Self; 4] = [
        DecisionKind::Approved,
        DecisionKind::Rejected,
        DecisionKind::Edited,
        DecisionKind::Skipped,
    ];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            DecisionKind::Approved => "approved",
            DecisionKind::Rejected => "rejected",
            DecisionKind::Edited => "edited",
            DecisionKind::Skipped => "skipped",
        }
    }

    /// The decision with this stored name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for DecisionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
