//! Which threads a caller may see.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::digest::digest;
use crate::refusal::Refusal;
use crate::served::Labels;

/// Which threads a caller may see and change. The program decides it for each request, with
/// [`ServerBuilder::access`](crate::ServerBuilder::access).
///
/// ```
/// use petalflow_server::Access;
///
/// assert_ne!(Access::label("user", "ann"), Access::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// All threads.
    All,
    /// The threads that have this label. The threads that the caller starts get it, and the caller cannot change it.
    Label {
        /// The name of the label, such as `user`.
        name: String,
        /// Its value, such as the id of the user.
        value: String,
    },
    /// No thread: the request is refused with 403.
    None,
}

/// Decides which threads the caller of a request may see.
pub(crate) type AccessHook = Arc<dyn Fn(&Parts) -> Access + Send + Sync>;

impl Access {
    /// The threads that have this label.
    ///
    /// ```
    /// use petalflow_server::Access;
    ///
    /// let access = Access::label("user", "ann");
    /// assert!(matches!(access, Access::Label { name, .. } if name == "user"));
    /// ```
    pub fn label(name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        Access::Label { name, value }
    }

    /// Whether the caller may see a thread with these labels.
    pub(crate) fn allows(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Access::All => true,
            Access::Label { name, value } => labels.get(name) == Some(value),
            Access::None => false,
        }
    }

    /// The label that every thread of the caller has.
    pub(crate) fn required(&self) -> Option<(&str, &str)> {
        match self {
            Access::Label { name, value } => Some((name, value)),
            _ => None,
        }
    }

    /// The identifier of a request, which is another one than the same text of another caller.
    pub(crate) fn key(&self, key: &str) -> String {
        match self.required() {
            None => digest(key),
            Some((name, value)) => digest(format!("{name}\0{value}\0{key}")),
        }
    }

    /// The labels that a caller sets, with the required one.
    pub(crate) fn with_required(&self, mut labels: Labels) -> Result<Labels, Refusal> {
        let Some((name, value)) = self.required() else {
            return Ok(labels);
        };
        if labels.get(name).is_some_and(|given| given != value) {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the label `{name}` cannot be set: it says whose thread it is"),
            ));
        }
        labels.insert(name.to_string(), value.to_string());
        Ok(labels)
    }
}

/// Fails unless the caller may see all threads: what is asked for is about the threads of all users.
pub(crate) fn must_see_all(request: &Request, what: &str) -> Result<(), Refusal> {
    if of(request) == Access::All {
        return Ok(());
    }
    Err(Refusal::forbidden(format!(
        "you may not see {what}: they are for callers who may see all threads"
    )))
}

/// The access of the caller, as the check of the request has found it.
pub(crate) fn of(request: &Request) -> Access {
    let access = request.extensions().get::<Access>();
    access.cloned().unwrap_or(Access::All)
}
