//! The serializer.
//!
//! A struct is a map of its field names. A variant with data is a map of one entry, and one without data is its name. Numbers
//! have the shortest form. Numbers of 128 bits are byte strings.

use serde_core::ser::{self, Serialize, Serializer};

use super::error::CodecError;
use super::pack;

/// Writes one value, in the form for programs or in the `READABLE` form: see [`RawValue`](super::RawValue).
pub(super) struct Encoder<'o, const READABLE: bool = false> {
    pub(super) out: &'o mut Vec<u8>,
}

impl ser::Error for CodecError {
    #[cold]
    fn custom<T: std::fmt::Display>(problem: T) -> Self {
        CodecError::Encode(problem.to_string())
    }
}

impl<'o, const READABLE: bool> Encoder<'o, READABLE> {
    /// The beginning of a variant with data, which follows.
    fn variant(&mut self, variant: &str) {
        pack::map(1, self.out);
        pack::text(variant, self.out);
    }

    /// The beginning of values whose number is known.
    fn parts(self, len: usize, write: fn(usize, &mut Vec<u8>)) -> Parts<'o, READABLE> {
        write(len, self.out);
        Parts { out: self.out }
    }

    /// The beginning of values whose number may be known only at the end.
    fn items(self, len: Option<usize>, write: fn(usize, &mut Vec<u8>)) -> Items<'o, READABLE> {
        let unknown_at = match len {
            Some(len) => {
                write(len, self.out);
                None
            }
            None => Some(self.out.len()),
        };
        Items {
            out: self.out,
            unknown_at,
            count: 0,
        }
    }
}

/// Numbers that are written as the widest type of their kind.
macro_rules! widened {
    ($($narrow:ident($number:ty) as $wide:ident;)*) => {$(
        fn $narrow(self, value: $number) -> Result<(), CodecError> {
            self.$wide(value.into())
        }
    )*};
}

impl<'o, const READABLE: bool> Serializer for Encoder<'o, READABLE> {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Items<'o, READABLE>;
    type SerializeMap = Items<'o, READABLE>;
    type SerializeTuple = Parts<'o, READABLE>;
    type SerializeTupleStruct = Parts<'o, READABLE>;
    type SerializeTupleVariant = Parts<'o, READABLE>;
    type SerializeStruct = Parts<'o, READABLE>;
    type SerializeStructVariant = Parts<'o, READABLE>;

    fn is_human_readable(&self) -> bool {
        READABLE
    }

    fn serialize_bool(self, value: bool) -> Result<(), CodecError> {
        pack::boolean(value, self.out);
        Ok(())
    }

    widened! {
        serialize_i8(i8) as serialize_i64;
        serialize_i16(i16) as serialize_i64;
        serialize_i32(i32) as serialize_i64;
        serialize_u8(u8) as serialize_u64;
        serialize_u16(u16) as serialize_u64;
        serialize_u32(u32) as serialize_u64;
    }

    fn serialize_i64(self, value: i64) -> Result<(), CodecError> {
        pack::signed(value, self.out);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), CodecError> {
        match i64::try_from(value) {
            Ok(short) if READABLE => self.serialize_i64(short),
            _ => self.serialize_bytes(&value.to_be_bytes()),
        }
    }

    fn serialize_u64(self, value: u64) -> Result<(), CodecError> {
        pack::number(value, self.out);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), CodecError> {
        match u64::try_from(value) {
            Ok(short) if READABLE => self.serialize_u64(short),
            _ => self.serialize_bytes(&value.to_be_bytes()),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), CodecError> {
        self.out.push(0xca);
        self.out.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), CodecError> {
        self.out.push(0xcb);
        self.out.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), CodecError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), CodecError> {
        pack::text(value, self.out);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), CodecError> {
        pack::bytes(value, self.out);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), CodecError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CodecError> {
        pack::nil(self.out);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CodecError> {
        pack::array(0, self.out);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CodecError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.variant(variant);
        value.serialize(self)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items<'o, READABLE>, CodecError> {
        Ok(self.items(len, pack::array))
    }

    fn serialize_tuple(self, len: usize) -> Result<Parts<'o, READABLE>, CodecError> {
        Ok(self.parts(len, pack::array))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<Parts<'o, READABLE>, CodecError> {
        Ok(self.parts(len, pack::array))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Parts<'o, READABLE>, CodecError> {
        self.variant(variant);
        Ok(self.parts(len, pack::array))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Items<'o, READABLE>, CodecError> {
        Ok(self.items(len, pack::map))
    }

    fn serialize_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<Parts<'o, READABLE>, CodecError> {
        Ok(self.parts(len, pack::map))
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Parts<'o, READABLE>, CodecError> {
        self.variant(variant);
        Ok(self.parts(len, pack::map))
    }
}

/// The values of a tuple, or the fields of a struct. Their number has been written.
pub(super) struct Parts<'o, const READABLE: bool> {
    out: &'o mut Vec<u8>,
}

/// Serde has one trait for each kind. They differ in whether the parts have names.
macro_rules! parts {
    ($($kind:ident: $part:ident($($name:ident)?);)*) => {$(
        impl<const READABLE: bool> ser::$kind for Parts<'_, READABLE> {
            type Ok = ();
            type Error = CodecError;

            fn $part<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), CodecError> {
                $(pack::text($name, self.out);)?
                value.serialize(Encoder::<READABLE> { out: self.out })
            }

            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeStruct: serialize_field(name);
    SerializeStructVariant: serialize_field(name);
}

/// The values of a list, or the keys and values of a map.
pub(super) struct Items<'o, const READABLE: bool> {
    out: &'o mut Vec<u8>,
    /// Where to insert their number, if it was not known at the beginning.
    unknown_at: Option<usize>,
    count: usize,
}

impl<const READABLE: bool> Items<'_, READABLE> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.count += 1;
        value.serialize(Encoder::<READABLE> { out: self.out })
    }

    fn close(self, count: usize, write: fn(usize, &mut Vec<u8>)) {
        if let Some(start) = self.unknown_at {
            let mut number = Vec::new();
            write(count, &mut number);
            self.out.splice(start..start, number);
        }
    }
}

impl<const READABLE: bool> ser::SerializeSeq for Items<'_, READABLE> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.item(value)
    }

    fn end(self) -> Result<(), CodecError> {
        let count = self.count;
        self.close(count, pack::array);
        Ok(())
    }
}

impl<const READABLE: bool> ser::SerializeMap for Items<'_, READABLE> {
    type Ok = ();
    type Error = CodecError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CodecError> {
        self.item(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        self.item(value)
    }

    fn end(self) -> Result<(), CodecError> {
        let pairs = self.count / 2;
        self.close(pairs, pack::map);
        Ok(())
    }
}
