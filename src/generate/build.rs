//! The task of building: prompts about a grid and a palette, and answers that hold a spec.

use std::sync::Arc;

use serde_json::{Value, json};
use voxel::codec::Digest;
use voxel::{Rejection, RejectionCode, Rules, Verdict};

use super::ChatPrompt;
use super::attempts::{Generated, RejectedAnswer, Task};
use super::prompting::{self, RejectedBuild};
use super::thoughts::{end_of_thoughts, is_thinking};
use crate::arena::Settings;
use crate::arena::builds::{GenerationInfo, PackedBuild};

#[derive(Clone, Debug)]
pub struct BuildTask {
    pub prompt: String,
    pub settings: Settings,
    /// Of an answer, and of the spec in it.
    pub max_bytes: usize,
    /// Where an agent finds the schema and can have its build checked.
    pub site: Option<Arc<str>>,
}

/// A build that a model answered with.
pub struct BuildAnswer {
    pub build: PackedBuild,
    /// The JSON that it was read from.
    pub spec: String,
}

impl Task for BuildTask {
    type Output = BuildAnswer;

    fn schema(&self) -> Option<Arc<Value>> {
        let Settings { grid, palette, .. } = self.settings;
        Some(Arc::new(with_plan(voxel::schema(grid, palette))))
    }

    fn data(&self) -> Option<Arc<Value>> {
        let Settings { grid, palette, mode } = &self.settings;
        let rules = Rules::of(*grid);
        let site = self.site.as_deref();
        Some(Arc::new(json!({
            "type": "build",
            "prompt": self.prompt,
            "gridSize": grid,
            "palette": palette,
            "mode": mode.as_str(),
            "limits": {
                "minBlocks": rules.min_blocks,
                "maxBlocks": rules.max_blocks,
                "minFootprint": rules.min_footprint,
                "minHeight": rules.min_height,
                "maxBytes": self.max_bytes,
            },
            "schemaUrl": site.map(|site| format!("{site}/api/schema?gridSize={grid}&palette={palette}")),
            "checkUrl": site.map(|site| format!("{site}/api/check?gridSize={grid}&palette={palette}")),
        })))
    }

    fn first_prompt(&self) -> ChatPrompt {
        prompting::first_prompt(&self.prompt, &self.settings)
    }

    fn shorter_prompt(&self) -> ChatPrompt {
        prompting::shorter_prompt(&self.prompt, &self.settings)
    }

    fn read(&self, answer: &str) -> Result<BuildAnswer, RejectedAnswer> {
        let (answer, found) = self.find(answer);
        found.map_err(|rejected| RejectedAnswer {
            code: rejected.rejection.code.name(),
            repair: prompting::repair_prompt(&self.prompt, &self.settings, answer, &rejected),
            message: rejected.rejection.message,
        })
    }

    /// A spec is complete where the answer ends with it and nothing was begun after it: an answer can begin with a
    /// sketch that is a spec as well.
    fn read_interrupted(&self, answer: &str) -> Option<BuildAnswer> {
        let answer = &answer[end_of_thoughts(answer).unwrap_or(0)..];
        let end = answer.rfind('}').map_or(0, |at| at + 1);
        let is_complete = |found: &BuildAnswer| {
            answer[..end].ends_with(found.spec.trim_end())
                && !answer[end..].contains('{')
                && !is_thinking(answer)
        };
        self.check(answer).ok().filter(is_complete)
    }
}

impl BuildTask {
    /// The digest of what models are told beside the prompt, in the first request and after errors: rules, blocks, advice
    /// and the schema. It changes with the settings and with the program.
    pub fn template_digest(settings: &Settings) -> Digest {
        const PROMPT: &str = "the prompt";
        let rejection = Rejection { code: RejectionCode::NoBlocks, message: String::new(), position: None };
        let rejected = RejectedBuild { rejection, stats: None, warnings: Vec::new() };
        let prompts = [
            prompting::first_prompt(PROMPT, settings),
            prompting::shorter_prompt(PROMPT, settings),
            prompting::repair_prompt(PROMPT, settings, "", &rejected),
        ];
        let schema = with_plan(voxel::schema(settings.grid, settings.palette)).to_string();
        let texts = prompts.iter().flat_map(|prompt| [prompt.system.as_str(), prompt.user.as_str()]);
        // The lengths keep texts apart that would be one when they are put together.
        let parts = texts.chain([schema.as_str()]).map(|text| format!("{}\n{text}\n", text.len()));
        Digest::of(parts.collect::<String>().as_bytes())
    }

    /// Reads the build in an answer, and returns with it the part of the answer that was read.
    ///
    /// Where an endpoint leaves thoughts in the answer, a draft in them may have more entries than the spec that
    /// follows. So what stands before the end of the last thought does not count, unless nothing follows that could be
    /// a spec, or the tag stands within the spec itself.
    fn find<'a>(&self, answer: &'a str) -> (&'a str, Result<BuildAnswer, RejectedBuild>) {
        let Some(end) = end_of_thoughts(answer) else { return (answer, self.check(answer)) };
        let (thoughts, rest) = answer.split_at(end);
        let found = self.check(rest);
        if found.is_ok() {
            return (rest, found);
        }
        let whole = self.check(answer);
        let is_draft = |whole: &BuildAnswer| thoughts.contains(whole.spec.trim());
        if begins_object(rest) && whole.as_ref().ok().is_none_or(is_draft) {
            return (rest, found);
        }
        (answer, whole)
    }

    fn check(&self, answer: &str) -> Result<BuildAnswer, RejectedBuild> {
        let Self { settings, max_bytes, .. } = self;
        let without_stats = |rejection| RejectedBuild { rejection, stats: None, warnings: Vec::new() };
        match voxel::check(answer.as_bytes(), settings.grid, settings.palette, *max_bytes) {
            Verdict::Accepted { build, spec, warnings } => {
                // An answer can be a file of another tool, which has no spec.
                let spec = spec.map_or_else(|| build.write_spec(*max_bytes), Ok).map_err(without_stats)?;
                Ok(BuildAnswer { build: PackedBuild::new(&build, &spec, warnings), spec })
            }
            Verdict::Rejected { stats, warnings, rejection, .. } => {
                Err(RejectedBuild { rejection, stats: Some(stats), warnings })
            }
            Verdict::Unreadable(rejection) => Err(without_stats(rejection)),
        }
    }
}

/// Whether a JSON object seems to begin somewhere in a text.
fn begins_object(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| text[at + 1..].trim_start().starts_with(['"', '}']))
}

impl Generated<BuildAnswer> {
    pub fn info(&self) -> GenerationInfo {
        GenerationInfo {
            attempts: i32::try_from(self.attempts).ok(),
            generation_time_ms: i64::try_from(self.generation_time.as_millis()).ok(),
        }
    }
}

const PLAN: &str = "Written first, and not drawn: the idea in one line or, where nothing was thought before, at most fifteen \
                    short lines with each part's ranges of x, y and z and its material.";

/// Adds a place where the model can think before the first coordinate.
fn with_plan(mut schema: Value) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.shift_insert(0, "plan".to_owned(), json!({ "type": "string", "description": PLAN }));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!("plan"));
    }
    schema
}

#[cfg(test)]
mod tests {
    use voxel::{GridSize, Palette};

    use super::*;
    use crate::arena::Mode;

    #[test]
    fn the_digest_of_the_template_depends_on_the_settings_alone() {
        let settings = |grid| Settings { grid, palette: Palette::Simple, mode: Mode::precise() };
        let digest = |grid| BuildTask::template_digest(&settings(grid)).0;
        assert_eq!(digest(GridSize::G32), digest(GridSize::G32));
        assert_ne!(digest(GridSize::G32), digest(GridSize::G64));
    }

    #[test]
    fn a_plan_comes_before_all_else_and_does_not_matter_to_the_reader() {
        let schema = with_plan(voxel::schema(GridSize::G32, Palette::Simple));
        let first = schema["properties"].as_object().and_then(|properties| properties.keys().next());
        assert_eq!((first.map(String::as_str), &schema["required"][0]), (Some("plan"), &json!("plan")));
        let wall = r#"{"x1":0,"y1":0,"z1":0,"x2":20,"y2":9,"z2":0,"type":"stone"}"#;
        let text = format!(
            r#"{{"plan":"a {{\"boxes\":[]}} wall\n","version":"1.0","boxes":[{wall}],"lines":[],"blocks":[]}}"#
        );
        let verdict = voxel::check(text.as_bytes(), GridSize::G32, Palette::Simple, 1 << 20);
        let Verdict::Accepted { warnings, .. } = verdict else { panic!("a wall, planned: {verdict:?}") };
        assert_eq!(warnings, []);
    }
}
