//! Agents whose threads are on Restate: by the protocols of agents, and with their tools in the driver and on a node host.

mod a2a;
mod ag_ui;
mod guide;
mod openai;
mod processes;
