//! The branches of agents that are called for one answer.

/// The end of the last part of such a branch.
const CALLED: &str = "@1";

/// The branch of a call of an agent, in the branch of its caller.
pub(crate) fn of_call(caller: Option<&str>, agent: &str) -> String {
    match caller {
        Some(caller) => format!("{caller}.{agent}{CALLED}"),
        None => format!("{agent}{CALLED}"),
    }
}

/// Whether an event of this branch belongs to the call of an agent.
pub(super) fn is_of_call(branch: &str) -> bool {
    branch.split('.').any(|part| part.ends_with(CALLED))
}

#[cfg(test)]
mod tests {
    use super::{is_of_call, of_call};

    #[test]
    fn f44_branches_of_calls_are_known_by_their_names() {
        let below = of_call(Some("writer"), "reader");
        assert_eq!(below, "writer.reader@1");
        assert_eq!(of_call(None, "reader"), "reader@1");
        assert!(is_of_call(&below) && is_of_call(&of_call(Some("reader@1"), "x")));
        assert!(!is_of_call("writer") && !is_of_call("writer.reader"));
    }
}
