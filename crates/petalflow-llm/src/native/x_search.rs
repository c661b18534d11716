//! The search of X at xAI.

use serde::{Deserialize, Serialize};

/// The search of posts on X. xAI has it over the Responses interface: name the model `xai_resp::grok-4`.
///
/// ```
/// use petalflow_llm::native::XSearch;
///
/// let search = XSearch::new().allowed_handles(["rustlang"]).from_date("2026-01-01");
/// assert_eq!(search.allowed_handles, ["rustlang"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct XSearch {
    /// The only accounts whose posts are searched, without `@`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_handles: Vec<String>,
    /// The accounts whose posts are not searched. Not together with `allowed_handles`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_handles: Vec<String>,
    /// The first day of the posts, such as `2026-01-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_date: Option<String>,
    /// The last day of the posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_date: Option<String>,
}

impl XSearch {
    /// A search without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds accounts whose posts are searched. Others are not.
    #[must_use]
    pub fn allowed_handles(mut self, handles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_handles
            .extend(handles.into_iter().map(Into::into));
        self
    }

    /// Adds accounts whose posts are not searched.
    #[must_use]
    pub fn blocked_handles(mut self, handles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.blocked_handles
            .extend(handles.into_iter().map(Into::into));
        self
    }

    /// Sets the first day of the posts, such as `2026-01-31`.
    #[must_use]
    pub fn from_date(mut self, day: impl Into<String>) -> Self {
        self.from_date = Some(day.into());
        self
    }

    /// Sets the last day of the posts.
    #[must_use]
    pub fn to_date(mut self, day: impl Into<String>) -> Self {
        self.to_date = Some(day.into());
        self
    }
}
