//! The options of a service.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use super::operation::Operation;
use super::security::Credentials;

pub(super) type Filter = dyn Fn(&Operation) -> bool + Send + Sync;
pub(super) type Confirm = dyn Fn(&Operation, &Value) -> Option<String> + Send + Sync;

/// A header of each request.
#[derive(Clone)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_secret: bool,
}

impl Header {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>, is_secret: bool) -> Self {
        Header {
            name: name.into(),
            value: value.into(),
            is_secret,
        }
    }
}

#[derive(Clone)]
pub(super) struct Options {
    pub(super) server: Option<Url>,
    pub(super) prefix: String,
    pub(super) operations: BTreeSet<String>,
    pub(super) filter: Option<Arc<Filter>>,
    pub(super) confirm: Option<Arc<Confirm>>,
    pub(super) credentials: Credentials,
    pub(super) without_credentials: bool,
    /// Headers of each request.
    pub(super) headers: Vec<Header>,
    pub(super) idempotency_header: Option<String>,
    pub(super) skip_unsupported: bool,
    /// The longest time of one request with its answer.
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    /// The longest body of a request, in bytes.
    pub(super) request_limit: usize,
    /// The longest answer, in bytes.
    pub(super) response_limit: usize,
    /// The longest schema of a tool, in bytes.
    pub(super) schema_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            server: None,
            prefix: String::new(),
            operations: BTreeSet::new(),
            filter: None,
            confirm: None,
            credentials: Credentials::new(),
            without_credentials: false,
            headers: Vec::new(),
            idempotency_header: None,
            skip_unsupported: false,
            timeout: Duration::from_secs(30),
            attempts: 3,
            request_limit: 1024 * 1024,
            response_limit: 1024 * 1024,
            schema_limit: 64 * 1024,
        }
    }
}

impl Options {
    /// Whether the program wants the operation: those that it names and those of its filter, or, without both, those that read.
    pub(super) fn selects(&self, operation: &Operation) -> bool {
        if self.operations.contains(&operation.id) {
            return true;
        }
        match &self.filter {
            Some(filter) => filter(operation),
            None => {
                self.operations.is_empty() && operation.method == "GET" && !operation.deprecated
            }
        }
    }
}
