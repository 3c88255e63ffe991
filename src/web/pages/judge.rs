//! `/judge`: a build to score by the criteria, without its maker; `/judge/builds/{id}`: a chosen one, and, once it is
//! judged, who built it and what others say.
//!
//! Opening a page stores nothing; its script or its form asks for a build.

mod result;

use std::sync::LazyLock;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use uuid::Uuid;

use self::result::JudgedPage;
use crate::app::App;
use crate::arena::judgements::{Judging, MAX_EVIDENCE, MAX_NOTE};
use crate::arena::{Voter, builds};
use crate::config::PersonCheckConfig;
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::web::api::judge::{
    FieldProblem, JudgedBuildParts, JudgementFields, JudgementRejection, open_judging, parse_judging,
    send_judgement, skip_judging,
};
use crate::web::derived::NO_STORE;
use crate::web::query::PageQuery;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode, Page, filters, layers};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new()
        .route("/judge", get(show).post(start))
        .route("/judge/builds/{id}", get(show_build).post(start_build))
        .route("/judge/{id}", post(send))
        .route("/judge/{id}/skip", post(skip))
}

/// Before a build is open.
#[derive(Template, WebTemplate)]
#[template(path = "judge/start.html")]
struct JudgeStartPage {
    page: Page,
    /// The build that the address names.
    build: Option<Uuid>,
    /// Why there is nothing to judge.
    nothing: Option<ErrorCode>,
    criteria: &'static [CriterionHelp],
}

#[derive(Template, WebTemplate)]
#[template(path = "judge/form.html")]
struct JudgePage {
    page: Page,
    judging: Judging,
    angle: usize,
    criteria: &'static [CriterionHelp],
    fields: JudgementFields,
    problem: Option<String>,
    judged_today: i64,
    /// Whether the visitor has to pass the check that only a script can do.
    needs_script: bool,
}

/// What stands beside a criterion's slider.
pub(in crate::web) struct CriterionHelp {
    pub criterion: Criterion,
    /// The first sentence of what it means.
    summary: &'static str,
    pub text: &'static str,
    /// What earns which score, the lowest first.
    pub anchors: Vec<(&'static str, &'static str)>,
}

/// The criteria's Markdown is a paragraph, and a list of scores with what earns them.
pub(in crate::web) static CRITERIA: LazyLock<Vec<CriterionHelp>> = LazyLock::new(|| {
    let criteria = CriteriaText::build();
    let help = |criterion: Criterion| {
        let whole = criteria.text(criterion).unwrap_or_default();
        let (text, list) = whole.split_once("\n- ").unwrap_or((whole, ""));
        let anchors = list.split("\n- ").filter_map(|line| line.trim().split_once(": ")).collect();
        let summary = text.find(". ").map_or(text, |end| &text[..=end]).trim();
        CriterionHelp { criterion, summary, text: text.trim(), anchors }
    };
    criteria.applicable().iter().map(help).collect()
});

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct JudgePageQuery {
    angle: usize,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    PageQuery(query): PageQuery<JudgePageQuery>,
) -> Result<Response, Error> {
    let open = match visitor.voter().await? {
        Some(voter) => app.arena.judging(voter).await?.map(|judging| (voter, judging)),
        None => None,
    };
    match open {
        Some((voter, judging)) => {
            let page = JudgePage::of(&app, &visitor, voter, judging).await?;
            Ok(with_policy(&app, JudgePage { angle: query.angle % 8, ..page }))
        }
        None => Ok(with_policy(&app, JudgeStartPage::new(None))),
    }
}

async fn start(State(app): State<App>, visitor: Visitor) -> Result<Response, Error> {
    match open_judging(&app, &visitor, None).await {
        Ok(_) => Ok(Redirect::to("/judge").into_response()),
        Err(error) if error.code() == ErrorCode::AllJudged => {
            let page = JudgeStartPage { nothing: Some(ErrorCode::AllJudged), ..JudgeStartPage::new(None) };
            Ok(with_policy(&app, page))
        }
        Err(error) => Err(error),
    }
}

async fn show_build(
    State(app): State<App>,
    Path(build): Path<String>,
    visitor: Visitor,
    PageQuery(query): PageQuery<JudgePageQuery>,
) -> Result<Response, Error> {
    let build = Uuid::try_parse(&build).map_err(|_| ErrorCode::NoBuild)?;
    if let Some(voter) = visitor.voter().await? {
        if let Some(judged) = JudgedBuildParts::read(&app, voter, build).await? {
            return Ok(with_policy(&app, JudgedPage::of(&app, voter, judged).await?));
        }
        if let Some(judging) = app.arena.judging(voter).await?.filter(|judging| judging.build == build) {
            let page = JudgePage::of(&app, &visitor, voter, judging).await?;
            return Ok(with_policy(&app, JudgePage { angle: query.angle % 8, ..page }));
        }
    }
    let found = builds::find(&app.pool, build).await?.filter(|build| !build.withheld);
    let retired = found.ok_or(ErrorCode::NoBuild)?.retired_at.is_some();
    let nothing = retired.then_some(ErrorCode::BuildRetired);
    Ok(with_policy(&app, JudgeStartPage { nothing, ..JudgeStartPage::new(Some(build)) }))
}

async fn start_build(
    State(app): State<App>,
    Path(build): Path<String>,
    visitor: Visitor,
) -> Result<Redirect, Error> {
    match open_judging(&app, &visitor, Some(&build)).await {
        Ok((_, judging)) => Ok(to_build(judging.build)),
        Err(error) if error.code() == ErrorCode::AlreadyJudged => {
            Ok(to_build(Uuid::try_parse(&build).map_err(|_| ErrorCode::NoBuild)?))
        }
        Err(error) => Err(error),
    }
}

async fn send(
    State(app): State<App>,
    Path(judging): Path<String>,
    visitor: Visitor,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let fields = JudgementFields::of(pairs);
    let said = match fields.read() {
        Ok(said) => said,
        Err(FieldProblem(problem)) => {
            return JudgePage::again(&app, &visitor, &judging, fields, StatusCode::BAD_REQUEST, problem)
                .await;
        }
    };
    match send_judgement(&app, &visitor, &judging, said).await {
        Ok(Ok(build) | Err(JudgementRejection::Already(build))) => Ok(to_build(build).into_response()),
        Ok(Err(JudgementRejection::PersonCheck(_))) => {
            let problem = ErrorCode::PersonCheckRequired.sentence().to_owned();
            JudgePage::again(&app, &visitor, &judging, fields, StatusCode::FORBIDDEN, problem).await
        }
        Err(error) if matches!(error.code(), ErrorCode::TooSoon | ErrorCode::VoteFirst) => {
            let problem = error.sentence().to_owned();
            JudgePage::again(&app, &visitor, &judging, fields, error.code().status(), problem).await
        }
        Err(error) => Err(error),
    }
}

async fn skip(
    State(app): State<App>,
    Path(judging): Path<String>,
    visitor: Visitor,
) -> Result<Response, Error> {
    skip_judging(&app, &visitor, &judging).await?;
    start(State(app), visitor).await
}

fn to_build(build: Uuid) -> Redirect {
    Redirect::to(&format!("/judge/builds/{build}"))
}

/// With the policy that the script of a service needs which checks visitors.
fn with_policy(app: &App, page: impl IntoResponse) -> Response {
    match &app.config.person_check {
        PersonCheckConfig::Captcha(account) => {
            let policy = [(CONTENT_SECURITY_POLICY, layers::csp_with_captcha(account.service))];
            ([NO_STORE], policy, page).into_response()
        }
        PersonCheckConfig::Off | PersonCheckConfig::Work => ([NO_STORE], page).into_response(),
    }
}

impl JudgeStartPage {
    fn new(build: Option<Uuid>) -> Self {
        Self { page: Page::at("/judge"), build, nothing: None, criteria: &CRITERIA }
    }

    /// Where the form and the script ask for the build.
    fn address(&self) -> String {
        self.build.map_or_else(|| "/judge".to_owned(), |build| format!("/judge/builds/{build}"))
    }
}

impl JudgePage {
    async fn of(app: &App, visitor: &Visitor, voter: Voter, judging: Judging) -> Result<Self, Error> {
        Ok(Self {
            page: Page::at("/judge"),
            judging,
            angle: 0,
            criteria: &CRITERIA,
            fields: JudgementFields::default(),
            problem: None,
            judged_today: app.arena.own_judgement_counts(voter).await?.today,
            needs_script: visitor.person_check(app).await?.is_some(),
        })
    }

    /// The form as it was filled in, with what is wrong.
    async fn again(
        app: &App,
        visitor: &Visitor,
        judging: &str,
        fields: JudgementFields,
        status: StatusCode,
        problem: String,
    ) -> Result<Response, Error> {
        let id = parse_judging(judging)?;
        let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchJudging)?;
        let open = app.arena.judging(voter).await?.filter(|open| open.id == id);
        let page = Self::of(app, visitor, voter, open.ok_or(ErrorCode::JudgingOver)?).await?;
        let page = Self { fields, problem: Some(problem), ..page };
        Ok((status, with_policy(app, page)).into_response())
    }

    fn max_evidence(&self) -> usize {
        MAX_EVIDENCE
    }

    fn max_note(&self) -> usize {
        MAX_NOTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_has_a_summary_and_six_anchors() {
        assert_eq!(CRITERIA.len(), 4);
        for help in CRITERIA.iter() {
            let scores: Vec<_> = help.anchors.iter().map(|(score, _)| *score).collect();
            assert_eq!(scores, ["0", "2", "4", "6", "8", "10"], "{}", help.criterion);
            assert!(help.summary.ends_with('.') && help.text.starts_with(help.summary), "{}", help.criterion);
        }
    }
}
