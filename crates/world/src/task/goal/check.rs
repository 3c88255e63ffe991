//! What goals cannot ask for: numbers out of range, and blocks that the world lacks.

use super::{CountPlaced, Goal, Predicate};
use crate::task::sets::BlockSet;

impl Goal {
    /// What cannot be, in words.
    pub(in crate::task) fn check(&self) -> Result<(), String> {
        if self.predicates.is_empty() {
            return Err("a goal has at least one predicate".to_owned());
        }
        self.predicates.iter().try_for_each(Predicate::check)
    }

    /// Whether the world has some of the blocks that each predicate speaks of.
    pub(in crate::task) fn check_blocks(&self) -> Result<(), String> {
        self.predicates.iter().try_for_each(|predicate| {
            predicate.blocks().into_iter().flatten().try_for_each(|of| of.check_is_built(predicate.name()))
        })
    }
}

impl Predicate {
    /// The blocks that it speaks of.
    fn blocks(&self) -> [Option<&BlockSet>; 2] {
        match self {
            Self::CountPlaced(count) => [Some(&count.of), None],
            Self::Column(column) => [Some(&column.of), None],
            Self::Ring(ring) => [Some(&ring.of), ring.around.as_ref().map(|around| &around.of)],
            Self::Room(room) => [room.with.as_ref().map(|with| &with.of), None],
            Self::Open(open) => [Some(&open.of), None],
            Self::LookAt(look) => [Some(&look.of), None],
            Self::InScene(scene) => [Some(&scene.of), None],
            Self::Wall(_)
            | Self::Tower(_)
            | Self::Maze(_)
            | Self::Lit(_)
            | Self::Tunnel(_)
            | Self::DigAndFill(_)
            | Self::LookUp(_)
            | Self::Above(_) => [None, None],
        }
    }

    fn check(&self) -> Result<(), String> {
        let name = self.name();
        let within = |what: &str, number: u32, least: u32, most: u32| {
            if (least..=most).contains(&number) {
                Ok(())
            } else {
                Err(format!("{name}: {what} goes from {least} to {most}, and is not {number}"))
            }
        };
        let of_kinds = |of: &BlockSet, count: u32, kinds: u32| {
            within("count", count, 1, 1000)?;
            within("kinds", kinds, 1, count.min(64))?;
            let possible = of.ids().count() as u32;
            within("kinds", kinds, 1, possible.max(1))
        };
        let counts = |count: &CountPlaced| of_kinds(&count.of, count.count, count.kinds);
        match self {
            Self::CountPlaced(count) => counts(count),
            Self::Column(column) => within("height", column.height, 1, 100),
            Self::Wall(wall) => {
                within("length", wall.length, 1, 64).and(within("height", wall.height, 1, 64))
            }
            Self::Tower(tower) => {
                within("height", tower.height, 1, 64).and(within("base", tower.base, 1, 32))
            }
            Self::Maze(maze) => within("bends", maze.bends, 1, 64),
            Self::Ring(ring) => {
                within("area", ring.area, 1, 400)?;
                ring.around.as_ref().map_or(Ok(()), counts)
            }
            Self::Room(room) => {
                within("air", room.air, 1, 1000)?;
                within("light", u32::from(room.light), 0, 15)?;
                room.with.as_ref().map_or(Ok(()), counts)
            }
            Self::Open(_) => Ok(()),
            Self::Lit(lit) => {
                within("cells", lit.cells, 1, 2000)?;
                within("light", u32::from(lit.light), 1, 15)?;
                within("within", lit.within, 1, 32)
            }
            Self::Tunnel(tunnel) => within("length", tunnel.length, 1, 64),
            Self::DigAndFill(dig) => {
                within("depth", dig.depth, 1, 64)?;
                within("fill", dig.fill, 1, dig.depth)
            }
            Self::LookAt(look) => {
                within("ticks", look.ticks, 1, 600)?;
                if (0.5..=64.0).contains(&look.within) {
                    Ok(())
                } else {
                    Err("look_at: within goes from 0.5 to 64".to_owned())
                }
            }
            Self::LookUp(look) => {
                within("ticks", look.ticks, 1, 600)?;
                if (1.0..=90.0).contains(&look.degrees) {
                    Ok(())
                } else {
                    Err("look_up: degrees go from 1 to 90".to_owned())
                }
            }
            Self::Above(above) => within("cells", above.cells, 1, 100),
            Self::InScene(scene) => {
                within("within", scene.within, 1, 16)?;
                of_kinds(&scene.of, scene.count, scene.kinds)
            }
        }
    }
}
