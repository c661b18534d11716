//! Documents: the model, the diagnostics, the compiler. The series and the number before a
//! test's name are explained in `docs/reference/compatibility.md`.

mod agents;
mod conditions;
mod foreign;
mod go_templates;
mod golden;
mod graphs;
mod hostile;
mod missing;
mod schemas;
mod support;
mod syntax;
mod targets;
