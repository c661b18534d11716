//! What code allocates, on the thread that calls it.

/// How much code has allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// How often.
    pub count: u64,
    /// How many bytes, also those that it has freed.
    pub bytes: u64,
}

/// Runs the code, and counts what it allocates on this thread.
pub fn allocated(work: impl FnOnce()) -> Allocated {
    let measured = allocation_counter::measure(work);
    Allocated {
        count: measured.count_total,
        bytes: measured.bytes_total,
    }
}
