//! Agents as parts of flows, and the prebuilt flows.

mod nodes;
mod prebuilt;
mod requirements;
