//! Credentials that tools request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A request for a credential, with the data that a front end needs to get it.
///
/// ```
/// use petalflow::tool::CredentialRequest;
/// use serde_json::json;
///
/// let asked = CredentialRequest::oauth2("calendar", "https://accounts.example/authorize?client_id=7");
/// assert_eq!(
///     serde_json::to_value(&asked)?["exchangedAuthCredential"]["oauth2"]["authUri"],
///     "https://accounts.example/authorize?client_id=7"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CredentialRequest {
    /// The name of the credential: the account, the service.
    #[serde(rename = "credentialKey")]
    pub key: String,
    /// The question for the person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// More data for the front end, such as the sign-in address.
    #[serde(flatten)]
    pub config: Map<String, Value>,
}

impl CredentialRequest {
    /// A request for the credential with this name.
    ///
    /// ```
    /// use petalflow::tool::CredentialRequest;
    ///
    /// assert_eq!(CredentialRequest::new("calendar").key, "calendar");
    /// ```
    pub fn new(key: impl Into<String>) -> Self {
        CredentialRequest {
            key: key.into(),
            ..Self::default()
        }
    }

    /// A request to sign in at this address, in the format of ADK front ends.
    pub fn oauth2(key: impl Into<String>, address: impl Into<String>) -> Self {
        let config = [
            ("authScheme", json!({ "type": "oauth2" })),
            (
                "exchangedAuthCredential",
                json!({ "authType": "oauth2", "oauth2": { "authUri": address.into() } }),
            ),
        ];
        let config = config.map(|(name, value)| (name.to_string(), value));
        CredentialRequest {
            config: Map::from_iter(config),
            ..Self::new(key)
        }
    }

    /// Sets the question for the person.
    ///
    /// ```
    /// use petalflow::tool::CredentialRequest;
    ///
    /// let asked = CredentialRequest::new("calendar").with_hint("Your key for the calendar, please.");
    /// assert_eq!(asked.hint, "Your key for the calendar, please.");
    /// ```
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}
