//! `conversation!`.

/// todo
#[macro_export]
macro_rules! conversation {
    ($($conversation:tt)*) => {
        $crate::__private::conversation_impl! { [$crate] $($conversation)* }
    };
}
