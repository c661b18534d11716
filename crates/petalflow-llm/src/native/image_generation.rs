//! The pictures that a provider draws.

use serde::{Deserialize, Serialize};

/// The image generation of a provider. OpenAI has it as a tool, over the Responses interface: the picture is the outcome of
/// the tool's use. Gemini has models that draw: the picture is a part of the answer.
///
/// ```
/// use petalflow_llm::native::{ImageGeneration, ImageQuality};
///
/// let of_openai = ImageGeneration::new().size("1024x1024").quality(ImageQuality::Low);
/// let of_gemini = ImageGeneration::new().size("2K").aspect_ratio("16:9");
/// assert_ne!(of_openai, of_gemini);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ImageGeneration {
    /// The size: `1024x1536` for OpenAI, `1K`, `2K` or `4K` for Gemini.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// The aspect ratio, such as `16:9`. Gemini.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aspect_ratio: Option<String>,
    /// The quality. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<ImageQuality>,
    /// The background. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<ImageBackground>,
    /// The format: `png`, `webp` or `jpeg`. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The model that draws, such as `gpt-image-2`. OpenAI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl ImageGeneration {
    /// Pictures as the provider draws them by itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.size = Some(size.into());
        self
    }

    /// Sets the aspect ratio.
    #[must_use]
    pub fn aspect_ratio(mut self, ratio: impl Into<String>) -> Self {
        self.aspect_ratio = Some(ratio.into());
        self
    }

    /// Sets the quality.
    #[must_use]
    pub fn quality(mut self, quality: ImageQuality) -> Self {
        self.quality = Some(quality);
        self
    }

    /// Sets the background.
    #[must_use]
    pub fn background(mut self, background: ImageBackground) -> Self {
        self.background = Some(background);
        self
    }

    /// Sets the format.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// Sets the model that draws.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }
}

/// The quality of a picture; see [`ImageGeneration::quality`].
///
/// ```
/// use petalflow_llm::native::{ImageGeneration, ImageQuality};
///
/// assert_eq!(ImageGeneration::new().quality(ImageQuality::High).quality, Some(ImageQuality::High));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageQuality {
    /// The fastest and cheapest.
    Low,
    /// In between.
    Medium,
    /// The best.
    High,
}

/// The background of a picture; see [`ImageGeneration::background`].
///
/// ```
/// use petalflow_llm::native::{ImageBackground, ImageGeneration};
///
/// let picture = ImageGeneration::new().background(ImageBackground::Transparent);
/// assert_eq!(picture.background, Some(ImageBackground::Transparent));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageBackground {
    /// None: what is behind the picture is seen.
    Transparent,
    /// A background.
    Opaque,
}
