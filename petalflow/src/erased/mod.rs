//! A state, the effects of a node, and a flow without their types: what the engine knows of a program.
//!
//! The engine (`exec`, `superstep`, `durable`, `engine`) is compiled once, in this crate. So it has no type parameter for the
//! types of a program. It holds values behind `dyn`, and calls the functions that [`State`](crate::State),
//! [`Effects`](crate::node::Effects) and [`Flow`](crate::Flow) give it here. The public types, such as
//! [`Launch`](crate::Launch), [`Run`](crate::Run) and [`Thread`](crate::thread::Thread), are thin: they put typed values into
//! a box, and take them out with a downcast.
//!
//! | file | what is without its type |
//! | --- | --- |
//! | [`state`] | a state, and what its type says ([`StateType`]) |
//! | [`codec`] | the encoding of a state and of writes |
//! | [`effects`] | what a node has written and decided |
//! | [`flow`] | a flow |

mod codec;
mod effects;
mod flow;
mod state;

pub(crate) use codec::AnyCodec;
pub(crate) use effects::{AnyEffects, EffectsBox, effects_mut, effects_ref, into_update};
pub(crate) use flow::{AnyFlow, Lane};
pub(crate) use state::{
    AnyState, CopyState, InputBox, StateBox, StateType, copy_of, input_of, into_state, state_mut,
    state_ref,
};
