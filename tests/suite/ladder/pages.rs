//! The leaderboard's pages.

use buildoff::arena::Choice;

use super::{busy_ladder, ladder, small_ladder};
use crate::support::{assert_fits_everywhere, open_page};

#[tokio::test]
async fn the_change_in_a_day_is_shown_in_points_and_ranks() {
    let fixture = small_ladder().await;
    fixture.vote("castle", "elm", "fir", Choice::A).await;
    fixture.execute("UPDATE votes SET at = at - interval '2 days'").await;
    fixture.vote("owl", "fir", "elm", Choice::A).await;
    fixture.vote("owl", "fir", "ash", Choice::A).await;

    let html = fixture.html("/leaderboard").await;

    let row = |name: &str| {
        let from = html.find(&format!("<a href=\"/models/{name}\">")).unwrap();
        html[from..from + html[from..].find("</tr>").unwrap()].to_owned()
    };
    let fir = row("fir");
    assert!(fir.contains("<span class=\"good\">+16</span>") && fir.contains("up 2 ranks"), "{fir}");
    let elm = row("elm");
    assert!(elm.contains("<span class=\"bad\">−8</span>") && elm.contains("down 1 rank<"), "{elm}");
    assert!(row("ash").contains(">new<"), "{}", row("ash"));
}

#[tokio::test]
async fn an_empty_ladder_says_what_to_do_next() {
    let nobody = ladder(&[], &[]).await;
    let html = nobody.html("/leaderboard").await;
    assert!(html.contains("No models on the leaderboard yet") && html.contains("buildoff import"), "{html}");
    assert!(nobody.html("/leaderboard/pairs").await.contains("No votes on any pair yet"));

    let alone = ladder(&[("elm", "north")], &[("castle", "house")]).await;
    assert!(alone.html("/leaderboard").await.contains("Only one model so far"));

    let fixture = small_ladder().await;
    let html = fixture.html("/leaderboard").await;
    assert!(html.contains("No votes yet") && !html.contains("Who beats whom"), "{html}");
    assert!(fixture.html("/models/elm").await.contains("No votes yet"));
    assert!(
        fixture.html("/leaderboard/pairs?a=elm&b=fir").await.contains("No votes on these two models yet")
    );

    fixture.vote("castle", "elm", "fir", Choice::A).await;
    let html = fixture.html("/leaderboard").await;
    assert!(html.contains("Too few votes for skill") && html.contains("needs 30 votes"), "{html}");
    assert!(html.contains("Who beats whom") && html.contains("Elo over time"), "{html}");
}

#[tokio::test]
async fn the_lead_is_shown_with_its_uncertainty() {
    let fixture = busy_ladder().await;
    let html = fixture.html("/leaderboard").await;
    assert!(
        html.contains("First place by skill depends on <strong>") && html.contains(" of 80</strong>"),
        "{html}"
    );
}

#[tokio::test]
async fn the_votes_on_a_pair_are_listed_for_either_order_of_models() {
    let fixture = small_ladder().await;
    let first = fixture.vote("castle", "elm", "fir", Choice::A).await;
    let second = fixture.vote("owl", "fir", "elm", Choice::A).await;
    fixture.vote("owl", "ash", "elm", Choice::A).await;

    let html = fixture.html("/leaderboard/pairs?a=elm&b=fir").await;
    assert!(html.contains("Elm was better 1 time, Fir 1 time; 0 ties, 0 both bad."), "{html}");
    let (newest, oldest) = (html.find(&second.to_string()).unwrap(), html.find(&first.to_string()).unwrap());
    assert!(newest < oldest, "the newest vote must come first");
    assert!(
        html[..newest].contains("Fir is better") && html[newest..oldest].contains("Elm is better"),
        "{html}"
    );
    assert!(html.contains(&format!("/matchups/{first}")) && !html.contains("Ash"), "{html}");

    let mirrored = fixture.html("/leaderboard/pairs?a=fir&b=elm").await;
    assert!(mirrored.contains("Fir was better 1 time, Elm 1 time"), "{mirrored}");
    let tagged = fixture.html("/leaderboard/pairs?a=elm&b=fir&tag=animal").await;
    assert!(tagged.contains("1 vote<") && !tagged.contains(&first.to_string()), "{tagged}");
    let all = fixture.html("/leaderboard/pairs").await;
    assert!(all.contains("2 pairs, 3 votes") && all.contains("/leaderboard/pairs?a=ash&#38;b=elm"), "{all}");

    for query in ["a=elm", "a=elm&b=nobody", "a=elm&b=E%00"] {
        let html = fixture.html(&format!("/leaderboard/pairs?{query}")).await;
        assert!(html.contains("This pair is not on the leaderboard.") && html.contains("2 pairs"), "{query}");
    }
    let itself = fixture.html("/leaderboard/pairs?a=elm&b=elm").await;
    assert!(
        itself.contains("A model cannot be compared with itself.") && itself.contains("2 pairs"),
        "{itself}"
    );
    let first = fixture.html("/leaderboard/pairs?a=elm&b=fir&page=x&tag=no-such-tag").await;
    assert!(first.contains("Elm was better 1 time, Fir 1 time; 0 ties, 0 both bad."), "{first}");
}

#[tokio::test]
async fn many_votes_on_a_pair_fill_several_pages() {
    let fixture = ladder(&[("elm", "north"), ("fir", "south")], &[("castle", "house")]).await;
    for _ in 0..51 {
        fixture.vote("castle", "elm", "fir", Choice::Tie).await;
    }
    let links = async |query: &str| {
        let html = fixture.html(&format!("/leaderboard/pairs?a=elm&b=fir{query}")).await;
        html.matches("/matchups/").count()
    };
    assert_eq!([links("").await, links("&page=2").await, links("&page=3").await], [50, 1, 0]);
    assert!(fixture.html("/leaderboard/pairs?a=elm&b=fir&page=9").await.contains("This page does not exist"));
}

#[tokio::test]
async fn the_table_is_sorted_by_links() {
    let fixture = busy_ladder().await;
    let page = open_page(&fixture.server.url_for("/leaderboard")).await;
    let names = async || -> Vec<String> {
        page.eval("[...document.querySelectorAll('.ladder tbody th a')].map(a => a.innerText)").await
    };
    let by_elo = names().await;
    assert_eq!(page.text("[aria-sort]").await, "Elo");

    for (word, order) in
        [("Model", "ascending"), ("Model", "descending"), ("Elo", "descending"), ("Elo", "ascending")]
    {
        page.run(&format!("[...document.querySelectorAll('.ladder thead a')].find(a => a.innerText == '{word}').id = 'wanted'"))
            .await;
        page.goto(&page.eval::<String>("document.getElementById('wanted').href").await).await;
        assert_eq!(page.text("[aria-sort]").await, word);
        assert_eq!(page.eval::<String>("document.querySelector('[aria-sort]').ariaSort").await, order);
        let mut expected = by_elo.clone();
        if word == "Model" {
            expected.sort();
        }
        if (word == "Model") == (order == "descending") {
            expected.reverse();
        }
        assert_eq!(names().await, expected, "by {word}, {order}");
    }
    for sort in ["change", "skill", "votes", "won", "lost", "tied", "both-bad", "shown"] {
        fixture.html(&format!("/leaderboard?sort={sort}&order=asc&provider=&tag=")).await;
    }
}

#[tokio::test]
async fn every_cell_of_the_heatmap_links_to_its_votes() {
    let fixture = busy_ladder().await;
    let page = open_page(&fixture.server.url_for("/leaderboard")).await;
    let cell: (String, String) = page
        .eval("(a => [a.getAttribute('href'), a.querySelector('title').textContent])(document.querySelector('.heatmap a:has(rect)'))")
        .await;
    page.goto(&fixture.server.url_for(&cell.0)).await;
    let votes: usize = page.eval("document.querySelectorAll('.votes tbody tr').length").await;
    assert!(cell.1.ends_with(&format!("{votes} votes")), "{cell:?}, but {votes} are listed");
}

#[tokio::test]
async fn the_pages_fit_every_size_and_theme() {
    let fixture = busy_ladder().await;
    for (name, path) in [
        ("leaderboard", "/leaderboard"),
        ("leaderboard-tag", "/leaderboard?tag=animal&provider=south"),
        ("model", "/models/elm"),
        ("pairs", "/leaderboard/pairs"),
        ("pair", "/leaderboard/pairs?a=elm&b=fir"),
    ] {
        let mut page = open_page(&fixture.server.url_for(path)).await;
        assert_fits_everywhere(&mut page, name).await;
        let nameless: Vec<String> = page
            .eval("[...document.querySelectorAll('a, button, select, svg[role=img]')].filter(e => !(e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)")
            .await;
        assert_eq!(nameless, Vec::<String>::new(), "{path} has elements without a name");
        let twice: Vec<String> = page
            .eval("[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)")
            .await;
        assert_eq!(twice, Vec::<String>::new(), "{path} has duplicate element ids");
    }
}
