//! The version of the document that a flow was made of.

use std::fmt;

/// The version of the document that a flow was made of: a name, a version for people, and a checksum of its content.
///
/// A launch with one (`Launch::document_version`) stores it with each thread, as the label
/// [`DocumentVersion::LABEL`]. A thread that waits while its document changes goes on with the new document, if the rules for
/// changed programs allow it. Otherwise the error names the document and both versions.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow::thread::DocumentVersion;
///
/// #[state]
/// struct Post {
///     #[key(input)]
///     text: String,
/// }
///
/// #[node(Post)]
/// async fn publish(text: &str) {
///     println!("{text}");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let version = DocumentVersion::new("post", "1.0", b"the text of the document");
/// let flow = Graph::<Post>::builder("post").node(publish {}).build()?;
/// let thread = flow.launch().document_version(&version).store(&InMemoryStore::new()).thread("first");
/// thread.run("hello".to_string()).await?.into_finished()?;
/// let info = thread.info().await?.expect("it was run");
/// assert_eq!(info.labels[DocumentVersion::LABEL], version.to_string());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentVersion {
    document: String,
    /// The version and the checksum, short enough for a label.
    text: String,
    is_pinned: bool,
}

/// The most bytes of a version that are stored. A label has at most 255, and the checksum needs 19.
const MAX_VERSION: usize = 200;

impl DocumentVersion {
    /// The label of a thread that has the version of its document.
    pub const LABEL: &'static str = "petalflow.document.version";

    /// The version of a document. `version` is for people; a document may change and keep it. So `content` is what counts: its
    /// checksum is part of the text. Of a long version, only the beginning is retained. An empty one is left out.
    ///
    /// ```
    /// use petalflow::thread::DocumentVersion;
    ///
    /// let old = DocumentVersion::new("post", "1.0", b"old");
    /// assert!(old.to_string().starts_with("1.0 ("));
    /// assert_ne!(old, DocumentVersion::new("post", "1.0", b"new"));
    /// let long = DocumentVersion::new("post", &"9".repeat(1000), b"old");
    /// assert!(long.to_string().len() < 255);
    /// ```
    pub fn new(document: impl Into<String>, version: &str, content: &[u8]) -> Self {
        let checksum = siphasher::sip::SipHasher13::new().hash(content);
        // A label has no NUL, and a message is one line.
        let version = version.replace(char::is_control, " ");
        let end = version.floor_char_boundary(MAX_VERSION);
        let cut = if end < version.len() { "…" } else { "" };
        let text = if version.is_empty() {
            format!("{checksum:016x}")
        } else {
            format!("{}{cut} ({checksum:016x})", &version[..end])
        };
        DocumentVersion {
            document: document.into(),
            text,
            is_pinned: false,
        }
    }

    /// Pins threads to their version: a thread that stopped before its end does not go on with another version of the document,
    /// even if the graph allows it. A change of a prompt, for example, does not change the graph. A new turn may use another
    /// version.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.is_pinned = true;
        self
    }

    /// The name of the document.
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Whether a thread that stopped refuses another version.
    #[doc(hidden)]
    pub fn is_pinned(&self) -> bool {
        self.is_pinned
    }
}

/// The version and the checksum.
impl fmt::Display for DocumentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_fits_into_a_label() {
        for version in ["9".repeat(1000), "ü".repeat(300), "\0\n".repeat(200)] {
            let text = DocumentVersion::new("a", &version, b"").to_string();
            assert!(text.len() <= 255, "{text}");
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(text.contains('…'), "{text}");
        }
        assert_eq!(DocumentVersion::new("a", "", b"").to_string().len(), 16);
        let exact = "9".repeat(MAX_VERSION);
        let text = DocumentVersion::new("a", &exact, b"").to_string();
        assert!(text.starts_with(&format!("{exact} (")), "{text}");
    }

    #[test]
    fn long_versions_are_told_apart_by_the_content() {
        let version = "9".repeat(1000);
        let old = DocumentVersion::new("a", &version, b"old").to_string();
        assert_ne!(old, DocumentVersion::new("a", &version, b"new").to_string());
    }
}
