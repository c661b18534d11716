//! The rules of documents, one function each.

pub(crate) mod agent;
mod conditional;
mod cycle;
pub(crate) mod format;
mod forms;
pub(crate) mod graph;
mod options;
mod patterns;
mod results;
mod settings;
mod targets;
mod templates;
mod webhooks;

pub use settings::inner_node_setting;
pub(crate) use settings::normalized;
pub(crate) use templates::names as template_names;
