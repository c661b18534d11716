//! One version of an artifact.

use std::fmt;

use super::ArtifactError;

/// One version of an artifact.
///
/// ```
/// use petalflow_agent::artifacts::Artifacts;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let files = Artifacts::in_memory().user("ann")?;
/// files.write("style", "text/plain", b"short sentences").await?;
/// let style = files.read("style").await?.ok_or("missing")?;
/// assert_eq!((style.version, &*style.media_type, style.text()?), (1, "text/plain", "short sentences"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The name.
    pub name: String,
    /// The number of the version. The first one is 1.
    pub version: u32,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// The content as text.
    ///
    /// ```
    /// use petalflow_agent::artifacts::Artifacts;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let files = Artifacts::in_memory().thread("ann")?;
    /// files.write("photo", "image/jpeg", &[0xff, 0xd8]).await?;
    /// let error = files.read("photo").await?.ok_or("missing")?.text().unwrap_err();
    /// assert_eq!(error.to_string(), "artifact `photo` is not text: its bytes are not UTF-8");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the content is not UTF-8.
    pub fn text(&self) -> Result<&str, ArtifactError> {
        std::str::from_utf8(&self.bytes).map_err(|_| ArtifactError::NotText(self.name.clone()))
    }
}

/// The content may be long, so only its length is shown.
impl fmt::Debug for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifact")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("media_type", &self.media_type)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}
