//! A function of any form, with the places of its parts in the document.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{Function, Offered, Parameters};
use crate::source::Pointer;

/// The fields in which a provider, or the runtime, has the schema of a function's arguments. One that the form of a function
/// does not read is an error, because the model would be offered other arguments than the document says.
pub(crate) const UNREAD: [&str; 12] = [
    "properties",
    "required",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "input_schema",
    "inputSchema",
    "json_schema",
    "function",
    "function_declarations",
    "functionDeclarations",
    "toolSpec",
];

/// A function, with the places of its parts.
pub(crate) struct Described<'o> {
    pub(crate) function: Cow<'o, Function>,
    /// The object that has its name.
    pub(crate) at: Pointer,
    /// The object that has its `handler` and its `transition_to`.
    pub(crate) code_at: Pointer,
    /// The field that has the schema of its arguments, and the place of the schema. Without it, `properties` and `required` are
    /// beside its name.
    pub(crate) schema: Option<(&'static str, Pointer)>,
    /// The objects around it, with their places, the field that the function is in, and other fields.
    pub(crate) around: Vec<(Pointer, &'static str, &'o Map<String, Value>)>,
}

impl Offered {
    /// The functions. `at` is the place of the whole.
    pub(crate) fn described(&self, at: &Pointer) -> Vec<Described<'_>> {
        match self {
            Offered::Tool(tool) => vec![Described {
                around: vec![(at.clone(), "function", &tool.extra)],
                ..declared(&tool.function, at.name("function"))
            }],
            Offered::Gemini(tool) => {
                let declarations = tool.function_declarations.iter().enumerate();
                let list = at.name("function_declarations");
                declarations
                    .map(|(index, function)| Described {
                        around: match index {
                            0 => vec![(at.clone(), "function_declarations", &tool.extra)],
                            _ => Vec::new(),
                        },
                        ..declared(function, list.item(index))
                    })
                    .collect()
            }
            Offered::Bedrock(tool) => {
                let (spec, spec_at) = (&tool.spec, at.name("toolSpec"));
                let schema_at = spec_at.name("inputSchema");
                let mut around = vec![(at.clone(), "toolSpec", &tool.extra)];
                if let Some(schema) = &spec.input_schema {
                    around.push((schema_at.clone(), "json", &schema.extra));
                }
                vec![Described {
                    function: Cow::Owned(Function {
                        name: spec.name.clone(),
                        description: spec.description.clone(),
                        parameters: spec.input_schema.as_ref().map(|it| it.json.clone()),
                        handler: tool.handler.clone(),
                        transition_to: tool.transition_to.clone(),
                        extra: spec.extra.clone(),
                    }),
                    at: spec_at,
                    code_at: at.clone(),
                    schema: Some(("inputSchema", schema_at.name("json"))),
                    around,
                }]
            }
            Offered::Anthropic(function) => {
                let at_schema = at.name("input_schema");
                let (schema, schema_at) = match nested(&function.input_schema) {
                    Some(nested) => (nested, at_schema.name("json")),
                    None => (function.input_schema.clone(), at_schema),
                };
                vec![beside(
                    Function {
                        name: function.name.clone(),
                        description: function.description.clone(),
                        parameters: Some(schema),
                        handler: function.handler.clone(),
                        transition_to: function.transition_to.clone(),
                        extra: function.extra.clone(),
                    },
                    at,
                    Some(("input_schema", schema_at)),
                )]
            }
            Offered::Flat(function) => vec![beside(
                Function {
                    name: function.name.clone(),
                    description: function.description.clone(),
                    parameters: Some(function.parameters.clone()),
                    handler: function.handler.clone(),
                    transition_to: function.transition_to.clone(),
                    extra: function.extra.clone(),
                },
                at,
                Some(("parameters", at.name("parameters"))),
            )],
            Offered::Plain(plain) => vec![beside(
                Function {
                    name: plain.name.clone(),
                    description: plain.description.clone(),
                    parameters: Some(Parameters {
                        properties: plain.properties.clone(),
                        required: plain.required.clone(),
                        extra: Map::new(),
                    }),
                    handler: plain.handler.clone(),
                    transition_to: plain.transition_to.clone(),
                    extra: plain.extra.clone(),
                },
                at,
                None,
            )],
        }
    }
}

/// A function that has its schema in `parameters`.
fn declared(function: &Function, at: Pointer) -> Described<'_> {
    Described {
        function: Cow::Borrowed(function),
        code_at: at.clone(),
        schema: Some(("parameters", at.name("parameters"))),
        at,
        around: Vec::new(),
    }
}

fn beside(
    function: Function,
    at: &Pointer,
    schema: Option<(&'static str, Pointer)>,
) -> Described<'static> {
    Described {
        function: Cow::Owned(function),
        at: at.clone(),
        code_at: at.clone(),
        schema,
        around: Vec::new(),
    }
}

/// The schema in `json`, as Bedrock has it.
fn nested(schema: &Parameters) -> Option<Parameters> {
    let json = schema.extra.get("json")?;
    let is_alone = schema.properties.is_empty() && schema.required.is_none();
    Parameters::deserialize(json).ok().filter(|_| is_alone)
}
