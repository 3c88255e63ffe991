//! Screens, which are worked with the pointer: it starts in the middle of the window when a screen opens, and the camera
//! moves it.

use crate::compact::{CompactKeys, sums, turns};
use crate::solver::{Solved, Solver};

/// How far the camera turns while the pointer moves by a pixel, in hundredths of a degree.
const TURN_PER_PIXEL: i32 = 15;

/// How far beside the middle of a slot the pointer may stop, in pixels.
const SLACK: i32 = 6;

/// The turns of the camera that move the pointer by so many pixels to the right and down.
pub fn pointer_turns([right, down]: [i32; 2]) -> Vec<[i16; 2]> {
    let sums = sums([down * TURN_PER_PIXEL, right * TURN_PER_PIXEL], SLACK * TURN_PER_PIXEL);
    turns(sums, 0)
}

impl Solver<'_> {
    /// Opens the inventory, or closes whichever screen is open.
    pub fn press_inventory(&mut self) -> Solved {
        self.press(CompactKeys { inventory: true, ..CompactKeys::default() })?;
        self.press(CompactKeys::default())
    }

    /// Moves the pointer from a pixel of the window to another one.
    pub fn move_pointer(&mut self, from: [i32; 2], to: [i32; 2]) -> Solved {
        let way = pointer_turns([to[0] - from[0], to[1] - from[1]]);
        way.into_iter().try_for_each(|turn| self.press(CompactKeys::turn(turn)))
    }

    /// A click: keys go down and up again, so that the next click is one of its own.
    pub fn click(&mut self, keys: CompactKeys) -> Solved {
        self.press(keys)?;
        self.press(CompactKeys::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_comes_to_every_place_of_a_screen_in_few_steps() {
        for right in (-90..=90).step_by(9) {
            for down in (-90..=90).step_by(9) {
                let turns = pointer_turns([right, down]);
                let moved = [1, 0].map(|axis| turns.iter().map(|turn| i32::from(turn[axis])).sum::<i32>());
                let away = [moved[0] - right * TURN_PER_PIXEL, moved[1] - down * TURN_PER_PIXEL];
                assert!(away.iter().all(|part| part.abs() <= SLACK * TURN_PER_PIXEL), "{right} {down}");
                assert!(turns.len() <= 3, "{right} {down} takes {}", turns.len());
            }
        }
    }
}
