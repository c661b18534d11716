//! Agents for long work: plans, files, long results, policies for approvals.

mod agent;
mod approvals;
mod files;
mod folder;
mod plan;
mod results;
