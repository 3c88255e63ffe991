//! What a solver presses, in the compact form of actions.

use std::sync::LazyLock;

use world::Action;
use world::action::CAMERA_BINS;

/// What is pressed in a step, as far as the compact form can say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactKeys {
    /// The key of a slot of the hot bar, 1 to 9; 0 for none.
    pub hotbar: u8,
    /// 1 forward, -1 back.
    pub forward: i8,
    /// 1 to the right, -1 to the left.
    pub right: i8,
    pub sprint: bool,
    /// The form has no sneaking while sprint is down.
    pub sneak: bool,
    pub attack: bool,
    pub uses: bool,
    pub drop: bool,
    pub jump: bool,
    /// The form has no other key beside this one.
    pub inventory: bool,
    /// How far the look turns down and to the right: two of [`CAMERA_BINS`].
    pub turn: [i16; 2],
}

/// The number that stands for the inventory.
const INVENTORY: u64 = 8640;

impl CompactKeys {
    pub fn turn(turn: [i16; 2]) -> Self {
        Self { turn, ..Self::default() }
    }

    /// The numbers of the buttons and of the camera.
    pub fn numbers(self) -> [u64; 2] {
        let bin = |part: i16| CAMERA_BINS.iter().position(|bin| *bin == part).unwrap_or(5) as u64;
        let camera = bin(self.turn[0]) * 11 + bin(self.turn[1]);
        if self.inventory {
            return [INVENTORY, camera];
        }
        let three = |first: bool, second: bool| if first { 1 } else { u64::from(second) * 2 };
        let places = [
            (10, u64::from(self.hotbar)),
            (3, three(self.forward > 0, self.forward < 0)),
            (3, three(self.right < 0, self.right > 0)),
            (3, three(self.sprint, self.sneak)),
            (2, self.uses.into()),
            (2, self.drop.into()),
            (2, self.attack.into()),
            (2, self.jump.into()),
            (2, u64::from(self.turn != [0, 0])),
        ];
        [places.into_iter().fold(0, |number, (radix, digit)| number * radix + digit), camera]
    }

    pub fn action(self) -> Action {
        let [buttons, camera] = self.numbers();
        Action::from_compact(buttons, camera).unwrap_or_default()
    }
}

/// The largest sum of bins in the table, in hundredths of a degree.
const FARTHEST: i32 = 20_000;

/// In how many steps each sum of bins is reached, from -[`FARTHEST`] on.
static STEPS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut steps = vec![u8::MAX; FARTHEST as usize * 2 + 1];
    let mut reached = vec![0];
    steps[FARTHEST as usize] = 0;
    for count in 1.. {
        let mut next = Vec::new();
        for sum in reached {
            for bin in CAMERA_BINS {
                let sum: i32 = sum + i32::from(bin);
                if sum.abs() <= FARTHEST && steps[(sum + FARTHEST) as usize] == u8::MAX {
                    steps[(sum + FARTHEST) as usize] = count;
                    next.push(sum);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        reached = next;
    }
    steps
});

fn steps_to(sum: i32) -> u8 {
    STEPS.get((sum + FARTHEST) as usize).copied().unwrap_or(u8::MAX)
}

/// Sums of bins that come within a tolerance of what is wanted, both in the same few steps and each as near as these steps
/// allow. All numbers are hundredths of a degree.
pub fn sums(wanted: [i32; 2], tolerance: i32) -> [i32; 2] {
    let near = |wanted: i32| (wanted - tolerance..=wanted + tolerance).filter(|sum| sum.abs() <= FARTHEST);
    let fewest = wanted.map(|wanted| near(wanted).map(steps_to).min().unwrap_or(u8::MAX));
    let count = fewest[0].max(fewest[1]);
    wanted.map(|wanted| {
        let in_time = near(wanted).filter(|sum| steps_to(*sum) <= count);
        in_time.min_by_key(|sum| (sum - wanted).abs()).unwrap_or(wanted.clamp(-FARTHEST, FARTHEST))
    })
}

/// How many steps two sums take.
pub fn steps_of(sums: [i32; 2]) -> u8 {
    sums.map(steps_to).into_iter().max().unwrap_or_default()
}

/// The bins of a sum, the widest first, but such that the look, which starts at a pitch, is nowhere stopped by the zenith.
fn bins(mut sum: i32, pitch: Option<i32>) -> Vec<i16> {
    let mut bins = Vec::new();
    while sum != 0 {
        let count = steps_to(sum);
        let Some(bin) = CAMERA_BINS.into_iter().find(|bin| steps_to(sum - i32::from(*bin)) < count) else {
            break;
        };
        bins.push(bin);
        sum -= i32::from(bin);
    }
    bins.sort_by_key(|bin| -i32::from(*bin).abs());
    let Some(mut pitch) = pitch else { return bins };
    let mut ordered = Vec::new();
    while !bins.is_empty() {
        let stays = |bin: &i16| (pitch + i32::from(*bin)).abs() <= 9000;
        let bin = bins.remove(bins.iter().position(stays).unwrap_or(0));
        pitch = (pitch + i32::from(bin)).clamp(-9000, 9000);
        ordered.push(bin);
    }
    ordered
}

/// The turns of two sums, step by step, for a look that starts at a pitch.
pub fn turns([down, right]: [i32; 2], pitch: i32) -> Vec<[i16; 2]> {
    let (down, right) = (bins(down, Some(pitch)), bins(right, None));
    let at = |bins: &[i16], step: usize| bins.get(step).copied().unwrap_or(0);
    (0..down.len().max(right.len())).map(|step| [at(&down, step), at(&right, step)]).collect()
}

#[cfg(test)]
mod tests {
    use world::action::Button;

    use super::*;

    #[test]
    fn keys_are_the_numbers_of_the_compact_form() {
        let keys = CompactKeys { hotbar: 7, forward: -1, right: 1, sneak: true, ..CompactKeys::default() };
        let action = CompactKeys { uses: true, jump: true, turn: [-62, 1000], ..keys }.action();
        let down: Vec<_> = Button::ALL.into_iter().filter(|button| action.is_down(*button)).collect();
        assert_eq!(down, [Button::Back, Button::Jump, Button::Right, Button::Sneak, Button::Use]);
        assert_eq!((action.hotbar(), action.turn()), (Some(7), [-620, 10_000]));
        let keys = CompactKeys { forward: 1, right: -1, sprint: true, attack: true, ..keys };
        let action = CompactKeys { sneak: false, drop: true, hotbar: 0, ..keys }.action();
        let down: Vec<_> = Button::ALL.into_iter().filter(|button| action.is_down(*button)).collect();
        let expected = [Button::Attack, Button::Forward, Button::Left, Button::Sprint, Button::Drop];
        assert_eq!((down.as_slice(), action.hotbar(), action.turn()), (&expected[..], None, [0, 0]));
        let action = CompactKeys { inventory: true, turn: [62, -322], ..CompactKeys::default() }.action();
        assert_eq!((action.is_down(Button::Inventory), action.turn()), (true, [620, -3220]));
    }

    #[test]
    fn every_angle_is_a_sum_of_few_bins() {
        for wanted in (-18_000..=18_000).step_by(13) {
            for (tolerance, more) in [(31, 4), (12, 5), (0, 12)] {
                let sums = sums([0, wanted], tolerance);
                let turns = turns(sums, 0);
                let sum: i32 = turns.iter().map(|turn| i32::from(turn[1])).sum();
                assert!((sum - wanted).abs() <= tolerance, "{wanted} becomes {sum}");
                assert_eq!(turns.len(), usize::from(steps_of(sums)));
                assert!(turns.len() as i32 <= wanted.abs() / 1000 + more, "{wanted} in {}", turns.len());
            }
        }
    }
}
