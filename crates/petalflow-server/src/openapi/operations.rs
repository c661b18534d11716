//! The addresses of the OpenAPI document.

/// An address and what it does.
pub(super) struct Operation {
    /// Its name, of which generators make that of a function.
    pub(super) id: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: &'static [&'static str],
    pub(super) headers: &'static [&'static str],
    /// Whether it needs no token.
    pub(super) is_public: bool,
    /// The schema of the body of the request.
    pub(super) body: Option<&'static str>,
    /// The status and the schema of the response.
    pub(super) response: (&'static str, &'static str),
    /// Whether the client may wait for the end of the run that it begins.
    pub(super) waits: bool,
    /// Whether a repeated request with the same key gets the answer of the first one.
    pub(super) keyed: bool,
    /// The statuses of refusals, besides those that any request can have.
    pub(super) refusals: &'static [&'static str],
}

/// An address that is only read.
pub(super) const fn get(
    id: &'static str,
    path: &'static str,
    schema: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        id,
        method: "get",
        path,
        summary,
        query: &[],
        headers: &[],
        is_public: false,
        body: None,
        response: ("200", schema),
        waits: false,
        keyed: false,
        refusals: &["404"],
    }
}

/// An address that changes something, once for each key. The response has this status and this schema.
pub(super) const fn post(
    id: &'static str,
    path: &'static str,
    response: (&'static str, &'static str),
    summary: &'static str,
) -> Operation {
    Operation {
        method: "post",
        response,
        keyed: true,
        refusals: &["404", "409", "422"],
        ..get(id, path, "", summary)
    }
}

/// An address that begins a run.
const fn begin(id: &'static str, path: &'static str, summary: &'static str) -> Operation {
    Operation {
        waits: true,
        ..post(id, path, ("202", "Begun"), summary)
    }
}

/// Refusals of a request with a body.
const OF_BODIES: &[&str] = &["404", "408", "409", "413", "422"];

/// The addresses that every server has, also without `.threads(..)`.
pub(super) const PUBLIC: &[Operation] = &[Operation {
    is_public: true,
    refusals: &[],
    ..get(
        "get_health",
        "/health",
        "Health",
        "Whether the store can be reached.",
    )
}];

/// Which threads: the conditions, the order and the page.
const THREADS: &[&str] = &[
    "flow",
    "status",
    "label",
    "any_label",
    "not_label",
    "where",
    "prefix",
    "created_from_ms",
    "created_before_ms",
    "updated_from_ms",
    "updated_before_ms",
    "order",
    "after",
    "limit",
];

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        refusals: &[],
        ..get("get_openapi", "/openapi.json", "any", "This document.")
    },
    get(
        "get_info",
        "/info",
        "Info",
        "What this server is: its version, its features, its flows and its store.",
    ),
    get(
        "list_flows",
        "/flows",
        "Flows",
        "The flows that are served.",
    ),
    get(
        "get_flow",
        "/flows/{flow}",
        "Flow",
        "A flow: its graph, and the schemas of its input, of its state and of the answers to its questions.",
    ),
    get(
        "get_flow_graph",
        "/flows/{flow}/graph.svg",
        "svg",
        "The drawing of the graph of a flow.",
    ),
    Operation {
        body: Some("Start"),
        refusals: OF_BODIES,
        ..begin(
            "start_thread",
            "/flows/{flow}/threads",
            "Starts a thread. The response is sent when the input is stored.",
        )
    },
    Operation {
        query: &["flow", "label", "after", "limit"],
        ..get(
            "list_inbox",
            "/inbox",
            "Inbox",
            "What threads wait for: questions, approvals, and calls of agents. Oldest first.",
        )
    },
    Operation {
        query: THREADS,
        ..get(
            "list_threads",
            "/threads",
            "Threads",
            "A page of the threads.",
        )
    },
    Operation {
        // Without the order and the page.
        query: THREADS.split_at(THREADS.len() - 3).0,
        ..get(
            "count_threads",
            "/thread-counts",
            "Counts",
            "How many threads of each flow have each status.",
        )
    },
    Operation {
        query: THREADS.split_at(THREADS.len() - 3).0,
        body: Some("Command"),
        refusals: OF_BODIES,
        ..begin(
            "command_threads",
            "/thread-commands",
            "Gives a command to all threads that meet the conditions. The thread of the response has the progress.",
        )
    },
    get(
        "get_thread",
        "/threads/{thread}",
        "View",
        "A thread: its status, its state, its tasks and its open questions.",
    ),
    Operation {
        query: &["seconds", "until"],
        waits: true,
        ..get(
            "wait_for_thread",
            "/threads/{thread}/wait",
            "View",
            "The thread when it rests: when it has ended, is held, waits for a person, or sleeps. If it does not in this time, 202.",
        )
    },
    Operation {
        method: "delete",
        keyed: false,
        ..post(
            "delete_thread",
            "/threads/{thread}",
            ("204", ""),
            "Deletes a thread and its history.",
        )
    },
    Operation {
        body: Some("Turn"),
        refusals: OF_BODIES,
        ..begin(
            "begin_turn",
            "/threads/{thread}/turns",
            "Begins another turn of a thread.",
        )
    },
    Operation {
        query: &["before", "limit"],
        refusals: &["404"],
        ..get(
            "list_checkpoints",
            "/threads/{thread}/history",
            "History",
            "The checkpoints of a thread, newest first.",
        )
    },
    Operation {
        refusals: &["403", "404"],
        ..get(
            "export_thread",
            "/threads/{thread}/export",
            "ThreadFile",
            "A thread as one file, without its secrets: what a test replays, and another store imports.",
        )
    },
    Operation {
        refusals: &["404"],
        ..get(
            "get_checkpoint",
            "/threads/{thread}/checkpoints/{checkpoint}",
            "View",
            "A thread at a checkpoint.",
        )
    },
    Operation {
        refusals: &["204", "404"],
        headers: &["Last-Event-ID"],
        ..get(
            "follow_events",
            "/threads/{thread}/events",
            "events",
            "The events of a thread, and those that follow. With the header `Last-Event-ID` those after it.",
        )
    },
    Operation {
        body: Some("Answer"),
        refusals: OF_BODIES,
        ..begin(
            "answer_question",
            "/threads/{thread}/answers/{question}",
            "Answers a question, or decides about a node or a call that waits for an approval.",
        )
    },
    Operation {
        ..begin(
            "resume_thread",
            "/threads/{thread}/resume",
            "Continues a thread that has failed, was stopped, or is held. One that begins later begins now.",
        )
    },
    begin(
        "cancel_thread",
        "/threads/{thread}/cancel",
        "Cancels the run of a thread, in whichever process it is. The thread is held then.",
    ),
    begin(
        "hold_thread",
        "/threads/{thread}/hold",
        "Stops the run of a thread at its next barrier, in whichever process it is. The thread is held then.",
    ),
    begin(
        "drain_thread",
        "/threads/{thread}/drain",
        "Stops the run of a thread at its next barrier, in whichever process it is. The next process continues it.",
    ),
    Operation {
        body: Some("Edit"),
        refusals: OF_BODIES,
        ..post(
            "edit_thread",
            "/threads/{thread}/edit",
            ("200", "Checkpoint"),
            "Sets keys of the state.",
        )
    },
    Operation {
        body: Some("Message"),
        refusals: OF_BODIES,
        ..post(
            "send_message",
            "/threads/{thread}/messages",
            ("202", "Sent"),
            "Sends a message: a write to a key that takes messages, at the next barrier of the thread.",
        )
    },
    Operation {
        body: Some("Fork"),
        refusals: OF_BODIES,
        ..post(
            "fork_thread",
            "/threads/{thread}/fork",
            ("201", "Thread"),
            "Continues from an earlier checkpoint, in the same thread or in another one.",
        )
    },
    Operation {
        body: Some("Copy"),
        refusals: OF_BODIES,
        ..post(
            "copy_thread",
            "/threads/{thread}/copy",
            ("201", "Thread"),
            "Copies a thread with its history.",
        )
    },
    Operation {
        method: "put",
        keyed: false,
        body: Some("Labels"),
        refusals: OF_BODIES,
        ..post(
            "replace_labels",
            "/threads/{thread}/labels",
            ("200", "Labelled"),
            "Replaces the labels of a thread.",
        )
    },
];

/// Which finished threads are kept.
pub(super) const OF_RETENTION: &[Operation] = &[
    Operation {
        refusals: &[],
        ..get(
            "list_retention",
            "/retention",
            "Retention",
            "Which finished threads of each flow are kept.",
        )
    },
    Operation {
        method: "put",
        keyed: false,
        body: Some("KeptThreads"),
        refusals: OF_BODIES,
        ..post(
            "set_retention",
            "/retention/{flow}",
            ("200", "RetentionRule"),
            "Says which finished threads of a flow are kept, in place of what the program says.",
        )
    },
    Operation {
        method: "delete",
        keyed: false,
        ..post(
            "reset_retention",
            "/retention/{flow}",
            ("200", "RetentionRule"),
            "Goes back to what the program says.",
        )
    },
];

#[cfg(not(feature = "memory"))]
pub(super) const OF_MEMORY: &[Operation] = &[];

/// The long-term memory, if the server has one.
#[cfg(feature = "memory")]
pub(super) const OF_MEMORY: &[Operation] = &[
    Operation {
        query: &["namespace", "filter", "after", "limit"],
        ..get(
            "list_memory",
            "/memory",
            "Entries",
            "A page of the entries of a namespace and of those below it, in the order of namespaces and keys.",
        )
    },
    Operation {
        query: &["namespace", "text", "limit"],
        refusals: &["404", "409", "422"],
        ..get(
            "search_memory",
            "/memory/search",
            "Hits",
            "The entries that are nearest to a text, the nearest first. Only a memory with vectors has this.",
        )
    },
    Operation {
        query: OF_ENTRY,
        ..get("get_memory_entry", "/memory/entry", "Entry", "An entry.")
    },
    Operation {
        method: "put",
        keyed: false,
        query: OF_ENTRY,
        body: Some("WrittenEntry"),
        refusals: OF_BODIES,
        ..post(
            "write_memory_entry",
            "/memory/entry",
            ("200", "Entry"),
            "Writes an entry, which replaces one with the same key.",
        )
    },
    Operation {
        method: "delete",
        keyed: false,
        query: OF_ENTRY,
        ..post(
            "delete_memory_entry",
            "/memory/entry",
            ("204", ""),
            "Deletes an entry.",
        )
    },
];

#[cfg(feature = "memory")]
const OF_ENTRY: &[&str] = &["namespace", "key"];

#[cfg(not(feature = "metrics"))]
pub(super) const OF_METRICS: &[Operation] = &[];

#[cfg(feature = "metrics")]
pub(super) const OF_METRICS: &[Operation] = &[get(
    "get_metrics",
    "/metrics",
    "metrics",
    "Numbers of the process and of the store, for Prometheus.",
)];

#[cfg(not(feature = "schedules"))]
pub(super) const OF_SCHEDULES: &[Operation] = &[];

#[cfg(feature = "schedules")]
pub(super) const OF_SCHEDULES: &[Operation] = &[
    get(
        "list_schedules",
        "/schedules",
        "Schedules",
        "The schedules, with their next times.",
    ),
    get(
        "get_schedule",
        "/schedules/{schedule}",
        "Schedule",
        "A schedule, with its next times.",
    ),
    Operation {
        method: "put",
        keyed: false,
        body: Some("Definition"),
        refusals: OF_BODIES,
        ..post(
            "define_schedule",
            "/schedules/{schedule}",
            ("200", "Schedule"),
            "Defines a schedule, or changes one that a client has defined.",
        )
    },
    Operation {
        method: "delete",
        keyed: false,
        ..post(
            "delete_schedule",
            "/schedules/{schedule}",
            ("204", ""),
            "Deletes a schedule that a client has defined. Its threads stay.",
        )
    },
    Operation {
        body: Some("Backfill"),
        refusals: OF_BODIES,
        ..post(
            "backfill_schedule",
            "/schedules/{schedule}/backfill",
            ("202", "Backfilled"),
            "Begins the threads of the planned times of a range that has passed, each once.",
        )
    },
    post(
        "pause_schedule",
        "/schedules/{schedule}/pause",
        ("200", "Schedule"),
        "Pauses a schedule, in all processes with the store.",
    ),
    post(
        "unpause_schedule",
        "/schedules/{schedule}/unpause",
        ("200", "Schedule"),
        "Continues a schedule with the next planned time.",
    ),
    begin(
        "run_schedule",
        "/schedules/{schedule}/run",
        "Begins a thread of a schedule now.",
    ),
];
