//! What task files may say, and what is said of what is wrong with them.

use std::sync::Arc;

use proptest::prelude::*;
use world::task::shipped_files;
use world::{Action, Episode, WorldTask};

use super::{TERRAINS, parse};

const GOOD: &str = "text: Do it.\nscene: {name: meadow}\nplaces:\n- outcrop: {of: stone, away: [4, 6]}\n\
                    custom_init_commands:\n- /give @s stone 3\nreward_cfg:\n- event: mine_block\n  objects: [stone]\n\
                    \x20 reward: 1.5\n  max_reward_times: 3\ngoal:\n  column: {of: stone, height: 3}\nmetrics: [steps]\n\
                    max_steps: 700\ndifficulty: 2\nneeds: [dig]\ndefaults: [base, _self_]\nvideo: {any: [1, 2]}\n";

#[test]
fn a_file_may_have_keys_of_others() {
    let task = parse(GOOD);
    assert_eq!((task.max_steps(), task.payable(), task.difficulty()), (700, 14.5, Some(2)));
    parse(&GOOD.replace("reward_cfg", "milestone_reward_cfg"));
}

#[test]
fn a_wrong_file_is_refused_in_words_with_the_line() {
    for (part, other, line, words) in [
        ("text: Do it.\n", "", None, "text is missing"),
        ("text: Do it.", "text: ''", Some(1), "text has 1 to 2000"),
        ("text: Do it.", "text: [1]", Some(1), ""),
        ("text: Do it.", "text: \"\\e]0;x\\a\"", Some(1), "letters that cannot be seen"),
        ("name: meadow", "name: moon", Some(2), "no scene \"moon\""),
        ("name: meadow", "name: cave, start: hillside", Some(2), "only the meadow"),
        ("outcrop:", "castle:", Some(4), "no place \"castle\"; there are block, "),
        ("of: stone, away", "of: wool, away", Some(4), "no block \"wool\""),
        ("[4, 6]", "[6, 4]", Some(4), "the smaller number first"),
        ("[4, 6]", "[4, 600]", Some(4), ""),
        ("[4, 6]}", "[4, 6], colour: red}", Some(4), "colour"),
        ("/give @s stone 3", "/give @s shovel", Some(6), "no item \"shovel\""),
        ("mine_block", "dance", Some(8), "no event \"dance\"; there are craft_item, "),
        ("[stone]", "[wool]", Some(8), "no block \"wool\""),
        ("[stone]", "['#colours']", Some(8), "no group \"#colours\""),
        ("[stone]", "[bedrock]", Some(8), "bedrock cannot be mined"),
        ("[stone]", "[]", Some(8), "needs objects"),
        ("1.5", "-1", Some(8), "a reward is above 0"),
        ("1.5", ".nan", Some(8), ""),
        ("mine_block", "craft_item", Some(8), "stone cannot be crafted"),
        ("mine_block", "kill_entity", None, "no creatures"),
        ("mine_block", "brew", None, "brew cannot be paid"),
        ("mine_block", "open", Some(8), "open cannot be paid: no screen opens at stone"),
        ("[stone]", "[conduit]", Some(8), "mine_block cannot be paid: the world does not have conduit"),
        ("{of: stone, height: 3}", "{of: conduit, height: 3}", Some(13), "column never holds"),
        ("[4, 6]}", "[4, 6]}\n- scatter: {of: stone, count: 0, away: [4, 6]}", Some(5), "count goes from 1"),
        ("max_reward_times: 3", "max_reward_times: 0", Some(8), "goes from 1 to 10000"),
        ("column:", "columns:", Some(13), "no predicate \"columns\"; there are count_placed, "),
        ("height: 3", "height: 0", Some(13), "height goes from 1 to 100"),
        ("height: 3", "width: 3", Some(13), "width"),
        ("metrics: [steps]", "metrics: [beauty]", Some(14), "beauty"),
        ("max_steps: 700", "max_steps: 0", Some(15), "max_steps goes from 1"),
        ("difficulty: 2", "difficulty: 4", Some(16), "difficulty goes from 1 to 3"),
        ("needs: [dig]", "needs: [luck]", Some(17), "luck"),
        ("text: Do it.", "text: &a Do it.", Some(1), "anchor"),
        ("text: Do it.", "text: *a", Some(1), ""),
        ("max_steps: 700", "max_steps: 700\nmax_steps: 800", Some(16), "max_steps"),
        ("difficulty: 2", "difficulty: [", None, ""),
        ("difficulty: 2", "---\na: 1", None, ""),
    ] {
        assert!(GOOD.contains(part), "{part}");
        let error = WorldTask::parse("test", &GOOD.replacen(part, other, 1));
        let error = error.map(drop).expect_err(other);
        assert!(error.to_string().contains(words), "{other}: {error}");
        if line.is_some()
            && !matches!(error.problems[0].line, Some(found) if found.abs_diff(line.unwrap()) <= 1)
        {
            panic!("{other}: line {line:?}: {error}");
        }
    }
    let long = format!("{GOOD}# {}", "x".repeat(70_000));
    assert!(WorldTask::parse("test", &long).unwrap_err().to_string().contains("65536 bytes"));
    let deep = format!("text: a\nother: {}", "[".repeat(3000));
    assert!(WorldTask::parse("test", &deep).is_err());
    let items: Vec<String> = craft::ItemId::all().take(300).map(|item| format!("{item}: 1")).collect();
    let chest = format!("block: {{of: chest, away: [4, 6], content: {{{}}}}}", items.join(", "));
    let error = WorldTask::parse("test", &GOOD.replace("outcrop: {of: stone, away: [4, 6]}", &chest));
    assert!(error.unwrap_err().to_string().contains("at most 27 items"));
    let many = "- scatter: {of: stone, count: 64, away: [4, 6]}\n".repeat(7);
    let error = WorldTask::parse("test", &GOOD.replace("places:\n", &format!("places:\n{many}")));
    assert!(error.unwrap_err().to_string().contains("at most 400 things"));
    let nothing = "text: Do nothing.\n";
    assert!(WorldTask::parse("test", nothing).unwrap_err().to_string().contains("nothing is paid"));
}

#[test]
fn a_file_of_others_loads_with_warnings() {
    let text = "custom_init_commands:\n- /give @s minecraft:raw_beef 15\n- /give @s minecraft:coal 4\ntext: smelt beef\n\
                defaults:\n- base\n- _self_\n";
    let task = WorldTask::parse_leniently("tool_use/smelt_beef", text).unwrap();
    let words: Vec<String> = task.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(words, ["line 2: there is no item \"minecraft:raw_beef\""]);
    let mut episode = Episode::new(&Arc::new(task), 1, &TERRAINS);
    assert_eq!(episode.world().held().unwrap().item.id(), "coal");
    assert_eq!(episode.step(&Action::default()).reward, 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_change_to_a_file_makes_a_task_or_an_error(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..12_usize), 1..4),
        file in any::<prop::sample::Index>(),
    ) {
        let files: Vec<_> = shipped_files().collect();
        let mut text = files[file.index(files.len())].1.to_owned();
        let parts = ["{", "}", "[", "*a", "&a ", ": ", "\n", "-", "999999999999", "\"", "~ ", "!!x "];
        for (from, to, part) in cuts {
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            let end = from.max(to).min(from.min(to) + 6);
            if text.is_char_boundary(from.min(to)) && text.is_char_boundary(end) {
                text.replace_range(from.min(to)..end, parts[part]);
            }
        }
        if let Err(error) = WorldTask::parse_leniently("test", &text) {
            prop_assert!(!error.problems.is_empty() && error.to_string().len() < 3000, "{}", error);
        }
    }
}
