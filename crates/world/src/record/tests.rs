use super::*;
use crate::action::{Button, SentAction};

fn recorded(terrains: &Terrains, turn: f64) -> Vec<u8> {
    let mut episode = Episode::free_play(Scene::Meadow, 5, terrains);
    let mut recorder = Recorder::new(&episode);
    for step in 0..95 {
        let action =
            Action::default().press(Button::Forward).look(0.0, if step % 30 == 0 { turn } else { 0.0 });
        episode.step(&action);
        recorder.note(action, &episode.world);
    }
    recorder.finish(&episode)
}

#[test]
fn a_recording_runs_again_to_the_same_end() {
    let terrains = Terrains::default();
    let bytes = recorded(&terrains, 45.0);
    assert!(bytes.len() < 600, "{}", bytes.len());
    let mut recording = Recording::read(&bytes).unwrap();
    assert_eq!((recording.steps(), recording.inputs().count()), (95, 95));
    let mut seen = 0;
    recording.replay(&terrains, |_| seen += 1).unwrap();
    assert_eq!(seen, 96);
    recording.beginning.seed = 6;
    let other = recording.replay(&terrains, |_| ()).err().unwrap();
    assert!(matches!(other, RecordingError::Differs { step: 20 }), "{other}");
}

#[test]
fn what_was_crafted_without_the_pointer_and_held_is_kept() {
    let terrains = Terrains::default();
    let mut episode = Episode::free_play(Scene::Meadow, 5, &terrains);
    let mut recorder = Recorder::new(&episode);
    let send = |episode: &mut Episode, recorder: &mut Recorder, text: &str| {
        let sent = SentAction::read(text).unwrap();
        episode.act(sent, |input, episode| recorder.note(*input, &episode.world))
    };
    send(&mut episode, &mut recorder, r#"{"keys": ["forward"]}"#);
    assert_eq!(episode.help(), RunHelp::default());
    send(&mut episode, &mut recorder, r#"{"keys": ["forward"], "ticks": 5}"#);
    assert_eq!(episode.help(), RunHelp { is_assisted: false, is_held: true });
    assert_eq!(episode.world.tick(), 6);
    let crafted = send(&mut episode, &mut recorder, r#"{"craft": "oak_planks", "ticks": 2}"#);
    assert_eq!((crafted.events.len(), crafted.craft_problem), (1, None));
    let failed = send(&mut episode, &mut recorder, r#"{"craft": "cake"}"#);
    assert!(failed.craft_problem.unwrap().to_string().contains("missing"));
    assert_eq!(episode.help(), RunHelp { is_assisted: true, is_held: true });
    let loaded = Episode::load(&episode.save(), &terrains).unwrap();
    assert_eq!(loaded.help(), episode.help());
    let bytes = recorder.finish(&episode);
    let recording = Recording::read(&bytes).unwrap();
    assert_eq!((recording.steps(), recording.end().help), (9, episode.help()));
    let crafted: Vec<_> = recording.inputs().map(|input| input.craft.map(ItemId::id)).collect();
    assert_eq!(crafted[5..], [None, Some("oak_planks"), None, Some("cake")]);
    let again = recording.replay(&terrains, |_| ()).unwrap();
    assert_eq!((again.help(), again.world.hash()), (episode.help(), episode.world.hash()));
    let mut forged = recording;
    forged.end.help.is_assisted = false;
    assert!(matches!(forged.replay(&terrains, |_| ()), Err(RecordingError::OtherScore)));
}

#[test]
fn another_engine_is_named() {
    let terrains = Terrains::default();
    let mut recording = Recording::read(&recorded(&terrains, 1.0)).unwrap();
    recording.beginning.engine = "buildoff-0.9".to_owned();
    let error = recording.replay(&terrains, |_| ()).err().unwrap();
    assert!(error.to_string().contains("buildoff-0.9"), "{error}");
}

#[test]
fn what_is_no_recording_is_told_with_its_line() {
    let packed = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let first = r#"{"format":1,"engine":"buildoff-1.1","task":{"scene":"meadow"},"seed":1}"#;
    for (text, words) in [
        ("", "line 1: it ends"),
        ("[1,0,0,0,0]\n", "line 1: the first line"),
        ("{}\n", "line 1: it is no line"),
        (&format!("{first}\n{first}\n"), "line 2: the run begins"),
        (&format!("{first}\n[0,0,0,0,0]\n"), "line 2: a recording has"),
        (&format!("{first}\n[2000000,0,0,0,0]\n"), "line 2: a recording has"),
        (&format!("{first}\n[1,0,0,0,0]\n"), "line 3: it ends"),
        (&format!("{first}\n{{\"hash\":\"0000000000000000\"}}\n"), "line 2: a hash comes after steps"),
        (
            &format!(
                "{first}\n[1,0,0,0,0]\n{{\"hash\":\"0000000000000000\"}}\n{{\"hash\":\"0000000000000000\"}}\n"
            ),
            "line 4: a hash comes after steps",
        ),
        (&format!("{first}\n[1,0,0,0,0,\"moon\"]\n"), "line 2: it is no line"),
        (&format!("{first}\n[1,0,0,0,0,\"stick\",0]\n"), "line 2: it is no line"),
        (&format!("{first}\n{{\"final\":\"0000000000000000\",\"steps\":3}}\n"), "line 2: it counts"),
        (&first.replace("meadow", "moon"), "there is no scene"),
    ] {
        let error = Recording::read(&packed(text)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(Recording::read(b"hello").is_err());
}

#[test]
fn nothing_comes_after_the_last_line_and_a_strange_engine_is_named_without_control_characters() {
    use std::io::{Read as _, Write as _};
    let packed = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let terrains = Terrains::default();
    let mut text = String::new();
    GzDecoder::new(&*recorded(&terrains, 45.0)).read_to_string(&mut text).unwrap();
    let lines = text.lines().count();
    let longer = Recording::read(&packed(&format!("{text}garbage\n"))).err().unwrap();
    assert_eq!(longer.to_string(), format!("line {}: nothing comes after the last line", lines + 1));
    let strange = text.replace(ENGINE, "\\u001b[31m-strange-engine");
    let strange = Recording::read(&packed(&strange)).unwrap().replay(&terrains, |_| ()).err().unwrap();
    assert!(strange.to_string().starts_with("it was made with [31m-strange-engine"), "{strange}");
}
