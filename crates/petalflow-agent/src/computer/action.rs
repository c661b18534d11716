//! What a model does at a computer, in the forms of the providers.

use std::time::Duration;

use serde_json::{Map, Value};

/// Something that a model does at a computer.
///
/// ```
/// use petalflow_agent::computer::{ComputerAction, MouseButton, Point};
///
/// let click = ComputerAction::Click { at: Some(Point { x: 10, y: 20 }), button: MouseButton::Left, times: 2, keys: Vec::new() };
/// assert!(matches!(click, ComputerAction::Click { times: 2, .. }));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ComputerAction {
    /// A click.
    Click {
        /// The place. `None`: where the pointer is.
        at: Option<Point>,
        /// The button.
        button: MouseButton,
        /// How often: 2 is a double click.
        times: u32,
        /// The keys that are held, as the model names them.
        keys: Vec<String>,
    },
    /// The pointer moves.
    Move {
        /// The place.
        to: Point,
    },
    /// The left button is held along this path.
    Drag {
        /// The places. The first is where the button is pressed, the last where it is released.
        path: Vec<Point>,
    },
    /// The left button is pressed where the pointer is, and held.
    MouseDown,
    /// The left button is released.
    MouseUp,
    /// The wheel turns.
    Scroll {
        /// The place. `None`: where the pointer is.
        at: Option<Point>,
        /// How far.
        by: ScrollBy,
        /// The keys that are held, as the model names them.
        keys: Vec<String>,
    },
    /// A text is typed.
    Type {
        /// The text.
        text: String,
    },
    /// Keys are pressed together.
    Keys {
        /// The keys, as the model names them, such as `ctrl` and `s`.
        keys: Vec<String>,
        /// How often.
        times: u32,
        /// How long they are held, if the model says so.
        hold: Option<Duration>,
    },
    /// Nothing is done for a while.
    Wait {
        /// How long, if the model says so.
        duration: Option<Duration>,
    },
    /// A key is pressed and held.
    KeyDown {
        /// The key, as the model names it.
        key: String,
    },
    /// A key is released.
    KeyUp {
        /// The key, as the model names it.
        key: String,
    },
    /// A browser is opened, if none is open.
    OpenBrowser,
    /// The browser goes to an address.
    Navigate {
        /// The address, which begins with `http://` or `https://`.
        url: String,
    },
    /// The browser goes to the home page of a search engine.
    OpenSearchEngine,
    /// The browser goes back in its history.
    GoBack,
    /// The browser goes forward in its history.
    GoForward,
    /// A finger is held on a screen.
    LongPress {
        /// The place.
        at: Point,
        /// How long.
        duration: Duration,
    },
    /// An app of a phone is opened.
    OpenApp {
        /// The name of the app.
        name: String,
    },
}

/// A place on a screenshot, in pixels from its upper left corner.
///
/// ```
/// use petalflow_agent::computer::Point;
///
/// assert_eq!(Point { x: 1, y: 2 }.y, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// From the left.
    pub x: i64,
    /// From the top.
    pub y: i64,
}

/// A button of a mouse.
///
/// ```
/// use petalflow_agent::computer::MouseButton;
///
/// assert_ne!(MouseButton::Left, MouseButton::Right);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MouseButton {
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// The middle one, or the wheel.
    Middle,
    /// The one that goes back.
    Back,
    /// The one that goes forward.
    Forward,
}

/// How far a wheel turns. Providers count in different units.
///
/// ```
/// use petalflow_agent::computer::ScrollBy;
///
/// assert_ne!(ScrollBy::Pixels { x: 0, y: 3 }, ScrollBy::Steps { x: 0, y: 3 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScrollBy {
    /// Pixels: positive is right and down.
    Pixels {
        /// To the right.
        x: i64,
        /// Down.
        y: i64,
    },
    /// Steps of the wheel: positive is right and down.
    Steps {
        /// To the right.
        x: i64,
        /// Down.
        y: i64,
    },
}

/// A step of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Act(ComputerAction),
    Screenshot,
}

/// The steps of a call, from its arguments: a list in OpenAI's form, or one action in Anthropic's. Older models of Anthropic name
/// the action in the field `action`.
///
/// # Errors
///
/// For the model, with what cannot be read.
pub(super) fn steps(arguments: &Value) -> Result<Vec<Step>, String> {
    if let Some(actions) = arguments["actions"].as_array() {
        return actions.iter().map(of_openai).collect();
    }
    if let Some(name) = arguments["action"].as_str() {
        let input = arguments.as_object().cloned().unwrap_or_default();
        // The oldest ones drag from where the pointer is.
        if name == "left_click_drag" && input.get("start_coordinate").is_none_or(Value::is_null) {
            let to = of_anthropic("mouse_move", &input)?;
            let [down, up] = [ComputerAction::MouseDown, ComputerAction::MouseUp].map(Step::Act);
            return Ok(vec![down, to, up]);
        }
        return Ok(vec![of_anthropic(name, &input)?]);
    }
    let only = arguments.as_object().and_then(|all| all.iter().next());
    let (name, input) = only.ok_or("the call has no action")?;
    let input = input.as_object().cloned().unwrap_or_default();
    Ok(vec![of_anthropic(name, &input)?])
}

fn of_openai(action: &Value) -> Result<Step, String> {
    let kind = action["type"].as_str().unwrap_or_default();
    let fields = action.as_object().cloned().unwrap_or_default();
    let place = |value: &Value| {
        let point = Point {
            x: value["x"].as_i64()?,
            y: value["y"].as_i64()?,
        };
        Some(point)
    };
    let at = || place(action).ok_or_else(|| missing(kind, "x` and `y"));
    let keys = || texts(&fields, "keys");
    let by = |name: &str| action[name].as_i64().unwrap_or(0);
    Ok(Step::Act(match kind {
        "screenshot" => return Ok(Step::Screenshot),
        "click" => ComputerAction::Click {
            at: Some(at()?),
            button: match action["button"].as_str() {
                Some("right") => MouseButton::Right,
                Some("wheel") => MouseButton::Middle,
                Some("back") => MouseButton::Back,
                Some("forward") => MouseButton::Forward,
                _ => MouseButton::Left,
            },
            times: 1,
            keys: keys(),
        },
        "double_click" => ComputerAction::Click {
            at: Some(at()?),
            button: MouseButton::Left,
            times: 2,
            keys: keys(),
        },
        "move" => ComputerAction::Move { to: at()? },
        "drag" => {
            let path = action["path"].as_array().into_iter().flatten();
            let path: Option<Vec<Point>> = path.map(place).collect();
            let path = path.filter(|path| path.len() > 1);
            ComputerAction::Drag {
                path: path.ok_or_else(|| missing(kind, "path"))?,
            }
        }
        "scroll" => ComputerAction::Scroll {
            at: Some(at()?),
            by: ScrollBy::Pixels {
                x: by("scroll_x"),
                y: by("scroll_y"),
            },
            keys: keys(),
        },
        "type" => ComputerAction::Type {
            text: text(&fields, kind, "text")?,
        },
        "keypress" => ComputerAction::Keys {
            keys: keys(),
            times: 1,
            hold: None,
        },
        "wait" => ComputerAction::Wait { duration: None },
        _ => return Err(unknown(kind)),
    }))
}

fn of_anthropic(name: &str, input: &Map<String, Value>) -> Result<Step, String> {
    let place = |field: &str| {
        let pair = input.get(field)?.as_array()?;
        Some(Point {
            x: pair.first()?.as_i64()?,
            y: pair.get(1)?.as_i64()?,
        })
    };
    let needed = |field: &str| place(field).ok_or_else(|| missing(name, field));
    let keys = || input.get("text").and_then(Value::as_str).map(split_keys);
    let duration = || {
        let seconds = input.get("duration").and_then(Value::as_f64)?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let click = |button: MouseButton, times: u32| ComputerAction::Click {
        at: place("coordinate"),
        button,
        times,
        keys: keys().unwrap_or_default(),
    };
    Ok(Step::Act(match name {
        "screenshot" => return Ok(Step::Screenshot),
        "left_click" => click(MouseButton::Left, 1),
        "right_click" => click(MouseButton::Right, 1),
        "middle_click" => click(MouseButton::Middle, 1),
        "double_click" => click(MouseButton::Left, 2),
        "triple_click" => click(MouseButton::Left, 3),
        "mouse_move" => ComputerAction::Move {
            to: needed("coordinate")?,
        },
        "left_click_drag" => ComputerAction::Drag {
            path: vec![needed("start_coordinate")?, needed("coordinate")?],
        },
        "left_mouse_down" => ComputerAction::MouseDown,
        "left_mouse_up" => ComputerAction::MouseUp,
        "scroll" => {
            let amount = input.get("scroll_amount").and_then(Value::as_i64);
            let amount = amount.ok_or_else(|| missing(name, "scroll_amount"))?;
            let (x, y) = match input.get("scroll_direction").and_then(Value::as_str) {
                Some("up") => (0, -amount),
                Some("down") => (0, amount),
                Some("left") => (-amount, 0),
                Some("right") => (amount, 0),
                _ => return Err(missing(name, "scroll_direction")),
            };
            ComputerAction::Scroll {
                at: place("coordinate"),
                by: ScrollBy::Steps { x, y },
                keys: keys().unwrap_or_default(),
            }
        }
        "type" => ComputerAction::Type {
            text: text(input, name, "text")?,
        },
        "key" | "hold_key" => {
            let times = input.get("repeat").and_then(Value::as_u64).unwrap_or(1);
            ComputerAction::Keys {
                keys: keys().ok_or_else(|| missing(name, "text"))?,
                times: u32::try_from(times).unwrap_or(u32::MAX),
                hold: duration(),
            }
        }
        "wait" => ComputerAction::Wait {
            duration: duration(),
        },
        _ => return Err(unknown(name)),
    }))
}

/// The keys of `ctrl+s`. The key `+` alone is a key.
pub(super) fn split_keys(keys: &str) -> Vec<String> {
    let parts = keys.split('+').map(str::trim).filter(|key| !key.is_empty());
    let parts: Vec<String> = parts.map(str::to_string).collect();
    if parts.is_empty() {
        vec![keys.to_string()]
    } else {
        parts
    }
}

pub(super) fn texts(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    let values = fields.get(name).and_then(Value::as_array);
    let texts = values.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_string).collect()
}

pub(super) fn text(
    fields: &Map<String, Value>,
    action: &str,
    name: &str,
) -> Result<String, String> {
    let text = fields.get(name).and_then(Value::as_str);
    text.map(str::to_string)
        .ok_or_else(|| missing(action, name))
}

pub(super) fn missing(action: &str, field: &str) -> String {
    format!("the action `{action}` has no `{field}`")
}

pub(super) fn unknown(action: &str) -> String {
    format!("this computer has no action `{action}`: use another one")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn only(arguments: &Value) -> Step {
        steps(arguments).unwrap().remove(0)
    }

    #[test]
    fn f44_5_the_forms_of_both_providers_are_the_same_actions() {
        let at = Some(Point { x: 10, y: 20 });
        let right = ComputerAction::Click {
            at,
            button: MouseButton::Right,
            times: 1,
            keys: vec!["CTRL".into()],
        };
        let pairs = [
            (
                json!({"actions": [{"type": "click", "button": "right", "x": 10, "y": 20, "keys": ["CTRL"]}]}),
                json!({"right_click": {"coordinate": [10, 20], "text": "CTRL"}}),
                right,
            ),
            (
                json!({"actions": [{"type": "double_click", "x": 10, "y": 20, "keys": null}]}),
                json!({"double_click": {"coordinate": [10, 20]}}),
                ComputerAction::Click {
                    at,
                    button: MouseButton::Left,
                    times: 2,
                    keys: Vec::new(),
                },
            ),
            (
                json!({"actions": [{"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}]}),
                json!({"left_click_drag": {"start_coordinate": [1, 2], "coordinate": [3, 4]}}),
                ComputerAction::Drag {
                    path: vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }],
                },
            ),
            (
                json!({"actions": [{"type": "keypress", "keys": ["ctrl", "s"]}]}),
                json!({"key": {"text": "ctrl+s"}}),
                ComputerAction::Keys {
                    keys: vec!["ctrl".into(), "s".into()],
                    times: 1,
                    hold: None,
                },
            ),
            (
                json!({"actions": [{"type": "type", "text": "a+b"}]}),
                json!({"type": {"text": "a+b"}}),
                ComputerAction::Type { text: "a+b".into() },
            ),
        ];
        for (of_openai, of_anthropic, action) in pairs {
            assert_eq!(only(&of_openai), Step::Act(action.clone()));
            assert_eq!(only(&of_anthropic), Step::Act(action));
        }
        let scroll =
            json!({"scroll": {"coordinate": [1, 2], "scroll_direction": "up", "scroll_amount": 3}});
        let steps_up = ScrollBy::Steps { x: 0, y: -3 };
        assert!(
            matches!(only(&scroll), Step::Act(ComputerAction::Scroll { by, .. }) if by == steps_up)
        );
        assert_eq!(only(&json!({"screenshot": {}})), Step::Screenshot);
    }

    #[test]
    fn f44_5_older_models_name_the_action_in_its_input() {
        for (input, in_set) in [
            (
                json!({"action": "left_click", "coordinate": [1, 2], "text": "shift"}),
                json!({"left_click": {"coordinate": [1, 2], "text": "shift"}}),
            ),
            (
                json!({"action": "triple_click"}),
                json!({"triple_click": {}}),
            ),
            (
                json!({"action": "key", "text": "ctrl+s"}),
                json!({"key": {"text": "ctrl+s"}}),
            ),
            (
                json!({"action": "hold_key", "text": "a", "duration": 2}),
                json!({"hold_key": {"text": "a", "duration": 2}}),
            ),
            (
                json!({"action": "scroll", "coordinate": [1, 2], "scroll_direction": "left", "scroll_amount": 3}),
                json!({"scroll": {"coordinate": [1, 2], "scroll_direction": "left", "scroll_amount": 3}}),
            ),
            (
                json!({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]}),
                json!({"left_click_drag": {"start_coordinate": [1, 2], "coordinate": [3, 4]}}),
            ),
            (json!({"action": "screenshot"}), json!({"screenshot": {}})),
        ] {
            assert_eq!(steps(&input), steps(&in_set), "{input}");
            assert_eq!(steps(&input).unwrap().len(), 1);
        }
        let drag = steps(&json!({"action": "left_click_drag", "coordinate": [3, 4]})).unwrap();
        let to = Point { x: 3, y: 4 };
        assert_eq!(
            drag,
            [
                ComputerAction::MouseDown,
                ComputerAction::Move { to },
                ComputerAction::MouseUp
            ]
            .map(Step::Act)
        );
        let error = steps(&json!({"action": "cursor_position"})).unwrap_err();
        assert_eq!(
            error,
            "this computer has no action `cursor_position`: use another one"
        );
    }

    #[test]
    fn f44_5_an_action_that_cannot_be_read_is_an_error_for_the_model() {
        let error = |arguments: Value| steps(&arguments).unwrap_err();
        assert_eq!(error(json!({})), "the call has no action");
        assert_eq!(
            error(json!({"zoom": {}})),
            "this computer has no action `zoom`: use another one"
        );
        assert_eq!(
            error(json!({"mouse_move": {"coordinate": [1]}})),
            "the action `mouse_move` has no `coordinate`"
        );
        assert_eq!(
            error(json!({"actions": [{"type": "click", "x": 1}]})),
            "the action `click` has no `x` and `y`"
        );
    }
}
