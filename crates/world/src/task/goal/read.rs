//! Goals as task files have them: predicates by their names.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use super::{Goal, Predicate};

impl<'de> Deserialize<'de> for Goal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GoalVisitor;

        impl<'de> de::Visitor<'de> for GoalVisitor {
            type Value = Goal;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("predicates by their names")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Goal, A::Error> {
                let mut predicates = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    predicates.push(match &name[..] {
                        "count_placed" => Predicate::CountPlaced(map.next_value()?),
                        "column" => Predicate::Column(map.next_value()?),
                        "wall" => Predicate::Wall(map.next_value()?),
                        "tower" => Predicate::Tower(map.next_value()?),
                        "maze" => Predicate::Maze(map.next_value()?),
                        "ring" => Predicate::Ring(map.next_value()?),
                        "room" => Predicate::Room(map.next_value()?),
                        "open" => Predicate::Open(map.next_value()?),
                        "lit" => Predicate::Lit(map.next_value()?),
                        "tunnel" => Predicate::Tunnel(map.next_value()?),
                        "dig_and_fill" => Predicate::DigAndFill(map.next_value()?),
                        "look_at" => Predicate::LookAt(map.next_value()?),
                        "look_up" => Predicate::LookUp(map.next_value()?),
                        "above" => Predicate::Above(map.next_value()?),
                        "in_scene" => Predicate::InScene(map.next_value()?),
                        other => {
                            let other: String = other.chars().take(40).collect();
                            let known = Predicate::NAMES.join(", ");
                            return Err(de::Error::custom(format_args!(
                                "there is no predicate {other:?}; there are {known}"
                            )));
                        }
                    });
                }
                Ok(Goal { predicates })
            }
        }

        deserializer.deserialize_map(GoalVisitor)
    }
}
