//! Buildoff as an agent: programs of other people ask it over the A2A protocol, at `/a2a`.
//!
//! Two of its skills are open to everybody within the limits of `/api/check`. `check` tells whether a text holds a valid
//! build. `build-rules` answers with what an agent must know to build, and with what can be asked. The third, `assess`,
//! puts another agent through tasks of the block world, for those who may order that.

mod request;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use a2a::{
    A2aServer, A2aTask, Agent, AgentReply, Artifact, CardDescription, CardProvider, DescribedSkill, Json,
    Message, MessageRole, Part, RpcError, RpcErrorCode, SendMessageParams, TaskUpdates,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use uuid::Uuid;
use voxel::image::{self, Background, View};
use voxel::{Grid, Report, Verdict};

use self::request::{CheckInput, SkillRequest};
use crate::arena::Settings;
use crate::arena::a2a_tasks::{MAX_ANONYMOUS_PART, PgTaskStore, TaskOwner};
use crate::arena::assessments::OrderRefused;
use crate::assessor::{Assessor, OrderRights, PlaceError};
use crate::generate::prompting;
use crate::work::{MemoryReservation, WorkClient, WorkPool};

/// Larger requests than this may only be builds to check.
const SMALL_REQUEST_BYTES: usize = 1 << 20;

/// Larger requests are read off the async threads.
pub const INLINE_BYTES: usize = 64 << 10;

const BUSY: &str = "The server is busy. Try again in a few seconds.";

/// In pixels. The largest is drawn that can be kept of an anonymous task.
const PICTURE_SIZES: [u16; 3] = [256, 192, 128];

pub type ArenaAgentServer = A2aServer<ArenaAgent, PgTaskStore>;

pub struct ArenaAgent {
    /// Where a request names no others.
    pub settings: Settings,
    pub check_max_bytes: usize,
    pub work: WorkPool,
    pub assessor: Assessor,
}

/// Who sends a message.
#[derive(Clone)]
pub struct AgentClient {
    pub owner: TaskOwner,
    /// What it may have assessed.
    pub rights: OrderRights,
    pub work: WorkClient,
    pub body_bytes: usize,
    /// Of the request's body. It is held as long as anything of the request is.
    pub memory: Arc<Mutex<MemoryReservation>>,
}

#[async_trait]
impl Agent for ArenaAgent {
    type Client = AgentClient;
    type Owner = TaskOwner;

    fn owner(client: &AgentClient) -> &TaskOwner {
        &client.owner
    }

    async fn cancelled(&self, task: &A2aTask) {
        let Ok(task) = Uuid::parse_str(&task.id) else { return };
        if let Err(error) = self.assessor.cancel_of_a2a_task(task).await {
            tracing::warn!(%error, "an assessment could not be cancelled");
        }
    }

    async fn receive(&self, params: SendMessageParams, client: &AgentClient) -> Result<AgentReply, RpcError> {
        let request = self.read(params, client).await?;
        if client.body_bytes > SMALL_REQUEST_BYTES && !matches!(request, SkillRequest::Check(_)) {
            let message = "A request of more than 1 MiB can only be a build to check.";
            return Err(RpcError::invalid_params(message));
        }
        match request {
            SkillRequest::BuildRules(settings) => Ok(AgentReply::Message(build_rules(&settings))),
            SkillRequest::Assess(order) => {
                let (assessor, rights) = (self.assessor.clone(), client.rights.clone());
                Ok(AgentReply::work(async move |updates| assess(&order, &assessor, &rights, &updates).await))
            }
            SkillRequest::Check(input) => {
                let (work, limit, client) = (self.work.clone(), self.check_max_bytes, client.clone());
                Ok(AgentReply::work(move |updates| check(input, limit, work, client, updates)))
            }
        }
    }
}

impl ArenaAgent {
    async fn read(&self, params: SendMessageParams, client: &AgentClient) -> Result<SkillRequest, RpcError> {
        if client.body_bytes <= INLINE_BYTES {
            return SkillRequest::read(&params, &self.settings);
        }
        let settings = self.settings.clone();
        let read = self.work.run(client.work, move || SkillRequest::read(&params, &settings)).await;
        read.unwrap_or_else(|_| Err(RpcError::new(RpcErrorCode::Internal, BUSY)))
    }
}

/// The card. `url` is where the agent is reached, if not under the site's address.
pub fn card(site: &str, url: Option<&str>) -> CardDescription {
    let base = url.unwrap_or(site).trim_end_matches('/');
    let url = if base.ends_with("/a2a") { base.to_owned() } else { format!("{base}/a2a") };
    let text = || vec!["text/plain".to_owned()];
    let data = || vec!["text/plain".to_owned(), "application/json".to_owned()];
    CardDescription {
        name: "Buildoff".to_owned(),
        description: "A voxel build arena: checks builds made of blocks, and says how to make them. Checking and the \
                      rules are open to everybody. Assessments are ordered with a bearer token: that of an agent's \
                      owner, or an admin's."
            .to_owned(),
        url,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        documentation_url: Some(format!("{site}/agents/connect")),
        provider: Some(CardProvider { organization: "Buildoff".to_owned(), url: site.to_owned() }),
        skills: vec![
            DescribedSkill {
                id: "check".to_owned(),
                name: "Check a build".to_owned(),
                description: "Takes a build as JSON, or a text with one inside, and tells whether it is valid, how many \
                              blocks of each kind it has, and which rule it breaks. A data part can name gridSize and \
                              palette; with picture: true, a picture comes along."
                    .to_owned(),
                tags: vec!["voxel".to_owned(), "validation".to_owned()],
                examples: vec![
                    r#"{"version": "1.0", "boxes": [{"x1": 4, "y1": 0, "z1": 4, "x2": 27, "y2": 5, "z2": 27, "type": "oak_planks"}]}"#.to_owned(),
                ],
                input_modes: [data(), vec!["application/octet-stream".to_owned()]].concat(),
                output_modes: [data(), vec!["image/png".to_owned()]].concat(),
            },
            DescribedSkill {
                id: "build-rules".to_owned(),
                name: "Rules for building".to_owned(),
                description: "Answers with the rules, the blocks and the JSON Schema of a build, and with what can be \
                              asked here."
                    .to_owned(),
                tags: vec!["voxel".to_owned(), "rules".to_owned()],
                examples: vec!["How do I build?".to_owned()],
                input_modes: data(),
                output_modes: [text(), vec!["application/json".to_owned()]].concat(),
            },
            DescribedSkill {
                id: "assess".to_owned(),
                name: "Assess an agent".to_owned(),
                description: "Puts an agent through tasks of a block world, step by step, and scores it. Takes \
                              participants.agent, the agent's key or address, and a config with task_category and \
                              tasks. Tells how it goes, and ends with the scores of all tasks."
                    .to_owned(),
                tags: vec!["benchmark".to_owned(), "assessment".to_owned()],
                examples: vec![
                    r#"{"participants": {"agent": "http://127.0.0.1:9019"}, "config": {"task_category": ["crafting"]}}"#
                        .to_owned(),
                ],
                input_modes: data(),
                output_modes: data(),
            },
        ],
    }
}

fn build_rules(settings: &Settings) -> Message {
    let Settings { grid, palette, .. } = settings;
    let text = format!(
        "Buildoff checks builds made of blocks. Send a build as JSON, or a text with one inside, and it is checked. \
         Send {{\"skill\": \"build-rules\", \"gridSize\": 64, \"palette\": \"advanced\"}} as data to get these rules for \
         another grid or palette.\n\n{}",
        prompting::chat_text("<what is asked for>", settings)
    );
    let rules = json!({
        "type": "build-rules",
        "gridSize": grid,
        "palette": palette,
        "schema": voxel::schema(*grid, *palette),
    });
    let data = Json::of(&rules).ok().map(Part::data);
    Message::new(MessageRole::Agent, [Some(Part::text(text)), data].into_iter().flatten().collect())
}

/// Orders an assessment, which goes on by itself and tells the task how.
async fn assess(order: &Value, assessor: &Assessor, rights: &OrderRights, updates: &TaskUpdates) {
    match assessor.place(order, rights, Uuid::parse_str(updates.task_id()).ok()).await {
        Ok(_) => updates.hand_over(),
        Err(PlaceError::Refused(OrderRefused::Database(error))) => {
            tracing::error!(%error, "an assessment could not be ordered");
            updates.fail("Something went wrong on the server. Try again later.").await;
        }
        Err(refused) => {
            updates.reject(sentence(&refused.to_string())).await;
        }
    }
}

fn sentence(words: &str) -> String {
    let mut words = words.to_owned();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !words.ends_with('.') {
        words.push('.');
    }
    words
}

async fn check(input: CheckInput, limit: usize, work: WorkPool, client: AgentClient, updates: TaskUpdates) {
    let checked = work.run(client.work, move || report(&input, limit)).await;
    match checked {
        Ok(Ok(artifact)) => {
            updates.complete_with(artifact).await;
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "a report could not be written");
            updates.fail("Something went wrong on the server. Try again later.").await;
        }
        Err(_) => {
            updates.fail(BUSY).await;
        }
    }
    // The body's memory is free again.
    drop(client);
}

/// Heavy work.
fn report(input: &CheckInput, limit: usize) -> serde_json::Result<Artifact> {
    let Settings { grid, palette, .. } = input.settings;
    let verdict = voxel::check(&input.bytes, grid, palette, limit);
    let report = Json::of(&Report::new(&verdict, grid, palette, false))?;
    let mut parts = vec![Part::text(summary(&verdict)), Part::data(report)];
    let built = verdict.grid().filter(|_| input.picture);
    parts.extend(built.and_then(picture).map(|png| Part::raw(png, "image/png", "build.png")));
    Ok(Artifact {
        id: Uuid::new_v4().to_string(),
        name: Some("Report".to_owned()),
        description: None,
        parts,
        extensions: Vec::new(),
        metadata: None,
    })
}

fn picture(grid: &Grid) -> Option<Vec<u8>> {
    let mut drawn = PICTURE_SIZES.into_iter().filter_map(|size| {
        let view = View::new(0, size, Background::Sky).ok()?;
        Some(image::render(grid, &view, 1).png())
    });
    drawn.find(|png| png.len() <= MAX_ANONYMOUS_PART)
}

/// The verdict in a sentence.
fn summary(verdict: &Verdict) -> String {
    let mut text = match verdict.rejection() {
        Some(rejection) => format!("Not valid: {}.", rejection.message),
        None => {
            let blocks = verdict.stats().map_or(0, |stats| stats.block_count);
            format!("Valid: {blocks} {}.", if blocks == 1 { "block" } else { "blocks" })
        }
    };
    let warnings = verdict.warnings().len();
    if warnings > 0 {
        let _ = write!(text, " {warnings} {}.", if warnings == 1 { "warning" } else { "warnings" });
    }
    text
}
