//! Tools that are annotated functions.

use std::sync::Arc;

use super::Tool;

/// A tool that is an annotated function, for [`tools!`](crate::tools).
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::FnTool;
///
/// /// Says hello.
/// #[tool(name = "say-hello")]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// assert_eq!(hello::NAME, "say-hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "annotate the function with `#[tool]`; a tool that is a value is added with `.with(..)`"
)]
pub trait FnTool: Tool + Sized {
    /// The name of the tool.
    const NAME: &'static str;
    /// The tool.
    const TOOL: Self;

    #[doc(hidden)]
    const ENTRY: Entry = Entry::of::<Self>();
}

/// A tool in `tools!`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Entry {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Arc<dyn Tool>,
}

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: FnTool>() -> Self {
        Entry {
            name: T::NAME,
            make: || Arc::new(T::TOOL),
        }
    }
}
