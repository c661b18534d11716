//! Tools that the provider runs itself: what a request asks for, and what an answer says about them.
//!
//! A request names them ([`LlmRequest::native_tools`](crate::LlmRequest::native_tools)). Their uses are in the answer
//! ([`ChatMessage::native_uses`](crate::ChatMessage::native_uses)), and so are the sources that a text cites
//! ([`Part::Citation`](crate::Part::Citation)). What a provider needs back is kept and sent back as it came.
//!
//! ```
//! use petalflow_llm::LlmRequest;
//! use petalflow_llm::native::WebSearch;
//!
//! let search = WebSearch::new().max_uses(3).allowed_domains(["docs.rs"]);
//! let request = LlmRequest::prompt("Which version of tokio is the newest?").with_native_tools([search]);
//! assert_eq!(request.native_tools.len(), 1);
//! ```

mod code_execution;
mod computer_use;
mod file_search;
mod image_generation;
mod native_use;
mod read;
mod tool;
mod web_search;
mod x_search;

pub use crate::message::citation::{Citation, DocumentPlace, Source};
pub use code_execution::{CodeExecution, CodeMemory};
pub use computer_use::{ComputerEnvironment, ComputerUse};
pub use file_search::FileSearch;
pub use image_generation::{ImageBackground, ImageGeneration, ImageQuality};
pub use native_use::{CodeOutput, FoundFile, NativeAction, NativeOutcome, NativeUse};
pub use read::uses;
pub use tool::NativeTool;
pub use web_search::{SearchContext, UserLocation, WebSearch};
pub use x_search::XSearch;
