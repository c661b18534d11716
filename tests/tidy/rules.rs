//! The tables that the tests hold.

/// A published package, and the published packages of this workspace that it may depend on.
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    pub(crate) uses: &'static [&'static str],
    /// Only its tests and examples depend on these.
    pub(crate) tests_use: &'static [&'static str],
}

/// Lowest first.
pub(crate) const PACKAGES: &[Layer] = &[
    layer("petalflow-graph", &[], &[]),
    layer("petalflow-macros", &["petalflow-graph"], &["petalflow"]),
    layer("petalflow", &["petalflow-graph", "petalflow-macros"], &[]),
    layer("petalflow-llm", &["petalflow"], &[]),
    layer("petalflow-tracing", &["petalflow", "petalflow-llm"], &[]),
    layer("petalflow-envelope", &["petalflow", "petalflow-llm"], &[]),
    layer("petalflow-mcp", &["petalflow", "petalflow-llm"], &[]),
    layer(
        "petalflow-agent",
        &["petalflow", "petalflow-llm", "petalflow-tracing"],
        &[],
    ),
    layer("petalflow-testing", &["petalflow"], &[]),
    layer("petalflow-sqlite", &["petalflow"], &["petalflow-testing"]),
    layer("petalflow-postgres", &["petalflow"], &["petalflow-testing"]),
    layer("petalflow-redis", &["petalflow"], &["petalflow-testing"]),
];

/// The modules of a package, lowest first: one uses only those before it. Packages without a row are only checked for
/// circles.
pub(crate) const MODULES: &[(&str, &[&str])] = &[(
    "petalflow",
    &[
        "macros",
        "clock",
        "error",
        "state",
        "interrupt",
        "node",
        "event",
        "tool",
        "checkpoint",
        "upgrade",
        "flow",
        "superstep",
        "middleware",
        "run",
        "thread",
        "cache",
        "graph",
        "memory",
        "testing",
        "__private",
        "prelude",
    ],
)];

/// A use of a higher module that is still there: package, module, higher module. None may be added.
pub(crate) const KNOWN_UPWARD_USES: &[(&str, &str, &str)] = &[
    ("petalflow", "checkpoint", "upgrade"),
    ("petalflow", "durable", "cache"),
    ("petalflow", "durable", "checkpoint"),
    ("petalflow", "durable", "clock"),
    ("petalflow", "durable", "error"),
    ("petalflow", "durable", "event"),
    ("petalflow", "durable", "flow"),
    ("petalflow", "durable", "interrupt"),
    ("petalflow", "durable", "middleware"),
    ("petalflow", "durable", "node"),
    ("petalflow", "durable", "state"),
    ("petalflow", "durable", "superstep"),
    ("petalflow", "durable", "thread"),
    ("petalflow", "durable", "upgrade"),
    ("petalflow", "error", "checkpoint"),
    ("petalflow", "error", "interrupt"),
    ("petalflow", "error", "node"),
    ("petalflow", "error", "state"),
    ("petalflow", "error", "thread"),
    ("petalflow", "event", "flow"),
    ("petalflow", "event", "run"),
    ("petalflow", "event", "thread"),
    ("petalflow", "exec", "error"),
    ("petalflow", "exec", "event"),
    ("petalflow", "exec", "flow"),
    ("petalflow", "exec", "middleware"),
    ("petalflow", "exec", "node"),
    ("petalflow", "exec", "state"),
    ("petalflow", "exec", "superstep"),
    ("petalflow", "exec", "thread"),
    ("petalflow", "flow", "cache"),
    ("petalflow", "flow", "middleware"),
    ("petalflow", "flow", "run"),
    ("petalflow", "flow", "thread"),
    ("petalflow", "interrupt", "checkpoint"),
    ("petalflow", "interrupt", "flow"),
    ("petalflow", "interrupt", "node"),
    ("petalflow", "node", "__private"),
    ("petalflow", "node", "checkpoint"),
    ("petalflow", "node", "event"),
    ("petalflow", "node", "flow"),
    ("petalflow", "node", "middleware"),
    ("petalflow", "state", "checkpoint"),
    ("petalflow", "state", "node"),
    ("petalflow", "state", "upgrade"),
    ("petalflow", "tool", "__private"),
    ("petalflow", "tool", "cache"),
    ("petalflow", "tool", "middleware"),
];

/// Circles that are still there: package, module (`""`: the modules of the package themselves), how many files or modules
/// they have. None may be added.
pub(crate) const KNOWN_CIRCLES: &[(&str, &str, usize)] = &[
    ("petalflow", "__private", 2),
    ("petalflow", "checkpoint", 9),
    ("petalflow", "durable", 3),
    ("petalflow", "event", 4),
    ("petalflow", "exec", 6),
    ("petalflow", "graph", 6),
    ("petalflow", "interrupt", 4),
    ("petalflow", "memory", 4),
    ("petalflow", "node", 6),
    ("petalflow", "thread", 2),
    ("petalflow", "tool", 2),
    ("petalflow-graph", "", 3),
    ("petalflow-graph", "rules", 6),
    ("petalflow-macros", "flow", 20),
    ("petalflow-macros", "state", 6),
];

/// The most lines of a file of Rust.
pub(crate) const MAX_LINES: usize = 600;

/// Words that are not used in identifiers, and the words that are.
pub(crate) const WORDS: &[(&str, &str)] = &[("stationery", "a term of the field")];

const fn layer(
    name: &'static str,
    uses: &'static [&'static str],
    tests_use: &'static [&'static str],
) -> Layer {
    Layer {
        name,
        uses,
        tests_use,
    }
}
