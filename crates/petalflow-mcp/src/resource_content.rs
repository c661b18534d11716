//! What a resource of our server has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::ResourceContents;

/// The content of a resource that [`McpServer::resource`](crate::McpServer::resource) serves: text, or bytes.
///
/// ```
/// use petalflow_mcp::ResourceContent;
///
/// assert_eq!(ResourceContent::from("rain"), ResourceContent::Text("rain".into()));
/// assert_eq!(ResourceContent::from(vec![0x89, 0x50]), ResourceContent::Bytes(vec![0x89, 0x50]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Anything else, such as a picture.
    Bytes(Vec<u8>),
}

impl From<&str> for ResourceContent {
    fn from(text: &str) -> Self {
        ResourceContent::Text(text.into())
    }
}

impl From<String> for ResourceContent {
    fn from(text: String) -> Self {
        ResourceContent::Text(text)
    }
}

impl From<Vec<u8>> for ResourceContent {
    fn from(bytes: Vec<u8>) -> Self {
        ResourceContent::Bytes(bytes)
    }
}

impl ResourceContent {
    /// The contents for a client.
    pub(super) fn into_mcp(self, uri: &str, media_type: Option<&str>) -> ResourceContents {
        let contents = match self {
            ResourceContent::Text(text) => ResourceContents::text(text, uri),
            ResourceContent::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
        };
        match media_type {
            Some(media_type) => contents.with_mime_type(media_type),
            None => contents,
        }
    }
}
