//! What rust-analyzer needs of `core` to expand the macros of petalflow.
//!
//! Without a standard library, the server installs the component `rust-src` if it is missing.
#![no_core]
#![feature(lang_items, no_core, decl_macro, rustc_attrs)]

pub mod prelude {
    pub mod v1 {
        pub use crate::macros::derive;
        pub use crate::marker::{Copy, Send, Sized, Sync};
        pub use crate::option::Option::{self, None, Some};
        pub use crate::result::Result::{self, Err, Ok};
    }
    pub mod rust_2015 {
        pub use super::v1::*;
    }
    pub mod rust_2018 {
        pub use super::v1::*;
    }
    pub mod rust_2021 {
        pub use super::v1::*;
    }
    pub mod rust_2024 {
        pub use super::v1::*;
    }
}

pub mod macros {
    #[rustc_builtin_macro]
    pub macro derive($item:item) {
        /* compiler built-in */
    }
}

pub mod marker {
    #[lang = "pointee_sized"]
    pub trait PointeeSized {}
    #[lang = "meta_sized"]
    pub trait MetaSized: PointeeSized {}
    #[lang = "sized"]
    pub trait Sized: MetaSized {}
    #[lang = "unsize"]
    pub trait Unsize<T: PointeeSized>: PointeeSized {}
    #[lang = "copy"]
    pub trait Copy {}
    pub auto trait Send {}
    #[lang = "sync"]
    pub auto trait Sync {}
}

pub mod ops {
    use crate::marker::Unsize;

    #[lang = "coerce_unsized"]
    pub trait CoerceUnsized<T> {}
    impl<'a, 'b: 'a, T: ?Sized + Unsize<U>, U: ?Sized> CoerceUnsized<&'a U> for &'b T {}
}

pub mod option {
    pub enum Option<T> {
        None,
        Some(T),
    }
}

pub mod result {
    pub enum Result<T, E> {
        Ok(T),
        Err(E),
    }
}

#[rustc_builtin_macro]
#[macro_export]
macro_rules! compile_error {
    ($message:expr $(,)?) => {{ /* compiler built-in */ }};
}
