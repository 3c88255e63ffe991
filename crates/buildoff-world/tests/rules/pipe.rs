//! The protocol of `serve`.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use buildoff_world::pipe::{Kind, MAX_BODY, PipeMessage, serve};
use proptest::prelude::*;
use serde_json::{Value, json};

fn message(kind: Kind, body: impl Into<Vec<u8>>) -> PipeMessage {
    PipeMessage::new(kind, body.into())
}

fn make(options: &Value) -> PipeMessage {
    PipeMessage::json(Kind::Make, options)
}

fn reset(seeds: &Value) -> PipeMessage {
    PipeMessage::json(Kind::Reset, &json!({ "seeds": seeds }))
}

fn bytes_of(messages: &[PipeMessage]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        message.write(&mut bytes).unwrap();
    }
    bytes
}

/// The answers to messages, without the hello.
fn answers(messages: &[PipeMessage]) -> Vec<PipeMessage> {
    let mut output = Vec::new();
    serve(&bytes_of(messages)[..], &mut output).unwrap();
    let mut rest = &output[..];
    let mut answers = Vec::new();
    while let Some(answer) = PipeMessage::read(&mut rest).unwrap() {
        answers.push(answer);
    }
    assert_eq!(answers.remove(0).kind, Kind::Hello as u8);
    answers
}

fn error_of(answer: &PipeMessage) -> String {
    assert_eq!(answer.kind, Kind::Error as u8);
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    value["error"].as_str().unwrap().to_owned()
}

/// The info of the first world of some frames.
fn info_of(answer: &PipeMessage) -> Value {
    assert_eq!(answer.kind, Kind::Frames as u8, "{}", String::from_utf8_lossy(&answer.body));
    let length = u32::from_le_bytes(answer.body[6..10].try_into().unwrap()) as usize;
    serde_json::from_slice(&answer.body[10..10 + length]).unwrap()
}

/// Forward.
const AHEAD: [u8; 7] = [4, 0, 0, 0, 0, 0, 0];

#[test]
fn worlds_are_made_reset_and_stepped() {
    let options = json!({ "scene": "house", "count": 2, "width": 32, "height": 16 });
    let said =
        answers(&[make(&options), reset(&json!([4, 4])), message(Kind::Step, [AHEAD, AHEAD].concat())]);
    let made: Value = serde_json::from_slice(&said[0].body).unwrap();
    assert_eq!((&made["count"], &made["maxSteps"]), (&json!(2), &json!(600)));
    let info = info_of(&said[2]);
    assert_eq!((&info["step"], &info["seed"], &info["health"]), (&json!(1), &json!(4), &json!(20)));
    let half = said[2].body.len() / 2;
    assert_eq!(said[2].body[..half], said[2].body[half..], "equal worlds give equal frames");
    assert_eq!(half, 10 + serde_json::to_vec(&info).unwrap().len() + 32 * 16 * 3);
}

#[test]
fn worlds_are_made_for_tasks() {
    let file = "text: Look.\ngoal: {look_up: {degrees: 10}}\n";
    let up = [0, 0, 0, 0x18, 0xfc, 0, 0];
    for task in ["look_at_the_sky", "motion/look_at_the_sky", file] {
        let options = json!({ "task": task, "pictures": false, "stopWhenDone": true });
        let steps = vec![message(Kind::Step, up); 30];
        let said = answers(&[&[make(&options), reset(&json!([1]))][..], &steps].concat());
        let made: Value = serde_json::from_slice(&said[0].body).unwrap();
        assert!(made["text"].as_str().unwrap().starts_with("Look"), "{made}");
        assert_eq!(info_of(&said[1])["progress"][0]["goal"], true);
        let rewards = said[2..].iter().map(|frames| f32::from_le_bytes(frames.body[..4].try_into().unwrap()));
        assert_eq!(rewards.sum::<f32>(), if task == file { 150.0 } else { 10.0 }, "it begins again");
    }
    for (options, words) in [
        (json!({ "task": "moonwalk" }), "no task \"moonwalk\""),
        (json!({ "task": "text: Look.\ngoal: {look_down: {}}\n" }), "line 2: there is no predicate"),
        (json!({ "task": "craft_ladder", "scene": "cave" }), "scene of its own"),
    ] {
        let error = error_of(&answers(&[make(&options)])[0]);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn without_pictures_only_words_are_sent() {
    let said = answers(&[make(&json!({ "pictures": false })), reset(&json!([0]))]);
    assert_eq!(said[1].body.len(), 10 + serde_json::to_vec(&info_of(&said[1])).unwrap().len());
}

#[test]
fn a_refused_message_changes_nothing() {
    let options = json!({ "width": 16, "height": 16 });
    let asked = [
        message(Kind::Step, AHEAD),
        reset(&json!([0])),
        make(&options),
        message(Kind::Step, AHEAD),
        reset(&json!([null])),
        reset(&json!([0])),
        message(Kind::Step, [1, 2, 3]),
        message(Kind::Step, [AHEAD, AHEAD].concat()),
        reset(&json!([1, 2])),
        message(Kind::Save, [9, 0, 0, 0]),
        message(Kind::Save, [9]),
        message(Kind::Load, [&[0; 4][..], b"nothing"].concat()),
        message(Kind::Recording, [0; 4]),
        make(&json!({ "width": 17 })),
        make(&json!({ "count": 1025 })),
        make(&json!({ "count": 1024, "width": 1024, "height": 1024 })),
        make(&json!({ "scene": "moon" })),
        make(&json!({ "maxSteps": 0 })),
        make(&json!({ "speed": 2 })),
        message(Kind::Hello, []),
        PipeMessage { kind: 77, body: Vec::new() },
        message(Kind::Step, AHEAD),
    ];
    let said = answers(&asked);
    assert_eq!(said.len(), asked.len());
    let words = [
        (0, "no world has begun yet"),
        (1, "no worlds yet"),
        (3, "no world has begun yet"),
        (4, "each needs a seed"),
        (6, "has 7 bytes"),
        (7, "1 worlds, and 2 actions"),
        (8, "1 worlds, and 2 seeds"),
        (9, "no world 9"),
        (10, "four bytes"),
        (11, "not a save"),
        (12, "not recorded"),
        (13, "16 to 1024 in steps of 4"),
        (14, "1 to 1024"),
        (15, "at most"),
        (16, "no scene \"moon\""),
        (17, "1 to 1000000"),
        (18, "unknown field `speed`"),
        (19, "kind 1"),
        (20, "kind 77"),
    ];
    for (place, words) in words {
        let error = error_of(&said[place]);
        assert!(error.contains(words), "{place}: {error}");
    }
    assert_eq!(info_of(&said[21])["step"], 1);
}

#[test]
fn a_save_is_loaded_into_another_world() {
    let options = json!({ "count": 2, "pictures": false });
    let begun = [make(&options), reset(&json!([1, 2])), message(Kind::Step, [AHEAD, AHEAD].concat())];
    let saved = answers(&[&begun[..], &[message(Kind::Save, [0; 4])]].concat());
    let load = [&1_u32.to_le_bytes()[..], &saved[3].body].concat();
    let said = answers(&[&begun[..], &[message(Kind::Load, load)]].concat());
    assert_eq!(info_of(&said[3])["hash"], info_of(&said[2])["hash"]);
}

#[test]
fn a_message_that_is_too_long_ends_the_session() {
    let head = [&(MAX_BODY as u32 + 1).to_le_bytes()[..], &[Kind::Step as u8]].concat();
    assert_eq!(serve(&head[..], io::sink()).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_client_that_leaves_within_a_message_ends_the_session() {
    let bytes = bytes_of(&[make(&json!({}))]);
    for length in 1..bytes.len() {
        let ended = serve(&bytes[..length], io::sink());
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{length}");
    }
}

#[test]
fn nothing_is_done_for_messages_after_a_close() {
    assert_eq!(answers(&[message(Kind::Close, []), make(&json!({}))]), []);
}

#[test]
fn the_program_ends_when_its_client_leaves() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_buildoff-world"))
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    PipeMessage::read(&mut output).unwrap().unwrap();
    let steps = vec![message(Kind::Step, AHEAD); 20];
    let asked = [&[make(&json!({ "width": 1024, "height": 1024 })), reset(&json!([0]))][..], &steps].concat();
    // It leaves while pictures of three megabytes are on their way.
    drop(output);
    let _ = input.write_all(&bytes_of(&asked));
    drop(input);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(ended.stderr, b"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_messages_are_each_answered_once(
        asked in prop::collection::vec((0..12_u8, prop::collection::vec(any::<u8>(), 0..64)), 0..12),
        actions in prop::collection::vec(any::<[u8; 7]>(), 0..12),
    ) {
        let options = json!({ "width": 16, "height": 16, "maxSteps": 5, "record": true });
        let begun = vec![make(&options), reset(&json!([0]))];
        let hostile = asked.into_iter().filter(|(kind, _)| *kind != Kind::Close as u8);
        let hostile = hostile.map(|(kind, body)| PipeMessage { kind, body });
        let steps = actions.iter().map(|action| message(Kind::Step, *action));
        let asked: Vec<_> = begun.into_iter().chain(hostile).chain(steps).collect();
        prop_assert_eq!(answers(&asked).len(), asked.len());
    }

    #[test]
    fn any_bytes_end_in_an_error_or_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = serve(&bytes[..], io::sink());
    }
}
