//! The actions of Gemini, whose coordinates are thousandths of the screenshot.

use std::time::Duration;

use serde_json::{Map, Value};

use super::action::{
    ComputerAction, MouseButton, Point, ScrollBy, Step, missing, split_keys, text, texts, unknown,
};

/// How far `scroll_at` turns the wheel if the model does not say it, in thousandths of the screenshot.
const SCROLL_AT: f64 = 800.0;
/// How far `scroll` turns it, in pixels.
const SCROLL: i64 = 300;

/// The calls of functions in the arguments of a call.
pub(super) fn calls(arguments: &Value) -> Option<&[Value]> {
    Some(arguments.get("calls")?.as_array()?)
}

/// The steps of the call of a function, on screenshots of this size in pixels.
///
/// # Errors
///
/// For the model, with what cannot be read.
pub(super) fn steps(call: &Value, (width, height): (u32, u32)) -> Result<Vec<Step>, String> {
    let name = call["name"].as_str().unwrap_or_default();
    let empty = Map::new();
    let args = call["args"].as_object().unwrap_or(&empty);
    let within = |field: &str, size: u32| {
        let place = scaled(args.get(field)?.as_f64()?, size);
        Some(place.clamp(0, i64::from(size.saturating_sub(1))))
    };
    let place = |x: &str, y: &str| {
        Some(Point {
            x: within(x, width)?,
            y: within(y, height)?,
        })
    };
    let at = || place("x", "y").ok_or_else(|| missing(name, "x` and `y"));
    let flag = |field: &str, or: bool| args.get(field).and_then(Value::as_bool).unwrap_or(or);
    let seconds = |or: f64| {
        let seconds = args.get("seconds").and_then(Value::as_f64).unwrap_or(or);
        Duration::try_from_secs_f64(seconds).map_err(|_| missing(name, "seconds"))
    };
    let click = |button: MouseButton, times: u32| {
        Ok::<_, String>(ComputerAction::Click {
            at: Some(at()?),
            button,
            times,
            keys: Vec::new(),
        })
    };
    let only = |action: ComputerAction| vec![action];
    let actions = match name {
        "take_screenshot" => return Ok(vec![Step::Screenshot]),
        "open_web_browser" => only(ComputerAction::OpenBrowser),
        "search" => only(ComputerAction::OpenSearchEngine),
        "go_back" => only(ComputerAction::GoBack),
        "go_forward" => only(ComputerAction::GoForward),
        "navigate" => only(ComputerAction::Navigate {
            url: address(&text(args, name, "url")?)?,
        }),
        "click_at" | "click" => only(click(MouseButton::Left, 1)?),
        "double_click" => only(click(MouseButton::Left, 2)?),
        "triple_click" => only(click(MouseButton::Left, 3)?),
        "middle_click" => only(click(MouseButton::Middle, 1)?),
        "right_click" => only(click(MouseButton::Right, 1)?),
        "hover_at" | "move" => only(ComputerAction::Move { to: at()? }),
        "mouse_down" => vec![
            ComputerAction::Move { to: at()? },
            ComputerAction::MouseDown,
        ],
        "mouse_up" => vec![ComputerAction::Move { to: at()? }, ComputerAction::MouseUp],
        "long_press" => only(ComputerAction::LongPress {
            at: at()?,
            duration: seconds(2.0)?,
        }),
        "drag_and_drop" => {
            let from = place("start_x", "start_y").or_else(|| place("x", "y"));
            let to = place("end_x", "end_y").or_else(|| place("destination_x", "destination_y"));
            let path = from
                .zip(to)
                .ok_or_else(|| missing(name, "start` and `end"))?;
            only(ComputerAction::Drag {
                path: vec![path.0, path.1],
            })
        }
        "type_text_at" => {
            let mut actions = only(click(MouseButton::Left, 1)?);
            if flag("clear_before_typing", true) {
                actions.extend([keys(["control", "a"]), keys(["delete"])]);
            }
            actions.extend(typed(args, name, flag("press_enter", true))?);
            actions
        }
        "type" => typed(args, name, flag("press_enter", false))?,
        "press_key" => only(keys([text(args, name, "key")?])),
        "key_down" => only(ComputerAction::KeyDown {
            key: text(args, name, "key")?,
        }),
        "key_up" => only(ComputerAction::KeyUp {
            key: text(args, name, "key")?,
        }),
        "hotkey" | "key_combination" => only(pressed(args, name)?),
        "scroll_document" => only(scroll_document(args, name, width)?),
        "scroll_at" | "scroll" => only(scroll(args, name, at()?, (width, height))?),
        "wait_5_seconds" => only(ComputerAction::Wait {
            duration: Some(Duration::from_secs(5)),
        }),
        "wait" => only(ComputerAction::Wait {
            duration: Some(seconds(1.0)?),
        }),
        "open_app" => only(ComputerAction::OpenApp {
            name: text(args, name, "app_name")?,
        }),
        _ => return Err(unknown(name)),
    };
    Ok(actions.into_iter().map(Step::Act).collect())
}

/// The page turns as far as it is seen, as in Google's reference implementation.
fn scroll_document(
    args: &Map<String, Value>,
    name: &str,
    width: u32,
) -> Result<ComputerAction, String> {
    Ok(match direction(args, name)? {
        (0, y) if y < 0 => keys(["pageup"]),
        (0, _) => keys(["pagedown"]),
        (x, _) => ComputerAction::Scroll {
            at: None,
            by: ScrollBy::Pixels {
                x: x * i64::from(width / 2),
                y: 0,
            },
            keys: Vec::new(),
        },
    })
}

fn scroll(
    args: &Map<String, Value>,
    name: &str,
    at: Point,
    (width, height): (u32, u32),
) -> Result<ComputerAction, String> {
    let (x, y) = direction(args, name)?;
    let number = |field: &str| args.get(field).and_then(Value::as_f64);
    let by = if let Some(clicks) = number("magnitude_in_wheel_clicks") {
        let steps = pixels(clicks);
        ScrollBy::Steps {
            x: x * steps,
            y: y * steps,
        }
    } else {
        let size = if y == 0 { width } else { height };
        let far = match name {
            "scroll" => number("magnitude_in_pixels").map_or(SCROLL, pixels),
            _ => scaled(number("magnitude").unwrap_or(SCROLL_AT), size),
        };
        ScrollBy::Pixels {
            x: x * far,
            y: y * far,
        }
    };
    Ok(ComputerAction::Scroll {
        at: Some(at),
        by,
        keys: Vec::new(),
    })
}

/// Thousandths of this size, in pixels.
fn scaled(thousandths: f64, size: u32) -> i64 {
    pixels(thousandths / 1000.0 * f64::from(size))
}

/// The keys that are pressed together.
fn pressed(args: &Map<String, Value>, name: &str) -> Result<ComputerAction, String> {
    let pressed = match args.get("keys").and_then(Value::as_str) {
        Some(text) => split_keys(text),
        None => texts(args, "keys"),
    };
    if pressed.is_empty() {
        return Err(missing(name, "keys"));
    }
    Ok(keys(pressed))
}

/// A text that is typed, and perhaps the key after it.
fn typed(
    args: &Map<String, Value>,
    name: &str,
    enter: bool,
) -> Result<Vec<ComputerAction>, String> {
    let text = text(args, name, "text")?;
    let enter = enter.then(|| keys(["enter"]));
    Ok([ComputerAction::Type { text }]
        .into_iter()
        .chain(enter)
        .collect())
}

fn keys<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> ComputerAction {
    ComputerAction::Keys {
        keys: keys.into_iter().map(Into::into).collect(),
        times: 1,
        hold: None,
    }
}

/// The direction as the signs of `x` and `y`.
fn direction(args: &Map<String, Value>, name: &str) -> Result<(i64, i64), String> {
    match args.get("direction").and_then(Value::as_str) {
        Some("up") => Ok((0, -1)),
        Some("down") => Ok((0, 1)),
        Some("left") => Ok((-1, 0)),
        Some("right") => Ok((1, 0)),
        _ => Err(missing(name, "direction")),
    }
}

/// An address of the web. Others would read files of the computer.
fn address(url: &str) -> Result<String, String> {
    let url = url.trim();
    match url.split_once("://") {
        None => Ok(format!("https://{url}")),
        Some((scheme, _))
            if ["http", "https"]
                .iter()
                .any(|it| scheme.eq_ignore_ascii_case(it)) =>
        {
            Ok(url.to_string())
        }
        Some(_) => Err(format!(
            "the browser does not open `{url}`: use an address that begins with `https://` or `http://`"
        )),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast saturates, and a place is clamped"
)]
fn pixels(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SIZE: (u32, u32) = (1280, 800);

    fn acts(name: &str, args: Value) -> Vec<ComputerAction> {
        let steps = steps(&json!({"name": name, "args": args}), SIZE).unwrap();
        let acts = steps.into_iter().map(|step| match step {
            Step::Act(action) => action,
            Step::Screenshot => panic!("`{name}` is a screenshot"),
        });
        acts.collect()
    }

    fn click(x: i64, y: i64) -> ComputerAction {
        ComputerAction::Click {
            at: Some(Point { x, y }),
            button: MouseButton::Left,
            times: 1,
            keys: Vec::new(),
        }
    }

    fn scroll(at: Option<(i64, i64)>, by: ScrollBy) -> ComputerAction {
        ComputerAction::Scroll {
            at: at.map(|(x, y)| Point { x, y }),
            by,
            keys: Vec::new(),
        }
    }

    #[test]
    fn f44_5_coordinates_of_gemini_are_thousandths_of_the_screenshot() {
        for (x, y, expected) in [
            (500.0, 250.0, (640, 200)),
            (0.0, 0.0, (0, 0)),
            (999.0, 999.0, (1278, 799)),
            // Outside of the screen.
            (1000.0, 4000.0, (1279, 799)),
            (-5.0, 1.5, (0, 1)),
        ] {
            let expected = [click(expected.0, expected.1)];
            for name in ["click", "click_at"] {
                assert_eq!(acts(name, json!({"x": x, "y": y})), expected, "{x} {y}");
            }
        }
    }

    #[test]
    fn f44_5_both_generations_of_gemini_name_the_same_actions() {
        let to = Point { x: 128, y: 160 };
        let at = json!({"x": 100, "y": 200, "intent": "Look at it."});
        let path = vec![to, Point { x: 640, y: 400 }];
        for (older, newer, expected) in [
            (
                ("click_at", at.clone()),
                ("click", at.clone()),
                vec![click(128, 160)],
            ),
            (
                ("hover_at", at.clone()),
                ("move", at.clone()),
                vec![ComputerAction::Move { to }],
            ),
            (
                (
                    "drag_and_drop",
                    json!({"x": 100, "y": 200, "destination_x": 500, "destination_y": 500}),
                ),
                (
                    "drag_and_drop",
                    json!({"start_x": 100, "start_y": 200, "end_x": 500, "end_y": 500}),
                ),
                vec![ComputerAction::Drag { path }],
            ),
            (
                ("key_combination", json!({"keys": "Control+A"})),
                ("hotkey", json!({"keys": ["Control", "A"]})),
                vec![keys(["Control", "A"])],
            ),
            (
                ("wait_5_seconds", json!({})),
                ("wait", json!({"seconds": 5})),
                vec![ComputerAction::Wait {
                    duration: Some(Duration::from_secs(5)),
                }],
            ),
            (
                (
                    "scroll_at",
                    json!({"x": 100, "y": 200, "direction": "up", "magnitude": 500}),
                ),
                (
                    "scroll",
                    json!({"x": 100, "y": 200, "direction": "up", "magnitude_in_pixels": 400}),
                ),
                vec![scroll(Some((128, 160)), ScrollBy::Pixels { x: 0, y: -400 })],
            ),
        ] {
            assert_eq!(acts(older.0, older.1.clone()), expected, "{}", older.0);
            assert_eq!(acts(newer.0, newer.1.clone()), expected, "{}", newer.0);
        }
    }

    #[test]
    fn f44_5_what_a_model_of_gemini_leaves_out_has_the_default_of_google() {
        let clear = [keys(["control", "a"]), keys(["delete"])];
        let text = ComputerAction::Type { text: "hi".into() };
        let at = json!({"x": 100, "y": 200, "text": "hi"});
        let mut all = vec![click(128, 160)];
        all.extend(clear);
        all.extend([text.clone(), keys(["enter"])]);
        assert_eq!(acts("type_text_at", at), all);
        let only = json!({"x": 100, "y": 200, "text": "hi", "press_enter": false, "clear_before_typing": false});
        assert_eq!(acts("type_text_at", only), [click(128, 160), text.clone()]);
        assert_eq!(
            acts("type", json!({"text": "hi"})),
            std::slice::from_ref(&text)
        );
        let with_enter = json!({"text": "hi", "press_enter": true});
        assert_eq!(acts("type", with_enter), [text, keys(["enter"])]);
        let at = json!({"x": 100, "y": 200, "direction": "right"});
        let far = scroll(Some((128, 160)), ScrollBy::Pixels { x: 1024, y: 0 });
        assert_eq!(acts("scroll_at", at.clone()), [far]);
        let far = scroll(Some((128, 160)), ScrollBy::Pixels { x: 300, y: 0 });
        assert_eq!(acts("scroll", at), [far]);
        let clicks =
            json!({"x": 100, "y": 200, "direction": "down", "magnitude_in_wheel_clicks": 5});
        let far = scroll(Some((128, 160)), ScrollBy::Steps { x: 0, y: 5 });
        assert_eq!(acts("scroll", clicks), [far]);
        assert_eq!(
            acts("scroll_document", json!({"direction": "down"})),
            [keys(["pagedown"])]
        );
        assert_eq!(
            acts("scroll_document", json!({"direction": "up"})),
            [keys(["pageup"])]
        );
        let far = scroll(None, ScrollBy::Pixels { x: -640, y: 0 });
        assert_eq!(acts("scroll_document", json!({"direction": "left"})), [far]);
        let second = Some(Duration::from_secs(1));
        assert_eq!(
            acts("wait", json!({})),
            [ComputerAction::Wait { duration: second }]
        );
        let at = Point { x: 128, y: 160 };
        let duration = Duration::from_secs(2);
        let press = ComputerAction::LongPress { at, duration };
        assert_eq!(acts("long_press", json!({"x": 100, "y": 200})), [press]);
    }

    #[test]
    fn f44_5_the_other_actions_of_gemini() {
        let at = json!({"x": 100, "y": 200});
        let to = Point { x: 128, y: 160 };
        let key = json!({"key": "Shift"});
        let shift = || "Shift".to_string();
        for (name, args, expected) in [
            (
                "open_web_browser",
                json!({}),
                vec![ComputerAction::OpenBrowser],
            ),
            ("search", json!({}), vec![ComputerAction::OpenSearchEngine]),
            ("go_back", json!({}), vec![ComputerAction::GoBack]),
            ("go_forward", json!({}), vec![ComputerAction::GoForward]),
            (
                "mouse_down",
                at.clone(),
                vec![ComputerAction::Move { to }, ComputerAction::MouseDown],
            ),
            (
                "mouse_up",
                at,
                vec![ComputerAction::Move { to }, ComputerAction::MouseUp],
            ),
            ("press_key", key.clone(), vec![keys(["Shift"])]),
            (
                "key_down",
                key.clone(),
                vec![ComputerAction::KeyDown { key: shift() }],
            ),
            ("key_up", key, vec![ComputerAction::KeyUp { key: shift() }]),
            (
                "open_app",
                json!({"app_name": "Mail"}),
                vec![ComputerAction::OpenApp {
                    name: "Mail".into(),
                }],
            ),
        ] {
            assert_eq!(acts(name, args), expected, "{name}");
        }
        for (name, button, times) in [
            ("double_click", MouseButton::Left, 2),
            ("triple_click", MouseButton::Left, 3),
            ("middle_click", MouseButton::Middle, 1),
            ("right_click", MouseButton::Right, 1),
        ] {
            let keys = Vec::new();
            let expected = ComputerAction::Click {
                at: Some(to),
                button,
                times,
                keys,
            };
            assert_eq!(
                acts(name, json!({"x": 100, "y": 200})),
                [expected],
                "{name}"
            );
        }
        let call = json!({"name": "take_screenshot", "args": {}});
        assert_eq!(steps(&call, SIZE).unwrap(), [Step::Screenshot]);
    }

    #[test]
    fn f44_5_a_browser_opens_only_addresses_of_the_web() {
        for (url, opened) in [
            ("https://docs.rs/tokio", "https://docs.rs/tokio"),
            ("HTTP://docs.rs", "HTTP://docs.rs"),
            (" docs.rs ", "https://docs.rs"),
            // Not an address that runs a script.
            ("javascript:alert(1)", "https://javascript:alert(1)"),
        ] {
            let expected = ComputerAction::Navigate { url: opened.into() };
            assert_eq!(acts("navigate", json!({"url": url})), [expected]);
        }
        let call = json!({"name": "navigate", "args": {"url": "file:///etc/passwd"}});
        assert_eq!(
            steps(&call, SIZE).unwrap_err(),
            "the browser does not open `file:///etc/passwd`: use an address that begins with `https://` or `http://`"
        );
    }

    #[test]
    fn f44_5_an_action_of_gemini_that_cannot_be_read_is_an_error_for_the_model() {
        for (name, args, expected) in [
            (
                "list_apps",
                json!({}),
                "this computer has no action `list_apps`: use another one",
            ),
            (
                "click",
                json!({"x": 1}),
                "the action `click` has no `x` and `y`",
            ),
            (
                "click_at",
                json!({"x": "1", "y": 2}),
                "the action `click_at` has no `x` and `y`",
            ),
            (
                "drag_and_drop",
                json!({"x": 1, "y": 2}),
                "the action `drag_and_drop` has no `start` and `end`",
            ),
            ("type", json!({}), "the action `type` has no `text`"),
            ("hotkey", json!({}), "the action `hotkey` has no `keys`"),
            (
                "scroll",
                json!({"x": 1, "y": 2, "direction": "in"}),
                "the action `scroll` has no `direction`",
            ),
            (
                "wait",
                json!({"seconds": -1}),
                "the action `wait` has no `seconds`",
            ),
        ] {
            let call = json!({"name": name, "args": args});
            assert_eq!(steps(&call, SIZE).unwrap_err(), expected);
        }
        assert!(steps(&json!(1), SIZE).is_err());
    }
}
