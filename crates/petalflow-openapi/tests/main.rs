//! Tools from OpenAPI documents, against servers of the tests.

mod agents;
mod calls;
mod credentials;
mod documents;
mod files;
mod forms;
mod limits;
mod real;
mod service;
