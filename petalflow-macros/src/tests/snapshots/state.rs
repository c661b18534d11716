pub struct Essay {
    pub topic: String,
}
///The input of a run over [`Essay`]: the keys marked `input`.
#[allow(
    non_camel_case_types,
    dead_code,
    private_interfaces,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub
)]
pub struct EssayInput {
    pub topic: String,
}
///The key `topic` of [`Essay`].
#[allow(
    non_camel_case_types,
    dead_code,
    missing_copy_implementations,
    missing_debug_implementations,
    unreachable_pub
)]
pub struct EssayTopic(pub String);
///The writes of one node to [`Essay`].
#[allow(
    non_camel_case_types,
    missing_copy_implementations,
    missing_debug_implementations,
    unreachable_pub
)]
pub struct EssayUpdate {
    topic: ::petalflow::state::Writes<
        <EssayTopic as ::petalflow::__private::Holds>::Value,
    >,
    #[doc(hidden)]
    __petalflow_marks: ::petalflow::__private::Marks<1usize>,
}
#[allow(clippy::all, clippy::pedantic, clippy::nursery)]
const _: () = {
    #[allow(non_upper_case_globals)]
    const __topic: ::core::primitive::usize = {
        #[allow(unused_imports)]
        use ::petalflow::__private::Lacks as _;
        type __Type = <EssayTopic as ::petalflow::__private::Holds>::Value;
        <::petalflow::__private::KeyType<
            __Type,
        >>::check(
            "topic",
            "String",
            ::petalflow::__private::KeyTraits {
                shared: <::petalflow::__private::KeyType<__Type>>::SHARED,
                clone: <::petalflow::__private::KeyType<__Type>>::CLONE,
                serialize: <::petalflow::__private::KeyType<__Type>>::SERIALIZE,
                deserialize: <::petalflow::__private::KeyType<__Type>>::DESERIALIZE,
            },
        )
    };
    #[automatically_derived]
    impl ::core::convert::From<String> for EssayInput {
        fn from(__petalflow_value: String) -> Self {
            EssayInput {
                topic: __petalflow_value,
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::default::Default for EssayInput
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DefaultFor<
            '__a,
            0usize,
        >,
    {
        fn default() -> Self {
            EssayInput {
                topic: ::core::default::Default::default(),
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::clone::Clone for EssayInput
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::CloneFor<
            '__a,
            0usize,
        >,
    {
        fn clone(&self) -> Self {
            EssayInput {
                topic: ::core::clone::Clone::clone(&self.topic),
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::fmt::Debug for EssayInput
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DebugFor<
            '__a,
            0usize,
        >,
    {
        fn fmt(
            &self,
            __petalflow_f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::petalflow::__private::debug_struct(
                __petalflow_f,
                "EssayInput",
                &[("topic", &self.topic)],
            )
        }
    }
    const __INPUTS: &[&::core::primitive::str] = &["topic"];
    #[allow(non_camel_case_types, dead_code)]
    struct __Slots {
        topic: ::core::option::Option<
            <EssayTopic as ::petalflow::__private::Holds>::Value,
        >,
    }
    #[automatically_derived]
    impl<'de> ::petalflow::__private::Slots<'de> for __Slots
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DataFor<
            '__a,
            0usize,
        >,
    {
        #[allow(unused_variables)]
        fn read<__A: ::petalflow::__private::MapAccess<'de>>(
            &mut self,
            __petalflow_key: ::core::primitive::usize,
            __petalflow_map: &mut __A,
        ) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
            match __petalflow_key {
                0usize => {
                    <<EssayTopic as ::petalflow::__private::Holds>::Value as ::petalflow::__private::DataFor<
                        '_,
                        0usize,
                    >>::read(&mut self.topic, __petalflow_map)
                }
                _ => ::core::unreachable!(),
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl<'de> ::petalflow::__private::Deserialize<'de> for EssayInput
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DataFor<
            '__a,
            0usize,
        >,
    {
        fn deserialize<__D: ::petalflow::__private::Deserializer<'de>>(
            __petalflow_deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            #[allow(unused_mut)]
            let mut __petalflow_slots = __Slots {
                topic: ::core::option::Option::None,
            };
            ::petalflow::__private::read_input(
                __petalflow_deserializer,
                "EssayInput",
                __INPUTS,
                &mut __petalflow_slots,
            )?;
            ::core::result::Result::Ok(EssayInput {
                topic: <<EssayTopic as ::petalflow::__private::Holds>::Value as ::petalflow::__private::DataFor<
                    '_,
                    0usize,
                >>::required(__petalflow_slots.topic, "topic")?,
            })
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::clone::Clone for EssayTopic
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::CloneFor<
            '__a,
        >,
    {
        fn clone(&self) -> Self {
            EssayTopic(::core::clone::Clone::clone(&self.0))
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::fmt::Debug for EssayTopic
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DebugFor<
            '__a,
        >,
    {
        fn fmt(
            &self,
            __petalflow_f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::petalflow::__private::debug_newtype(__petalflow_f, "EssayTopic", &self.0)
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::cmp::PartialEq for EssayTopic
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::PartialEqFor<
            '__a,
        >,
    {
        fn eq(&self, __petalflow_other: &Self) -> ::core::primitive::bool {
            ::petalflow::__private::PartialEqFor::same(&self.0, &__petalflow_other.0)
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::cmp::Eq for EssayTopic
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::EqFor<
            '__a,
        >,
    {}
    impl EssayTopic {
        #[doc(hidden)]
        fn __push(
            __petalflow_value: <EssayTopic as ::petalflow::__private::Holds>::Value,
            __petalflow_overwrite: ::core::primitive::bool,
            __petalflow_update: &mut EssayUpdate,
        ) -> ::core::result::Result<(), ::petalflow::state::WriteError> {
            __petalflow_update
                .__petalflow_marks
                .push(
                    &mut __petalflow_update.topic,
                    __petalflow_value,
                    __petalflow_overwrite,
                    0usize,
                    "topic",
                    true,
                )
        }
    }
    impl ::petalflow::__private::Holds for EssayTopic {
        type Value = String;
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::node::Key for EssayTopic {
        type State = Essay;
        type Value = <EssayTopic as ::petalflow::__private::Holds>::Value;
        const NAME: &'static ::core::primitive::str = "topic";
        const INDEX: ::core::primitive::usize = 0usize;
        fn new(
            __petalflow_value: <EssayTopic as ::petalflow::__private::Holds>::Value,
        ) -> Self {
            EssayTopic(__petalflow_value)
        }
        fn into_value(self) -> <EssayTopic as ::petalflow::__private::Holds>::Value {
            self.0
        }
        fn get(
            __petalflow_value: &Essay,
        ) -> &<EssayTopic as ::petalflow::__private::Holds>::Value {
            &__petalflow_value.topic
        }
        fn push(
            __petalflow_value: <EssayTopic as ::petalflow::__private::Holds>::Value,
            __petalflow_overwrite: ::core::primitive::bool,
            __petalflow_update: &mut EssayUpdate,
        ) -> ::core::result::Result<(), ::petalflow::state::WriteError> {
            EssayTopic::__push(
                __petalflow_value,
                __petalflow_overwrite,
                __petalflow_update,
            )
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::node::Output<Essay> for EssayTopic {
        const MAY_WRITE: ::petalflow::state::KeySet = ::petalflow::state::KeySet::of(
            0usize,
        );
        const MUST_WRITE: ::petalflow::state::KeySet = ::petalflow::state::KeySet::of(
            0usize,
        );
        type Routing = ();
        fn apply(
            self,
            __petalflow_effects: &mut ::petalflow::node::Effects<Essay>,
        ) -> ::core::result::Result<(), ::petalflow::BoxError> {
            __petalflow_effects
                .update
                .__petalflow_marks
                .write(
                    &mut __petalflow_effects.update.topic,
                    self.0,
                    &(0usize, "topic", true),
                )
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::node::WriteOutput<Essay> for EssayTopic {}
    #[automatically_derived]
    impl EssayUpdate {
        ///The writes to the key `topic`.
        #[allow(dead_code)]
        pub fn topic(
            &self,
        ) -> &::petalflow::state::Writes<
            <EssayTopic as ::petalflow::__private::Holds>::Value,
        > {
            &self.topic
        }
    }
    #[automatically_derived]
    impl ::core::default::Default for EssayUpdate {
        fn default() -> Self {
            EssayUpdate {
                topic: ::core::default::Default::default(),
                __petalflow_marks: ::core::default::Default::default(),
            }
        }
    }
    #[automatically_derived]
    impl ::core::clone::Clone for EssayUpdate {
        fn clone(&self) -> Self {
            #[allow(unused_imports)]
            use ::petalflow::__private::NotClone as _;
            EssayUpdate {
                topic: ::petalflow::__private::CloneWrites(&self.topic).cloned(),
                __petalflow_marks: self.__petalflow_marks,
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::core::fmt::Debug for EssayUpdate
    where
        for<'__a> <EssayTopic as ::petalflow::__private::Holds>::Value: ::petalflow::__private::DebugFor<
            '__a,
            0usize,
        >,
    {
        fn fmt(
            &self,
            __petalflow_f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::petalflow::__private::debug_update(
                __petalflow_f,
                "EssayUpdate",
                self.__petalflow_marks.written(),
                &[("topic", &self.topic)],
            )
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::state::Update<Essay> for EssayUpdate {
        fn written(&self) -> ::petalflow::state::KeySet {
            self.__petalflow_marks.written()
        }
        fn overwritten(&self) -> ::petalflow::state::KeySet {
            self.__petalflow_marks.overwritten()
        }
        fn clear(&mut self) {
            let __petalflow_written = self.__petalflow_marks.take();
            if ::petalflow::state::KeySet::any_in_block(&__petalflow_written, 0usize) {
                if ::petalflow::state::KeySet::contains(&__petalflow_written, 0usize) {
                    ::petalflow::state::Writes::clear(&mut self.topic);
                }
            }
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::State for Essay {
        type Input = EssayInput;
        type Update = EssayUpdate;
        type Storage = ::petalflow::state::Durable;
        const NAME: &'static ::core::primitive::str = "Essay";
        const KEYS: &'static [::petalflow::state::KeyMeta] = &[
            ::petalflow::state::KeyMeta::new(
                    "topic",
                    ::petalflow::state::Reducer::Replace,
                )
                .with(::petalflow::state::KeyFlag::Exclusive)
                .with(::petalflow::state::KeyFlag::Assigned)
                .with(::petalflow::state::KeyFlag::Input)
                .with(::petalflow::state::KeyFlag::Required)
                .of_type("String"),
        ];
        #[allow(unused_variables)]
        fn start(
            __petalflow_input: EssayInput,
        ) -> ::core::result::Result<
            (Self, ::petalflow::state::KeySet),
            ::petalflow::state::WriteError,
        > {
            #[allow(unused_mut)]
            let mut __petalflow_state = Essay {
                topic: __petalflow_input.topic,
            };
            ::core::result::Result::Ok((
                __petalflow_state,
                const {
                    ::petalflow::state::KeyMeta::set(
                        <Essay as ::petalflow::State>::KEYS,
                        ::petalflow::state::KeyFlag::Assigned,
                    )
                },
            ))
        }
        #[allow(unused_variables)]
        fn input(__petalflow_input: EssayInput) -> EssayUpdate {
            #[allow(unused_mut)]
            let mut __petalflow_update = <EssayUpdate as ::core::default::Default>::default();
            let _ = EssayTopic::__push(
                __petalflow_input.topic,
                false,
                &mut __petalflow_update,
            );
            __petalflow_update
        }
        #[allow(unused_variables)]
        fn reset(&mut self, __petalflow_keys: ::petalflow::state::KeySet) {}
        #[allow(unused_variables)]
        fn commit(
            &mut self,
            __petalflow_update: &mut EssayUpdate,
            __petalflow_overwritten: ::petalflow::state::KeySet,
            __petalflow_known: &mut ::petalflow::state::KeySet,
        ) {
            let __petalflow_written = __petalflow_update.__petalflow_marks.take();
            if ::petalflow::state::KeySet::any_in_block(&__petalflow_written, 0usize) {
                if ::petalflow::state::KeySet::contains(&__petalflow_written, 0usize) {
                    if ::petalflow::state::Writes::fold_into(
                        &mut __petalflow_update.topic,
                        &mut self.topic,
                        ::petalflow::state::KeySet::contains(
                            &__petalflow_overwritten,
                            0usize,
                        ),
                        ::petalflow::state::reduce::replace,
                    ) {
                        ::petalflow::state::KeySet::insert(__petalflow_known, 0usize);
                    }
                }
            }
        }
        #[inline]
        fn fields() -> ::std::vec::Vec<::petalflow::__private::FieldOutline> {
            #[allow(unused_imports)]
            use ::petalflow::__private::NoCoder as _;
            #[allow(unused_mut)]
            let mut __petalflow_fields: ::std::vec::Vec<
                ::petalflow::__private::FieldOutline,
            > = ::std::vec::Vec::new();
            ::std::vec::Vec::append(
                &mut __petalflow_fields,
                &mut ::petalflow::__private::Coder::<
                    <EssayTopic as ::petalflow::__private::Holds>::Value,
                >::fields("topic"),
            );
            __petalflow_fields
        }
        #[allow(unused_variables)]
        fn codec() -> ::core::option::Option<::petalflow::__private::StateCodec<Self>> {
            #[allow(unused_imports)]
            use ::petalflow::__private::NoCoder as _;
            ::core::option::Option::Some(::petalflow::__private::StateCodec {
                save: |__petalflow_state, __petalflow_key, __petalflow_out| match __petalflow_key {
                    0usize => {
                        ::petalflow::__private::Coder::<
                            <EssayTopic as ::petalflow::__private::Holds>::Value,
                        >::save(&__petalflow_state.topic, __petalflow_out)
                    }
                    _ => ::core::result::Result::Ok(()),
                },
                save_writes: |__petalflow_update, __petalflow_key, __petalflow_out| match __petalflow_key {
                    0usize => {
                        ::petalflow::__private::Coder::<
                            <EssayTopic as ::petalflow::__private::Holds>::Value,
                        >::save_writes(&__petalflow_update.topic, __petalflow_out)
                    }
                    _ => ::core::result::Result::Ok(()),
                },
                load_writes: |__petalflow_update, __petalflow_key, __petalflow_bytes| match __petalflow_key {
                    0usize => {
                        for (__petalflow_overwrite, __petalflow_value) in ::petalflow::__private::Coder::<
                            <EssayTopic as ::petalflow::__private::Holds>::Value,
                        >::load_writes(__petalflow_bytes)? {
                            let _ = EssayTopic::__push(
                                __petalflow_value,
                                __petalflow_overwrite,
                                __petalflow_update,
                            );
                        }
                        ::core::result::Result::Ok(())
                    }
                    _ => ::core::result::Result::Ok(()),
                },
                load_value: |__petalflow_update, __petalflow_key, __petalflow_bytes| match __petalflow_key {
                    0usize => {
                        let _ = EssayTopic::__push(
                            ::petalflow::__private::Coder::<
                                <EssayTopic as ::petalflow::__private::Holds>::Value,
                            >::load(__petalflow_bytes)?,
                            true,
                            __petalflow_update,
                        );
                        ::core::result::Result::Ok(())
                    }
                    _ => ::core::result::Result::Ok(()),
                },
                load: |__petalflow_values| ::core::result::Result::Ok(Essay {
                    topic: match __petalflow_values.get(0usize) {
                        ::core::option::Option::Some(__petalflow_stored) => {
                            ::petalflow::__private::Coder::<
                                <EssayTopic as ::petalflow::__private::Holds>::Value,
                            >::load(__petalflow_stored)?
                        }
                        ::core::option::Option::None => {
                            return ::core::result::Result::Err(
                                ::petalflow::__private::CodecError::Missing("topic"),
                            );
                        }
                    },
                }),
                version: ::core::option::Option::None,
            })
        }
        fn copier() -> ::core::option::Option<fn(&Self) -> Self> {
            #[allow(unused_imports)]
            use ::petalflow::__private::NoCopy as _;
            ::petalflow::__private::CopyProbe::<Essay>::COPY
        }
    }
};
