//! The ladders over held-out and over public prompts, and how well they agree.

use std::time::Duration;

use buildoff::arena::leaderboard::LadderAgreement;
use buildoff::arena::{Arena, Choice, ReferencePolicy};
use serde_json::Value;

use super::{LadderFixture, busy_ladder, ladder, settings};

const MODELS: [(&str, &str); 5] =
    [("elm", "north"), ("fir", "south"), ("ash", "south"), ("oak", "north"), ("yew", "east")];

impl LadderFixture {
    /// Every pair of these models meets eight times on a prompt. The one that comes first in the list wins.
    async fn vote_in_order(&self, prompt: &str, models: &[&str]) {
        for (above, better) in models.iter().enumerate() {
            for (below, worse) in models.iter().enumerate().skip(above + 1) {
                for round in 0..8 {
                    match (above + below + round) % 2 {
                        0 => self.vote(prompt, better, worse, Choice::A).await,
                        _ => self.vote(prompt, worse, better, Choice::B).await,
                    };
                }
            }
        }
    }

    /// Computed anew, since an arena may answer with what it computed a moment ago.
    async fn agreement(&self) -> Option<LadderAgreement> {
        let arena = Arena::new(self.db.pool.clone(), settings(), ReferencePolicy::Auto, Duration::ZERO);
        arena.ladder_agreement().await.unwrap()
    }

    async fn votes(&self, path: &str) -> i64 {
        self.column(path, "votes").await.iter().filter_map(Value::as_i64).sum()
    }
}

#[tokio::test]
async fn the_ladder_of_held_out_prompts_counts_votes_on_them_alone() {
    let fixture = busy_ladder().await;
    let whole = fixture.html("/leaderboard?prompts=held-out").await;
    assert!(whole.contains("<h1>Leaderboard</h1>") && !whole.contains("id=\"prompts\""), "{whole}");
    fixture.execute("UPDATE prompts SET held_out = true WHERE id IN ('castle', 'owl')").await;

    let all = fixture.votes("/api/leaderboard").await;
    let held_out = fixture.votes("/api/leaderboard?prompts=held-out").await;
    let public = fixture.votes("/api/leaderboard?prompts=public").await;
    assert!(held_out > 0 && public > 0, "{held_out} and {public}");
    assert_eq!(held_out + public, all);
    let tagged = fixture.votes("/api/leaderboard?prompts=held-out&tag=animal").await;
    assert!(0 < tagged && tagged < held_out, "{tagged} of {held_out}");
    assert_eq!(fixture.votes("/api/leaderboard?prompts=held-out&tag=machine").await, 0);
    assert_eq!(fixture.server.get("/api/leaderboard?prompts=secret").send().await.unwrap().status(), 400);

    let page = fixture.html("/leaderboard?prompts=held-out").await;
    assert!(page.contains("Leaderboard: held-out prompts") && page.contains("on held-out prompts"), "{page}");
    let pairs = fixture.html("/leaderboard/pairs?prompts=held-out").await;
    assert!(pairs.contains("on held-out prompts") && pairs.contains("&#38;prompts=held-out"), "{pairs}");
}

#[tokio::test]
async fn about_says_how_well_the_held_out_ladder_agrees_with_the_public_one() {
    let fixture = ladder(&MODELS, &[("castle", "house"), ("owl", "animal")]).await;
    assert_eq!(fixture.agreement().await, None, "nothing is held out");
    fixture.execute("UPDATE prompts SET held_out = true WHERE id = 'castle'").await;
    fixture.vote_in_order("owl", &["elm", "fir", "ash", "oak", "yew"]).await;
    for _ in 0..2 {
        fixture.vote_in_order("castle", &["fir", "elm", "ash", "oak"]).await;
    }
    assert_eq!(fixture.agreement().await, None, "four models are too few");
    fixture.vote_in_order("castle", &["yew", "oak"]).await;
    assert_eq!(fixture.agreement().await, None, "eight votes on a model are too few");
    for other in ["fir", "elm", "ash"] {
        fixture.vote_in_order("castle", &[other, "yew"]).await;
    }
    // The page is shown without its numbers if these take long.
    let page = loop {
        let page = fixture.html("/about").await;
        if page.contains("same order") {
            break page;
        }
    };
    assert!(
        page.contains("5 models have a skill on both, over 128 votes on held-out prompts and 80 on public"),
        "{page}"
    );
    assert!(page.contains("Of their 10 pairs, <b>8 are in the same order</b>"), "{page}");
    assert!(page.contains("τ 0.60;"), "{page}");
}
