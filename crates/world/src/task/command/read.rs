//! Commands from their text.

use craft::{ItemId, ItemStack};

use super::{
    CommandAngle, CommandCoordinate, CommandError, CommandPosition, FillHow, ItemSlot, MAX_FILL, TaskCommand,
    WorldWeather,
};
use crate::block::WorldBlock;
use crate::inventory::SLOTS;
use crate::task::block_text::read_block;
use crate::task::snbt::Snbt;

/// The most of one item that a command gives.
const MAX_GIVEN: u32 = 2304;

impl TaskCommand {
    /// Reads a command, with or without a slash before it.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let text = text.trim();
        let mut words = Words { rest: text.strip_prefix('/').unwrap_or(text) };
        let command = words.command(0)?;
        words.end()?;
        Ok(command)
    }
}

/// The words of a command that are not read yet.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn command(&mut self, depth: u8) -> Result<TaskCommand, CommandError> {
        match self.word("a command")? {
            "give" => self.give(),
            "replaceitem" => self.replace_item(),
            "setblock" => self.set_block(),
            "fill" => self.fill(),
            "summon" => self.summon(),
            "time" => self.time(),
            "weather" => self.weather(),
            "effect" => self.effect(),
            "tp" | "teleport" => self.teleport(),
            "experience" | "xp" => self.experience(),
            "gamemode" => self.game_mode(),
            "clear" => {
                if self.peek().is_some() {
                    self.selector()?;
                }
                Ok(TaskCommand::Clear)
            }
            "gamerule" | "difficulty" | "defaultgamemode" | "kill" => {
                self.rest = "";
                Ok(TaskCommand::Nothing)
            }
            "execute" if depth < 8 => self.execute(depth),
            "execute" => Err("execute lies too deep within execute".to_owned().into()),
            other => Err(format!("there is no command {:?}", shown(other)).into()),
        }
    }

    fn execute(&mut self, depth: u8) -> Result<TaskCommand, CommandError> {
        loop {
            match self.word("run, as or at")? {
                "as" | "at" => self.selector()?,
                "run" => {
                    self.rest = self.rest.trim_start();
                    self.rest = self.rest.strip_prefix('/').unwrap_or(self.rest);
                    return self.command(depth + 1);
                }
                other => return Err(format!("execute knows as, at and run, not {:?}", shown(other)).into()),
            }
        }
    }

    fn give(&mut self) -> Result<TaskCommand, CommandError> {
        self.selector()?;
        let item = self.item()?;
        let count = self.optional_number("a count", 1..=MAX_GIVEN)?.unwrap_or(1);
        Ok(TaskCommand::Give(item, count))
    }

    fn replace_item(&mut self) -> Result<TaskCommand, CommandError> {
        match self.word("entity")? {
            "entity" => self.selector()?,
            other => return Err(format!("replaceitem knows only entity, not {:?}", shown(other)).into()),
        }
        let slot = self.slot()?;
        if self.peek().is_some_and(|word| matches!(word, "air" | "minecraft:air")) {
            self.rest = "";
            return Ok(TaskCommand::ReplaceItem(slot, None));
        }
        let item = self.item()?;
        let most = u32::from(item.stack_size());
        let count = self.optional_number("a count", 1..=most)?.unwrap_or(1);
        Ok(TaskCommand::ReplaceItem(slot, Some(ItemStack::new(item, count as u8))))
    }

    fn slot(&mut self) -> Result<ItemSlot, CommandError> {
        let name = self.word("a slot")?;
        let numbered = |prefix: &str, first: usize, count: usize| {
            let number: usize = name.strip_prefix(prefix)?.parse().ok()?;
            (number < count).then_some(ItemSlot::Carried(first + number))
        };
        let slot = match name {
            "weapon" | "weapon.mainhand" => Some(ItemSlot::MainHand),
            "weapon.offhand" => Some(ItemSlot::OffHand),
            _ => numbered("hotbar.", 0, 9).or_else(|| numbered("inventory.", 9, SLOTS - 9)),
        };
        slot.ok_or_else(|| format!("there is no slot {:?}", shown(name)).into())
    }

    fn set_block(&mut self) -> Result<TaskCommand, CommandError> {
        let at = self.position()?;
        let (block, content) = self.block()?;
        let keeps = match self.optional_word() {
            Some("keep") => true,
            None | Some("replace" | "destroy") => false,
            Some(other) => return Err(format!("setblock has no way {:?}", shown(other)).into()),
        };
        Ok(TaskCommand::SetBlock { at, block, keeps, content })
    }

    fn fill(&mut self) -> Result<TaskCommand, CommandError> {
        let (from, to) = (self.position()?, self.position()?);
        if let (Some(from), Some(to)) = (from.offsets(), to.offsets()) {
            let cells: f64 = (0..3).map(|axis| (from[axis] - to[axis]).abs() + 1.0).product();
            if cells > MAX_FILL as f64 {
                return Err(format!("fill fills at most {MAX_FILL} cells").into());
            }
        }
        let (block, _) = self.block()?;
        let how = match self.optional_word() {
            None | Some("replace" | "destroy") => FillHow::All,
            Some("keep") => FillHow::Keep,
            Some("hollow") => FillHow::Hollow,
            Some("outline") => FillHow::Outline,
            Some(other) => return Err(format!("fill has no way {:?}", shown(other)).into()),
        };
        Ok(TaskCommand::Fill { from, to, block, how })
    }

    fn summon(&mut self) -> Result<TaskCommand, CommandError> {
        let (name, data) = self.id_with_data()?;
        let entity = plain(name).to_owned();
        if !entity.chars().all(|character| character.is_ascii_lowercase() || character == '_') {
            return Err(format!("there is no entity {:?}", shown(name)).into());
        }
        let at = if self.peek().is_some() { self.position()? } else { CommandPosition::HERE };
        let data = match data {
            Some(data) => Some(data),
            None if self.rest.trim_start().starts_with('{') => Some(self.data()?),
            None => None,
        };
        let item = data.as_ref().and_then(|data| data.get("Item")).map(stack_of).transpose()?;
        Ok(TaskCommand::Summon { entity, at, item })
    }

    fn time(&mut self) -> Result<TaskCommand, CommandError> {
        let way = self.word("set or add")?;
        let word = self.word("a time")?;
        let named = match word {
            "day" => Some(1_000),
            "noon" => Some(6_000),
            "night" => Some(13_000),
            "midnight" => Some(18_000),
            _ => None,
        };
        let (number, factor) = match word.as_bytes().last() {
            Some(b'd') => (&word[..word.len() - 1], 24_000),
            Some(b's') => (&word[..word.len() - 1], 20),
            Some(b't') => (&word[..word.len() - 1], 1),
            _ => (word, 1),
        };
        let ticks = named.or_else(|| number.parse::<u32>().ok().map(|number| u64::from(number) * factor));
        let ticks = ticks.ok_or_else(|| format!("{:?} is no time", shown(word)))?;
        match way {
            "set" => Ok(TaskCommand::SetTime(ticks)),
            "add" => Ok(TaskCommand::AddTime(ticks)),
            other => Err(format!("time knows set and add, not {:?}", shown(other)).into()),
        }
    }

    fn weather(&mut self) -> Result<TaskCommand, CommandError> {
        let weather = match self.word("clear, rain or thunder")? {
            "clear" => WorldWeather::Clear,
            "rain" => WorldWeather::Rain,
            "thunder" => WorldWeather::Thunder,
            other => return Err(format!("there is no weather {:?}", shown(other)).into()),
        };
        self.optional_number("a number of seconds", 0..=1_000_000)?;
        Ok(TaskCommand::Weather(weather))
    }

    fn effect(&mut self) -> Result<TaskCommand, CommandError> {
        match self.word("give or clear")? {
            "clear" => {
                self.rest = "";
                Ok(TaskCommand::ClearEffects)
            }
            "give" => {
                self.selector()?;
                let name = plain(self.word("an effect")?).to_owned();
                let seconds = self.optional_number("a number of seconds", 0..=1_000_000)?.unwrap_or(30);
                let amplifier = self.optional_number("an amplifier", 0..=255)?.unwrap_or(0);
                if self.peek().is_some() {
                    self.word("true or false")?;
                }
                Ok(TaskCommand::Effect { name, seconds, amplifier: amplifier as u8 })
            }
            other => Err(format!("effect knows give and clear, not {:?}", shown(other)).into()),
        }
    }

    fn teleport(&mut self) -> Result<TaskCommand, CommandError> {
        if self.peek().is_some_and(|word| word.starts_with('@')) {
            self.selector()?;
        }
        let to = self.position()?;
        if self.peek().is_none() {
            return Ok(TaskCommand::Teleport { to, look: None });
        }
        let look = Some([self.angle()?, self.angle()?]);
        Ok(TaskCommand::Teleport { to, look })
    }

    fn experience(&mut self) -> Result<TaskCommand, CommandError> {
        match self.word("add or set")? {
            "add" | "set" => self.selector()?,
            other => return Err(format!("experience knows add and set, not {:?}", shown(other)).into()),
        }
        let amount = self.optional_number("an amount", 0..=100_000)?.ok_or_else(|| missing("an amount"))?;
        let is_levels = match self.optional_word() {
            None | Some("points") => false,
            Some("levels") => true,
            Some(other) => return Err(format!("experience has no {:?}", shown(other)).into()),
        };
        Ok(TaskCommand::Experience { amount, is_levels })
    }

    fn game_mode(&mut self) -> Result<TaskCommand, CommandError> {
        match self.word("a game mode")? {
            "survival" => {
                self.rest = "";
                Ok(TaskCommand::Nothing)
            }
            other => Err(format!("there is only survival here, and not {:?}", shown(other)).into()),
        }
    }

    /// Who is meant: the one player.
    fn selector(&mut self) -> Result<(), CommandError> {
        let word = self.word("@s, @p or @a")?;
        let kind = word.split('[').next().unwrap_or_default();
        if matches!(kind, "@s" | "@p" | "@a" | "@r") {
            Ok(())
        } else {
            Err(format!("{:?} is not @s, @p or @a", shown(word)).into())
        }
    }

    fn item(&mut self) -> Result<ItemId, CommandError> {
        let (id, data) = self.id_with_data()?;
        item_of(id, data.as_ref()).map_err(CommandError::from)
    }

    fn block(&mut self) -> Result<(WorldBlock, Vec<(u8, ItemStack)>), CommandError> {
        let (text, data) = self.id_with_data()?;
        let mut content = Vec::new();
        for entry in data.as_ref().and_then(|data| data.get("Items")).map(Snbt::list).unwrap_or_default() {
            let slot = entry.get("Slot").and_then(Snbt::number).unwrap_or_default();
            if !(0.0..54.0).contains(&slot) {
                return Err(format!("there is no slot {slot} in a chest").into());
            }
            content.push((slot as u8, stack_of(entry)?));
        }
        Ok((read_block(text)?, content))
    }

    /// An id, with properties and data directly behind it.
    fn id_with_data(&mut self) -> Result<(&'a str, Option<Snbt>), CommandError> {
        self.rest = self.rest.trim_start();
        let is_end = |character: char| character.is_whitespace() || character == '{' || character == '[';
        let mut end = self.rest.find(is_end).unwrap_or(self.rest.len());
        if self.rest[end..].starts_with('[') {
            let close = self.rest.find(']').ok_or_else(|| "[ has no ] behind it".to_owned())?;
            end = close + 1;
        }
        let (id, rest) = self.rest.split_at(end);
        self.rest = rest;
        if id.is_empty() {
            return Err(missing("an id").into());
        }
        let data = if self.rest.starts_with('{') { Some(self.data()?) } else { None };
        Ok((id, data))
    }

    fn data(&mut self) -> Result<Snbt, CommandError> {
        let (data, rest) = Snbt::read(self.rest)?;
        self.rest = rest;
        Ok(data)
    }

    fn position(&mut self) -> Result<CommandPosition, CommandError> {
        let words = [self.word("x")?, self.word("y")?, self.word("z")?];
        if words.iter().all(|word| word.starts_with('^')) {
            let [x, y, z] = words.map(|word| offset(&word[1..]));
            return Ok(CommandPosition::Look([x?, y?, z?]));
        }
        let [x, y, z] = words.map(|word| match word.strip_prefix('~') {
            Some(by) => offset(by).map(CommandCoordinate::By),
            None => coordinate(word).map(CommandCoordinate::At),
        });
        Ok(CommandPosition::World([x?, y?, z?]))
    }

    fn angle(&mut self) -> Result<CommandAngle, CommandError> {
        let word = self.word("an angle")?;
        Ok(match word.strip_prefix('~') {
            Some(by) => CommandAngle::By(offset(by)?),
            None => CommandAngle::At(coordinate(word)?),
        })
    }

    fn word(&mut self, what: &str) -> Result<&'a str, CommandError> {
        self.optional_word().ok_or_else(|| missing(what).into())
    }

    fn optional_word(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.rest = &self.rest.trim_start()[word.len()..];
        Some(word)
    }

    fn peek(&self) -> Option<&'a str> {
        self.rest.split_whitespace().next()
    }

    fn optional_number(
        &mut self,
        what: &str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<Option<u32>, CommandError> {
        let Some(word) = self.optional_word() else { return Ok(None) };
        let number = word.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        let number =
            number.ok_or_else(|| format!("{:?} is not {what} from {least} to {most}", shown(word)))?;
        Ok(Some(number))
    }

    fn end(&self) -> Result<(), CommandError> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(format!("{:?} is too much", shown(word)).into()),
        }
    }
}

/// The item with an id, of which the game's tag for potions decides.
fn item_of(id: &str, data: Option<&Snbt>) -> Result<ItemId, String> {
    let tag = data.and_then(|data| data.get("Potion")).and_then(Snbt::text);
    if let (Some(tag), "potion") = (tag, plain(id)) {
        return ItemId::of_potion(tag).ok_or_else(|| format!("there is no potion {:?}", shown(tag)));
    }
    ItemId::of(id).ok_or_else(|| format!("there is no item {:?}", shown(id)))
}

/// The stack that data such as `{id:"bread",Count:3b}` describes.
fn stack_of(data: &Snbt) -> Result<ItemStack, String> {
    let id = data.get("id").and_then(Snbt::text).ok_or("a stack needs an id")?;
    let item = item_of(id, data.get("tag"))?;
    let count = data.get("Count").and_then(Snbt::number).unwrap_or(1.0);
    if !(1.0..=f64::from(item.stack_size())).contains(&count) {
        return Err(format!("a stack of {item} has 1 to {} of them", item.stack_size()));
    }
    Ok(ItemStack::new(item, count as u8))
}

fn plain(id: &str) -> &str {
    id.strip_prefix("minecraft:").unwrap_or(id)
}

fn missing(what: &str) -> String {
    format!("{what} is missing")
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

fn offset(text: &str) -> Result<f64, String> {
    if text.is_empty() { Ok(0.0) } else { coordinate(text) }
}

fn coordinate(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.abs() <= 100_000.0);
    number.ok_or_else(|| format!("{:?} is no coordinate", shown(text)))
}
