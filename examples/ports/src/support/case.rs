//! The cases of the support.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call of a patient.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "the names say it, and the model reads them")]
pub struct Case {
    pub id: String,
    pub description: String,
    pub transcript: String,
    pub patient_metadata: Map<String, Value>,
    pub followup_answers: Map<String, Value>,
}

impl Case {
    /// All cases.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn all() -> petalflow::Result<Vec<Self>> {
        Ok(serde_json::from_str(include_str!(
            "../../support/cases.json"
        ))?)
    }

    /// The case with this id.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn find(id: &str) -> petalflow::Result<Self> {
        let mut cases = Self::all()?.into_iter();
        let found = cases.find(|case| case.id == id);
        found.ok_or_else(|| {
            format!("there is no case `{id}`: `--list` prints the cases that there are").into()
        })
    }
}
