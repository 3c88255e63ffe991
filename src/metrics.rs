//! Metrics of a server. No label names a model, a prompt or a visitor: labels have few values, and reveal nothing that
//! voters must not know.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

const PREFIX: &str = "buildoff";

/// Bounds of the histogram in seconds, finest around the times that matchups and pictures should take.
const BUCKETS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

/// Counters for the responses of one server, shared by all clones.
#[derive(Clone)]
pub struct HttpMetrics {
    registry: Arc<Registry>,
    answers: Family<ResponseLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    in_flight: Gauge,
}

/// The labels of a response, known when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ResponseLabels {
    pub method: &'static str,
    /// The pattern of the route, such as `/api/models/{key}`; empty if there is no such route.
    pub route: String,
    pub status: u16,
    /// The code of the error; empty if there was none.
    pub code: Cow<'static, str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// A metric that is read when the metrics are requested.
#[derive(Debug)]
pub struct MetricSample {
    pub name: &'static str,
    /// A description without a full stop, which the format adds.
    pub help: &'static str,
    pub value: MetricValue,
}

#[derive(Debug)]
pub enum MetricValue {
    /// A number that only grows.
    Total(u64),
    Current(i64),
    ByState(Vec<(Cow<'static, str>, i64)>),
    /// Numbers that only grow, by the kind and the result of what they count.
    TotalsByResult(Vec<(&'static str, &'static str, u64)>),
    ByKindAndSeverity(Vec<([Cow<'static, str>; 2], i64)>),
}

/// A request in progress. It ends when this is dropped, also if the visitor has left.
pub struct InFlight(Gauge);

impl Default for HttpMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let answers = Family::default();
        let seconds = Family::<RouteLabels, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let in_flight = Gauge::default();
        registry.register("http_answers", "Responses of this server", answers.clone());
        registry.register_with_unit(
            "http_answer_duration",
            "Time until a response of this server begins",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("http_in_flight", "Requests in progress on this server", in_flight.clone());
        Self { registry: Arc::new(registry), answers, seconds, in_flight }
    }
}

impl HttpMetrics {
    pub fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    pub fn count(&self, answer: &ResponseLabels, took: Duration) {
        self.seconds.get_or_create(&RouteLabels { route: answer.route.clone() }).observe(took.as_secs_f64());
        self.answers.get_or_create(answer).inc();
    }

    /// All counters and the given samples in the OpenMetrics format.
    pub fn encode(&self, readings: Vec<MetricSample>) -> Result<String, fmt::Error> {
        let mut output = String::new();
        text::encode_registry(&mut output, &self.registry)?;
        text::encode_registry(&mut output, &sample_registry(readings))?;
        text::encode_eof(&mut output)?;
        Ok(output)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn sample_registry(readings: Vec<MetricSample>) -> Registry {
    let mut registry = Registry::with_prefix(PREFIX);
    for MetricSample { name, help, value } in readings {
        match value {
            MetricValue::Total(total) => registry.register(name, help, ConstCounter::new(total)),
            MetricValue::Current(now) => registry.register(name, help, ConstGauge::new(now)),
            MetricValue::ByState(states) => {
                let family = Family::<[(&str, Cow<'static, str>); 1], Gauge>::default();
                for (state, now) in states {
                    family.get_or_create(&[("state", state)]).set(now);
                }
                registry.register(name, help, family);
            }
            MetricValue::TotalsByResult(totals) => {
                let family = Family::<[(&str, &str); 2], Counter>::default();
                for (kind, result, total) in totals {
                    family.get_or_create(&[("kind", kind), ("result", result)]).inc_by(total);
                }
                registry.register(name, help, family);
            }
            MetricValue::ByKindAndSeverity(counts) => {
                let family = Family::<[(&str, Cow<'static, str>); 2], Gauge>::default();
                for ([kind, severity], now) in counts {
                    family.get_or_create(&[("kind", kind), ("severity", severity)]).set(now);
                }
                registry.register(name, help, family);
            }
        }
    }
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_and_what_is_looked_up_are_told_as_one() {
        let metrics = HttpMetrics::default();
        let answer = |status, code| ResponseLabels {
            method: "GET",
            route: "/api/models/{key}".to_owned(),
            status,
            code: Cow::Borrowed(code),
        };
        let under_way = metrics.begin();
        metrics.count(&answer(200, ""), Duration::from_millis(3));
        metrics.count(&answer(200, ""), Duration::from_millis(30));
        metrics.count(&answer(404, "not_found"), Duration::from_secs(60));

        let output = metrics
            .encode(vec![
                MetricSample { name: "votes", help: "Votes", value: MetricValue::Total(7) },
                MetricSample { name: "builds", help: "Builds", value: MetricValue::Current(64) },
                MetricSample {
                    name: "jobs",
                    help: "Wanted builds",
                    value: MetricValue::ByState(vec![("queued".into(), 2)]),
                },
                MetricSample {
                    name: "checks",
                    help: "Checks",
                    value: MetricValue::TotalsByResult(vec![("work", "passed", 3), ("work", "failed", 0)]),
                },
            ])
            .unwrap();
        drop(under_way);

        for line in [
            r#"buildoff_http_answers_total{method="GET",route="/api/models/{key}",status="200",code=""} 2"#,
            r#"buildoff_http_answers_total{method="GET",route="/api/models/{key}",status="404",code="not_found"} 1"#,
            r#"buildoff_http_answer_duration_seconds_bucket{le="0.005",route="/api/models/{key}"} 1"#,
            r#"buildoff_http_answer_duration_seconds_count{route="/api/models/{key}"} 3"#,
            "buildoff_http_in_flight 1",
            "buildoff_votes_total 7",
            "buildoff_builds 64",
            r#"buildoff_jobs{state="queued"} 2"#,
            r#"buildoff_checks_total{kind="work",result="passed"} 3"#,
            r#"buildoff_checks_total{kind="work",result="failed"} 0"#,
            "# HELP buildoff_jobs Wanted builds.",
        ] {
            assert!(output.lines().any(|found| found == line), "{line} is not in\n{output}");
        }
        assert_eq!(output.matches("# EOF").count(), 1);
        assert!(metrics.encode(Vec::new()).unwrap().contains("buildoff_http_in_flight 0"));
    }
}
