//! What a run sends to whoever watches it.

use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;
use voxel::Warning;

use super::SandboxSlot;

/// An event of a run, sent as a line of JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum RunEvent {
    Hello,
    /// The run's place in the queue; 1 is next.
    Queue {
        position: usize,
    },
    Start {
        slot: SandboxSlot,
        model_key: String,
    },
    Progress {
        slot: SandboxSlot,
        model_key: String,
        /// Characters of the answer so far.
        chars: usize,
        /// Output tokens so far, estimated until the provider reports them.
        tokens: u64,
        /// The text since the last event.
        delta: String,
        /// What happens while no text comes.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Retry {
        slot: SandboxSlot,
        model_key: String,
        attempt: u32,
        reason: String,
    },
    Result {
        slot: SandboxSlot,
        model_key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        voxel_build: Option<Box<RawValue>>,
        metrics: BuildMetrics,
        grid_url: String,
        draft_id: Uuid,
    },
    Error {
        slot: SandboxSlot,
        model_key: String,
        code: String,
        message: String,
        /// The last answer, if it was not a build.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    Ping,
    Done,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildMetrics {
    pub block_count: u32,
    pub warnings: Vec<Warning>,
    pub generation_time_ms: u64,
    pub attempts: u32,
}
