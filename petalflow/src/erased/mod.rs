//! A state and the effects of a node without their types: what the engine knows of a program.
//!
//! The engine (`exec`, `superstep`, `durable`, `engine`) is compiled once, in this crate. So it has no type parameter for the
//! types of a program. It holds values behind `dyn`, and calls the functions that [`State`](crate::State),
//! [`Effects`](crate::node::Effects) and, in `flow::any_flow`, [`Flow`](crate::Flow) give it. The public types, such as
//! [`Launch`](crate::Launch), [`Run`](crate::Run) and [`Thread`](crate::thread::Thread), are thin: they put typed values into
//! a box, and take them out with a downcast.

mod kept_states;
mod state;
mod turn;

pub(crate) use kept_states::KeptStates;
pub(crate) use state::{
    AnyCodec, AnyEffects, AnyState, CopyState, EffectsBox, InputBox, StateBox, StateType, copy_of,
    effects_mut, effects_ref, input_of, into_state, into_update, state_mut, state_ref,
};
pub(crate) use turn::{apply_input, begin_turn};
