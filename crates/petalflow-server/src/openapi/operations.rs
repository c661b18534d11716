//! The addresses of the OpenAPI document.

/// An address and what it does.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: &'static [&'static str],
    /// The schema of the body of the request.
    pub(super) body: Option<&'static str>,
    /// The status and the schema of the response.
    pub(super) response: (&'static str, &'static str),
    /// Whether the client may wait for the end of the run that it begins.
    pub(super) waits: bool,
    /// The statuses of refusals, besides those that any request can have.
    pub(super) refusals: &'static [&'static str],
}

/// An address that is only read.
const fn get(path: &'static str, schema: &'static str, summary: &'static str) -> Operation {
    Operation {
        method: "get",
        path,
        summary,
        query: &[],
        body: None,
        response: ("200", schema),
        waits: false,
        refusals: &["404"],
    }
}

/// An address that changes something. The response has this status and this schema.
const fn post(
    path: &'static str,
    response: (&'static str, &'static str),
    summary: &'static str,
) -> Operation {
    Operation {
        method: "post",
        response,
        refusals: &["404", "409"],
        ..get(path, "", summary)
    }
}

/// An address that begins a run.
const fn begin(path: &'static str, summary: &'static str) -> Operation {
    Operation {
        waits: true,
        ..post(path, ("202", "Begun"), summary)
    }
}

/// Refusals of a request with a body.
const OF_BODIES: &[&str] = &["400", "404", "409", "413", "422"];

/// Which threads: the conditions, the order and the page.
const THREADS: &[&str] = &[
    "flow",
    "status",
    "label",
    "any_label",
    "not_label",
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
    get("/flows", "Flows", "The flows that are served."),
    get(
        "/flows/{flow}",
        "Flow",
        "A flow: its graph, and the schemas of its input, of its state and of the answers to its questions.",
    ),
    get(
        "/flows/{flow}/graph.svg",
        "svg",
        "The drawing of the graph of a flow.",
    ),
    Operation {
        body: Some("Start"),
        refusals: OF_BODIES,
        ..begin(
            "/flows/{flow}/threads",
            "Starts a thread. The response is sent when the input is stored.",
        )
    },
    Operation {
        query: &["flow", "label", "after", "limit"],
        refusals: &["400"],
        ..get(
            "/inbox",
            "Inbox",
            "What threads wait for: questions, approvals, and calls of agents. Oldest first.",
        )
    },
    Operation {
        query: THREADS,
        refusals: &["400", "404"],
        ..get("/threads", "Threads", "A page of the threads.")
    },
    Operation {
        // Without the order and the page.
        query: THREADS.split_at(THREADS.len() - 3).0,
        refusals: &["400", "404"],
        ..get(
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
            "/thread-commands",
            "Gives a command to all threads that meet the conditions. The thread of the response has the progress.",
        )
    },
    get(
        "/threads/{thread}",
        "View",
        "A thread: its status, its state, its tasks and its open questions.",
    ),
    Operation {
        method: "delete",
        ..post(
            "/threads/{thread}",
            ("204", ""),
            "Deletes a thread and its history.",
        )
    },
    Operation {
        body: Some("Turn"),
        refusals: OF_BODIES,
        ..begin(
            "/threads/{thread}/turns",
            "Begins another turn of a thread.",
        )
    },
    Operation {
        query: &["before", "limit"],
        refusals: &["400", "404"],
        ..get(
            "/threads/{thread}/history",
            "History",
            "The checkpoints of a thread, newest first.",
        )
    },
    Operation {
        refusals: &["400", "404"],
        ..get(
            "/threads/{thread}/checkpoints/{checkpoint}",
            "View",
            "A thread at a checkpoint.",
        )
    },
    Operation {
        refusals: &["204", "404"],
        ..get(
            "/threads/{thread}/events",
            "events",
            "The events of a thread, and those that follow. With the header `Last-Event-ID` those after it.",
        )
    },
    Operation {
        body: Some("Answer"),
        refusals: OF_BODIES,
        ..begin(
            "/threads/{thread}/answers/{question}",
            "Answers a question, or decides about a node or a call that waits for an approval.",
        )
    },
    begin(
        "/threads/{thread}/resume",
        "Continues a thread that has failed, was stopped, or is held.",
    ),
    begin(
        "/threads/{thread}/cancel",
        "Cancels the run of a thread, in whichever process it is. The thread is held then.",
    ),
    begin(
        "/threads/{thread}/hold",
        "Stops the run of a thread at its next barrier, in whichever process it is. The thread is held then.",
    ),
    begin(
        "/threads/{thread}/drain",
        "Stops the run of a thread at its next barrier, in whichever process it is. The next process continues it.",
    ),
    Operation {
        body: Some("Edit"),
        refusals: OF_BODIES,
        ..post(
            "/threads/{thread}/edit",
            ("200", "Checkpoint"),
            "Sets keys of the state.",
        )
    },
    Operation {
        body: Some("Message"),
        refusals: OF_BODIES,
        ..post(
            "/threads/{thread}/messages",
            ("202", "Sent"),
            "Sends a message: a write to a key that takes messages, at the next barrier of the thread.",
        )
    },
    Operation {
        body: Some("Fork"),
        refusals: OF_BODIES,
        ..post(
            "/threads/{thread}/fork",
            ("201", "Thread"),
            "Continues from an earlier checkpoint, in the same thread or in another one.",
        )
    },
    Operation {
        body: Some("Copy"),
        refusals: OF_BODIES,
        ..post(
            "/threads/{thread}/copy",
            ("201", "Thread"),
            "Copies a thread with its history.",
        )
    },
    Operation {
        method: "put",
        body: Some("Labels"),
        refusals: OF_BODIES,
        ..post(
            "/threads/{thread}/labels",
            ("200", "Labelled"),
            "Replaces the labels of a thread.",
        )
    },
];

#[cfg(not(feature = "schedules"))]
pub(super) const OF_SCHEDULES: &[Operation] = &[];

#[cfg(feature = "schedules")]
pub(super) const OF_SCHEDULES: &[Operation] = &[
    get(
        "/schedules",
        "Schedules",
        "The schedules, with their next times.",
    ),
    get(
        "/schedules/{schedule}",
        "Schedule",
        "A schedule, with its next times.",
    ),
    post(
        "/schedules/{schedule}/pause",
        ("200", "Schedule"),
        "Pauses a schedule, in all processes with the store.",
    ),
    post(
        "/schedules/{schedule}/unpause",
        ("200", "Schedule"),
        "Continues a schedule with the next planned time.",
    ),
    post(
        "/schedules/{schedule}/run",
        ("202", "Thread"),
        "Begins a thread of a schedule now.",
    ),
];
