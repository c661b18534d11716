//! Documents: the model, the diagnostics, the compiler. The number before a test's name is that of the row that it checks.

mod agents;
mod golden;
mod graphs;
mod hostile;
mod kit;
mod schemas;
mod syntax;
