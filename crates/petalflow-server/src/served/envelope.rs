//! Flows over an envelope: documents, and graphs that are built at run time.

use petalflow::interrupt::{Answer, Interrupt};
use petalflow::tool::schema;
use petalflow::{BoxError, Flow, Launch};
use petalflow_documents::kinds::{HumanQuestion, HumanResponse, RequestType};
use petalflow_documents::{Envelope, WireEnvelope};
use serde_json::{Value, json};

use super::facts::FlowKind;
use super::flow::ServedFlow;
use super::question::{AnswerBody, not_an_answer, unfit};
use crate::refusal::Refusal;

impl<F: Flow<State = Envelope>> ServedFlow<F> {
    /// A flow over an [`Envelope`], whose form in JSON is that of
    /// [`WireEnvelope`](petalflow_documents::WireEnvelope). Its questions to people can be answered.
    pub fn over_envelope(launch: Launch<F>) -> Self {
        served(launch)
    }
}

fn served<F: Flow<State = Envelope>>(launch: Launch<F>) -> ServedFlow<F> {
    let mut served = ServedFlow::reading(launch, |input| {
        let wire: WireEnvelope = serde_json::from_value(input)?;
        Ok(Envelope::try_from(wire)?.into())
    });
    served.forms.state = |state| Ok::<_, BoxError>(json!(WireEnvelope::from(state)));
    served.facts.kind = FlowKind::Document;
    served.facts.input = Some(input_schema());
    served.facts.state = Some(schema::of::<WireEnvelope>());
    let questions = &mut served.forms.questions;
    questions.add_read::<HumanQuestion>(answer_schema(), human);
    served
}

/// The schema of an envelope, with words for those who start a thread.
fn input_schema() -> Value {
    let mut schema = schema::of::<WireEnvelope>();
    schema["description"] = "The values that the nodes of the document read.".into();
    let fields = &mut schema["properties"];
    fields["input"]["description"] =
        "What the document works on, if its nodes read `input`.".into();
    fields["vars"]["description"] =
        "The variables, by name: `{{.name}}` in a template is the variable `name`.".into();
    schema
}

/// The fields of a [`HumanResponse`].
const FIELDS: [&str; 8] = [
    "approved",
    "choice",
    "data",
    "meta",
    "notes",
    "request_id",
    "responded_at",
    "responded_by",
];

/// The fields of an answer that a person fills.
fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": { "type": "boolean", "description": "Whether the request is approved." },
            "choice": { "type": "string", "description": "The id of the chosen option." },
            "data": { "description": "What the person wrote or changed." },
            "notes": { "type": "string" },
            "responded_by": { "type": "string" },
        },
    })
}

/// The answer to the question of a human node: its fields, or `answer` with them.
fn human(open: &Interrupt, body: AnswerBody) -> Result<Answer, Refusal> {
    let fields = if body.has("answer") {
        match body.answer()? {
            Value::Object(fields) => fields,
            other => return Err(not_an_answer(&format_args!("{other} is not an object"))),
        }
    } else {
        body.fields(&FIELDS)?
    };
    let decides = fields.contains_key("approved");
    let asks = open.question::<HumanQuestion>();
    if asks.is_some_and(|question| question.0.kind == RequestType::Approval) && !decides {
        return Err(unfit(
            "`approved` is missing: an approval is answered with `true` or `false`",
        ));
    }
    let response: HumanResponse =
        serde_json::from_value(Value::Object(fields)).map_err(|error| not_an_answer(&error))?;
    Ok(Answer::new::<HumanQuestion>(open.id, &Some(response))?)
}
