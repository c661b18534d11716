//! The names of effects and questions. Each attempt of a task may use a name once: a second use would get the result of the first.

use std::collections::HashSet;

use petalflow_graph::NodeIdx;

use crate::error::BoxError;

/// The longest name of a question or an effect, in bytes. The stored name has a short prefix.
const LONGEST_NAME: usize = 200;

/// What to do about an effect whose name was used already.
pub(crate) const NAME_OF_EFFECT: &str = "give each effect its own name";

/// The names that the tasks of one superstep have used in a run that is not stored.
#[derive(Default)]
pub(crate) struct UsedNames {
    superstep: u64,
    names: HashSet<(NodeIdx, Option<u32>, u32, String)>,
}

impl UsedNames {
    /// Whether this is the first use of the name in this attempt: the node, the index of its item, and the number of the attempt.
    pub(crate) fn insert(
        &mut self,
        superstep: u64,
        (node, send, attempt): (NodeIdx, Option<u32>, u32),
        name: &str,
    ) -> bool {
        if self.superstep != superstep {
            self.superstep = superstep;
            self.names.clear();
        }
        self.names.insert((node, send, attempt, name.into()))
    }
}

/// Fails if a name cannot be stored.
pub(crate) fn check_name(node: &str, method: &str, name: &str) -> Result<(), BoxError> {
    if name.len() <= LONGEST_NAME && !name.contains('\0') {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be a name for `{method}` in node `{node}`: a name has at most {LONGEST_NAME} bytes and no NUL"
    )
    .into())
}

/// The error of a name that an attempt uses a second time.
pub(crate) fn used_twice(node: &str, method: &str, name: &str, advice: &str) -> BoxError {
    format!(
        "node `{node}` used `{method}` twice for `{name}` in one run, and both would get one result: {advice}"
    )
    .into()
}
