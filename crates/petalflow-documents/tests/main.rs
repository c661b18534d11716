//! Documents: the model, the diagnostics, the compiler. The number before a test's name is that of the row that it checks.

mod schemas;
