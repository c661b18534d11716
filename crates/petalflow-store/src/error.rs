//! Any error, and its message.

use std::error::Error;

/// The error type of nodes: any error.
///
/// ```
/// use petalflow::BoxError;
///
/// fn attempt() -> Result<u32, BoxError> {
///     let n: u32 = "12".parse()?;
///     if n > 10 { Err(format!("{n} is too many").into()) } else { Ok(n) }
/// }
/// assert_eq!(attempt().unwrap_err().to_string(), "12 is too many");
/// ```
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// The message of an error, followed by the messages of its sources: for places that store or show a text instead of
/// the error.
///
/// ```
/// use petalflow::error::message_with_sources;
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("cannot read the draft")]
/// struct Unreadable(#[source] std::io::Error);
///
/// let error = Unreadable(std::io::Error::other("the disk is gone"));
/// assert_eq!(message_with_sources(&error), "cannot read the draft: the disk is gone");
/// ```
pub fn message_with_sources(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        // Many errors repeat the message of their source; do not print it twice.
        if !contains(&text, &message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = cause.source();
    }
    text
}

/// Whether the text contains the part. Not `str::contains`, which is a fifth of the code that LLVM compiles for this crate, and
/// the texts are short.
fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    (0..=text.len().saturating_sub(part.len())).any(|at| text[at..].starts_with(part))
}

/// Implements `Debug` of errors as their message, which is what `main` prints if it returns the error.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_message {
    ($([$($generics:tt)*])? $name:ident $(<$($argument:tt),*>)?) => {
        impl $(<$($generics)*>)? ::std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::error::message_with_sources(self))
            }
        }
    };
}
pub use debug_is_message;
