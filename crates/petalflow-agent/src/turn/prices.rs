//! The prices with which limits of money count.

use std::sync::Arc;

use petalflow_llm::LlmClient;
use petalflow_llm::usage::Price;

use crate::AgentError;
use crate::definition::AgentTree;
use crate::limits::Limits;

/// Fails if money is limited and the model of an agent of the tree has no price. A request may name another model than its
/// agent, so it is checked again before it is made.
pub(super) fn check(tree: &AgentTree) -> Result<(), AgentError> {
    for (index, agent) in tree.agents().enumerate() {
        // An agent without a model is an error of its own, if it is asked.
        if let Ok(client) = tree.model(index) {
            let model = agent.request.model.as_deref().or_else(|| client.model());
            of_request(tree, index, client, model)?;
        }
    }
    Ok(())
}

/// The prices that a request of the agent at `index` may have. There is one at least if money is limited.
pub(super) fn of_request(
    tree: &AgentTree,
    index: usize,
    client: &Arc<dyn LlmClient>,
    model: Option<&str>,
) -> Result<Vec<Price>, AgentError> {
    let prices: Vec<Price> = match model {
        Some(model) => of_model(tree, index, client, model).into_iter().collect(),
        // Its answers say which model it is: the highest of all prices is the only one that is sure to suffice.
        None => all(tree, index).collect(),
    };
    if prices.is_empty() && are_needed(tree, index) {
        return Err(missing(tree, index, model.unwrap_or_default()));
    }
    Ok(prices)
}

/// The price of a model: that of its client, with which the client counts, or else that of the agent or of one above it.
pub(super) fn of_model(
    tree: &AgentTree,
    index: usize,
    client: &Arc<dyn LlmClient>,
    model: &str,
) -> Option<Price> {
    let of_agent = |index| tree.agent(index).prices.get(model);
    client
        .price(model)
        .or_else(|| tree.line(index).find_map(of_agent))
}

/// All prices of the agent and of those above it.
pub(super) fn all(tree: &AgentTree, index: usize) -> impl Iterator<Item = Price> {
    tree.line(index)
        .flat_map(|index| tree.agent(index).prices.iter().map(|(_, price)| price))
}

/// Whether the money of the agent at `index` is limited: that of the whole conversation, or of calls of it and of those above it.
pub(super) fn are_needed(tree: &AgentTree, index: usize) -> bool {
    let root = tree.agent(AgentTree::ROOT);
    let mut calls = tree.line(index).map(|index| &tree.agent(index).call_limits);
    root.turn_limits.need_price()
        || root.thread_limits.need_price()
        || calls.any(Limits::need_price)
}

pub(super) fn missing(tree: &AgentTree, index: usize, model: &str) -> AgentError {
    AgentError::NoPrice {
        agent: tree.agent(index).name.to_string(),
        model: model.to_string(),
    }
}
