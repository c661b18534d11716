//! Variables of an envelope with static types.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::values::type_name;
use crate::{Changes, Envelope};

/// The name of a variable with its Rust type: code that shares a key cannot disagree on the type.
///
/// A document and other programs see the variable as JSON. So a value may have another type when it is read, which is an
/// error.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::{Changes, Envelope, VarKey};
///
/// const SCORES: VarKey<Vec<f64>> = VarKey::new("scores");
/// const BEST: VarKey<f64> = VarKey::new("best");
///
/// #[node(Envelope)]
/// async fn choose(state: &Envelope) -> petalflow::Result<Changes> {
///     let scores = state.get(&SCORES)?.unwrap_or_default();
///     Ok(Changes::new().set(&BEST, &scores.into_iter().fold(0.0, f64::max))?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = Graph::<Envelope>::builder("choose").node(choose {}).build()?;
/// let envelope = flow.run(Envelope::new().with_value(&SCORES, &vec![0.5, 0.75])?).await?;
/// assert_eq!(envelope.get(&BEST)?, Some(0.75));
/// # Ok(())
/// # }
/// ```
///
/// A value of another type does not compile:
///
/// ```compile_fail,E0308
/// use petalflow_documents::{Changes, VarKey};
///
/// const BEST: VarKey<f64> = VarKey::new("best");
/// Changes::new().set(&BEST, &"high".to_string());
/// ```
pub struct VarKey<T> {
    name: Cow<'static, str>,
    ty: PhantomData<fn() -> T>,
}

impl<T> VarKey<T> {
    /// A key whose name is known at compile time.
    pub const fn new(name: &'static str) -> Self {
        VarKey {
            name: Cow::Borrowed(name),
            ty: PhantomData,
        }
    }

    /// A key whose name is known at run time only.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, VarKey};
    ///
    /// let key = VarKey::<u32>::named(format!("page_{}", 7));
    /// assert_eq!(Envelope::new().with_var("page_7", 1).get(&key).unwrap(), Some(1));
    /// ```
    pub fn named(name: impl Into<String>) -> Self {
        VarKey {
            name: Cow::Owned(name.into()),
            ty: PhantomData,
        }
    }

    /// The name of the variable.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T> Clone for VarKey<T> {
    fn clone(&self) -> Self {
        VarKey {
            name: self.name.clone(),
            ty: PhantomData,
        }
    }
}

impl<T> std::fmt::Debug for VarKey<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("VarKey").field(&self.name).finish()
    }
}

/// A variable that cannot be read as the type of its key, or a value that has no JSON form.
///
/// ```
/// use petalflow_documents::{Envelope, VarKey};
///
/// const AGE: VarKey<u8> = VarKey::new("age");
/// let error = Envelope::new().with_var("age", 300).get(&AGE).unwrap_err();
/// assert_eq!(error.name, "age");
/// assert_eq!(
///     error.to_string(),
///     "variable `age` of type number cannot be read as `u8`: invalid value: integer `300`, expected u8"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("variable `{name}` {problem}")]
#[non_exhaustive]
pub struct VarError {
    /// The name of the variable.
    pub name: String,
    /// The problem.
    pub problem: String,
}

impl<T: Serialize> VarKey<T> {
    fn encode(&self, value: &T) -> Result<Value, VarError> {
        serde_json::to_value(value).map_err(|error| VarError {
            name: self.name.to_string(),
            problem: format!("cannot be written as JSON: {error}"),
        })
    }
}

impl Envelope {
    /// Returns the variable of a key. `None` if it is missing.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, VarKey};
    ///
    /// const AGE: VarKey<u8> = VarKey::new("age");
    /// assert_eq!(Envelope::new().with_var("age", 7).get(&AGE), Ok(Some(7)));
    /// assert_eq!(Envelope::new().get(&AGE), Ok(None));
    /// assert!(Envelope::new().with_var("age", "old").get(&AGE).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// The variable has another type. `null` is another type, unless that of the key is an `Option`.
    pub fn get<T: DeserializeOwned>(&self, key: &VarKey<T>) -> Result<Option<T>, VarError> {
        let Some(value) = self.get_var(key.name()) else {
            return Ok(None);
        };
        T::deserialize(value).map(Some).map_err(|error| VarError {
            name: key.name().to_string(),
            problem: format!(
                "of type {} cannot be read as `{}`: {error}",
                type_name(value),
                std::any::type_name::<T>()
            ),
        })
    }

    /// Sets the variable of a key.
    ///
    /// # Errors
    ///
    /// The value has no JSON form, such as a map whose names are not texts.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, VarKey};
    ///
    /// const AGE: VarKey<u8> = VarKey::new("age");
    /// assert_eq!(Envelope::new().with_value(&AGE, &7).unwrap().get_var("age"), Some(&7.into()));
    /// ```
    pub fn with_value<T: Serialize>(self, key: &VarKey<T>, value: &T) -> Result<Self, VarError> {
        Ok(self.with_var(key.name(), key.encode(value)?))
    }
}

impl Changes {
    /// Sets the variable of a key.
    ///
    /// # Errors
    ///
    /// The value has no JSON form, such as a map whose names are not texts.
    ///
    /// ```
    /// use petalflow_documents::{Changes, VarKey};
    ///
    /// const AGE: VarKey<u8> = VarKey::new("age");
    /// assert_eq!(Changes::new().set(&AGE, &7).unwrap(), Changes::new().var("age", 7));
    /// ```
    pub fn set<T: Serialize>(self, key: &VarKey<T>, value: &T) -> Result<Self, VarError> {
        Ok(self.var(key.name(), key.encode(value)?))
    }
}
