//! Index types. An index of one kind cannot be used where another kind is expected.

/// A length or an offset, as the tables of generated code store it.
///
/// # Panics
///
/// If it does not fit in 32 bits.
#[must_use]
pub const fn to_u32(len: usize) -> u32 {
    NodeIdx::from_usize(len).0
}

macro_rules! index_types {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(u32);

        #[allow(dead_code, reason = "each type has the same functions, but not all are used")]
        impl $name {
            /// The index of this value.
            #[must_use]
            $vis const fn new(index: u32) -> Self {
                $name(index)
            }

            /// The index of this value.
            ///
            /// # Panics
            ///
            /// If the value does not fit in 32 bits.
            #[must_use]
            $vis const fn from_usize(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "an index fits in 32 bits");
                #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
                $name(index as u32)
            }

            /// The value, to index a slice.
            #[must_use]
            $vis const fn index(self) -> usize {
                self.0 as usize
            }

            /// The value, as the tables of macros and checkpoints store it.
            #[must_use]
            $vis const fn as_u32(self) -> u32 {
                self.0
            }

            /// All indices of a list of this length, in ascending order.
            $vis fn all(len: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..Self::from_usize(len).0).map($name)
            }
        }
    )*};
}

index_types! {
    /// The index of a node in [`Graph::nodes`](crate::Graph::nodes).
    ///
    /// ```
    /// use petalflow_graph::NodeIdx;
    ///
    /// const SECOND: NodeIdx = NodeIdx::new(1);
    /// assert_eq!(["write", "publish"][SECOND.index()], "publish");
    /// assert_eq!(NodeIdx::all(2).last(), Some(SECOND));
    /// ```
    pub struct NodeIdx;

    /// The index of a join in a graph.
    pub struct JoinIdx;

    /// The index of a route among the routes of its node.
    pub struct RouteIdx;

    /// The index of an item among the items that are delivered to a node.
    pub struct ItemIdx;
}
