//! Reads the fields of objects in a file. Errors name the place.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::error::FileError;
use crate::checkpoint::Attribute;

/// An object, and where it is in the file.
pub(super) struct Fields<'v> {
    at: String,
    map: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    pub(super) fn of(value: &'v Value, at: String) -> Result<Self, FileError> {
        match value {
            Value::Object(map) => Ok(Fields { at, map }),
            _ => Err(FileError::new(&at, "an object is expected")),
        }
    }

    /// The error of a field.
    pub(super) fn wrong(&self, name: &str, problem: impl std::fmt::Display) -> FileError {
        FileError::new(&format!("{}/{name}", self.at), &problem.to_string())
    }

    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn value(&self, name: &str) -> Result<&'v Value, FileError> {
        self.map
            .get(name)
            .ok_or_else(|| self.wrong(name, "it is missing"))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'v str, FileError> {
        let text = self.value(name)?.as_str();
        text.ok_or_else(|| self.wrong(name, "a text is expected"))
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&'v str>, FileError> {
        self.get(name).map(|_| self.text(name)).transpose()
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, FileError> {
        let number = self.value(name)?.as_u64();
        number.ok_or_else(|| self.wrong(name, "a number from 0 is expected"))
    }

    pub(super) fn optional_number(&self, name: &str) -> Result<Option<u64>, FileError> {
        self.get(name).map(|_| self.number(name)).transpose()
    }

    /// A number of 64 bits in hexadecimal digits.
    pub(super) fn hash(&self, name: &str) -> Result<u64, FileError> {
        let hash = u64::from_str_radix(self.text(name)?, 16);
        hash.map_err(|_| self.wrong(name, "16 hexadecimal digits are expected"))
    }

    /// An id of 16 bytes in hexadecimal digits.
    pub(super) fn id(&self, name: &str) -> Result<[u8; 16], FileError> {
        let bytes = petalflow_store::codec::unhex(self.text(name)?);
        let id = bytes.and_then(|bytes| bytes.try_into().ok());
        id.ok_or_else(|| self.wrong(name, "32 hexadecimal digits are expected"))
    }

    pub(super) fn optional_id(&self, name: &str) -> Result<Option<[u8; 16]>, FileError> {
        self.get(name).map(|_| self.id(name)).transpose()
    }

    /// The items of a list, which may be missing.
    pub(super) fn items(&self, name: &str) -> Result<&'v [Value], FileError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.wrong(name, "a list is expected")),
        }
    }

    /// The objects of a list, which may be missing.
    pub(super) fn objects(&self, name: &str) -> Result<Vec<Fields<'v>>, FileError> {
        let items = self.items(name)?.iter().enumerate();
        items
            .map(|(index, item)| Fields::of(item, format!("{}/{name}/{index}", self.at)))
            .collect()
    }

    /// The texts of a list, which may be missing.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, FileError> {
        let texts = self
            .items(name)?
            .iter()
            .map(|item| item.as_str().map(Into::into));
        let texts: Option<Vec<String>> = texts.collect();
        texts.ok_or_else(|| self.wrong(name, "a list of texts is expected"))
    }

    /// The names of all fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &'v str> {
        self.map.keys().map(|name| &**name)
    }

    /// All fields, which are texts.
    pub(super) fn all_texts(&self) -> Result<BTreeMap<String, String>, FileError> {
        let texts = self
            .names()
            .map(|name| Ok((name.into(), self.text(name)?.into())));
        texts.collect()
    }

    /// The search attributes of an object, which may be missing. A number that JSON does not have is left out.
    pub(super) fn attributes(&self, name: &str) -> Result<BTreeMap<String, Attribute>, FileError> {
        let Some(values) = self.get(name) else {
            return Ok(BTreeMap::new());
        };
        let values = Fields::of(values, format!("{}/{name}", self.at))?;
        let present = values.map.iter().filter(|(_, value)| !value.is_null());
        present
            .map(|(name, value)| match Attribute::from_json(value) {
                Some(attribute) => Ok((name.clone(), attribute)),
                None => Err(values.wrong(name, "true, false, a number or a text is expected")),
            })
            .collect()
    }

    /// An encoded value.
    pub(super) fn form(&self, name: &str) -> Result<Vec<u8>, FileError> {
        let bytes = petalflow_store::codec::from_form(self.value(name)?);
        bytes.map_err(|problem| self.wrong(name, problem))
    }
}
