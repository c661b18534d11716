//! The credentials of a program at a service.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

type Fetch = dyn Fn() -> BoxFuture<'static, Result<String, BoxError>> + Send + Sync;

/// A credential for a security scheme of a document: see [`OpenApi::credential`](crate::OpenApi::credential). It is not printed.
///
/// ```
/// use petalflow_openapi::Credential;
///
/// let token = Credential::token("sk-very-secret");
/// assert_eq!(format!("{token:?}"), "Credential(..)");
/// ```
#[derive(Clone)]
pub struct Credential(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Token(Arc<str>),
    Fetched(Arc<Fetch>),
    Basic { user: Arc<str>, password: Arc<str> },
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}

impl Credential {
    /// A token or an API key. The document says where it is sent: as `Authorization: Bearer`, in another header, in the query or
    /// in a cookie.
    pub fn token(token: impl Into<String>) -> Self {
        Credential(Kind::Token(token.into().into()))
    }

    /// A token that is fetched for each request, such as one that expires. The function can keep the token as long as it is valid.
    ///
    /// ```
    /// use petalflow_openapi::Credential;
    ///
    /// let token = Credential::token_from(|| async { Ok(std::fs::read_to_string("/run/secrets/token")?) });
    /// # let _ = token;
    /// ```
    pub fn token_from<F>(fetch: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        Credential(Kind::Fetched(Arc::new(move || Box::pin(fetch()))))
    }

    /// A user name and a password, for schemes of the type `http` with the scheme `basic`.
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Credential(Kind::Basic {
            user: user.into().into(),
            password: password.into().into(),
        })
    }
}
