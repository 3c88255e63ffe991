//! Schemas of types from outside `web` that cannot derive them: the document says less than their attributes, or in
//! another order. Tests compare real responses with the document.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::arena::Choice;
use voxel::{GridSize, Palette};

impl PartialSchema for Choice {
    fn schema() -> RefOr<Schema> {
        let names = Self::ALL.map(Self::name);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

impl ToSchema for Choice {}

/// Two opposite corners, both included; null for an empty build.
#[derive(ToSchema)]
#[schema(as = Bounds)]
pub(in crate::web) struct BoundsSchema {
    #[schema(example = json!([0, 0, 0]))]
    min: [u16; 3],
    #[schema(example = json!([16, 9, 16]))]
    max: [u16; 3],
}

/// Something in the input that was ignored or replaced.
#[derive(ToSchema)]
#[schema(as = Warning)]
pub(in crate::web) struct WarningSchema {
    #[schema(inline)]
    code: WarningCode,
    /// The name of the block, for `unknown_block` and `replaced_block`; a colour of a .vox file is `#rrggbb`.
    #[schema(required = false, example = "air")]
    r#type: String,
    /// The number of other names, for `more_unknown_blocks` and `more_replaced_blocks`.
    #[schema(required = false)]
    kinds: u64,
    /// The number of writes or blocks; missing for `missing_version`.
    #[schema(required = false, example = 9)]
    count: u64,
    #[schema(example = "9 writes are of \"air\", which is not in the palette")]
    message: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
enum WarningCode {
    UnknownBlock,
    MoreUnknownBlocks,
    ReplacedBlock,
    MoreReplacedBlocks,
    OutOfBounds,
    MissingVersion,
}

/// Why the input is not a build.
#[derive(ToSchema)]
#[schema(as = Refusal)]
pub(in crate::web) struct RefusalSchema {
    #[schema(example = "too_few_blocks")]
    code: String,
    message: String,
    /// The line in the text, from 1, if it could not be read.
    #[schema(required = false, example = 3)]
    line: u64,
    /// The column in bytes, from 1.
    #[schema(required = false, example = 14)]
    column: u64,
}

/// The result of a check.
#[derive(ToSchema)]
#[schema(as = Report, rename_all = "camelCase")]
pub(in crate::web) struct ReportSchema {
    /// Whether the build is valid.
    ok: bool,
    #[schema(inline)]
    grid_size: GridSize,
    #[schema(inline)]
    palette: Palette,
    #[schema(example = 123)]
    block_count: u32,
    #[schema(required)]
    bounds: Option<BoundsSchema>,
    /// The number of each block, the most frequent first.
    #[schema(example = json!({ "stone": 120, "glass": 3 }))]
    blocks: BTreeMap<String, u32>,
    warnings: Vec<WarningSchema>,
    /// Null if the build is valid.
    #[schema(required, example = json!(null))]
    error: Option<RefusalSchema>,
    /// With `cells=1`, every block as `[x, y, z, type]`, by y, then z, then x.
    #[schema(required = false, example = json!([[0, 0, 0, "stone"]]))]
    cells: Vec<Vec<serde_json::Value>>,
    /// With `encoded=1`, the encoded grid in base64, if the input could be drawn.
    #[schema(required = false)]
    grid: String,
}

/// The answer of a model. Boxes are drawn first, then lines, then blocks; the last write to a cell counts.
#[derive(ToSchema)]
#[schema(as = Spec)]
pub(in crate::web) struct SpecSchema {
    #[schema(required = false, example = "1.0")]
    version: String,
    #[schema(required = false)]
    boxes: Vec<BoxSchema>,
    #[schema(required = false)]
    lines: Vec<LineSchema>,
    #[schema(required = false)]
    blocks: Vec<BlockSchema>,
}

/// A filled box, including both corners.
#[derive(ToSchema)]
#[schema(as = Box)]
struct BoxSchema {
    #[schema(example = 6)]
    x1: i64,
    #[schema(example = 0)]
    y1: i64,
    #[schema(example = 6)]
    z1: i64,
    #[schema(example = 24)]
    x2: i64,
    #[schema(example = 6)]
    y2: i64,
    #[schema(example = 24)]
    z2: i64,
    #[schema(example = "stone")]
    r#type: String,
}

/// A straight line, including both ends.
#[derive(ToSchema)]
#[schema(as = Line)]
struct LineSchema {
    #[schema(example = json!({ "x": 15, "y": 7, "z": 15 }))]
    from: PointSchema,
    #[schema(example = json!({ "x": 15, "y": 18, "z": 15 }))]
    to: PointSchema,
    #[schema(example = "oak_log")]
    r#type: String,
}

#[derive(ToSchema)]
#[schema(as = Point)]
struct PointSchema {
    x: i64,
    y: i64,
    z: i64,
}

#[derive(ToSchema)]
#[schema(as = Block)]
struct BlockSchema {
    #[schema(example = 15)]
    x: i64,
    #[schema(example = 19)]
    y: i64,
    #[schema(example = 15)]
    z: i64,
    #[schema(example = "glowstone")]
    r#type: String,
}

/// In dollars for a million tokens. Reasoning is output.
#[derive(ToSchema)]
#[schema(as = Prices, rename_all = "camelCase")]
pub(in crate::web) struct PricesSchema {
    #[schema(example = 2.5)]
    input: f64,
    /// Of input that the provider read from its cache; as other input where it is missing.
    #[schema(required = false, example = 0.25)]
    cached_input: Option<f64>,
    #[schema(example = 15.0)]
    output: f64,
}

/// Options that differ from the provider's defaults.
#[derive(ToSchema)]
#[schema(as = ModelOptions, rename_all = "camelCase")]
pub(in crate::web) struct OptionsSchema {
    /// none, minimal, low, medium, high, xhigh or max.
    effort: Option<String>,
    temperature: Option<f64>,
    #[schema(minimum = 1024)]
    max_output_tokens: Option<u32>,
    /// The efforts that the model takes, as far as that is known.
    #[schema(required = false)]
    efforts: Vec<String>,
    /// Whether OpenAI makes answers in the background, so that they are not lost with the connection.
    #[schema(required = false)]
    background: bool,
}

/// The options of a request as they were sent. What is null was left to the provider.
#[derive(ToSchema)]
#[schema(as = SentOptions, rename_all = "camelCase")]
pub(in crate::web) struct SentOptionsSchema {
    /// none, minimal, low, medium, high, xhigh or max.
    effort: Option<String>,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
    /// Whether the provider was told the form of the answer.
    schema: bool,
    /// The agent that was asked, as it said itself; only for agents.
    #[schema(required = false)]
    agent: Option<AgentSourceSchema>,
}

/// Who an agent said that it is.
#[derive(ToSchema)]
#[schema(as = AgentSource, rename_all = "camelCase")]
pub(in crate::web) struct AgentSourceSchema {
    host: String,
    name: String,
    version: String,
    /// The version of the A2A protocol.
    protocol: String,
    /// The SHA-256 of its card, in hexadecimal.
    digest: String,
}
