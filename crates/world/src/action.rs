//! Actions: what a player does in a step, and the forms in which agents send it.
//!
//! | form | buttons | camera |
//! |---|---|---|
//! | compact | `[0…8640]`: a number in mixed radix, the last place fastest: hotbar 10, forward and back 3, left and right 3, sprint and sneak 3, use 2, drop 2, attack 2, jump 2, camera 2; 8640 is the inventory | `[0…120]`: pitch × 11 + yaw, each one of 11 turns from -10° to 10°; without the camera's place in the buttons it counts only for 8640 |
//! | 20 buttons | zeros and ones: attack, back, forward, jump, left, right, sneak, sprint, use, drop, inventory, hotbar 1 to 9 | `[pitch, yaw]` in degrees |
//! | 23 or 24 buttons | forward, back, left, right, jump, sneak, sprint, attack, use, drop, inventory, hotbar 1 to 9, swap hands, pick block, turn left, turn right | `[yaw, pitch]` in degrees |
//! | by name (`"action_type": "env"`) | `{"forward": 1, …}` | `"camera": [pitch, yaw]` in degrees, inside |
//! | keys | `"keys": ["forward", …]` with `"ticks"` and `"craft"` | `"turn": {"yaw": …, "pitch": …}` in degrees |

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A key or button that is down or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Button {
    Attack,
    Back,
    Forward,
    Jump,
    Left,
    Right,
    Sneak,
    Sprint,
    Use,
    Drop,
    Inventory,
    SwapHands,
    PickBlock,
}

/// What a player does in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "[u8; 7]", into = "[u8; 7]")]
pub struct Action {
    /// A bit for each [`Button`].
    buttons: u16,
    /// The slot of the hot bar that is chosen, 1 to 9; 0 for none.
    hotbar: u8,
    /// How far the look turns down and to the right, in hundredths of a degree.
    turn: [i16; 2],
}

/// An action as an agent has sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct SentAction {
    pub action: Action,
    /// For how many steps it is held.
    pub ticks: u8,
    /// What is made without the pointer.
    pub craft: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ActionError(String);

/// The turns of the compact form, in hundredths of a degree: ten degrees at most, finer in the middle.
pub const CAMERA_BINS: [i16; 11] = [-1000, -581, -322, -161, -62, 0, 62, 161, 322, 581, 1000];

/// The inventory in the compact form.
const COMPACT_INVENTORY: u64 = 8640;

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

impl Button {
    pub const ALL: [Self; 13] = [
        Self::Attack,
        Self::Back,
        Self::Forward,
        Self::Jump,
        Self::Left,
        Self::Right,
        Self::Sneak,
        Self::Sprint,
        Self::Use,
        Self::Drop,
        Self::Inventory,
        Self::SwapHands,
        Self::PickBlock,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Attack => "attack",
            Self::Back => "back",
            Self::Forward => "forward",
            Self::Jump => "jump",
            Self::Left => "left",
            Self::Right => "right",
            Self::Sneak => "sneak",
            Self::Sprint => "sprint",
            Self::Use => "use",
            Self::Drop => "drop",
            Self::Inventory => "inventory",
            Self::SwapHands => "swap_hands",
            Self::PickBlock => "pick_block",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Action {
    /// How many bytes an action takes.
    pub const BYTES: usize = 7;

    pub fn is_down(self, button: Button) -> bool {
        self.buttons & button.bit() != 0
    }

    pub fn hotbar(self) -> Option<u8> {
        Some(self.hotbar).filter(|slot| *slot > 0)
    }

    /// How far the look turns down and to the right, in thousandths of a degree.
    pub fn turn(self) -> [i32; 2] {
        self.turn.map(|part| i32::from(part) * 10)
    }

    #[must_use]
    pub fn press(mut self, button: Button) -> Self {
        self.buttons |= button.bit();
        self
    }

    #[must_use]
    pub fn release(mut self, button: Button) -> Self {
        self.buttons &= !button.bit();
        self
    }

    #[must_use]
    pub fn choose(mut self, slot: u8) -> Self {
        self.hotbar = if (1..=9).contains(&slot) { slot } else { 0 };
        self
    }

    /// Turns the look down and to the right, by degrees, at most by half a turn.
    #[must_use]
    pub fn look(mut self, pitch: f64, yaw: f64) -> Self {
        // Not a number turns nothing.
        self.turn = [pitch, yaw].map(|part| (part.clamp(-180.0, 180.0) * 100.0).round() as i16);
        self
    }

    /// Its turn without its buttons.
    pub(crate) fn only_turn(self) -> Self {
        Self { turn: self.turn, ..Self::default() }
    }

    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let [low, high] = self.buttons.to_le_bytes();
        let [pitch, yaw] = self.turn.map(i16::to_le_bytes);
        [low, high, self.hotbar, pitch[0], pitch[1], yaw[0], yaw[1]]
    }

    /// Its bytes as a number.
    pub(crate) fn number(self) -> u64 {
        self.to_bytes().into_iter().fold(0, |number, byte| number << 8 | u64::from(byte))
    }

    /// Every seven bytes are an action. What does not exist is left out.
    pub fn from_bytes([low, high, hotbar, p0, p1, y0, y1]: [u8; Self::BYTES]) -> Self {
        let turn = [[p0, p1], [y0, y1]].map(i16::from_le_bytes);
        Self::from_parts(u16::from_le_bytes([low, high]), hotbar, turn)
    }

    /// The buttons, the slot of the hot bar, and the turns in hundredths of a degree.
    pub(crate) fn parts(self) -> (u16, u8, [i16; 2]) {
        (self.buttons, self.hotbar, self.turn)
    }

    pub(crate) fn from_parts(buttons: u16, hotbar: u8, turn: [i16; 2]) -> Self {
        let known = Button::ALL.iter().map(|button| button.bit()).sum::<u16>();
        let turn = turn.map(|part| part.clamp(-18_000, 18_000));
        Self { buttons: buttons & known, turn, ..Self::default() }.choose(hotbar)
    }

    /// The compact form. None if the numbers are too large.
    pub fn from_compact(buttons: u64, camera: u64) -> Option<Self> {
        if buttons > COMPACT_INVENTORY || camera > 120 {
            return None;
        }
        let turn = [CAMERA_BINS[camera as usize / 11], CAMERA_BINS[camera as usize % 11]];
        if buttons == COMPACT_INVENTORY {
            return Some(Self { turn, ..Self::default() }.press(Button::Inventory));
        }
        let mut rest = buttons;
        let mut place = |radix: u64| {
            let digit = rest % radix;
            rest /= radix;
            digit
        };
        let (has_camera, jump, attack, drop, uses) = (place(2), place(2), place(2), place(2), place(2));
        let (haste, side, way, hotbar) = (place(3), place(3), place(3), place(10));
        let pressed = [
            (jump == 1, Button::Jump),
            (attack == 1, Button::Attack),
            (drop == 1, Button::Drop),
            (uses == 1, Button::Use),
            (haste == 1, Button::Sprint),
            (haste == 2, Button::Sneak),
            (side == 1, Button::Left),
            (side == 2, Button::Right),
            (way == 1, Button::Forward),
            (way == 2, Button::Back),
        ];
        let down = pressed.into_iter().filter(|(is_down, _)| *is_down);
        let action = down.fold(Self::default(), |action, (_, button)| action.press(button));
        let turn = if has_camera == 1 { turn } else { [0, 0] };
        Some(Self { turn, ..action }.choose(hotbar as u8))
    }
}

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
}

impl From<Action> for [u8; Action::BYTES] {
    fn from(action: Action) -> Self {
        action.to_bytes()
    }
}

impl From<[u8; Self::BYTES]> for Action {
    fn from(bytes: [u8; Self::BYTES]) -> Self {
        Self::from_bytes(bytes)
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
        Some(item) => Some(item.as_str().ok_or_else(|| problem("craft is the id of an item"))?.to_owned()),
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
    fn the_compact_form_counts_its_last_place_fastest() {
        let action = |buttons, camera| Action::from_compact(buttons, camera).unwrap();
        assert_eq!(action(0, 60), Action::default());
        assert_eq!(action(2, 60), Action::default().press(Jump));
        assert_eq!(action(4, 60), Action::default().press(Attack));
        assert_eq!(action(32, 60), Action::default().press(Sprint));
        assert_eq!(action(96 + 288, 60), Action::default().press(Left).press(Forward));
        assert_eq!(action(864 * 9, 60), Action::default().choose(9));
        assert_eq!(action(8640, 60), Action::default().press(Inventory));
        assert_eq!(Action::from_compact(8641, 60), None);
        assert_eq!(Action::from_compact(0, 121), None);
    }

    #[test]
    fn the_compact_camera_turns_only_with_its_place() {
        assert_eq!(Action::from_compact(0, 120).unwrap().turn(), [0, 0]);
        assert_eq!(Action::from_compact(1, 120).unwrap().turn(), [10_000, 10_000]);
        assert_eq!(Action::from_compact(1, 6 * 11 + 4).unwrap().turn(), [620, -620]);
        assert_eq!(Action::from_compact(8640, 5).unwrap().turn(), [-10_000, 0]);
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
        let sent = SentAction::read(r#"{"keys": [], "ticks": 5, "craft": "oak_planks"}"#).unwrap();
        assert_eq!((sent.ticks, sent.craft.as_deref()), (5, Some("oak_planks")));
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
            (r#"{"action": {"camera": [1]}}"#, "two angles"),
        ] {
            let error = SentAction::read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_seven_bytes_are_an_action_and_come_back(bytes: [u8; 7]) {
            let action = Action::from_bytes(bytes);
            prop_assert_eq!(Action::from_bytes(action.to_bytes()), action);
            prop_assert!(action.turn().iter().all(|part| part.abs() <= 180_000));
        }

        #[test]
        fn any_text_is_an_action_or_an_error(text in r#"[\[\]\{\}",:a-z0-9. -]{0,200}"#) {
            let _ = SentAction::read(&text);
        }

        #[test]
        fn compact_actions_are_all_different(one in 0..8641_u64, other in 0..8641_u64) {
            // The camera's place says nothing while the camera rests.
            let same = one == other || one < 8640 && other < 8640 && one / 2 == other / 2;
            prop_assert_eq!(Action::from_compact(one, 60) == Action::from_compact(other, 60), same);
        }
    }
}
