//! Pictures in requests, which judges are shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buildoff::generate::{Endpoint, PictureFormat, PictureLimits, PromptPicture, ProviderKind};
use tracing::subscriber::set_default;
use uuid::Uuid;
use voxel::image::Picture;

use super::*;
use crate::support::TestLogBuffer;
use crate::support::fake_provider::RecordedRequest;

/// A picture that compresses badly, since all its pixels differ.
fn noise(width: u32, height: u32, seed: u32) -> Picture {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    };
    Picture {
        width,
        height,
        rgba: std::iter::repeat_with(next).take((width * height * 4) as usize).collect(),
    }
}

fn shown(label: &str, format: PictureFormat, bytes: Vec<u8>) -> PromptPicture {
    PromptPicture { label: label.to_owned(), format, bytes: bytes.into() }
}

fn png(label: &str, width: u32, height: u32) -> PromptPicture {
    shown(label, PictureFormat::Png, noise(width, height, 1).opaque_png())
}

pub fn question_about(pictures: Vec<PromptPicture>) -> CompletionRequest {
    let prompt = ChatPrompt::new("You judge.", "Which is the best?").with_pictures(pictures);
    CompletionRequest { vision: true, prompt, ..question() }
}

/// Small ones, which every provider takes.
pub fn nine_pictures_as_png() -> Vec<PromptPicture> {
    (1..=9).map(|number| png(&format!("View {number}"), 8, 8)).collect()
}

/// Nine pictures, every other one as WebP where that is taken.
fn nine_pictures(provider: ProviderKind) -> Vec<PromptPicture> {
    let takes_webp = PictureLimits::of(provider).takes(PictureFormat::Webp);
    let picture = |number: u32| {
        let (label, picture) = (format!("View {number}"), noise(512, 512, number));
        match takes_webp && number % 2 == 1 {
            true => shown(&label, PictureFormat::Webp, picture.webp()),
            false => shown(&label, PictureFormat::Png, picture.opaque_png()),
        }
    };
    (1..=9).map(picture).collect()
}

#[tokio::test]
async fn nine_pictures_arrive_whole_and_in_order_after_their_labels() {
    for protocol in FakeProtocol::ALL {
        let answer = protocol.answer(&[FakePart::Text("View 3"), FakePart::Done]);
        let provider = FakeProvider::with_responses(protocol, [answer]).await;
        let pictures = nine_pictures(protocol.kind());
        let (answer, _) = ask(&provider, &question_about(pictures.clone()), patience()).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.input), ("View 3", Some(100)), "{protocol:?}");
        let body = &provider.requests()[0].body;
        let received = protocol.pictures(body).unwrap();
        assert_eq!(received.len(), 9);
        for (received, sent) in received.iter().zip(&pictures) {
            assert_eq!((&received.label, &*received.bytes), (&sent.label, &*sent.bytes), "{protocol:?}");
            assert_eq!(received.media_type, sent.format.media_type());
            assert_eq!((received.width, received.height), (512, 512));
        }
        assert_eq!(body.to_string().matches("Which is the best?").count(), 1);
        assert_eq!(body.to_string().matches("You judge.").count(), 1);
    }
}

#[tokio::test]
async fn pictures_that_a_provider_would_refuse_are_not_sent() {
    let limits = PictureLimits::of;
    for protocol in FakeProtocol::ALL {
        let provider = FakeProvider::with_responses(protocol, []).await;
        let small = png("small", 16, 16);
        let too_many = vec![small.clone(); limits(protocol.kind()).pictures + 1];
        let mut large = small.bytes.to_vec();
        large.resize(limits(protocol.kind()).bytes + 1, 0);
        let large = shown("large", PictureFormat::Png, large);
        let mut half = small.bytes.to_vec();
        half.resize(limits(protocol.kind()).total_bytes / 4 + 1, 0);
        let many_large = vec![shown("half", PictureFormat::Png, half); 4];
        let mut refused = vec![
            (too_many, "at most"),
            (vec![small.clone(), large], "at most"),
            (many_large, "in all"),
            (vec![png("wide", 2_001, 1)], "2001 × 1 pixels"),
            (vec![png("high", 1, 2_001)], "1 × 2001 pixels"),
            (vec![shown("text", PictureFormat::Png, b"a sentence".to_vec())], "“text” is not a PNG"),
            (vec![shown("nothing", PictureFormat::Jpeg, Vec::new())], "“nothing” is not a JPEG"),
            (vec![shown("other", PictureFormat::Jpeg, small.bytes.to_vec())], "“other” is not a JPEG"),
            (vec![png("", 16, 16)], "label"),
            (vec![png(&"long".repeat(99), 16, 16)], "label"),
        ];
        if protocol == FakeProtocol::Compatible {
            let webp = shown("modern", PictureFormat::Webp, noise(16, 16, 1).webp());
            refused.push((vec![webp], "“modern” is a WebP"));
        }
        for (pictures, why) in refused {
            assert_refused(&provider, &question_about(pictures), why).await;
        }
        let unseeing = CompletionRequest { vision: false, ..question_about(vec![small]) };
        assert_refused(&provider, &unseeing, "cannot be shown pictures").await;
        assert!(provider.requests().is_empty(), "{protocol:?}");
    }
}

async fn assert_refused(at: &FakeProvider, question: &CompletionRequest, why: &str) {
    let (result, deltas) = ask(at, question, patience()).await;
    let refused = result.unwrap_err();
    assert_eq!(refused.kind, GenerateErrorKind::BadRequest, "{refused}");
    assert!(refused.to_string().contains(why) && refused.cost_nothing(), "{refused}: {why}");
    assert!(deltas.is_empty(), "{deltas:?}");
}

#[tokio::test]
async fn the_most_pictures_that_are_sent_are_taken() {
    for protocol in FakeProtocol::ALL {
        let answer = protocol.answer(&[FakePart::Text("a"), FakePart::Done]);
        let provider = FakeProvider::with_responses(protocol, [answer]).await;
        let pictures = vec![png("one of many", 2_000, 1); PictureLimits::of(protocol.kind()).pictures];
        ask(&provider, &question_about(pictures.clone()), patience()).await.0.unwrap();
        assert_eq!(protocol.pictures(&provider.requests()[0].body).unwrap().len(), pictures.len());
    }
}

#[tokio::test]
async fn agents_are_not_shown_pictures() {
    let endpoint = Endpoint {
        provider: ProviderKind::A2a,
        base_url: "http://127.0.0.1:9".to_owned(),
        key: None,
        pinned: None,
    };
    let agent = provider(&endpoint, patience(), false).unwrap();
    let refused = agent.ask(&question_about(vec![png("a", 16, 16)]), &mut |_| ()).await.unwrap_err();
    assert_eq!(refused.kind, GenerateErrorKind::BadRequest);
    assert_eq!(refused.to_string(), "agents are not shown pictures");
}

#[tokio::test]
async fn a_batch_does_not_leave_pictures_out() {
    for protocol in [FakeProtocol::OpenAi, FakeProtocol::Anthropic, FakeProtocol::Google] {
        let at = FakeProvider::with_responses(protocol, []).await;
        let client = provider(&at.endpoint(), patience(), false).unwrap();
        let requests = vec![
            (Uuid::from_u128(1), question()),
            (Uuid::from_u128(2), question_about(vec![png("a", 16, 16)])),
        ];
        let refused = client.batches().unwrap().prepare(requests).err().unwrap();
        assert_eq!(refused.to_string(), "a request with pictures cannot be sent in a batch");
    }
}

/// Responses that repeat the picture they were sent.
fn response_with_picture(url: &str, number: usize) -> FakeResponse {
    match number {
        0 => {
            let error = json!({ "message": format!("Invalid image: {url}"), "param": url });
            FakeResponse::json(400, &json!({ "error": error }))
        }
        1 => FakeResponse::new(400, "text/plain").send(format!("cannot read {}", url.replace('/', "\\/"))),
        2 => FakeResponse::new(500, "text/html").send(format!("<title>{url}</title>")),
        _ => FakeResponse::stream().send(format!("data: {url}\n\n")),
    }
}

#[tokio::test]
async fn pictures_are_in_no_error_and_no_log_line_however_they_are_sent_back() {
    let log = TestLogBuffer::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone());
    let guard = set_default(subscriber.finish());
    let question = question_about(vec![png("a castle", 64, 64)]);
    let file = STANDARD.encode(&question.prompt.pictures[0].bytes);
    let url = format!("data:image/png;base64,{file}");
    let mut output = format!("{question:?}");
    for protocol in FakeProtocol::ALL {
        for number in 0..4 {
            // A request may be repeated without what the provider could mean.
            let sent_back = url.clone();
            let respond = move |_: &RecordedRequest| response_with_picture(&sent_back, number);
            let at = FakeProvider::with_handler(protocol, respond).await;
            let once = RequestLimits { tries: 1, ..patience() };
            let client = provider(&at.endpoint(), once, true).unwrap();
            let failure = client.ask(&question, &mut |_| ()).await.unwrap_err();
            client.log_rejected(&url, &url);
            output.push_str(&format!("{failure} {failure:?}\n"));
        }
    }
    drop(guard);
    let log = log.text();
    assert!(log.contains("a response could not be used") && log.contains("an answer was rejected"));
    for text in [&output, &log] {
        let pieces = file.as_bytes().chunks(48).map(|piece| str::from_utf8(piece).unwrap());
        for piece in pieces {
            assert!(!text.contains(piece), "{piece} in {text}");
        }
    }
}
