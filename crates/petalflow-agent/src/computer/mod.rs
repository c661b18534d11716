//! Computers that a model uses: it reads screenshots, and says where to click and what to type.

mod action;
mod gemini;
mod tool;
mod warning;

use petalflow::{BoxError, async_trait};
use petalflow_llm::message::Media;
use petalflow_llm::native::ComputerUse;

pub use action::{ComputerAction, MouseButton, Point, ScrollBy};
pub(crate) use tool::ComputerTool;
pub(crate) use warning::question as warning;

/// A screen, a mouse and a keyboard that a model uses: [`Agent::computer`](crate::Agent::computer).
///
/// Coordinates are pixels of the screenshots. What is on the screen steers the model: run it where nothing can be lost, and
/// let a person confirm what has consequences.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::computer::{Computer, ComputerAction};
/// use petalflow_llm::message::{Media, MediaSource};
///
/// /// A screen that shows nothing.
/// struct Blank;
///
/// #[async_trait]
/// impl Computer for Blank {
///     async fn act(&self, action: ComputerAction) -> Result<(), BoxError> {
///         match action {
///             ComputerAction::Type { text } => println!("typed {text}"),
///             other => return Err(format!("this computer has no mouse: {other:?}").into()),
///         }
///         Ok(())
///     }
///
///     async fn screenshot(&self) -> Result<Media, BoxError> {
///         let dot = MediaSource::Base64("R0lGODlhAQABAAAAACw=".into());
///         Ok(Media { media_type: "image/gif".into(), source: dot, origin: None })
///     }
/// }
/// # let _ = Blank;
/// ```
#[async_trait]
pub trait Computer: Send + Sync + 'static {
    /// Does this. A screenshot is never an action here.
    ///
    /// # Errors
    ///
    /// The model reads the error, and the actions after it are not done.
    async fn act(&self, action: ComputerAction) -> Result<(), BoxError>;

    /// What the screen shows, as a picture with its data.
    ///
    /// # Errors
    ///
    /// The model reads the error.
    async fn screenshot(&self) -> Result<Media, BoxError>;

    /// The width and the height of the screenshots, in pixels. Models of Anthropic before Opus 4.8 and of Gemini must know them.
    /// `None` by default: other models read them from the screenshots.
    fn display(&self) -> Option<(u32, u32)> {
        None
    }

    /// The address of the page that a browser shows. Models of Gemini read it beside each screenshot. `None` by default, for a
    /// computer that is no browser.
    ///
    /// # Errors
    ///
    /// The model reads the error.
    async fn url(&self) -> Result<Option<String>, BoxError> {
        Ok(None)
    }

    /// What the provider is told of the computer besides its [`display`](Self::display): what it is, and which actions it does not
    /// have. By default nothing, and Gemini takes it for a browser.
    ///
    /// ```
    /// use petalflow::{BoxError, async_trait};
    /// use petalflow_agent::computer::{Computer, ComputerAction};
    /// use petalflow_llm::message::Media;
    /// use petalflow_llm::native::{ComputerEnvironment, ComputerUse};
    ///
    /// /// A phone that cannot drag.
    /// struct Phone;
    ///
    /// #[async_trait]
    /// impl Computer for Phone {
    ///     async fn act(&self, _: ComputerAction) -> Result<(), BoxError> {
    ///         Err("no phone is connected".into())
    ///     }
    ///
    ///     async fn screenshot(&self) -> Result<Media, BoxError> {
    ///         Err("no phone is connected".into())
    ///     }
    ///
    ///     fn settings(&self) -> ComputerUse {
    ///         ComputerUse::new().environment(ComputerEnvironment::Mobile).excluded_actions(["drag_and_drop"])
    ///     }
    /// }
    /// # let _ = Phone.settings();
    /// ```
    fn settings(&self) -> ComputerUse {
        ComputerUse::new()
    }
}
