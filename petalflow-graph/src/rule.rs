//! The rules by code.

/// A rule that a flow can break. Each has a page in `docs/reference/rules.md` with an example and the fix.
///
/// ```
/// use petalflow_graph::Rule;
///
/// assert_eq!(format!("{}: {}", Rule::EndlessCycle.code(), Rule::EndlessCycle.title()), "PF010: cycle with no way out");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// Nothing starts the flow.
    NoStart,
    /// A name that is no node of the flow.
    UnknownNode,
    /// A node declared twice.
    DuplicateNode,
    /// An edge written twice.
    DuplicateEdge,
    /// An edge into START.
    IntoStart,
    /// An edge out of END.
    OutOfEnd,
    /// `&` and `|` without parentheses.
    MixedOperators,
    /// A declared node that no edge uses.
    UnusedNode,
    /// A node that no path from START activates.
    UnreachableNode,
    /// A cycle that the run cannot leave.
    EndlessCycle,
    /// A join that can be left holding an arrival.
    StuckJoin,
    /// A route that has no edge.
    MissingRoute,
    /// An edge for a route that the node does not have.
    UnknownRoute,
    /// Plain edges on a node that chooses a route.
    PlainBesideRoute,
    /// Route edges on a node that does not choose.
    NoRoute,
    /// Two writers of one key in one superstep.
    Conflict,
    /// A key read before it is surely written.
    UnwrittenRead,
    /// A key that the state does not have.
    UnknownKey,
    /// A key written twice in one result.
    WrittenTwice,
    /// An item sent that is not taken, or taken that is not sent.
    ItemMismatch,
    /// An `output` key that some path to END does not write.
    MissingOutput,
    /// A tool argument without a schema.
    ToolSchema,
    /// Two tools of one name.
    DuplicateTool,
    /// An unknown or repeated option.
    Option,
    /// A type that is not a node of this state.
    NotANode,
    /// A `catch` that cannot work.
    Catch,
    /// More keys than a state can have.
    TooManyKeys,
}

/// Code and title by rule, in the order of the codes.
const TABLE: [(&str, &str); 27] = [
    ("PF001", "nothing starts the flow"),
    ("PF002", "unknown node"),
    ("PF003", "node declared twice"),
    ("PF004", "edge written twice"),
    ("PF005", "edge into START"),
    ("PF006", "edge out of END"),
    ("PF007", "`&` and `|` mixed without parentheses"),
    ("PF008", "declared node never used"),
    ("PF009", "unreachable node"),
    ("PF010", "cycle with no way out"),
    ("PF011", "join left waiting"),
    ("PF012", "route without an edge"),
    ("PF013", "edge for an unknown route"),
    ("PF014", "plain edges beside routes"),
    ("PF015", "routes on a node that does not choose"),
    ("PF016", "two writers of one key in one superstep"),
    ("PF017", "key read before it is surely written"),
    ("PF018", "unknown key"),
    ("PF019", "key written twice in one result"),
    ("PF020", "item mismatch"),
    ("PF021", "output not written on every path"),
    ("PF022", "tool argument without a schema"),
    ("PF023", "two tools of one name"),
    ("PF024", "unknown or repeated option"),
    ("PF025", "not a node of this state"),
    ("PF026", "catch that cannot work"),
    ("PF027", "too many keys"),
];

impl Rule {
    /// The code that messages and the documentation use.
    ///
    /// ```
    /// # use petalflow_graph::Rule;
    /// assert_eq!(Rule::UnreachableNode.code(), "PF009");
    /// ```
    pub const fn code(self) -> &'static str {
        TABLE[self as usize].0
    }

    /// The rule in a few words.
    pub const fn title(self) -> &'static str {
        TABLE[self as usize].1
    }
}
