//! What edges deliver to nodes, and how it is stored.

use std::any::{Any, TypeId, type_name};
use std::sync::Arc;

use serde_core::{Serialize, de::DeserializeOwned};

use petalflow_codec::{CodecError, decode, encode};

/// A type, told at run time, with its name for messages.
pub(crate) type TypeName = (TypeId, &'static str);

/// Something on its way along an edge: one value, or a list of which each task gets an item. Shared by those tasks.
///
/// ```
/// use petalflow::node::Delivery;
///
/// let one = Delivery::one("all".to_string());
/// assert_eq!(one.get::<String>(None).unwrap(), "all");
///
/// let list = Delivery::list(vec![10, 20]);
/// assert_eq!((list.len(), list.get::<i32>(Some(1))), (2, Some(&20)));
/// assert_eq!(list.get::<Vec<i32>>(None).unwrap().len(), 2, "an edge without `each` delivers the whole");
/// ```
#[derive(Clone)]
pub struct Delivery(Arc<Parcel<dyn Any + Send + Sync>>);

struct Parcel<T: ?Sized> {
    list: Option<List>,
    value: T,
}

/// How to reach into a value that is a list.
#[derive(Clone, Copy)]
struct List {
    len: usize,
    at: for<'a> fn(&'a (dyn Any + Send + Sync), usize) -> Option<&'a (dyn Any + Send + Sync)>,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delivery")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Delivery {
    /// One value.
    pub fn one<T: Send + Sync + 'static>(value: T) -> Self {
        Delivery(Arc::new(Parcel { list: None, value }))
    }

    /// A list: an `each` edge delivers its items, any other edge the whole.
    pub fn list<T: Send + Sync + 'static>(items: Vec<T>) -> Self {
        let list = List {
            len: items.len(),
            at: |list, index| Some(list.downcast_ref::<Vec<T>>()?.get(index)?),
        };
        Delivery(Arc::new(Parcel {
            list: Some(list),
            value: items,
        }))
    }

    /// How many items there are for an `each` edge.
    pub fn len(&self) -> usize {
        self.0.list.map_or(1, |list| list.len)
    }

    /// Whether there is no item for an `each` edge.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index, or the whole, if it is a `T`.
    pub fn get<T: 'static>(&self, index: Option<usize>) -> Option<&T> {
        let Parcel { list, value } = &*self.0;
        match (index, list) {
            (Some(index), Some(list)) => (list.at)(value, index)?.downcast_ref(),
            _ => value.downcast_ref(),
        }
    }
}

/// How what an edge delivers to a node is stored: said by the node that takes it, because it alone knows the type.
///
/// [`#[node]`](macro@crate::node) writes it; a node written by hand that takes an item says
/// `const ITEM_CODEC: Option<ItemCodec> = Some(ItemCodec::of::<Item>())`.
#[derive(Clone, Copy)]
pub struct ItemCodec {
    pub(crate) save: fn(&Delivery, Option<usize>, &mut Vec<u8>) -> Result<(), CodecError>,
    pub(crate) save_list: fn(&Delivery, &mut Vec<u8>) -> Result<(), CodecError>,
    pub(crate) load: fn(&[u8]) -> Result<Delivery, CodecError>,
    pub(crate) load_list: fn(&[u8]) -> Result<Delivery, CodecError>,
    /// The name of the type.
    pub(crate) ty: fn() -> &'static str,
}

impl std::fmt::Debug for ItemCodec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ItemCodec").finish_non_exhaustive()
    }
}

impl ItemCodec {
    /// The way to store items of this type.
    pub const fn of<T: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        ItemCodec {
            save: |delivery, index, out| encode(known::<T>(delivery.get(index))?, out),
            save_list: |delivery, out| encode(known::<Vec<T>>(delivery.get(None))?, out),
            load: |bytes| Ok(Delivery::one(decode::<T>(bytes)?)),
            load_list: |bytes| Ok(Delivery::list(decode::<Vec<T>>(bytes)?)),
            ty: type_name::<T>,
        }
    }
}

/// What a checked graph delivers is of the type that its target takes.
fn known<T>(item: Option<&T>) -> Result<&T, CodecError> {
    item.ok_or_else(|| {
        CodecError::Unknown(format!("what was delivered is no `{}`", type_name::<T>()))
    })
}

/// The item codec of a type, if it has one: what is inherent wins over what a trait has.
#[doc(hidden)]
#[derive(Debug)]
pub struct ItemProbe<T>(std::marker::PhantomData<T>);

impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> ItemProbe<T> {
    pub const CODEC: Option<ItemCodec> = Some(ItemCodec::of::<T>());
}

#[doc(hidden)]
pub trait NoItemCodec {
    const CODEC: Option<ItemCodec> = None;
}

impl<T> NoItemCodec for ItemProbe<T> {}
