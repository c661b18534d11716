//! The output of the benches: figures with their limits.

/// Prints the names of the columns.
pub fn head() {
    row("what", "measured", "limit");
}

/// Prints one figure with its limit.
pub fn row(what: &str, measured: &str, limit: &str) {
    println!("{what:<58} {measured:>12} {limit:>12}");
}

/// Whether the bench with this name runs. Without arguments all run, otherwise those whose name contains an argument.
pub fn is_selected(name: &str) -> bool {
    let mut parts = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .peekable();
    parts.peek().is_none() || parts.any(|part| name.contains(part.as_str()))
}
