//! The Agent2Agent protocol (A2A) for clients and servers, in its versions 0.3 and 1.0.
//!
//! This library opens no connection. A client hands [`Exchange`] what comes in and sends what it wants sent; a server
//! hands the body of each request to [`read_call`] and [`A2aServer`], and sends back the answer. Everything that a peer sends is
//! bounded before it is kept.
//!
//! # The protocol on a page
//!
//! An **agent** is a program that takes messages over HTTP and answers them. It describes itself in a **card**, a JSON
//! document at `/.well-known/agent-card.json`: its name, its skills, and the addresses at which it can be asked, each
//! with a transport and a version of the protocol. This library speaks JSON-RPC, the transport that nearly all agents
//! offer: each request is a POST of `{"jsonrpc": "2.0", "id", "method", "params"}`.
//!
//! A client sends a **message**: a role, an id of its own, and **parts**, each a text, a piece of JSON or a file. The
//! agent answers in one of two ways. It answers with a message, and that is all. Or it answers with a **task** (here
//! [`A2aTask`], since most programs have tasks of their own): something it works on, with an id, a **status** and, in
//! the end, **artifacts**, which are what the work was for.
//!
//! ```text
//! submitted ──▶ working ──▶ completed | failed | canceled | rejected     nothing changes after these
//!                  │
//!                  └──▶ input-required | auth-required                    until the client sends another message
//! ```
//!
//! A client can wait in three ways. It asks for a **stream** of server-sent events: the task as it is, then each change
//! of its status and each artifact, whole or in chunks, until the task stops. A stream that was cut off is taken up
//! again by subscribing to the task. Or it **polls** the task. Or it lets the request to send the message wait. A task
//! that is not wanted any more is **cancelled**. Messages, tasks and files of one conversation share a **context**,
//! whose id comes back with the first answer and goes along with the next message.
//!
//! # The two versions
//!
//! | | 0.3 | 1.0 |
//! |---|---|---|
//! | methods | `message/send`, `message/stream`, `tasks/get`, `tasks/cancel`, `tasks/resubscribe` | `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask` |
//! | objects | a `kind` in each | no `kind`; what is sent or streamed is wrapped in `task`, `message`, `statusUpdate` or `artifactUpdate` |
//! | parts | `{"kind": "text", "text"}`, `data`, `file` with `bytes` or `uri` | `{"text"}`, `{"data"}`, `{"raw"}`, `{"url"}` |
//! | names | `user`, `working` | `ROLE_USER`, `TASK_STATE_WORKING` |
//! | sending | answers at once, unless `blocking` | waits, unless `returnImmediately` |
//! | end of a stream | an event with `final: true` | the stream ends |
//!
//! The name of the method tells the version. The header `A2A-Version` may name it too, and must not contradict. One
//! card can serve both versions, because they name the addresses in different fields. The types of this library are
//! those of neither: [`wire`] writes them for a version and reads them from either.
//!
//! # Where to begin
//!
//! - To ask an agent: read its card with [`AgentCard::parse`], take what [`AgentCard::choose`] finds, and make an
//!   [`Exchange`].
//! - To be an agent: implement [`Agent`], pick a [`TaskStore`] ([`MemoryTaskStore`] for a single process), give both to
//!   [`A2aServer`], and serve the card that [`CardDescription`] writes.
//!
//! Not offered: gRPC, HTTP+JSON, push notifications, extended cards, signed cards, and batches of requests.

mod card;
mod changes;
mod client;
mod error;
mod rpc;
mod server;
mod store;
mod types;
mod version;
pub mod wire;

pub use self::card::{
    AgentCard, AgentCardError, CARD_PATH, CardDescription, CardFinding, CardInterface, CardProvider,
    CardSkill, ChosenInterface, CredentialPlace, DescribedSkill, FindingSeverity, MAX_CARD_BYTES,
    OLD_CARD_PATH, check_card,
};
pub use self::changes::{TaskChange, events_between};
pub use self::client::{
    Exchange, ExchangeError, ExchangeLimits, ExchangeNews, ExchangeOutcome, NextStep, PeerRequest,
};
pub use self::error::{PeerRpcError, RpcError, RpcErrorCode};
pub use self::rpc::{
    A2aRequest, ListTasksQuery, MAX_PAGE, RefusedCall, RpcCall, RpcId, SendMessageParams, read_call,
};
pub use self::server::{A2aServer, Agent, AgentReply, RpcAnswer, TaskUpdates};
pub use self::store::{MemoryTaskStore, StoredTask, TaskPage, TaskStore, TaskStoreError};
pub use self::types::{
    A2aTask, A2aTaskState, A2aTaskStatus, Artifact, ArtifactUpdate, Json, Message, MessageRole, Part,
    PartContent, StatusUpdate, StreamEvent, joined_text,
};
pub use self::version::{ProtocolVersion, VersionClaim};
