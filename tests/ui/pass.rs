//! Correct programs that are similar to those in `*/fail`, as modules of one crate: it compiles, and their tests pass.
//!
//! A program that must be the root of a crate is a target of its own in `Cargo.toml`.

#[path = "ask/pass/answer_in_the_call.rs"]
pub mod ask_answer_in_the_call;
#[path = "ask/pass/near.rs"]
pub mod ask_near;
#[path = "conversation/pass/age.rs"]
pub mod conversation_age;
#[path = "conversation/pass/order.rs"]
pub mod conversation_order;
#[path = "conversation/pass/warning.rs"]
pub mod conversation_warning;
#[path = "documents/pass/names_and_visibility.rs"]
pub mod documents_names_and_visibility;
#[path = "flow/pass/near_cycles.rs"]
pub mod flow_near_cycles;
#[path = "flow/pass/near_items.rs"]
pub mod flow_near_items;
#[path = "flow/pass/near_joins.rs"]
pub mod flow_near_joins;
#[path = "flow/pass/near_keys.rs"]
pub mod flow_near_keys;
#[path = "flow/pass/near_language.rs"]
pub mod flow_near_language;
#[path = "flow/pass/near_nodes.rs"]
pub mod flow_near_nodes;
#[path = "flow/pass/near_options.rs"]
pub mod flow_near_options;
#[path = "flow/pass/near_shape.rs"]
pub mod flow_near_shape;
#[path = "flow/pass/near_typing.rs"]
pub mod flow_near_typing;
#[path = "flow/pass/near_values.rs"]
pub mod flow_near_values;
#[path = "interrupt/pass/near.rs"]
pub mod interrupt_near;
#[path = "node/pass/generic_values.rs"]
pub mod node_generic_values;
#[path = "node/pass/named_like_a_crate.rs"]
pub mod node_named_like_a_crate;
#[path = "node/pass/named_like_things.rs"]
pub mod node_named_like_things;
#[path = "node/pass/one_name_in_two_scopes.rs"]
pub mod node_one_name_in_two_scopes;
#[path = "node/pass/shapes.rs"]
pub mod node_shapes;
#[path = "node/pass/value.rs"]
pub mod node_value;
#[path = "route/pass/payloads.rs"]
pub mod route_payloads;
#[path = "state/pass/in_function.rs"]
pub mod state_in_function;
#[path = "state/pass/near_versions.rs"]
pub mod state_near_versions;
#[path = "state/pass/no_default_for_input.rs"]
pub mod state_no_default_for_input;
#[path = "state/pass/options.rs"]
pub mod state_options;
#[path = "state/pass/own_cell.rs"]
pub mod state_own_cell;
#[path = "state/pass/owned_texts.rs"]
pub mod state_owned_texts;
#[path = "state/pass/private_types.rs"]
pub mod state_private_types;
#[path = "state/pass/volatile.rs"]
pub mod state_volatile;
#[path = "tool/pass/everything.rs"]
pub mod tool_everything;
#[path = "tool/pass/no_prelude.rs"]
pub mod tool_no_prelude;

/// As a text, so that it has the lines of the README and not those of rustfmt.
pub mod readme_essay {
    include!("readme/pass/essay.rs");

    #[test]
    fn the_essay_is_written() -> petalflow::Result<()> {
        main()
    }
}
