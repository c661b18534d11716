//! What a run needs of the executor that polls it.

use crate::exec::Settings;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;

/// Fails if something of the run needs tokio, and no runtime of tokio polls it. Otherwise it would fail when it is needed first: at the
/// first failure of a node, in production. `stored`: what of the storage of the run needs it.
pub(in crate::exec) fn check_runtime(
    plan: &ExecutionPlan,
    settings: &Settings,
    stored: Option<&'static str>,
) -> Result<(), ThreadError> {
    // The usual case, for which nothing else is looked at.
    if tokio::runtime::Handle::try_current().is_ok() {
        return Ok(());
    }
    let Some(needs) = stored.map(String::from).or_else(|| needs(plan, settings)) else {
        return Ok(());
    };
    Err(ThreadError::Request(needs_tokio(&needs)))
}

/// The words for something that needs tokio where there is none.
pub(crate) fn needs_tokio(needs: &str) -> String {
    format!(
        "{needs}, which needs tokio, and no runtime of tokio polls the run: run it in one, with `enable_all()`, or in \
         `tokio::runtime::Handle::enter` of one"
    )
}

/// What of the graph and the settings needs timers.
fn needs(plan: &ExecutionPlan, settings: &Settings) -> Option<String> {
    let extras = settings.extras.as_deref();
    if extras.is_some_and(|extras| extras.timeout.is_some() || extras.superstep_timeout.is_some()) {
        return Some("the run has a timeout".into());
    }
    let nodes = plan.graph().nodes().iter().zip(&plan.policies);
    let mut needs = nodes.filter_map(|(node, policy)| {
        let what = if !policy.retries().is_empty() {
            "retries"
        } else if policy.timeout.is_some() || policy.idle.is_some() {
            "a timeout"
        } else {
            return None;
        };
        Some(format!("node `{}` has {what}", node.name))
    });
    needs.next()
}
