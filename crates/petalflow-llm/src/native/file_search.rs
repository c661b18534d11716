//! The file search of a provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file search of a provider, in files that the program has uploaded to it. OpenAI and xAI have it over the Responses
/// interface, and Gemini has it, but not at Vertex AI.
///
/// ```
/// use petalflow_llm::native::FileSearch;
///
/// let search = FileSearch::new(["vs_1"]).max_results(5).min_score(0.5);
/// assert_eq!(search.stores, ["vs_1"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FileSearch {
    /// The stores that are searched: the ids of OpenAI's vector stores, or the names of Gemini's file search stores.
    pub stores: Vec<String>,
    /// The maximum number of results of a search. OpenAI, Gemini and xAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
    /// The lowest score of a result, from 0 to 1. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f32>,
    /// Which files are searched, by their attributes: an object in OpenAI's form, or a text in Gemini's.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub filter: Value,
}

impl FileSearch {
    /// A search in these stores.
    pub fn new(stores: impl IntoIterator<Item = impl Into<String>>) -> Self {
        FileSearch {
            stores: stores.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the maximum number of results of a search.
    #[must_use]
    pub fn max_results(mut self, results: u32) -> Self {
        self.max_results = Some(results);
        self
    }

    /// Sets the lowest score of a result.
    #[must_use]
    pub fn min_score(mut self, score: f32) -> Self {
        self.min_score = Some(score);
        self
    }

    /// Sets which files are searched.
    #[must_use]
    pub fn filter(mut self, filter: impl Into<Value>) -> Self {
        self.filter = filter.into();
        self
    }
}
