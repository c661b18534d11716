//! The tools of the agent, and their schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Result;
use crate::model::ToolCall;

/// An order of a customer.
#[derive(Debug, Serialize)]
struct Order {
    product: &'static str,
    cents: u64,
}

#[derive(Deserialize)]
struct FindOrder {
    number: u32,
}

fn find_order(FindOrder { number }: FindOrder) -> Result<Order> {
    match number {
        17 => Ok(Order {
            product: "vase",
            cents: 2_900,
        }),
        18 => Ok(Order {
            product: "seeds",
            cents: 400,
        }),
        _ => Err(format!("there is no order {number}").into()),
    }
}

#[derive(Deserialize)]
struct ReturnPolicy {
    product: String,
}

fn return_policy(ReturnPolicy { product }: ReturnPolicy) -> String {
    match product.as_str() {
        "seeds" => "seeds cannot be returned".into(),
        _ => format!("a {product} can be returned within 30 days"),
    }
}

/// What the model reads about the tools.
pub fn schemas() -> Value {
    json!([
        schema(
            "find_order",
            "Finds an order.",
            &json!({
                "number": { "type": "integer", "minimum": 0, "description": "The number of the order." },
            })
        ),
        schema(
            "return_policy",
            "Says when a product can be returned.",
            &json!({
                "product": { "type": "string", "description": "The name of the product." },
            })
        ),
    ])
}

fn schema(name: &str, description: &str, properties: &Value) -> Value {
    let required: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(|it| it.keys())
        .collect();
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// The result for the model. An error is a result too.
pub fn call(call: &ToolCall) -> String {
    let arguments = call.function.arguments.as_str();
    let result = match call.function.name.as_str() {
        "find_order" => parse(arguments)
            .and_then(find_order)
            .map(|order| json!(order)),
        "return_policy" => parse(arguments).map(return_policy).map(Value::from),
        name => Err(format!("there is no tool `{name}`").into()),
    };
    result
        .unwrap_or_else(|error| json!({ "error": error.to_string() }))
        .to_string()
}

fn parse<'a, T: Deserialize<'a>>(arguments: &'a str) -> Result<T> {
    Ok(serde_json::from_str(arguments)?)
}
