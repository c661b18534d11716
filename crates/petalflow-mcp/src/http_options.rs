//! The options of the server over HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderMap;

/// The headers of an HTTP request, for [`McpServer::authenticate`](crate::McpServer::authenticate).
///
/// ```
/// use petalflow_mcp::RequestHeaders;
///
/// fn has_token(headers: RequestHeaders<'_>) -> bool {
///     headers.get("authorization") == Some("Bearer some-token")
/// }
/// ```
#[derive(Clone, Copy)]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub struct RequestHeaders<'a>(pub(super) &'a HeaderMap);

impl<'a> RequestHeaders<'a> {
    /// Returns the value of a header. `None` if the header is missing, occurs more than once, or is not ASCII text.
    /// Upper and lower case of the name are the same.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let mut values = self.0.get_all(name).into_iter();
        let value = values.next()?;
        values.next().is_none().then(|| value.to_str().ok())?
    }
}

impl fmt::Debug for RequestHeaders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The options of the server over HTTP.
#[derive(Clone)]
pub(super) struct HttpOptions {
    pub(super) authenticate: Option<Arc<Authenticate>>,
    pub(super) origins: Vec<String>,
    pub(super) header_timeout: Duration,
    pub(super) max_connections: usize,
}

type Authenticate = dyn Fn(RequestHeaders<'_>) -> bool + Send + Sync;

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            authenticate: None,
            origins: Vec::new(),
            header_timeout: Duration::from_secs(30),
            max_connections: 512,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn a_header_that_is_sent_twice_has_no_value() {
        let mut headers = HeaderMap::new();
        headers.append("one", HeaderValue::from_static("1"));
        headers.append("two", HeaderValue::from_static("2"));
        headers.append("two", HeaderValue::from_static("2"));
        let headers = RequestHeaders(&headers);
        assert_eq!(headers.get("One"), Some("1"));
        assert_eq!(headers.get("two"), None);
        assert_eq!(headers.get("three"), None);
        assert_eq!(headers.get("not a name"), None);
        assert_eq!(format!("{headers:?}"), r#"{"one", "two"}"#);
    }
}
