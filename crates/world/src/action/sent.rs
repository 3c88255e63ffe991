//! Actions as agents send them, in JSON.
//!
//! | form | buttons | camera |
//! |---|---|---|
//! | compact | `[0…8640]`: a number in mixed radix, the last place fastest: hotbar 10, forward and back 3, left and right 3, sprint and sneak 3, use 2, drop 2, attack 2, jump 2, camera 2; 8640 is the inventory | `[0…120]`: pitch × 11 + yaw, each one of 11 turns from -10° to 10°; without the camera's place in the buttons it counts only for 8640 |
//! | 20 buttons | zeros and ones: attack, back, forward, jump, left, right, sneak, sprint, use, drop, inventory, hotbar 1 to 9 | `[pitch, yaw]` in degrees |
//! | 23 or 24 buttons | forward, back, left, right, jump, sneak, sprint, attack, use, drop, inventory, hotbar 1 to 9, swap hands, pick block, turn left, turn right | `[yaw, pitch]` in degrees |
//! | by name (`"action_type": "env"`) | `{"forward": 1, …}` | `"camera": [pitch, yaw]` in degrees, inside |
//! | keys | `"keys": ["forward", …]`, with `"ticks"` (1 to 20) to hold them and `"craft"` (an item) to craft without the pointer | `"turn": {"yaw": …, "pitch": …}` in degrees |

use craft::ItemId;
use serde_json::{Map, Value};

use super::{Action, Button, StepInput};

/// An action as an agent has sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAction {
    pub action: Action,
    /// For how many steps it is held.
    pub ticks: u8,
    /// What is crafted without the pointer, in the first of them.
    pub craft: Option<ItemId>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ActionError(String);

/// The longest text of an action, in bytes.
const MAX_BYTES: usize = 4096;

const TWENTY: [Button; 11] = [
    Button::Attack,
    Button::Back,
    Button::Forward,
    Button::Jump,
    Button::Left,
    Button::Right,
    Button::Sneak,
    Button::Sprint,
    Button::Use,
    Button::Drop,
    Button::Inventory,
];

const TWENTY_THREE: [Button; 11] = [
    Button::Forward,
    Button::Back,
    Button::Left,
    Button::Right,
    Button::Jump,
    Button::Sneak,
    Button::Sprint,
    Button::Attack,
    Button::Use,
    Button::Drop,
    Button::Inventory,
];

impl SentAction {
    /// Reads what an agent has sent, in any of the forms.
    pub fn read(text: &str) -> Result<Self, ActionError> {
        if text.len() > MAX_BYTES {
            return Err(problem(format!("an action has at most {MAX_BYTES} bytes")));
        }
        let value: Value =
            serde_json::from_str(text).map_err(|error| problem(format!("it is not JSON: {error}")))?;
        Self::from_json(&value)
    }

    pub fn from_json(value: &Value) -> Result<Self, ActionError> {
        let fields = value.as_object().ok_or_else(|| problem("an action is an object"))?;
        if let Some(named) = fields.get("action").and_then(Value::as_object) {
            return Ok(by_name(named)?.into());
        }
        if let Some(buttons) = fields.get("buttons") {
            return Ok(by_buttons(buttons, fields.get("camera"))?.into());
        }
        by_keys(fields)
    }

    /// What is done in each step.
    pub fn inputs(self) -> impl Iterator<Item = StepInput> {
        (0..self.ticks).map(move |step| {
            let craft = self.craft.filter(|_| step == 0);
            StepInput { action: self.action, craft }
        })
    }
}

impl From<Action> for SentAction {
    fn from(action: Action) -> Self {
        Self { action, ticks: 1, craft: None }
    }
}

fn by_buttons(buttons: &Value, camera: Option<&Value>) -> Result<Action, ActionError> {
    let wrong = || problem("buttons is a list of 1, 20, 23 or 24 numbers");
    let buttons = buttons.as_array().ok_or_else(wrong)?;
    match buttons.len() {
        1 => {
            let camera = match camera {
                None | Some(Value::Null) => 60,
                Some(camera) => {
                    let list = camera.as_array().filter(|list| list.len() == 1);
                    let number = list.and_then(|list| list[0].as_u64()).or_else(|| camera.as_u64());
                    number.ok_or_else(|| problem("camera is a list of one number from 0 to 120"))?
                }
            };
            let number = buttons[0].as_u64().ok_or_else(wrong)?;
            Action::from_compact(number, camera)
                .ok_or_else(|| problem("buttons goes from 0 to 8640, and camera from 0 to 120"))
        }
        20 => {
            let [pitch, yaw] = degrees(camera)?;
            Ok(pressed(buttons, TWENTY)?.look(pitch, yaw))
        }
        23 | 24 => {
            let [yaw, pitch] = degrees(camera)?;
            let mut action = pressed(buttons, TWENTY_THREE)?;
            let is_down = |index: usize| buttons.get(index).map_or(Ok(false), flag);
            if is_down(20)? {
                action = action.press(Button::SwapHands);
            }
            if is_down(21)? {
                action = action.press(Button::PickBlock);
            }
            let turns = f64::from(u8::from(is_down(23)?)) - f64::from(u8::from(is_down(22)?));
            Ok(action.look(pitch, yaw + turns * 10.0))
        }
        _ => Err(wrong()),
    }
}

/// Eleven buttons, and nine slots of the hot bar, of which the first that is down counts.
fn pressed(list: &[Value], order: [Button; 11]) -> Result<Action, ActionError> {
    let mut action = Action::default();
    for (button, value) in order.into_iter().zip(list) {
        if flag(value)? {
            action = action.press(button);
        }
    }
    let slots: Vec<bool> = list[11..20].iter().map(flag).collect::<Result<_, _>>()?;
    let slot = slots.iter().position(|down| *down);
    Ok(slot.map_or(action, |slot| action.choose(slot as u8 + 1)))
}

fn by_name(named: &Map<String, Value>) -> Result<Action, ActionError> {
    let [pitch, yaw] = degrees(named.get("camera"))?;
    let mut action = Action::default().look(pitch, yaw);
    for (name, value) in named.iter().filter(|(name, _)| *name != "camera") {
        if flag(value)? {
            action = key(action, name)?;
        }
    }
    Ok(action)
}

fn by_keys(fields: &Map<String, Value>) -> Result<SentAction, ActionError> {
    let turn = fields.get("turn");
    let known = ["keys", "turn", "ticks", "craft"].iter().any(|name| fields.contains_key(*name));
    if !known {
        return Err(problem("an action has buttons and camera, or action, or keys"));
    }
    let part = |name: &str| match turn.and_then(|turn| turn.get(name)) {
        None => Ok(0.0),
        Some(value) => angle(value),
    };
    let mut action = Action::default().look(part("pitch")?, part("yaw")?);
    let keys = match fields.get("keys") {
        None => &Vec::new(),
        Some(keys) => keys.as_array().ok_or_else(|| problem("keys is a list of names"))?,
    };
    for name in keys {
        action = key(action, name.as_str().ok_or_else(|| problem("keys is a list of names"))?)?;
    }
    let ticks = match fields.get("ticks") {
        None => 1,
        Some(ticks) => ticks
            .as_u64()
            .filter(|ticks| (1..=20).contains(ticks))
            .map_or_else(|| Err(problem("ticks goes from 1 to 20")), |ticks| Ok(ticks as u8))?,
    };
    let craft = match fields.get("craft") {
        None | Some(Value::Null) => None,
        Some(item) => {
            let id = item.as_str().ok_or_else(|| problem("craft is the id of an item"))?;
            let shown: String = id.chars().take(60).collect();
            Some(ItemId::of(id).ok_or_else(|| problem(format!("there is no item {shown:?}")))?)
        }
    };
    Ok(SentAction { action, ticks, craft })
}

fn key(action: Action, name: &str) -> Result<Action, ActionError> {
    if let Some(slot) = name.strip_prefix("hotbar.") {
        let slot = slot.parse().ok().filter(|slot| (1..=9).contains(slot));
        return Ok(action.choose(slot.ok_or_else(|| problem("the hot bar goes from hotbar.1 to hotbar.9"))?));
    }
    let button = Button::ALL.into_iter().find(|button| button.name().eq_ignore_ascii_case(name.trim()));
    match (button, name) {
        (Some(button), _) => Ok(action.press(button)),
        // Peers send it to end an episode, which is not the agent's to decide here.
        (None, "ESC") => Ok(action),
        (None, name) => {
            let name: String = name.chars().take(40).collect();
            Err(problem(format!("there is no key {name:?}")))
        }
    }
}

fn flag(value: &Value) -> Result<bool, ActionError> {
    match value {
        Value::Bool(down) => Ok(*down),
        Value::Number(number) => Ok(number.as_f64().is_some_and(|number| number != 0.0)),
        _ => Err(problem("a button is 0 or 1")),
    }
}

/// Two angles, which may be in a list of their own; none turn nothing.
fn degrees(camera: Option<&Value>) -> Result<[f64; 2], ActionError> {
    let wrong = || problem("camera is a list of two angles in degrees");
    let list = match camera {
        None | Some(Value::Null) => return Ok([0.0, 0.0]),
        Some(camera) => camera.as_array().ok_or_else(wrong)?,
    };
    let list = list.first().and_then(Value::as_array).unwrap_or(list);
    match &list[..] {
        [one, other] => Ok([angle(one)?, angle(other)?]),
        _ => Err(wrong()),
    }
}

fn angle(value: &Value) -> Result<f64, ActionError> {
    value.as_f64().ok_or_else(|| problem("an angle is a number of degrees"))
}

fn problem(text: impl Into<String>) -> ActionError {
    ActionError(text.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Button::*;
    use super::*;

    fn read(text: &str) -> Action {
        SentAction::read(text).unwrap().action
    }

    #[test]
    fn all_forms_say_the_same() {
        let expected = Action::default().press(Forward).press(Jump).choose(3).look(-5.0, 10.0);
        let twenty = r#"{"type": "action", "buttons": [0,0,1,1,0,0,0,0,0,0,0, 0,0,1,0,0,0,0,0,0], "camera": [-5, 10]}"#;
        let twenty_three =
            r#"{"buttons": [1,0,0,0,1,0,0,0,0,0,0, 0,0,1,0,0,0,0,0,0, 0,0,0], "camera": [10, -5]}"#;
        let turned = r#"{"buttons": [1,0,0,0,1,0,0,0,0,0,0, 0,0,1,0,0,0,0,0,0, 0,0,0,1], "camera": [0, -5]}"#;
        let named = r#"{"action_type": "env", "action": {"forward": 1, "jump": true, "hotbar.3": 1, "ESC": 0, "camera": [-5.0, 10.0]}}"#;
        let keys = r#"{"keys": ["forward", "jump", "hotbar.3"], "turn": {"yaw": 10, "pitch": -5}}"#;
        for text in [twenty, twenty_three, turned, named, keys] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn keys_may_be_held_and_craft() {
        let sent = SentAction::read(r#"{"keys": ["jump"], "ticks": 3, "craft": "oak_planks"}"#).unwrap();
        let action = Action::default().press(Jump);
        let planks = StepInput { action, craft: ItemId::of("oak_planks") };
        let inputs: Vec<StepInput> = sent.inputs().collect();
        assert_eq!(inputs, [planks, action.into(), action.into()]);
        assert_eq!(SentAction::from(action).inputs().collect::<Vec<_>>(), [action.into()]);
    }

    #[test]
    fn what_is_no_action_is_refused_in_words() {
        for (text, words) in [
            ("{", "not JSON"),
            ("[]", "an object"),
            ("{}", "buttons and camera"),
            (r#"{"buttons": [9000]}"#, "0 to 8640"),
            (r#"{"buttons": [0, 1]}"#, "1, 20, 23 or 24"),
            (r#"{"buttons": ["a"], "camera": [60]}"#, "1, 20, 23 or 24"),
            (r#"{"keys": ["fly"]}"#, "no key \"fly\""),
            (r#"{"keys": ["hotbar.10"]}"#, "hotbar.1 to hotbar.9"),
            (r#"{"keys": [], "ticks": 21}"#, "1 to 20"),
            (r#"{"craft": 7}"#, "the id of an item"),
            (r#"{"craft": "moon"}"#, "no item \"moon\""),
            (r#"{"action": {"camera": [1]}}"#, "two angles"),
        ] {
            let error = SentAction::read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_action_or_an_error(text in r#"[\[\]\{\}",:a-z0-9. -]{0,200}"#) {
            let _ = SentAction::read(&text);
        }
    }
}
