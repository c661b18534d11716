//! Documents: the model, the diagnostics, the compiler. The series and the number before a
//! test's name are explained in `docs/reference/compatibility.md`.

mod agents;
mod golden;
mod graphs;
mod hostile;
mod schemas;
mod support;
mod syntax;
