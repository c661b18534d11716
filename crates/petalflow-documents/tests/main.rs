//! Documents, the envelope and the nodes over it. The series and the number before a test's name are explained in
//! `docs/reference/compatibility.md`.

mod builder;
mod kinds;
mod loader;
mod run;
mod state;
mod support;
