//! Messages about the items that edges deliver.

use crate::text::Text;

/// PF020: an item is delivered to a node that takes none.
pub const fn takes_no_item(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes no item, but the edge from ")
        .name(from)
        .push(" delivers one; give ")
        .name(node)
        .push(" a parameter `#[item] item: &..`, or lead the edge to a node that takes an item")
}

/// PF020, in the builder: an item is delivered to a node that takes none; `fix` says how to add one that does.
pub const fn cannot_take_item(node: &str, from: &str, fix: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes no item, but the edge from ")
        .name(from)
        .push(" delivers one; ")
        .push(fix)
        .push(", or lead the edge to a node that takes an item")
}

/// PF020, in the builder: a plain edge between a node that returns items and one that takes one.
pub const fn each_edge_forgotten(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(from)
        .push(" returns items and ")
        .name(node)
        .push(" takes one, but this edge delivers none; write `.each(\"")
        .push(from)
        .push("\", \"")
        .push(node)
        .push("\")`")
}

/// PF020, in the builder: a node returns items that no edge takes.
pub const fn items_of_no_edge(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" returns items (`Each`), but no `each` edge takes them; add one, such as `.each(\"")
        .push(node)
        .push("\", \"target\")`")
}

/// PF020: a node takes an item and the edge delivers none.
pub const fn needs_item(node: &str, from: &str) -> Text {
    Text::new("node ").name(node).push(" takes an item, but the edge from ").name(from).push(" delivers none; lead to it with `each` from a node that returns `Each<..>`, or with a route that carries the item, or remove the `#[item]` parameter")
}

/// PF020: a plain edge between a node that returns items and one that takes one.
pub const fn each_forgotten(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(from)
        .push(" returns items and ")
        .name(node)
        .push(" takes one, but this edge delivers none; write `")
        .push(from)
        .push(" -> each ")
        .push(node)
        .push("`")
}

/// PF020: an `each` edge from a node that returns no items; `takes` says whether its target takes one.
pub const fn sends_no_items(from: &str, takes: bool) -> Text {
    Text::new("`each` runs its target once per item, but node ")
        .name(from)
        .push(" returns no items; return `Each<..>` as the last value")
        .push(if takes { "" } else { ", or remove `each`" })
}

/// PF020: an `each` arm for a route that carries nothing; `takes` says whether its target takes an item.
pub const fn carries_no_items(from: &str, route: &str, takes: bool) -> Text {
    Text::new("`each` runs its target once per item, but route ")
        .name(route)
        .push(" of node ")
        .name(from)
        .push(" carries nothing; let the variant carry a `Vec`")
        .push(if takes { "" } else { ", or remove `each`" })
}

/// PF020: an `each` arm for a route that carries one value.
pub const fn carries_no_list(from: &str, route: &str, carries: &str) -> Text {
    Text::new("`each` runs its target once per item, but route ")
        .name(route)
        .push(" of node ")
        .name(from)
        .push(" carries a ")
        .name(carries)
        .push("; let the variant carry a `Vec`, or remove `each`")
}

/// PF020: a node returns items that no edge takes.
pub const fn items_unused(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" returns items (`Each`), but no `each` edge takes them; add one, such as `")
        .push(node)
        .push(" -> each target`")
}

/// PF020: the item is of another type.
pub const fn other_item(node: &str, takes: &str, from: &str, sends: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes an item of type ")
        .name(takes)
        .push(", but the edge from ")
        .name(from)
        .push(" delivers ")
        .name(sends)
        .push("; change one of the two types")
}
