//! Functions in the forms of the tools of each provider.

use petalflow_document_model::conversations::legacy::StaticFlow;
use petalflow_document_model::conversations::{Document, Handler, Next, Source, check};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "option": { "type": "string", "enum": ["book", "contact"] } },
        "required": ["option"],
    })
}

fn document(functions: Value) -> Value {
    json!({
        "initial_node": "start",
        "nodes": {
            "start": { "task_messages": [{ "role": "system", "content": "Ask." }], "functions": functions },
            "end": { "task_messages": [{ "role": "system", "content": "Bye." }] },
        },
    })
}

/// The function `pick` in each form, without a handler.
fn forms() -> Vec<(&'static str, Value)> {
    let schema = schema();
    vec![
        (
            "OpenAI's chat completions",
            json!({ "type": "function", "function": {
                "name": "pick", "description": "Picks.", "parameters": schema, "transition_to": "end" } }),
        ),
        (
            "OpenAI's responses",
            json!({ "type": "function", "name": "pick", "description": "Picks.", "parameters": schema,
                "strict": true, "transition_to": "end" }),
        ),
        (
            "Anthropic",
            json!({ "name": "pick", "description": "Picks.", "input_schema": schema, "transition_to": "end" }),
        ),
        (
            "Gemini",
            json!({ "function_declarations": [{
                "name": "pick", "description": "Picks.", "parameters": schema, "transition_to": "end" }] }),
        ),
        (
            "one declaration of Gemini",
            json!({ "name": "pick", "description": "Picks.", "parameters": schema, "transition_to": "end" }),
        ),
        (
            "Bedrock",
            json!({ "toolSpec": { "name": "pick", "description": "Picks.", "inputSchema": { "json": schema } },
                "transition_to": "end" }),
        ),
        (
            "Anthropic on Bedrock",
            json!({ "name": "pick", "description": "Picks.", "input_schema": { "json": schema },
                "transition_to": "end" }),
        ),
        (
            "the runtime",
            json!({ "name": "pick", "description": "Picks.", "properties": schema["properties"],
                "required": schema["required"], "transition_to": "end" }),
        ),
    ]
}

/// A schema is written with its properties, also where they are in `json`.
fn written(flow: &StaticFlow, form: &str) -> Value {
    let mut value = serde_json::to_value(flow).unwrap();
    if form == "Anthropic on Bedrock" {
        let schema = &mut value["nodes"]["start"]["functions"][0]["input_schema"];
        assert_eq!(
            schema.as_object_mut().unwrap().remove("properties"),
            Some(json!({}))
        );
    }
    value
}

#[test]
fn f45_the_schema_of_each_provider_is_read() {
    for (form, function) in forms() {
        let value = document(json!([function]));
        let source = Source::new("menu.json", value.to_string());
        let checked = check(&source).unwrap_or_else(|errors| panic!("{form}: {errors}"));
        assert!(checked.warnings.is_empty(), "{form}: {}", checked.warnings);
        let Document::Static(flow) = &checked.document else {
            panic!("{form}: {:?}", checked.document);
        };
        assert_eq!(written(flow, form), value, "{form}");
        let [read] = &checked.conversation.nodes["start"].functions[..] else {
            panic!("{form}: one function");
        };
        assert_eq!(read.name, "pick", "{form}");
        assert_eq!(read.description.as_deref(), Some("Picks."), "{form}");
        assert_eq!(read.handler, Handler::Named("pick".into()), "{form}");
        assert_eq!(read.next, Next::Node("end".into()), "{form}");
        let parameters = read.parameters.as_ref().unwrap();
        assert_eq!(parameters.schema(), schema(), "{form}");
    }
}

#[test]
fn f45_one_tool_of_gemini_declares_several_functions() {
    let tool = json!({ "function_declarations": [
        { "name": "pick", "parameters": schema(), "handler": "pick_one" },
        { "name": "leave", "transition_to": "end" },
    ] });
    let source = Source::new("menu.json", document(json!([tool])).to_string());
    let checked = check(&source).unwrap_or_else(|errors| panic!("{errors}"));
    let functions = &checked.conversation.nodes["start"].functions;
    let names: Vec<&str> = functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["pick", "leave"]);
    assert_eq!(functions[0].handler, Handler::Named("pick_one".into()));
    assert_eq!(functions[1].handler, Handler::Nothing);
    // What is not in the new form is named, and the type of an object is in each form.
    assert!(
        checked
            .to_config()
            .dropped
            .iter()
            .all(|it| !it.pointer.as_str().contains("type"))
    );
}

/// The code, the place and the words of each mistake.
fn mistakes(functions: Value) -> Vec<String> {
    let source = Source::new("menu.json", document(functions).to_string());
    let found = check(&source).unwrap_err();
    let lines = found
        .iter()
        .map(|it| format!("{} {} {}", it.code.as_str(), it.pointer, it.message));
    lines.collect()
}

#[test]
fn f45_a_schema_that_nothing_reads_is_an_error() {
    let at = "/nodes/start/functions/0";
    let schema = schema();
    for (function, expected) in [
        (
            json!({ "name": "pick", "handler": "pick", "inputSchema": schema }),
            format!(
                "CV-005 {at}/inputSchema function 'pick' has `inputSchema`, which is not read, so arguments would not be checked; \
                 write its `properties` and `required` beside the name of the function"
            ),
        ),
        (
            json!({ "name": "pick", "parametersJsonSchema": schema }),
            format!(
                "CV-005 {at}/parametersJsonSchema function 'pick' has `parametersJsonSchema`, which is not read, so arguments would \
                 not be checked; write its `properties` and `required` beside the name of the function"
            ),
        ),
        (
            json!({ "name": "pick", "parameters": schema, "input_schema": schema }),
            format!(
                "CV-005 {at}/parameters function 'pick' has `parameters` beside `input_schema`; write it into `input_schema`"
            ),
        ),
        (
            json!({ "type": "function", "function": { "name": "pick" }, "parameters": schema }),
            format!(
                "CV-005 {at}/parameters function 'pick' has `parameters` beside `function`; write it into `function`"
            ),
        ),
        (
            json!({ "function_declarations": [{ "name": "pick", "parameters": schema }], "handler": "pick" }),
            format!(
                "CV-005 {at}/handler function 'pick' has `handler` beside `function_declarations`; write it into \
                 `function_declarations`"
            ),
        ),
    ] {
        assert_eq!(mistakes(json!([function])), [expected]);
    }
}

#[test]
fn f45_mistakes_are_at_the_fields_of_the_form_that_was_meant() {
    let at = "/nodes/start/functions/0";
    let required = json!({ "properties": {}, "required": ["size"] });
    for (function, expected) in [
        (
            json!({ "function_declarations": [{ "nam": "pick" }] }),
            format!(
                "CV-105 {at}/function_declarations/0/nam there is no field `nam`; did you mean `name`?"
            ),
        ),
        (
            json!({ "functionDeclarations": [{ "name": "pick" }] }),
            format!(
                "CV-105 {at}/functionDeclarations there is no field `functionDeclarations`; did you mean `function_declarations`?"
            ),
        ),
        (
            json!({ "function_declarations": [{ "name": "pick", "parameters": required }] }),
            format!(
                "CV-007 {at}/function_declarations/0/parameters/required/0 function 'pick' requires 'size', which is not in its \
                 properties"
            ),
        ),
        (
            json!({ "toolSpec": { "name": "pick", "inputSchema": { "json": required } } }),
            format!(
                "CV-007 {at}/toolSpec/inputSchema/json/required/0 function 'pick' requires 'size', which is not in its properties"
            ),
        ),
        (
            json!({ "toolSpec": { "name": "pick" }, "transition_to": "ende" }),
            format!(
                "CV-002 {at}/transition_to node 'start' function 'pick' transitions to unknown node 'ende'; did you mean `end`?"
            ),
        ),
    ] {
        let found = mistakes(json!([function]));
        assert_eq!(found.len(), 1, "{found:?}");
        let (code, expected) = expected.split_once(' ').unwrap();
        assert!(
            found[0].ends_with(expected),
            "{code} {expected}\n{}",
            found[0]
        );
    }
}

#[test]
fn f45_a_function_that_declares_itself_keeps_its_form() {
    // A declarative document with a mistake is not taken for a static one.
    let mut value = document(json!([
        { "name": "pick", "parameters": schema(), "transition_to": { "field": "kind", "cases": { "a": "end" } } },
    ]));
    let found = check(&Source::new("menu.json", value.to_string())).unwrap_err();
    assert_eq!(found.iter().count(), 1);
    assert!(
        found.to_string().contains("there is no field `parameters`"),
        "{found}"
    );
    value["nodes"]["start"]["functions"] = json!([{ "name": "pick", "transition_to": "end" }]);
    let checked = check(&Source::new("menu.json", value.to_string())).unwrap();
    assert!(matches!(checked.document, Document::Config(_)));
}

#[test]
fn f45_a_schema_that_the_editors_form_does_not_read_is_an_error() {
    let value = json!({
        "meta": { "name": "menu", "version": "1" },
        "nodes": [{ "id": "start", "type": "initial", "position": { "x": 0, "y": 0 }, "data": {
            "task_messages": [{ "role": "system", "content": "Ask." }],
            "functions": [{ "name": "pick", "description": "Picks.", "input_schema": schema() }],
        } }],
        "edges": [],
    });
    let found = check(&Source::new("menu.json", value.to_string())).unwrap_err();
    assert!(
        found
            .to_string()
            .contains("function 'pick' has `input_schema`, which is not read"),
        "{found}"
    );
}

#[test]
fn f45_documents_with_a_schema_are_written_as_they_were_read() {
    for (form, function) in forms() {
        let value = document(json!([function]));
        let flow: StaticFlow = serde_json::from_value(value.clone()).unwrap();
        assert!(flow.findings().is_empty(), "{form}: {:?}", flow.findings());
        assert_eq!(written(&flow, form), value, "{form}");
    }
}
