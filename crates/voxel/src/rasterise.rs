//! Lines: stepped without floating point, and clipped without walking the points outside.

/// A line of n + 1 points, where n is the longest distance along any axis.
///
/// The coordinate of point i on an axis is `p + floor((2·d·i + n) / (2·n))`. Ends may be any `i64`, so distances go up
/// to 2^64 − 1 and products of two distances up to 2^128 − 2^65 + 1, which fits into a `u128`.
pub(super) struct SegmentRaster {
    axes: [SegmentAxis; 3],
    steps: u128,
}

#[derive(Clone, Copy)]
struct SegmentAxis {
    from: i64,
    distance: u128,
    falling: bool,
}

impl SegmentRaster {
    pub fn new(from: [i64; 3], to: [i64; 3]) -> Self {
        let axes = [0, 1, 2].map(|axis| SegmentAxis {
            from: from[axis],
            distance: from[axis].abs_diff(to[axis]).into(),
            falling: to[axis] < from[axis],
        });
        let steps = axes.iter().map(|axis| axis.distance).fold(0, u128::max);
        Self { axes, steps }
    }

    /// The number of points, inside and outside.
    pub fn points(&self) -> u128 {
        self.steps + 1
    }

    /// The points that are inside `[0, edge)` on every axis. They are consecutive, because a line is straight.
    pub fn inside(&self, edge: i64) -> std::ops::Range<u128> {
        let mut range = 0..self.points();
        for axis in &self.axes {
            let within = axis.inside(edge, self.steps);
            range = range.start.max(within.start)..range.end.min(within.end);
        }
        range.start..range.end.max(range.start)
    }

    /// The points with these numbers, each of which must be [inside](Self::inside).
    pub fn walk(&self, range: std::ops::Range<u128>) -> impl Iterator<Item = [usize; 3]> {
        let mut axes = self.axes.map(|axis| AxisStepper::at(axis, range.start, self.steps));
        range.map(move |_| axes.each_mut().map(AxisStepper::next))
    }
}

impl SegmentAxis {
    /// The points of a line of `steps` that are inside `[0, edge)` on this axis.
    fn inside(&self, edge: i64, steps: u128) -> std::ops::Range<u128> {
        let points = steps + 1;
        let (before, beyond) = match self.falling {
            false => (-i128::from(self.from), i128::from(edge) - i128::from(self.from)),
            true => (i128::from(self.from) - i128::from(edge - 1), i128::from(self.from) + 1),
        };
        let reach = |moved: i128| match u128::try_from(moved) {
            Err(_) | Ok(0) => 0,
            Ok(_) if self.distance == 0 => points,
            Ok(moved) => self.first_moved(moved, steps).min(points),
        };
        reach(before)..reach(beyond)
    }

    /// The first point that is at least `moved` cells from the start; `moved` is 1 or more.
    fn first_moved(&self, moved: u128, steps: u128) -> u128 {
        // Rising: d·i/n + 1/2 ≥ m. Falling, as floor rounds halves up: d·i/n − 1/2 > m − 1.
        let needed = match self.falling {
            false => moved * steps - steps / 2,
            true => moved * steps - steps.div_ceil(2) + 1,
        };
        needed.div_ceil(self.distance)
    }
}

/// Steps along one axis with additions alone; only the first point needs a division.
struct AxisStepper {
    axis: SegmentAxis,
    steps: u128,
    /// d·i = whole·n + rest
    whole: u128,
    rest: u128,
}

impl AxisStepper {
    fn at(axis: SegmentAxis, point: u128, steps: u128) -> Self {
        let (whole, rest) = match steps {
            0 => (0, 0),
            _ => (axis.distance * point / steps, axis.distance * point % steps),
        };
        Self { axis, steps, whole, rest }
    }

    fn next(&mut self) -> usize {
        let at = if self.axis.falling {
            i128::from(self.axis.from) - (self.whole + u128::from(2 * self.rest > self.steps)) as i128
        } else {
            i128::from(self.axis.from)
                + (self.whole + u128::from(self.steps > 0 && 2 * self.rest >= self.steps)) as i128
        };
        self.rest += self.axis.distance;
        if self.steps > 0 && self.rest >= self.steps {
            self.rest -= self.steps;
            self.whole += 1;
        }
        at as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A line's definition, cell by cell, for distances whose products fit.
    fn formula(p: i64, d: i128, i: i128, n: i128) -> i128 {
        i128::from(p) + if n == 0 { 0 } else { (2 * d * i + n).div_euclid(2 * n) }
    }

    fn point(from: [i64; 3], to: [i64; 3], i: i128) -> [i128; 3] {
        let d = [0, 1, 2].map(|axis| i128::from(to[axis]) - i128::from(from[axis]));
        let n = d.iter().map(|d| d.abs()).max().unwrap();
        [0, 1, 2].map(|axis| formula(from[axis], d[axis], i, n))
    }

    fn is_inside(point: [i128; 3], edge: i64) -> bool {
        point.iter().all(|v| (0..i128::from(edge)).contains(v))
    }

    fn check(from: [i64; 3], to: [i64; 3], edge: i64) -> Result<(), TestCaseError> {
        let line = SegmentRaster::new(from, to);
        let inside = line.inside(edge);
        let (start, end) = (inside.start as i128, inside.end as i128);
        for i in [0, start - 1, start, end - 1, end, line.points() as i128 - 1] {
            if (0..line.points() as i128).contains(&i) {
                let is_walked = (start..end).contains(&i);
                prop_assert_eq!(is_inside(point(from, to, i), edge), is_walked, "point {}", i);
            }
        }
        for (i, walked) in (start..end).zip(line.walk(inside)) {
            prop_assert_eq!(walked.map(|v| v as i128), point(from, to, i));
        }
        Ok(())
    }

    fn near_and_far() -> impl Strategy<Value = [i64; 3]> {
        let far = 1_i64 << 61;
        let one = prop_oneof![4 => -40..80_i64, 2 => -2000..2000_i64, 1 => -far..far];
        [one.clone(), one.clone(), one]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_step_and_clip_as_the_formula_says(from in near_and_far(), to in near_and_far()) {
            check(from, to, 32)?;
        }
    }

    #[test]
    fn the_ends_may_be_any_64_bits() {
        let (low, high) = (i64::MIN, i64::MAX);
        for (from, to, inside) in [
            ([low; 3], [high; 3], 32),
            ([high; 3], [low; 3], 32),
            ([low, 3, 3], [high, 3, 3], 32),
            ([high, 3, 3], [low, 3, 3], 32),
            ([low, 40, 3], [high, 40, 3], 0),
            ([low, low, low], [low, low, low], 0),
            ([0, 0, 0], [high, high, 0], 32),
            ([0, 0, 0], [low, high, 0], 1),
        ] {
            let line = SegmentRaster::new(from, to);
            let range = line.inside(32);
            assert_eq!(range.end - range.start, inside, "{from:?} to {to:?}");
            assert!(line.walk(range).flatten().all(|v| v < 32));
        }
    }
}
