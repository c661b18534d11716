//! Documents: their models, their mistakes, and what is compiled from them. The series and the number before a test's name
//! are explained in `docs/reference/compatibility.md`.

mod conversations;
mod documents;
mod expressions;
