//! The codes and titles of the rules.

/// Declares the rules: one row per rule. The macro writes the enum, the codes and the titles.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $code:literal, $title:literal;)*) => {
        /// A rule that a flow can break. Each has a section in `docs/reference/rules.md` with an example and the fix.
        ///
        /// ```
        /// use petalflow_graph::Rule;
        ///
        /// assert_eq!(format!("{}: {}", Rule::EndlessCycle.code(), Rule::EndlessCycle.title()), "PF010: cycle with no way out");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// All rules, in the order of their codes.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule),*];

            /// The code that messages and the documentation use.
            ///
            /// ```
            /// # use petalflow_graph::Rule;
            /// assert_eq!(Rule::UnreachableNode.code(), "PF009");
            /// ```
            pub const fn code(self) -> &'static str {
                match self { $(Rule::$rule => $code,)* }
            }

            /// The rule in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Rule::$rule => $title,)* }
            }
        }
    };
}

rules! {
    /// The flow has no first node.
    NoStart = "PF001", "nothing starts the flow";
    /// A name that does not belong to a node of the flow.
    UnknownNode = "PF002", "unknown node";
    /// A node that is declared twice.
    DuplicateNode = "PF003", "node declared twice";
    /// An edge that is written twice.
    DuplicateEdge = "PF004", "edge written twice";
    /// An edge into START.
    IntoStart = "PF005", "edge into START";
    /// An edge out of END.
    OutOfEnd = "PF006", "edge out of END";
    /// `&` and `|` without parentheses.
    MixedOperators = "PF007", "`&` and `|` mixed without parentheses";
    /// A declared node that no edge uses.
    UnusedNode = "PF008", "declared node never used";
    /// A node that no path from START activates.
    UnreachableNode = "PF009", "unreachable node";
    /// A cycle that the run cannot leave.
    EndlessCycle = "PF010", "cycle with no way out";
    /// A join that can wait for a side that never arrives.
    StuckJoin = "PF011", "join left waiting";
    /// A route that has no edge.
    MissingRoute = "PF012", "route without an edge";
    /// An edge for a route that the node does not have.
    UnknownRoute = "PF013", "edge for an unknown route";
    /// Plain edges on a node that chooses a route.
    PlainBesideRoute = "PF014", "plain edges beside routes";
    /// Route edges on a node that does not choose a route.
    NoRoute = "PF015", "routes on a node that does not choose";
    /// Two writers of one key in one superstep.
    Conflict = "PF016", "two writers of one key in one superstep";
    /// A key that may have no value when it is read.
    UnwrittenRead = "PF017", "key read before it is surely written";
    /// A key that the state does not have.
    UnknownKey = "PF018", "unknown key";
    /// A key that one result writes twice.
    WrittenTwice = "PF019", "key written twice in one result";
    /// An item that is sent but not taken, or taken but not sent.
    ItemMismatch = "PF020", "item mismatch";
    /// An `output` key that some path to END does not write.
    MissingOutput = "PF021", "output not written on every path";
    /// A tool argument without a schema.
    ToolSchema = "PF022", "tool argument without a schema";
    /// Two tools of one name.
    DuplicateTool = "PF023", "two tools of one name";
    /// An unknown or repeated option.
    Option = "PF024", "unknown or repeated option";
    /// A type that is not a node of this state.
    NotANode = "PF025", "not a node of this state";
    /// A `catch` that cannot work.
    Catch = "PF026", "catch that cannot work";
    /// More keys than a state can have.
    TooManyKeys = "PF027", "too many keys";
    /// A `keep` that cannot work.
    Keep = "PF028", "keep that cannot work";
}

#[cfg(test)]
mod tests {
    use super::Rule;

    #[test]
    fn codes_are_consecutive() {
        for (i, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule.code(), format!("PF{:03}", i + 1));
        }
    }
}
