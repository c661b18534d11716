pub struct Essay {
    pub topic: String,
}
///The input of a run over [`Essay`]: the keys marked `input`.
#[allow(
    dead_code,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_camel_case_types,
    private_interfaces,
    unreachable_pub,
    clippy::items_after_statements
)]
pub struct EssayInput {
    pub topic: String,
}
///The key `topic` of [`Essay`].
#[allow(
    dead_code,
    missing_copy_implementations,
    missing_debug_implementations,
    non_camel_case_types,
    unreachable_pub,
    clippy::items_after_statements
)]
pub struct EssayTopic(pub String);
///The writes of one node to [`Essay`].
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    private_interfaces,
    unreachable_pub,
    clippy::items_after_statements
)]
pub type EssayUpdate = ::petalflow::state::Update<Essay>;
#[allow(unused)]
#[allow(
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    private_interfaces,
    unnameable_types,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction
)]
const _: () = {
    use ::petalflow::__private::state::{self as __pf, Key as _};
    #[derive(::core::default::Default)]
    pub struct __Slots {
        topic: __pf::Writes<__pf::Value<EssayTopic>>,
    }
    impl __pf::Clone for EssayTopic {
        fn clone(&self) -> Self {
            EssayTopic(__pf::Clone::clone(&(self.0)))
        }
    }
    impl __pf::Debug for EssayTopic {
        fn fmt(&self, __f: &mut __pf::fmt::Formatter<'_>) -> __pf::fmt::Result {
            __f.debug_tuple("EssayTopic").field(&&self.0).finish()
        }
    }
    impl __pf::PartialEq for EssayTopic {
        fn eq(&self, __other: &Self) -> __pf::bool {
            __pf::equal(&self.0, &__other.0)
        }
    }
    impl __pf::Key for EssayTopic {
        type State = Essay;
        type Value = String;
        const NAME: &'static __pf::str = "topic";
        const INDEX: __pf::usize = 0;
        const META: __pf::KeyMeta = __pf::KeyMeta::new(
                Self::NAME,
                __pf::Reducer::Replace,
            )
            .with_all(
                &[
                    __pf::KeyFlag::Exclusive,
                    __pf::KeyFlag::Assigned,
                    __pf::KeyFlag::Input,
                    __pf::KeyFlag::Required,
                ],
            )
            .of_type("String");
        fn new(__value: Self::Value) -> Self {
            EssayTopic(__value)
        }
        fn into_value(self) -> Self::Value {
            self.0
        }
        fn get(__state: &Essay) -> &Self::Value {
            &__state.topic
        }
        fn get_mut(__state: &mut Essay) -> &mut Self::Value {
            &mut __state.topic
        }
        fn slot(__slots: &__Slots) -> &__pf::Writes<Self::Value> {
            &__slots.topic
        }
        fn slot_mut(__slots: &mut __Slots) -> &mut __pf::Writes<Self::Value> {
            &mut __slots.topic
        }
    }
    impl __pf::Output<Essay> for EssayTopic {
        const MAY_WRITE: __pf::KeySet = __pf::KeySet::of(0);
        const MUST_WRITE: __pf::KeySet = __pf::KeySet::of(0);
        type Routing = ();
        fn apply(
            self,
            __effects: &mut __pf::Effects<Essay>,
        ) -> __pf::Result<(), __pf::BoxError> {
            __pf::apply(self, __effects)
        }
    }
    impl __pf::WriteOutput<Essay> for EssayTopic {}
    impl __pf::State for Essay {
        type Input = EssayInput;
        type Slots = __Slots;
        type Storage = __pf::Durable;
        const NAME: &'static __pf::str = "Essay";
        const KEYS: &'static [__pf::KeyMeta] = &[EssayTopic::META];
        const FUNCTIONS: &'static [__pf::KeyFunctions<Self>] = &[
            __pf::KeyFunctions::of::<EssayTopic>(),
        ];
        fn build(__values: &mut __pf::Update<Self>) -> __pf::Option<Self> {
            __pf::Some(Essay {
                topic: __pf::value::<EssayTopic>(__values)?,
            })
        }
        const CODECS: __pf::Option<&'static [__pf::KeyCodec<Self>]> = __pf::Some(
            &[__pf::KeyCodec::of::<EssayTopic>()],
        );
        #[inline]
        fn fields() -> __pf::Vec<__pf::FieldOutline> {
            __pf::fields(&[__pf::fields_of_key::<EssayTopic>])
        }
    }
    impl __pf::Input<Essay> for EssayInput {
        fn write(self, __update: &mut __pf::Update<Essay>) {
            __pf::push::<EssayTopic>(self.topic, __update);
        }
    }
    impl __pf::From<String> for EssayInput {
        fn from(__value: String) -> Self {
            EssayInput { topic: __value }
        }
    }
    impl __pf::Clone for EssayInput {
        fn clone(&self) -> Self {
            EssayInput {
                topic: __pf::Clone::clone(&(self.topic)),
            }
        }
    }
    impl __pf::Debug for EssayInput {
        fn fmt(&self, __f: &mut __pf::fmt::Formatter<'_>) -> __pf::fmt::Result {
            __f.debug_struct("EssayInput").field("topic", &&self.topic).finish()
        }
    }
    impl __pf::Default for EssayInput {
        fn default() -> Self {
            EssayInput {
                topic: __pf::Default::default(),
            }
        }
    }
    impl<'de> __pf::ReadInput<'de, Essay> for EssayInput {
        fn read_key<__A: __pf::MapAccess<'de>>(
            __key: __pf::usize,
            __map: &mut __A,
            __values: &mut __pf::Update<Essay>,
        ) -> __pf::Result<(), __A::Error> {
            match __key {
                0 => __pf::read_key::<EssayTopic, __A>(__map, __values),
                _ => ::core::unreachable!(),
            }
        }
    }
    impl<'de> __pf::Deserialize<'de> for EssayInput {
        fn deserialize<__D: __pf::Deserializer<'de>>(
            __from: __D,
        ) -> __pf::Result<Self, __D::Error> {
            let mut __values = __pf::read_input::<
                Essay,
                Self,
                __D,
            >(__from, "EssayInput", &["topic"])?;
            __pf::Ok(EssayInput {
                topic: __pf::required::<EssayTopic, __D::Error>(&mut __values)?,
            })
        }
    }
};
