//! What a message asks for.

use a2a::{Json, PartContent, RpcError, SendMessageParams, joined_text};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use voxel::{GridSize, Palette};

use crate::arena::Settings;

/// A message, understood.
#[derive(Debug)]
pub enum SkillRequest {
    Check(CheckInput),
    BuildRules(Settings),
    /// An order, as it came.
    Assess(Value),
}

/// A build to check.
#[derive(Debug)]
pub struct CheckInput {
    pub bytes: Vec<u8>,
    pub settings: Settings,
    pub picture: bool,
}

/// What a data part or the metadata of a message may say.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SkillOptions<'a> {
    skill: Option<String>,
    grid_size: Option<GridSize>,
    palette: Option<Palette>,
    picture: bool,
    #[serde(borrow)]
    participants: Option<&'a RawValue>,
    #[serde(borrow)]
    boxes: Option<&'a RawValue>,
    #[serde(borrow)]
    lines: Option<&'a RawValue>,
    #[serde(borrow)]
    blocks: Option<&'a RawValue>,
}

#[derive(Clone, Copy)]
enum SkillName {
    Check,
    BuildRules,
    Assess,
}

impl SkillName {
    fn parse(name: &str) -> Result<Self, RpcError> {
        match name {
            "check" => Ok(Self::Check),
            "build-rules" => Ok(Self::BuildRules),
            "assess" => Ok(Self::Assess),
            _ => Err(RpcError::invalid_params(format!(
                "There is no skill {:?}. Skills are \"check\", \"build-rules\" and \"assess\".",
                name.chars().take(60).collect::<String>()
            ))),
        }
    }
}

impl SkillOptions<'_> {
    fn is_spec(&self) -> bool {
        self.boxes.is_some() || self.lines.is_some() || self.blocks.is_some()
    }
}

impl SkillRequest {
    /// Reads which skill is meant, and what it needs. A skill that is named counts; then an order for an assessment, a
    /// build, or a file; anything else is answered with the rules.
    ///
    /// # Errors
    /// If a part that names a skill cannot be read, or names one that does not exist.
    pub fn read(params: &SendMessageParams, defaults: &Settings) -> Result<Self, RpcError> {
        let parts = &params.message.parts;
        let mut spec = None;
        let mut order = None;
        let mut chosen = SkillOptions::default();
        let data = parts.iter().filter_map(|part| match &part.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        });
        for json in data.chain(params.message.metadata.as_ref()).chain(params.metadata.as_ref()) {
            let options = read_options(json)?;
            if options.is_spec() {
                spec.get_or_insert(json);
            }
            if options.participants.is_some() {
                order.get_or_insert(json.get().to_owned());
            }
            chosen = SkillOptions {
                skill: chosen.skill.or(options.skill),
                grid_size: chosen.grid_size.or(options.grid_size),
                palette: chosen.palette.or(options.palette),
                picture: chosen.picture || options.picture,
                ..SkillOptions::default()
            };
        }
        let text = joined_text(parts);
        let file = parts.iter().find_map(|part| match &part.content {
            PartContent::Raw(bytes) => Some(bytes),
            _ => None,
        });
        // Clients that can send nothing but a text send their options as one.
        let options_in_text = serde_json::from_str::<SkillOptions<'_>>(&text).ok().filter(|_| spec.is_none());
        if let Some(options) = options_in_text.filter(|options| !options.is_spec()) {
            chosen.skill = chosen.skill.or(options.skill);
            chosen.grid_size = chosen.grid_size.or(options.grid_size);
            chosen.palette = chosen.palette.or(options.palette);
            if options.participants.is_some() {
                order.get_or_insert(text.clone());
            }
        }
        let skill = match &chosen.skill {
            Some(name) => SkillName::parse(name)?,
            None if order.is_some() => SkillName::Assess,
            None if spec.is_some() || file.is_some() || seems_to_hold_a_spec(&text) => SkillName::Check,
            None => SkillName::BuildRules,
        };
        let settings = defaults.with(chosen.grid_size, chosen.palette);
        Ok(match skill {
            SkillName::Assess => Self::Assess(read_order(order.as_deref())?),
            SkillName::BuildRules => Self::BuildRules(settings),
            SkillName::Check => {
                let bytes = match (spec, file) {
                    (Some(spec), _) => spec.get().as_bytes().to_vec(),
                    (None, Some(file)) => file.clone(),
                    (None, None) => text.into_bytes(),
                };
                Self::Check(CheckInput { bytes, settings, picture: chosen.picture })
            }
        })
    }
}

fn read_order(order: Option<&str>) -> Result<Value, RpcError> {
    let Some(order) = order else {
        let message =
            "An order for an assessment names the agent: {\"participants\": {\"agent\": \"https://…\"}}.";
        return Err(RpcError::invalid_params(message));
    };
    let mut order: Value = serde_json::from_str(order)
        .map_err(|error| RpcError::invalid_params(format!("The order cannot be read: {error}.")))?;
    if let Some(fields) = order.as_object_mut() {
        fields.remove("skill");
    }
    Ok(order)
}

/// Data that is no object asks for nothing.
fn read_options(json: &Json) -> Result<SkillOptions<'_>, RpcError> {
    if !json.get().trim_start().starts_with('{') {
        return Ok(SkillOptions::default());
    }
    json.parse().map_err(|error| RpcError::invalid_params(format!("The data part cannot be read: {error}.")))
}

fn seems_to_hold_a_spec(text: &str) -> bool {
    text.contains('{') && ["\"boxes\"", "\"lines\"", "\"blocks\""].iter().any(|name| text.contains(name))
}
