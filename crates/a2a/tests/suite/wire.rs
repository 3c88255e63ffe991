//! What is written is read back, in both versions, and looks as each version demands.

use a2a::wire::{read_event, read_message, read_task, write_event, write_message, write_task};
use a2a::{
    A2aTask, A2aTaskState, A2aTaskStatus, Artifact, ArtifactUpdate, Json, Message, MessageRole, Part,
    PartContent, ProtocolVersion, StatusUpdate, StreamEvent,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use time::OffsetDateTime;

fn parsed(json: &Json) -> Value {
    json.parse().unwrap()
}

fn object() -> impl Strategy<Value = Json> {
    ("[a-z]{1,4}", any::<i64>()).prop_map(|(key, number)| Json::of(&json!({ key: number })).unwrap())
}

fn part() -> impl Strategy<Value = Part> {
    let file = (option::of("[a-z]{1,5}/[a-z]{1,5}"), option::of("[a-z]{1,8}"));
    let content = prop_oneof![
        ".{0,20}".prop_map(PartContent::Text),
        object().prop_map(PartContent::Data),
        vec(any::<u8>(), 0..40).prop_map(PartContent::Raw),
        "https://[a-z]{1,9}/".prop_map(PartContent::Url),
    ];
    (content, file, option::of(object())).prop_map(|(content, (media_type, filename), metadata)| {
        // Only files have a type and a name in 0.3.
        let is_file = matches!(content, PartContent::Raw(_) | PartContent::Url(_));
        Part {
            content,
            media_type: media_type.filter(|_| is_file),
            filename: filename.filter(|_| is_file),
            metadata,
        }
    })
}

fn message() -> impl Strategy<Value = Message> {
    let id = || option::of("[a-z0-9-]{1,12}");
    let role = prop_oneof![Just(MessageRole::User), Just(MessageRole::Agent)];
    let lists = (vec("[a-z]{1,6}", 0..3), vec("[a-z]{1,6}", 0..3));
    ("[a-z0-9-]{1,12}", role, vec(part(), 0..4), id(), id(), lists, option::of(object())).prop_map(
        |(id, role, parts, context_id, task_id, (reference_task_ids, extensions), metadata)| Message {
            id,
            role,
            parts,
            context_id,
            task_id,
            reference_task_ids,
            extensions,
            metadata,
        },
    )
}

fn state() -> impl Strategy<Value = A2aTaskState> {
    use A2aTaskState::*;
    prop::sample::select(vec![
        Submitted,
        Working,
        InputRequired,
        AuthRequired,
        Completed,
        Failed,
        Canceled,
        Rejected,
        Unknown,
    ])
}

fn status() -> impl Strategy<Value = A2aTaskStatus> {
    (state(), option::of(message()), option::of(0_i64..4_000_000_000)).prop_map(|(state, message, at)| {
        let timestamp = at.map(|at| OffsetDateTime::from_unix_timestamp(at).unwrap());
        A2aTaskStatus { state, message, timestamp }
    })
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let texts = (option::of(".{0,9}"), option::of(".{0,9}"));
    ("[a-z0-9]{1,9}", texts, vec(part(), 0..4), vec("[a-z]{1,6}", 0..2), option::of(object())).prop_map(
        |(id, (name, description), parts, extensions, metadata)| Artifact {
            id,
            name,
            description,
            parts,
            extensions,
            metadata,
        },
    )
}

fn task() -> impl Strategy<Value = A2aTask> {
    ("[a-z0-9]{1,9}", "[a-z0-9]{0,9}", status(), vec(artifact(), 0..3), vec(message(), 0..3)).prop_map(
        |(id, context_id, status, artifacts, history)| A2aTask {
            id,
            context_id,
            status,
            artifacts,
            history,
            metadata: None,
        },
    )
}

fn event() -> impl Strategy<Value = StreamEvent> {
    let ids = || ("[a-z0-9]{1,9}", "[a-z0-9]{1,9}");
    prop_oneof![
        task().prop_map(StreamEvent::Task),
        message().prop_map(StreamEvent::Message),
        (ids(), status(), option::of(object())).prop_map(|((task_id, context_id), status, metadata)| {
            StreamEvent::Status(StatusUpdate { task_id, context_id, status, metadata })
        }),
        (ids(), artifact(), any::<bool>(), any::<bool>()).prop_map(
            |((task_id, context_id), artifact, append, last_chunk)| {
                StreamEvent::Artifact(ArtifactUpdate {
                    task_id,
                    context_id,
                    artifact,
                    append,
                    last_chunk,
                    metadata: None,
                })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_in_both_versions(event in event(), task in task(), message in message()) {
        for version in ProtocolVersion::ALL {
            prop_assert_eq!(&read_event(write_event(&event, version).get()).unwrap(), &event);
            prop_assert_eq!(&read_task(write_task(&task, version).get()).unwrap(), &task);
            prop_assert_eq!(&read_message(write_message(&message, version).get()).unwrap(), &message);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,200}", event in event(), cut in 0_usize..400) {
        let _ = read_event(&text);
        let written = write_event(&event, ProtocolVersion::V0_3);
        let mut end = cut.min(written.get().len());
        while !written.get().is_char_boundary(end) {
            end -= 1;
        }
        let _ = read_event(&written.get()[..end]);
    }
}

fn hello() -> Message {
    Message {
        id: "m1".to_owned(),
        context_id: Some("c1".to_owned()),
        ..Message::new(
            MessageRole::User,
            vec![
                Part::text("hello"),
                Part::data(Json::of(&json!({ "size": 32 })).unwrap()),
                Part::raw(b"abc".to_vec(), "image/png", "a.png"),
            ],
        )
    }
}

#[test]
fn a_message_of_0_3_has_kinds_and_nested_files() {
    assert_eq!(
        parsed(&write_message(&hello(), ProtocolVersion::V0_3)),
        json!({
            "kind": "message", "messageId": "m1", "role": "user", "contextId": "c1",
            "parts": [
                { "kind": "text", "text": "hello" },
                { "kind": "data", "data": { "size": 32 } },
                { "kind": "file", "file": { "bytes": "YWJj", "mimeType": "image/png", "name": "a.png" } },
            ],
        })
    );
}

#[test]
fn a_message_of_1_0_has_no_kind_and_constants_for_roles() {
    assert_eq!(
        parsed(&write_message(&hello(), ProtocolVersion::V1_0)),
        json!({
            "messageId": "m1", "role": "ROLE_USER", "contextId": "c1",
            "parts": [
                { "text": "hello" },
                { "data": { "size": 32 } },
                { "raw": "YWJj", "mediaType": "image/png", "filename": "a.png" },
            ],
        })
    );
}

#[test]
fn events_of_1_0_are_wrapped_and_those_of_0_3_say_when_they_are_the_last() {
    let update = |state| {
        StreamEvent::Status(StatusUpdate {
            task_id: "t".to_owned(),
            context_id: "c".to_owned(),
            status: A2aTaskStatus { state, message: None, timestamp: None },
            metadata: None,
        })
    };
    let (working, completed) = (update(A2aTaskState::Working), update(A2aTaskState::Completed));
    assert_eq!(
        parsed(&write_event(&working, ProtocolVersion::V1_0)),
        json!({ "statusUpdate": { "taskId": "t", "contextId": "c", "status": { "state": "TASK_STATE_WORKING" } } })
    );
    let old = |event, state: &str, is_final: bool| {
        assert_eq!(
            parsed(&write_event(event, ProtocolVersion::V0_3)),
            json!({
                "kind": "status-update", "taskId": "t", "contextId": "c",
                "status": { "state": state }, "final": is_final,
            })
        );
    };
    old(&working, "working", false);
    old(&completed, "completed", true);
    old(&update(A2aTaskState::InputRequired), "input-required", true);
}

#[test]
fn data_of_0_3_that_is_no_object_is_wrapped_in_one() {
    let message = Message::new(MessageRole::Agent, vec![Part::data(Json::of(&[1, 2]).unwrap())]);
    let written = parsed(&write_message(&message, ProtocolVersion::V0_3));
    assert_eq!(written["parts"][0]["data"], json!({ "value": [1, 2] }));
    assert_eq!(written["parts"][0]["metadata"], json!({ "data_part_compat": true }));
}

#[test]
fn base64_is_read_in_either_alphabet_with_or_without_padding() {
    for text in ["+/+/", "-_-_"] {
        let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "raw": text }] });
        let read = read_message(&message.to_string()).unwrap();
        assert_eq!(read.parts[0].content, PartContent::Raw(vec![0xfb, 0xff, 0xbf]), "{text}");
    }
    for text in ["YQ==", "YQ"] {
        let message = json!({ "messageId": "m", "role": "user", "parts": [{ "raw": text }] });
        assert_eq!(
            read_message(&message.to_string()).unwrap().parts[0].content,
            PartContent::Raw(b"a".to_vec())
        );
    }
}

#[test]
fn what_no_version_means_is_refused_with_its_reason() {
    for (text, reason) in [
        (json!({ "role": "user", "parts": [{ "kind": "text" }] }), "a part holds no text, data, or file"),
        (
            json!({ "role": "user", "parts": [{ "text": "a", "data": {} }] }),
            "a part holds more than one content",
        ),
        (
            json!({ "role": "robot", "parts": [] }),
            "role \"robot\" is unknown; roles are \"user\" and \"agent\"",
        ),
        (json!({ "role": "user", "parts": [{ "raw": "%" }] }), "a file's bytes are not Base64"),
    ] {
        assert_eq!(read_message(&text.to_string()).unwrap_err().to_string(), reason);
    }
    assert_eq!(read_event(r#"{"kind": "news"}"#).unwrap_err().to_string(), "kind \"news\" is unknown");
    assert_eq!(
        read_event("{}").unwrap_err().to_string(),
        "it is neither a task, a message nor an update of one"
    );
}

#[test]
fn a_state_that_is_not_known_ends_nothing() {
    let task = json!({ "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_DREAMING" } });
    let state = read_task(&task.to_string()).unwrap().status.state;
    assert_eq!(state, A2aTaskState::Unknown);
    assert!(!state.is_stopped());
}
