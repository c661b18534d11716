//! Tools from OpenAPI documents, against servers of the tests.

mod agents;
mod calls;
mod credentials;
mod documents;
mod limits;
mod real;
mod service;
