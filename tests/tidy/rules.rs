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
    layer("petalflow-macros", &["petalflow-graph"], &[]),
    layer("petalflow-store", &["petalflow-graph"], &["petalflow"]),
    layer(
        "petalflow",
        &["petalflow-graph", "petalflow-macros", "petalflow-store"],
        &[],
    ),
    layer(
        "petalflow-memory",
        &[
            "petalflow",
            "petalflow-postgres",
            "petalflow-sqlite",
            "petalflow-testing",
        ],
        &[],
    ),
    layer("petalflow-llm", &["petalflow"], &["petalflow-memory"]),
    layer("petalflow-tracing", &["petalflow", "petalflow-llm"], &[]),
    layer("petalflow-document-model", &["petalflow-graph"], &[]),
    layer(
        "petalflow-document-macros",
        &["petalflow-document-model"],
        &[],
    ),
    layer(
        "petalflow-conversations",
        &[
            "petalflow",
            "petalflow-document-macros",
            "petalflow-document-model",
            "petalflow-llm",
        ],
        &["petalflow-sqlite"],
    ),
    layer(
        "petalflow-documents",
        &[
            "petalflow",
            "petalflow-document-macros",
            "petalflow-document-model",
            "petalflow-llm",
        ],
        &["petalflow-testing"],
    ),
    layer(
        "petalflow-server",
        &[
            "petalflow",
            "petalflow-agent",
            "petalflow-conversations",
            "petalflow-documents",
            // Draws graphs.
            "petalflow-graph",
            "petalflow-llm",
            "petalflow-memory",
            // The names of its metrics.
            "petalflow-tracing",
        ],
        &["petalflow-mcp", "petalflow-sqlite", "petalflow-testing"],
    ),
    layer(
        "petalflow-mcp",
        &["petalflow", "petalflow-llm"],
        &["petalflow-agent"],
    ),
    layer(
        "petalflow-acp",
        &[
            "petalflow",
            "petalflow-agent",
            "petalflow-llm",
            "petalflow-mcp",
        ],
        &["petalflow-sqlite"],
    ),
    layer(
        "petalflow-openapi",
        &["petalflow", "petalflow-llm"],
        &["petalflow-agent", "petalflow-sqlite"],
    ),
    layer(
        "petalflow-agent",
        &["petalflow", "petalflow-llm", "petalflow-tracing"],
        &["petalflow-sqlite", "petalflow-testing"],
    ),
    layer(
        "petalflow-eval",
        &["petalflow", "petalflow-agent", "petalflow-llm"],
        &["petalflow-testing"],
    ),
    layer("petalflow-testing", &["petalflow"], &[]),
    layer(
        "petalflow-encryption",
        &["petalflow"],
        &["petalflow-testing"],
    ),
    layer("petalflow-sqlite", &["petalflow"], &["petalflow-testing"]),
    layer("petalflow-postgres", &["petalflow"], &["petalflow-testing"]),
    layer("petalflow-redis", &["petalflow"], &["petalflow-testing"]),
    layer(
        "petalflow-cli",
        &[
            "petalflow",
            "petalflow-acp",
            "petalflow-agent",
            "petalflow-conversations",
            "petalflow-document-model",
            "petalflow-documents",
            "petalflow-graph",
            "petalflow-llm",
            "petalflow-postgres",
            "petalflow-redis",
            "petalflow-server",
            "petalflow-sqlite",
            "petalflow-testing",
        ],
        &[],
    ),
];

/// Published only because other packages of petalflow depend on them: their names are not an interface.
pub(crate) const INTERNAL_PACKAGES: &[&str] = &[
    "petalflow-document-macros",
    "petalflow-document-model",
    "petalflow-graph",
    "petalflow-macros",
    "petalflow-store",
];

/// The most packages that users name.
pub(crate) const MAX_NAMED_PACKAGES: usize = 18;

/// The modules of a package, lowest first: one uses only those before it. Packages without a row are only checked for
/// circles.
pub(crate) const MODULES: &[(&str, &[&str])] = &[
    (
        "petalflow",
        &[
            "macros",
            "editor",
            "error",
            "future",
            "cancel_token",
            "checkpoint",
            "delivery",
            "request_parts",
            "noted_request",
            "state",
            "effects",
            "erased",
            "outcome",
            "policy",
            "plan",
            "event",
            "inbox",
            "task_services",
            "node",
            "interrupt",
            "snapshot",
            "json",
            "middleware",
            "cache",
            "superstep",
            "flow",
            "exec",
            "durable",
            "thread_file",
            "run",
            "subflow",
            "thread",
            "launch",
            "engine",
            "graph",
            "tool",
            "__private",
            "checks",
            "prelude",
        ],
    ),
    (
        "petalflow-store",
        &[
            "codec",
            "error",
            "clock",
            "ids",
            "settings",
            "attribute",
            "document_version",
            "retention",
            "thread_info",
            "store_error",
            "thread_query",
            "store",
            "shared_store",
            "run_claim",
            "pending_releases",
            "write_name",
            "thread_links",
            "thread_storage",
            "memory",
            "question",
            "json",
            "migration",
            "upgrade",
        ],
    ),
    (
        "petalflow-graph",
        &[
            "bits",
            "components",
            "idx",
            "graph",
            "skips",
            "edges",
            "tables",
            "analyses",
            "rule",
            "diagnostic",
            "keys",
            "facts",
            "similar",
            "text",
            "messages",
            "node_rules",
            "diagram",
            "picture",
            "graph_rules",
            "topology",
        ],
    ),
    (
        "petalflow-document-model",
        &["source", "expression", "documents", "conversations"],
    ),
    (
        "petalflow-document-macros",
        &["reported", "conversation", "flow_from"],
    ),
    (
        "petalflow-macros",
        &[
            "site",
            "errors",
            "types",
            "options",
            "spans",
            "dependency",
            "paths",
            "attributes",
            "placeholder",
            "editor",
            "ask",
            "node",
            "flow",
            "route",
            "state",
            "tool",
            "partial",
        ],
    ),
];

/// A use of a higher module that is still there: package, module, higher module. None may be added.
pub(crate) const KNOWN_UPWARD_USES: &[(&str, &str, &str)] = &[];

/// Circles that are still there: package, module (`""`: the modules of the package themselves), how many files or modules
/// they have. None may be added.
pub(crate) const KNOWN_CIRCLES: &[(&str, &str, usize)] = &[
    // `State` names its writes and the rows of its tables, which are generic over the state.
    ("petalflow", "state", 4),
];

/// The most lines of a file of Rust.
pub(crate) const MAX_LINES: usize = 600;

/// Words that are not used in identifiers, and the words that are.
pub(crate) const WORDS: &[(&str, &str)] = &[
    ("breathe", "`yield_now`"),
    ("crew", "`executor`"),
    ("desk", "`services`"),
    ("jot", "`write`"),
    ("stationery", "a term of the field"),
];

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
