//! The macros where nothing of the prelude is in scope, where users have taken its names, and where petalflow is renamed.

#![no_implicit_prelude]
#![allow(dead_code, unreachable_pub)]

mod types {
    pub struct Option;
    pub struct Vec;
    pub struct String;
    pub trait Send {}
    pub trait Default {}
    pub struct Box;
    pub trait Clone {}
    pub trait Sync {}
    pub trait Sized2 {}
    pub trait Iterator {}
    pub struct Some;
    pub struct None;
    pub struct Ok;
    pub struct Err;
    pub trait From {}
    pub trait Into {}
}
#[allow(unused_imports)]
mod user {
    pub use super::types::*;
    use ::petalflow as pf;
    #[allow(dead_code)]
    type State = ();
    type Key = ();
    type Node = ();
    type Output = ();
    type Scope = ();
    type Effects = ();
    type KeySet = ();
    pub enum Result2 {
        A,
    }

    #[pf::state(crate = pf)]
    #[derive(::std::fmt::Debug)]
    pub struct Essay {
        #[key(input)]
        pub topic: ::std::string::String,
        #[key(append)]
        pub notes: ::std::vec::Vec<::std::string::String>,
        #[key(skip_zero, default = 3)]
        pub rounds: u32,
        pub maybe: ::core::option::Option<u8>,
        #[key(min)]
        pub low: u8,
        pub state: u8,
        pub scope: u8,
        pub value: u8,
        pub value0: u8,
    }
    #[derive(pf::Route)]
    #[route(crate = pf)]
    pub enum Result {
        Revise,
        Publish(::std::vec::Vec<u8>),
        r#Fn,
    }

    #[pf::node(Essay, crate = pf, retry = 2, idle = 3s)]
    pub async fn write(
        topic: &str,
        cx: pf::Context,
        maybe: ::core::option::Option<&u8>,
        state: &u8,
        scope: &u8,
        value0: &u8,
        #[item] item: &str,
    ) -> (EssayRounds, Result) {
        let _ = (topic, cx, maybe, state, scope, value0, item);
        (EssayRounds(1), Result::Revise)
    }
    #[pf::node(Essay, crate = pf, blocking)]
    pub fn block(notes: &[::std::string::String], #[item] item: &u8) -> EssayLow {
        let _ = (notes, item);
        EssayLow(2)
    }
    #[pf::node(Essay, crate = pf, spawn)]
    pub async fn spawn(topic: &str) -> (EssayState, EssayScope) {
        let _ = topic;
        (EssayState(0), EssayScope(1))
    }
    pub mod write2 {
        use super::*;
        #[pf::node(Essay, crate = pf)]
        pub fn write2(r#topic: &str) -> EssayMaybe {
            let _ = topic;
            EssayMaybe(::core::option::Option::None)
        }
    }
    pub struct Val<K>(pub ::core::marker::PhantomData<fn() -> K>);
    #[pf::node(K::State, crate = pf)]
    impl<K: pf::node::Key<Value = u8>> Val<K> {
        pub async fn run(&self, #[key(K)] x: &u8) -> K {
            K::new(*x)
        }
    }
    mod s2 {
        #[::petalflow::state]
        struct Small {
            #[key(input)]
            n: u8,
        }
        #[::petalflow::node(Small)]
        fn go(n: &u8) -> SmallN {
            SmallN(*n)
        }
    }
}

#[::core::prelude::v1::test]
fn it_compiles() {
    let _ = (
        user::write {},
        user::write2::write2 {},
        user::block {},
        user::spawn {},
    );
    let _ = user::Val::<user::EssayState>(::core::marker::PhantomData);
}
