//! Answers that break off because of the provider, and what attempts cost.

use super::*;

#[tokio::test]
async fn an_answer_that_broke_off_uses_up_no_attempt_and_is_asked_for_again_after_a_while() {
    use GenerateErrorKind::*;
    for kind in [RateLimited, Overloaded, Unreachable, CutOff] {
        let replies = vec![
            Says(hut(2)),
            Breaks(kind),
            FailsAfter(CutOff, "{\"version\"".to_owned()),
            Says("{".to_owned()),
            Breaks(kind),
            Says(hut(8)),
        ];
        let run = run_script(replies).await;
        assert_eq!(run.result.as_ref().unwrap().attempts, 3, "{kind:?}");
        let code = Some(kind.code());
        let codes = [Some("height_too_small"), code, Some("cut_off"), Some("bad_json"), code, None];
        assert_eq!(run.codes(), codes);
        assert_eq!(run.listener.next, [Some(2), Some(2), Some(2), Some(3), Some(3), None]);
        assert_eq!(run.listener.waits, [(1, 1.0), (2, 2.0), (3, 3.0)]);
        assert_eq!(
            (run.prompt(2), run.prompt(5)),
            (run.prompt(4), run.prompt(6)),
            "the same request is repeated"
        );
        let outcomes: Vec<_> = run.listener.attempts.iter().map(|attempt| attempt.outcome).collect();
        let expected = [
            Outcome::Refused,
            Outcome::Interrupted,
            Outcome::Interrupted,
            Outcome::Refused,
            Outcome::Interrupted,
            Outcome::Accepted,
        ];
        assert_eq!(outcomes, expected);
        assert_eq!(run.total_usage().output, Some(1200), "what was paid for is kept");
    }
}

#[tokio::test]
async fn a_provider_whose_answers_keep_breaking_off_is_given_up_also_across_takeovers() {
    for earlier in 0..=RESENDS {
        let left = (RESENDS + 1 - earlier) as usize;
        let replies = (0..left).map(|_| Breaks(GenerateErrorKind::Overloaded)).collect();
        let (mut attempt_loop, provider) = attempt_loop(build_task(), replies);
        attempt_loop.past.interruptions = earlier;
        let mut listener = TestListener::default();
        let failure = attempt_loop.run(&mut listener).await.err().unwrap();
        assert_eq!(failure.kind, GenerateErrorKind::Overloaded);
        assert_eq!(provider.requests.lock().unwrap().len(), left);
        assert_eq!(listener.next.last(), Some(&None));
    }
}

#[tokio::test]
async fn what_an_attempt_cost_is_known_unless_its_end_was_lost() {
    use GenerateErrorKind::*;
    let billing = async |reply: FakeReply| {
        let (mut attempt_loop, _) = attempt_loop(build_task(), vec![reply]);
        attempt_loop.max_attempts = 1;
        attempt_loop.past.interruptions = RESENDS;
        let mut listener = TestListener::default();
        let _ = attempt_loop.run(&mut listener).await;
        listener.attempts[0].billing
    };
    for kind in [BadKey, NoCredit, NoSuchModel, BadRequest, RateLimited, Overloaded, Unreachable] {
        assert_eq!(billing(Fails(kind, "")).await, Billing::Nothing, "{kind:?}");
    }
    for reply in [Says(hut(8)), Says(hut(2)), Fails(Truncated, "{"), Fails(Refused, "no"), Fails(Empty, "")] {
        assert_eq!(billing(reply).await, Billing::Reported);
    }
    for kind in [CutOff, Stalled, TimedOut] {
        let Billing::AtLeast(least) = billing(FailsAfter(kind, "x".repeat(5000))).await else {
            panic!("{kind:?}")
        };
        assert_eq!((least.output, least.input > Some(1000)), (Some(1000), true), "{kind:?}: {least:?}");
    }
    for kind in [Stalled, TimedOut, BadAnswer] {
        assert_eq!(billing(Fails(kind, "")).await, Billing::Reported, "nothing is known of it: {kind:?}");
    }
    assert!(matches!(billing(Breaks(Overloaded)).await, Billing::AtLeast(_)));
}
