//! What the benches print: figures beside their limits.

/// Names the columns.
pub fn head() {
    row("what", "measured", "limit");
}

/// One figure beside its limit.
pub fn row(what: &str, measured: &str, limit: &str) {
    println!("{what:<58} {measured:>12} {limit:>12}");
}

/// Whether a bench of this name is to run: without arguments all are, with some those that have one of them in their names.
pub fn wanted(name: &str) -> bool {
    let mut parts = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .peekable();
    parts.peek().is_none() || parts.any(|part| name.contains(part.as_str()))
}
