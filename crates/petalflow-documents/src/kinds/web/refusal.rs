//! Why a request to a webhook trigger is refused.

use std::time::Duration;

/// Why a request is refused.
///
/// ```
/// use petalflow_documents::kinds::Refusal;
///
/// let refusal = Refusal::TooLarge { limit: 1024 };
/// assert_eq!(refusal.status(), 413);
/// assert_eq!(refusal.to_string(), "the body is larger than 1024 bytes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The method is not allowed.
    #[error("method {method} is not allowed: use {allowed}")]
    Method {
        /// The method.
        method: String,
        /// The methods that are.
        allowed: String,
    },
    /// The body is too large.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The token is missing or wrong.
    #[error("the token is missing or wrong")]
    Unauthorized,
    /// The signature of the body is missing or wrong.
    #[error("the signature is missing or wrong")]
    Signature,
    /// The signature has a time that is too far from now.
    #[error(
        "the time of the signature is more than {tolerance:?} from now: the request was sent again, or a clock is wrong"
    )]
    Expired {
        /// How far it may be.
        tolerance: Duration,
    },
    /// The body is not what its content type says.
    #[error("the body is not JSON: {0}")]
    Body(String),
    /// The settings of the trigger are wrong, which is not the fault of the client.
    #[error("the trigger has no token or secret: set the environment variable `{variable}`")]
    NoToken {
        /// The variable.
        variable: String,
    },
    /// The token or secret in the settings is empty, which is not the fault of the client.
    #[error(
        "the trigger has an empty token or secret: set one, or `env:NAME` for the environment variable `NAME`"
    )]
    EmptyToken,
    /// The secret in the settings cannot be read, which is not the fault of the client.
    #[error("the secret is not of the form `whsec_BASE64`")]
    Secret,
}

impl Refusal {
    /// The status code of the response.
    ///
    /// ```
    /// use petalflow_documents::kinds::Refusal;
    ///
    /// assert_eq!(Refusal::Unauthorized.status(), 401);
    /// ```
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Method { .. } => 405,
            Refusal::TooLarge { .. } => 413,
            Refusal::Unauthorized | Refusal::Signature | Refusal::Expired { .. } => 401,
            Refusal::Body(_) => 400,
            Refusal::NoToken { .. } | Refusal::EmptyToken | Refusal::Secret => 500,
        }
    }
}
