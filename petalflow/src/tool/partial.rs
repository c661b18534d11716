//! Values of which parts are known before the whole.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A type that can be read before all of it is known, such as the answer of a model that still writes it.
///
/// `#[derive(Partial)]` implements it for the types of answers. For a struct `Recipe` with named fields it makes `RecipePartial`,
/// which has an `Option` of each field. Lists and maps in it have what is known. Every other type is known as a whole: an enum, a
/// tuple, and a field with `#[partial(whole)]`.
///
/// ```
/// use petalflow::tool::Partial;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, Partial)]
/// struct Recipe {
///     title: String,
///     minutes: u32,
///     steps: Vec<Step>,
/// }
///
/// #[derive(Deserialize, Partial)]
/// struct Step {
///     text: String,
///     tool: Option<Tool>,
/// }
///
/// #[derive(Debug, PartialEq, Deserialize, Partial)]
/// enum Tool {
///     Whisk,
///     Pan,
/// }
///
/// let known = json!({ "title": "Pancakes", "steps": [{ "text": "Mix.", "tool": "Whisk" }, { "text": "Ba" }] });
/// let recipe: RecipePartial = Recipe::partial(&known).unwrap();
/// assert_eq!(recipe.title.as_deref(), Some("Pancakes"));
/// assert_eq!(recipe.minutes, None);
/// let steps: Vec<StepPartial> = recipe.steps.unwrap();
/// assert_eq!(steps[0].tool, Some(Tool::Whisk));
/// assert_eq!(steps[1].text.as_deref(), Some("Ba"));
/// ```
///
/// # Options
///
/// `RecipePartial` has the visibility of the struct, and implements `Debug` and `Default`. The names of fields are those of
/// serde: `rename`, `rename_all`, `flatten`, `skip`.
///
/// | option | meaning |
/// | --- | --- |
/// | `#[partial(derive(Clone, PartialEq))]` | on the struct: what else its partial form derives |
/// | `#[partial(crate = path)]` | on the struct: the path of the crate petalflow, if it is not `::petalflow` |
/// | `#[partial(whole)]` | on a field: it is known as a whole, and needs only `Deserialize`, as types of other crates do |
/// | `#[partial(skip)]` | on a field: the partial form does not have it |
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no partial form",
    label = "cannot be read before all of it is known",
    note = "derive it: `#[derive(petalflow::tool::Partial)]`; for a field of a type of another crate, write `#[partial(whole)]`"
)]
pub trait Partial: Sized {
    /// The value as far as it is known.
    type Partial;

    /// Reads what is known. `None` if nothing of it is: the value is of another type, or must be complete.
    fn partial(value: &Value) -> Option<Self::Partial>;
}

/// A value that is known as a whole.
pub fn whole<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

macro_rules! known_as_a_whole {
    ($($ty:ty),*) => {$(
        impl Partial for $ty {
            type Partial = Self;

            fn partial(value: &Value) -> Option<Self> {
                whole(value)
            }
        }
    )*};
}

known_as_a_whole! {
    bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, String, Value, ()
}

impl<T: Partial> Partial for Option<T> {
    type Partial = T::Partial;

    fn partial(value: &Value) -> Option<T::Partial> {
        T::partial(value)
    }
}

impl<T: Partial> Partial for Box<T> {
    type Partial = Box<T::Partial>;

    fn partial(value: &Value) -> Option<Box<T::Partial>> {
        T::partial(value).map(Box::new)
    }
}

/// The items that are known. An item that must be complete ends the list, as do all after it.
impl<T: Partial> Partial for Vec<T> {
    type Partial = Vec<T::Partial>;

    fn partial(value: &Value) -> Option<Vec<T::Partial>> {
        let items = value.as_array()?;
        Some(items.iter().map_while(T::partial).collect())
    }
}

/// The entries that are known.
fn entries<K: DeserializeOwned, V: Partial, M: FromIterator<(K, V::Partial)>>(
    value: &Value,
) -> Option<M> {
    let entries = value.as_object()?.iter();
    let known = entries.filter_map(|(name, value)| {
        // As in a map that serde reads: the name may be a number.
        let name = name.as_str();
        let key = whole(&name.into()).or_else(|| serde_json::from_str(name).ok())?;
        Some((key, V::partial(value)?))
    });
    Some(known.collect())
}

impl<K, V, S> Partial for HashMap<K, V, S>
where
    K: DeserializeOwned + Eq + Hash,
    V: Partial,
    S: BuildHasher + Default,
{
    type Partial = HashMap<K, V::Partial, S>;

    fn partial(value: &Value) -> Option<Self::Partial> {
        entries::<K, V, _>(value)
    }
}

impl<K: DeserializeOwned + Ord, V: Partial> Partial for BTreeMap<K, V> {
    type Partial = BTreeMap<K, V::Partial>;

    fn partial(value: &Value) -> Option<Self::Partial> {
        entries::<K, V, _>(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f44_4_lists_and_maps_have_what_is_known() {
        assert_eq!(Vec::<u8>::partial(&json!([1, 2, "th"])), Some(vec![1, 2]));
        assert_eq!(Vec::<Option<u8>>::partial(&json!(null)), None);
        let known = HashMap::<u8, bool>::partial(&json!({ "1": true, "2": "no" }));
        assert_eq!(known, Some(HashMap::from([(1, true)])));
        let known = BTreeMap::<String, Vec<String>>::partial(&json!({ "a": ["x"], "b": null }));
        assert_eq!(
            known,
            Some(BTreeMap::from([("a".into(), vec!["x".into()])]))
        );
        assert_eq!(Option::<Box<u8>>::partial(&json!(3)), Some(Box::new(3)));
    }
}
