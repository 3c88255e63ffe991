//! Actions: what a player does in a step, as seven bytes and in the compact form of the MCU benchmark.

mod sent;

use craft::ItemId;
use serde::{Deserialize, Serialize};

pub use sent::{ActionError, SentAction};

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

/// What is done in a step: an action, and what is crafted without the pointer before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepInput {
    pub action: Action,
    pub craft: Option<ItemId>,
}

/// The turns of the compact form, in hundredths of a degree: ten degrees at most, finer in the middle.
pub const CAMERA_BINS: [i16; 11] = [-1000, -581, -322, -161, -62, 0, 62, 161, 322, 581, 1000];

/// The inventory in the compact form.
const COMPACT_INVENTORY: u64 = 8640;

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

impl From<Action> for StepInput {
    fn from(action: Action) -> Self {
        Self { action, craft: None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Button::*;
    use super::*;

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

    proptest! {
        #[test]
        fn any_seven_bytes_are_an_action_and_come_back(bytes: [u8; 7]) {
            let action = Action::from_bytes(bytes);
            prop_assert_eq!(Action::from_bytes(action.to_bytes()), action);
            prop_assert!(action.turn().iter().all(|part| part.abs() <= 180_000));
        }

        #[test]
        fn compact_actions_are_all_different(one in 0..8641_u64, other in 0..8641_u64) {
            // The camera's place says nothing while the camera rests.
            let same = one == other || one < 8640 && other < 8640 && one / 2 == other / 2;
            prop_assert_eq!(Action::from_compact(one, 60) == Action::from_compact(other, 60), same);
        }
    }
}
