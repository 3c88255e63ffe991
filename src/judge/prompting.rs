//! What a model is told: `prompts/judge/` filled in with the criteria and with what is judged.
//!
//! The pictures go with the user's text, in the order of their labels. Nothing here tells who made a build.

use askama::Template;
use serde_json::json;

use super::answer::UnreadableJudgement;
use super::criteria::{CriteriaText, Criterion};
use crate::arena::catalog::MAX_PROMPT_CHARS;
use crate::generate::ChatPrompt;

/// How many kinds of blocks a model is told about.
const MAX_KINDS: usize = 8;

/// How much of an answer that could not be read is repeated to the model: its end.
const MAX_EARLIER_CHARS: usize = 4000;

/// A build as a judge sees it.
#[derive(Clone, Copy, Debug)]
pub struct JudgedBuild<'a> {
    /// What each picture shows, such as "from the front and the right, above", in the order in which they are sent.
    pub pictures: &'a [String],
    pub block_count: u64,
    /// The ids of blocks with their counts, the most frequent first.
    pub kinds: &'a [(String, u64)],
}

/// Asks for the scores of a build.
pub fn score_prompt(prompt: &str, build: JudgedBuild, criteria: &CriteriaText) -> ChatPrompt {
    let applicable: Vec<PromptedCriterion> = criteria
        .applicable()
        .iter()
        .map(|criterion| PromptedCriterion {
            key: criterion.key(),
            title: criterion.title(),
            text: criteria.text(criterion).unwrap_or_default(),
        })
        .collect();
    let names = applicable.iter().map(|criterion| criterion.title).collect::<Vec<_>>().join(", ");
    let user = ScoreUserTemplate {
        prompt: single_line(prompt),
        pictures: build.pictures,
        blocks: count_blocks(build),
        names,
    };
    let system = ScoreSystemTemplate { criteria: applicable, form: example_answer(criteria) };
    ChatPrompt::new(render(&system), render(&user))
}

/// Asks which of two builds of one prompt is better. The pictures of build A are sent first.
pub fn pair_prompt(prompt: &str, a: JudgedBuild, b: JudgedBuild) -> ChatPrompt {
    let of = |side, build: JudgedBuild| {
        build.pictures.iter().map(move |label| PairPicture { side, label: label.clone() }).collect::<Vec<_>>()
    };
    let user = PairUserTemplate {
        prompt: single_line(prompt),
        pictures: [of("A", a), of("B", b)].concat(),
        blocks_a: count_blocks(a),
        blocks_b: count_blocks(b),
    };
    ChatPrompt::new(render(&PairSystemTemplate), render(&user))
}

/// Asks the same question again after an answer that could not be read, with the same pictures.
pub fn repair_prompt(question: &ChatPrompt, answer: &str, problem: &UnreadableJudgement) -> ChatPrompt {
    let answer = answer.trim();
    let start = answer.char_indices().rev().nth(MAX_EARLIER_CHARS - 1).map_or(0, |(at, _)| at);
    let user = RepairJudgementTemplate {
        question: &question.user,
        problem: &problem.message,
        earlier: &answer[start..],
        is_cut: start > 0,
    };
    ChatPrompt { user: render(&user), ..question.clone() }
}

/// Asks the same question again after an answer that was cut off, with the same pictures.
pub fn shorter_prompt(question: &ChatPrompt) -> ChatPrompt {
    let user = format!(
        "{}\n\nYour answer to this was cut off because it was too long. Answer again with the JSON object alone, and with \
         short sentences.",
        question.user
    );
    ChatPrompt { user, ..question.clone() }
}

#[derive(Template)]
#[template(path = "judge/score_system.md")]
struct ScoreSystemTemplate<'a> {
    criteria: Vec<PromptedCriterion<'a>>,
    form: String,
}

struct PromptedCriterion<'a> {
    key: &'static str,
    title: &'static str,
    text: &'a str,
}

#[derive(Template)]
#[template(path = "judge/score_user.md")]
struct ScoreUserTemplate<'a> {
    prompt: String,
    pictures: &'a [String],
    blocks: String,
    names: String,
}

#[derive(Template)]
#[template(path = "judge/pair_system.md")]
struct PairSystemTemplate;

#[derive(Template)]
#[template(path = "judge/pair_user.md")]
struct PairUserTemplate {
    prompt: String,
    pictures: Vec<PairPicture>,
    blocks_a: String,
    blocks_b: String,
}

#[derive(Clone)]
struct PairPicture {
    side: &'static str,
    label: String,
}

#[derive(Template)]
#[template(path = "judge/repair.md")]
struct RepairJudgementTemplate<'a> {
    question: &'a str,
    problem: &'a str,
    earlier: &'a str,
    is_cut: bool,
}

fn example_answer(criteria: &CriteriaText) -> String {
    let score = |criterion: Criterion| {
        let answer = json!({ "evidence": "…", "score": 0 });
        format!("    {}: {answer}", json!(criterion.key()))
    };
    let scores: Vec<String> = criteria.applicable().iter().map(score).collect();
    format!("{{\n  \"scores\": {{\n{}\n  }},\n  \"note\": \"\"\n}}", scores.join(",\n"))
}

/// `1,241 blocks of 3 kinds: 900 stone, 300 oak_planks, 41 glass`
fn count_blocks(build: JudgedBuild) -> String {
    let JudgedBuild { block_count, kinds, .. } = build;
    let shown: Vec<String> =
        kinds.iter().take(MAX_KINDS).map(|(kind, count)| format!("{count} {}", single_line(kind))).collect();
    let more = kinds.len().saturating_sub(MAX_KINDS);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    match kinds.len() {
        0 => format!("{block_count} blocks"),
        1 => format!("{block_count} blocks of one kind: {}", shown.concat()),
        many => format!("{block_count} blocks of {many} kinds: {}{rest}", shown.join(", ")),
    }
}

/// Puts a text on one line, so that no prompt can pretend to be a part of the text around it.
fn single_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(MAX_PROMPT_CHARS).collect()
}

#[expect(clippy::expect_used, reason = "a string takes whatever is written to it")]
fn render(template: &impl Template) -> String {
    template.render().expect("a template that renders into a string").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::answer::{JudgeAnswer, PairAnswer};

    fn labels() -> Vec<String> {
        ["from the front", "from the back"].map(str::to_owned).to_vec()
    }

    fn kinds(count: u64) -> Vec<(String, u64)> {
        (0..count).map(|kind| (format!("kind_{kind}"), 100 - kind)).collect()
    }

    #[test]
    fn a_model_that_scores_is_told_everything_and_in_order() {
        let (pictures, kinds) = (labels(), kinds(10));
        let build = JudgedBuild { pictures: &pictures, block_count: 955, kinds: &kinds };
        let ChatPrompt { system, user, .. } =
            score_prompt("a <b>tall</b>\n\n# windmill", build, CriteriaText::build());
        assert_eq!(
            user,
            "The phrase:\n\na <b>tall</b> # windmill\n\nThe pictures, in their order:\n\n1. from the front\n2. from the \
             back\n\nThe build has 955 blocks of 10 kinds: 100 kind_0, 99 kind_1, 98 kind_2, 97 kind_3, 96 kind_4, 95 \
             kind_5, 94 kind_6, 93 kind_7, and 2 more.\n\nScore Task Progress, Material Selection and Usage, Task \
             Completion Efficiency, Creative Attempts."
        );
        for criterion in Criterion::ALL {
            let applies = CriteriaText::build().applies(criterion);
            assert_eq!(
                system.contains(&format!("## {} (`{}`)", criterion.title(), criterion.key())),
                applies
            );
            assert!(CriteriaText::build().text(criterion).is_none_or(|text| system.contains(text)));
        }
    }

    #[test]
    fn the_forms_that_are_shown_can_be_read() {
        let criteria = CriteriaText::build();
        let answer = JudgeAnswer::read(&example_answer(criteria), criteria.applicable()).unwrap();
        assert_eq!((answer.missing.len(), answer.evidence.len()), (0, 4));
        let system = render(&PairSystemTemplate);
        let example = system.lines().find(|line| line.starts_with('{')).unwrap();
        assert!(PairAnswer::read(example).is_ok());
    }

    #[test]
    fn pictures_of_a_pair_are_named_by_their_build() {
        let (first, second) = (labels(), labels()[..1].to_vec());
        let build = |pictures, block_count| JudgedBuild { pictures, block_count, kinds: &[] };
        let user = pair_prompt("a windmill", build(&first, 7), build(&second, 9)).user;
        assert_eq!(
            user,
            "The phrase:\n\na windmill\n\nThe pictures, in their order:\n\n1. Build A: from the front\n2. Build A: from \
             the back\n3. Build B: from the front\n\nBuild A has 7 blocks.\nBuild B has 9 blocks.\n\nWhich build answers \
             the phrase better?"
        );
    }

    #[test]
    fn a_model_is_told_what_was_wrong_and_shown_the_end_of_its_answer() {
        let question = ChatPrompt::new("System", "Question");
        let problem = PairAnswer::read("").unwrap_err();
        let repair = repair_prompt(&question, "", &problem);
        assert_eq!(repair.system, "System");
        assert!(repair.user.starts_with("Question\n\nYou have answered"), "{}", repair.user);
        assert!(repair.user.contains("could not be used: the answer is empty.\n\nKeep"), "{}", repair.user);
        let repair =
            repair_prompt(&question, &format!("begin{}end", "ü".repeat(MAX_EARLIER_CHARS)), &problem);
        assert!(repair.user.contains("ended with:\n\n<answer>\nü") && repair.user.contains("end\n</answer>"));
        assert!(shorter_prompt(&question).user.starts_with("Question\n\n"));
    }
}
