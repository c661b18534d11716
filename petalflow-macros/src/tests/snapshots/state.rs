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
    unreachable_pub
)]
#[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::default::Default)]
pub struct EssayInput {
    pub topic: String,
}
///The key `topic` of [`Essay`].
#[allow(
    dead_code,
    missing_copy_implementations,
    missing_debug_implementations,
    non_camel_case_types,
    unreachable_pub
)]
#[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
pub struct EssayTopic(pub String);
///The writes of one node to [`Essay`].
#[allow(dead_code, deprecated, non_camel_case_types, private_interfaces)]
pub type EssayUpdate = ::petalflow::state::Update<Essay>;
#[allow(
    unused,
    unused_qualifications,
    unreachable_pub,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
const _: () = {
    use ::petalflow::__private::state::{self as __pf, Key as _};
    #[derive(::core::default::Default)]
    pub struct __Slots {
        topic: __pf::Writes<__pf::Value<EssayTopic>>,
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
        fn new(__petalflow_value: Self::Value) -> Self {
            EssayTopic(__petalflow_value)
        }
        fn into_value(self) -> Self::Value {
            self.0
        }
        fn get(__petalflow_state: &Essay) -> &Self::Value {
            &__petalflow_state.topic
        }
        fn get_mut(__petalflow_state: &mut Essay) -> &mut Self::Value {
            &mut __petalflow_state.topic
        }
        fn slot(__petalflow_slots: &__Slots) -> &__pf::Writes<Self::Value> {
            &__petalflow_slots.topic
        }
        fn slot_mut(__petalflow_slots: &mut __Slots) -> &mut __pf::Writes<Self::Value> {
            &mut __petalflow_slots.topic
        }
    }
    impl __pf::Output<Essay> for EssayTopic {
        const MAY_WRITE: __pf::KeySet = __pf::KeySet::of(0);
        const MUST_WRITE: __pf::KeySet = __pf::KeySet::of(0);
        type Routing = ();
        fn apply(
            self,
            __petalflow_effects: &mut __pf::Effects<Essay>,
        ) -> __pf::Result<(), __pf::BoxError> {
            __pf::apply(self, __petalflow_effects)
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
        fn build(__petalflow_values: &mut __pf::Update<Self>) -> __pf::Option<Self> {
            __pf::Some(Essay {
                topic: __pf::value::<EssayTopic>(__petalflow_values)?,
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
        fn write(self, __petalflow_update: &mut __pf::Update<Essay>) {
            __pf::push::<EssayTopic>(self.topic, __petalflow_update);
        }
    }
    impl __pf::From<String> for EssayInput {
        fn from(__petalflow_value: String) -> Self {
            EssayInput {
                topic: __petalflow_value,
            }
        }
    }
    impl<'de> __pf::ReadInput<'de, Essay> for EssayInput {
        fn read_key<__A: __pf::MapAccess<'de>>(
            __petalflow_key: __pf::usize,
            __petalflow_map: &mut __A,
            __petalflow_values: &mut __pf::Update<Essay>,
        ) -> __pf::Result<(), __A::Error> {
            match __petalflow_key {
                0 => {
                    __pf::read_key::<
                        EssayTopic,
                        __A,
                    >(__petalflow_map, __petalflow_values)
                }
                _ => ::core::unreachable!(),
            }
        }
    }
    impl<'de> __pf::Deserialize<'de> for EssayInput {
        fn deserialize<__D: __pf::Deserializer<'de>>(
            __petalflow_from: __D,
        ) -> __pf::Result<Self, __D::Error> {
            let mut __petalflow_values = __pf::read_input::<
                Essay,
                Self,
                __D,
            >(__petalflow_from, "EssayInput", &["topic"])?;
            __pf::Ok(EssayInput {
                topic: __pf::required::<EssayTopic, __D::Error>(&mut __petalflow_values)?,
            })
        }
    }
};
