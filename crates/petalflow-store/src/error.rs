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

/// Whether an error, or one of its sources, says that this process or the system has no file descriptor left. Then no file and no
/// connection can be opened, whatever their permissions.
///
/// ```
/// use petalflow::error::is_out_of_files;
///
/// let refused = std::io::Error::other("connection refused");
/// assert!(!is_out_of_files(&refused));
/// # #[cfg(unix)]
/// assert!(is_out_of_files(&std::io::Error::from_raw_os_error(24)));
/// ```
pub fn is_out_of_files(error: &(dyn Error + 'static)) -> bool {
    // `EMFILE` and `ENFILE`, which have these numbers on all Unix systems, and `ERROR_TOO_MANY_OPEN_FILES`.
    let numbers: &[i32] = if cfg!(windows) { &[4] } else { &[23, 24] };
    let mut next = Some(error);
    while let Some(error) = next {
        let io = error.downcast_ref::<std::io::Error>();
        if io
            .and_then(std::io::Error::raw_os_error)
            .is_some_and(|number| numbers.contains(&number))
        {
            return true;
        }
        next = error.source();
    }
    false
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
