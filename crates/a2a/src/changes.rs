//! How an A2A task changes, and which events tell somebody who watches it.
//!
//! Whoever works on an A2A task makes [`TaskChange`]s. A store keeps the task as it is now, not its events: those that
//! a watcher has missed follow from what the watcher has seen and what the task is now. So any server that can read the
//! task can go on with anybody's stream.

use time::OffsetDateTime;

use crate::types::{
    A2aTask, A2aTaskState, A2aTaskStatus, Artifact, ArtifactUpdate, Message, StatusUpdate, StreamEvent,
};

#[derive(Clone, Debug)]
pub enum TaskChange {
    Status {
        state: A2aTaskState,
        message: Option<Message>,
    },
    Artifact(Artifact),
    /// The last artifact, with which the task is completed.
    Complete(Artifact),
}

impl A2aTask {
    /// Applies a change, and tells whether it did: a task that has ended changes no more.
    pub fn apply(&mut self, change: TaskChange, now: OffsetDateTime) -> bool {
        if self.status.state.is_terminal() {
            return false;
        }
        match change {
            TaskChange::Status { state, message } => self.set_status(state, message, now),
            TaskChange::Artifact(artifact) => self.put_artifact(artifact),
            TaskChange::Complete(artifact) => {
                self.put_artifact(artifact);
                self.set_status(A2aTaskState::Completed, None, now);
            }
        }
        true
    }

    fn put_artifact(&mut self, artifact: Artifact) {
        match self.artifacts.iter_mut().find(|known| known.id == artifact.id) {
            Some(known) => *known = artifact,
            None => self.artifacts.push(artifact),
        }
    }
}

/// The events that lead from what a watcher has seen to what the task is now.
pub fn events_between(seen: &A2aTask, now: &A2aTask) -> Vec<StreamEvent> {
    let status_event = |status: A2aTaskStatus| {
        StreamEvent::Status(StatusUpdate {
            task_id: now.id.clone(),
            context_id: now.context_id.clone(),
            status,
            metadata: None,
        })
    };
    let mut events = Vec::new();
    // Messages of a status join the history when the next status comes. The one that was seen is known already.
    let known = seen.history.len() + usize::from(seen.status.message.is_some());
    let missed = now.history.iter().skip(known);
    events.extend(missed.map(|message| {
        status_event(A2aTaskStatus {
            state: A2aTaskState::Working,
            message: Some(message.clone()),
            timestamp: None,
        })
    }));
    let is_new = |artifact: &&Artifact| !seen.artifacts.contains(artifact);
    events.extend(now.artifacts.iter().filter(is_new).map(|artifact| {
        StreamEvent::Artifact(ArtifactUpdate {
            task_id: now.id.clone(),
            context_id: now.context_id.clone(),
            artifact: artifact.clone(),
            append: false,
            last_chunk: true,
            metadata: None,
        })
    }));
    if seen.status != now.status {
        events.push(status_event(now.status.clone()));
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MessageRole, Part};

    fn task() -> A2aTask {
        let message = Message::new(MessageRole::User, vec![Part::text("build a house")]);
        A2aTask::submitted(message, OffsetDateTime::UNIX_EPOCH)
    }

    fn says(text: &str) -> TaskChange {
        let message = Message::new(MessageRole::Agent, vec![Part::text(text)]);
        TaskChange::Status { state: A2aTaskState::Working, message: Some(message) }
    }

    fn artifact(id: &str) -> Artifact {
        Artifact {
            id: id.to_owned(),
            name: None,
            description: None,
            parts: vec![Part::text(id)],
            extensions: Vec::new(),
            metadata: None,
        }
    }

    /// What each event says, in a word.
    fn words(events: &[StreamEvent]) -> Vec<String> {
        let word = |event: &StreamEvent| match event {
            StreamEvent::Status(update) => {
                let text =
                    update.status.message.as_ref().map(|message| crate::types::joined_text(&message.parts));
                text.unwrap_or_else(|| format!("{:?}", update.status.state))
            }
            StreamEvent::Artifact(update) => update.artifact.id.clone(),
            StreamEvent::Task(_) | StreamEvent::Message(_) => "unexpected".to_owned(),
        };
        events.iter().map(word).collect()
    }

    #[test]
    fn a_watcher_hears_of_everything_once_whenever_it_looks() {
        let changes = [
            says("one"),
            says("two"),
            TaskChange::Artifact(artifact("result")),
            says("three"),
            TaskChange::Complete(artifact("more")),
        ];
        let told = ["one", "two", "three", "result", "more", "Completed"];
        for looks in 0_u32..1 << changes.len() {
            let mut now = task();
            let mut seen = now.clone();
            let mut heard = Vec::new();
            for (index, change) in changes.iter().enumerate() {
                assert!(now.apply(change.clone(), OffsetDateTime::UNIX_EPOCH));
                if looks & (1 << index) != 0 || index + 1 == changes.len() {
                    heard.extend(words(&events_between(&seen, &now)));
                    seen = now.clone();
                }
            }
            let mut sorted = heard.clone();
            sorted.sort();
            let mut expected = told.map(str::to_owned).to_vec();
            expected.sort();
            assert_eq!(sorted, expected, "looking at {looks:b}: {heard:?}");
            assert_eq!(heard.last().map(String::as_str), Some("Completed"), "the end comes last");
        }
    }

    #[test]
    fn a_task_that_has_ended_changes_no_more() {
        let mut ended = task();
        assert!(ended.apply(
            TaskChange::Status { state: A2aTaskState::Canceled, message: None },
            OffsetDateTime::UNIX_EPOCH
        ));
        let before = ended.clone();
        assert!(!ended.apply(says("too late"), OffsetDateTime::UNIX_EPOCH));
        assert!(!ended.apply(TaskChange::Artifact(artifact("late")), OffsetDateTime::UNIX_EPOCH));
        assert_eq!(ended, before);
        assert!(events_between(&before, &ended).is_empty());
    }
}
