//! Who may order which assessment.

use std::net::SocketAddr;

use serde_json::Value;
use uuid::Uuid;

use super::Assessor;
use crate::arena::agents;
use crate::arena::assessments::{self, NewAssessment, NewRun, OrderRefused, Orderer};
use crate::arena::{ModelKey, agents::RegisteredAgent};
use crate::assess::order::{AssessmentOrder, OrderProblem, draw_seed};
use crate::generate::a2a::agent_address;
use crate::outbound::{self, OutboundRefused};

/// What whoever sends an order may have assessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderRights {
    /// Everything. Private addresses only where that is allowed.
    Admin {
        allows_private: bool,
    },
    /// The agent that the token is for.
    Owner {
        token: Uuid,
        agent: ModelKey,
    },
    /// Agents at loopback addresses, for whoever sits at this machine.
    ThisMachine,
    /// Any address, private ones too, for closed networks.
    Anybody,
    Nobody,
}

/// Why no assessment comes of an order.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    Order(#[from] OrderProblem),
    #[error("{0}")]
    NotAllowed(&'static str),
    /// There is no such agent, and no such address.
    #[error("{0}")]
    NoAgent(String),
    #[error(transparent)]
    Address(#[from] OutboundRefused),
    #[error(transparent)]
    Refused(#[from] OrderRefused),
}

impl From<sqlx::Error> for PlaceError {
    fn from(error: sqlx::Error) -> Self {
        Self::Refused(error.into())
    }
}

/// The agent that is meant.
struct FoundAgent {
    agent: Option<ModelKey>,
    url: String,
    allows_private: bool,
}

impl OrderRights {
    /// As whom somebody orders, and cancels.
    pub fn orderer(&self) -> Orderer {
        match self {
            Self::Admin { .. } => Orderer::Admin,
            Self::Owner { token, .. } => Orderer::Owner(*token),
            Self::ThisMachine | Self::Anybody | Self::Nobody => Orderer::Visitor,
        }
    }

    /// Whether an assessment of somebody may be cancelled.
    pub fn may_cancel(&self, ordered_by: Orderer) -> bool {
        match self {
            Self::Admin { .. } => true,
            Self::Owner { token, .. } => ordered_by == Orderer::Owner(*token),
            Self::ThisMachine | Self::Anybody => ordered_by == Orderer::Visitor,
            Self::Nobody => false,
        }
    }
}

impl Assessor {
    /// Checks an order and puts it into the queue. Returns the id of the assessment.
    pub async fn place(
        &self,
        body: &Value,
        rights: &OrderRights,
        a2a_task: Option<Uuid>,
    ) -> Result<Uuid, PlaceError> {
        if *rights == OrderRights::Nobody {
            return Err(PlaceError::NotAllowed(
                "Assessments are ordered with the token of an agent's owner, which an admin makes.",
            ));
        }
        let order = AssessmentOrder::read(body)?;
        if order.judge.is_some() {
            let message = "Runs are not judged by models here yet. Leave the judge out.";
            return Err(PlaceError::NotAllowed(message));
        }
        let participant = self.participant(&order.agent, rights).await?;
        let seed = order.seed.unwrap_or_else(draw_seed);
        let runs = order.tasks.iter().map(|ordered| NewRun {
            category: ordered.task.category().to_owned(),
            task: ordered.task.name().to_owned(),
            max_steps: i32::try_from(ordered.max_steps).unwrap_or(i32::MAX),
        });
        let new = NewAssessment {
            agent: participant.agent,
            url: participant.url,
            allows_private: participant.allows_private,
            ordered_by: rights.orderer(),
            a2a_task,
            config: body.get("config").cloned().unwrap_or_else(|| Value::Object(Default::default())),
            world: buildoff_world::ENGINE,
            revision: order.revision,
            seed: i64::try_from(seed).unwrap_or(i64::MAX),
            seed_is_drawn: order.seed.is_none(),
            runs: runs.collect(),
        };
        let id = assessments::order(&self.pool, new).await?;
        self.wake.notify_waiters();
        Ok(id)
    }

    /// The agent with a key or an address, if it may be assessed.
    async fn participant(&self, name: &str, rights: &OrderRights) -> Result<FoundAgent, PlaceError> {
        let agents = agents::all(&self.pool).await?;
        let known = agents.iter().find(|agent| agent.entry.key.as_str() == name);
        let url = match known {
            Some(agent) => agent.entry.url.clone(),
            None if !name.contains("://") => {
                let name: String = name.chars().take(60).collect();
                return Err(PlaceError::NoAgent(format!(
                    "There is no agent {name:?}. Name an agent's key, or an address that begins with http."
                )));
            }
            None => agent_address(name)?,
        };
        let known = known.or_else(|| agents.iter().find(|agent| agent.entry.url == url));
        if known.is_some_and(|agent| !agent.enabled) {
            return Err(PlaceError::NotAllowed("This agent is disabled."));
        }
        let allows_private = match rights {
            OrderRights::Admin { allows_private } => {
                known.map_or(*allows_private, |agent| agent.allows_private)
            }
            OrderRights::Owner { agent, .. } => {
                let own = known.filter(|known| known.entry.key == *agent);
                own.ok_or(PlaceError::NotAllowed("This token is for another agent."))?.allows_private
            }
            OrderRights::ThisMachine => {
                if !is_loopback(&outbound::resolve(&url, true).await?.pinned.addresses) {
                    return Err(PlaceError::NotAllowed(
                        "Without a token, only agents at this machine are assessed.",
                    ));
                }
                true
            }
            OrderRights::Anybody => true,
            OrderRights::Nobody => false,
        };
        if known.is_none() && !allows_private {
            outbound::resolve(&url, false).await?;
        }
        let agent = known.map(|RegisteredAgent { entry, .. }| entry.key.clone());
        Ok(FoundAgent { agent, url, allows_private })
    }
}

fn is_loopback(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|address| address.ip().to_canonical().is_loopback())
}
