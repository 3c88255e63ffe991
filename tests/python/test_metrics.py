"""A response of /metrics, which tests/suite/openapi.rs has saved, read by the format's own parser."""

import os
import pathlib

from prometheus_client.openmetrics import parser

WRITTEN = pathlib.Path(os.environ["BUILDOFF"]).parent.parent / "tmp" / "openapi" / "metrics.txt"


def test_metrics_are_open_metrics():
    families = {family.name: family for family in parser.text_string_to_metric_families(WRITTEN.read_text())}

    assert families["buildoff_http_answers"].type == "counter"
    assert families["buildoff_http_answer_duration_seconds"].type == "histogram"
    assert families["buildoff_votes"].samples[0].value >= 1
    routes = {sample.labels["route"] for sample in families["buildoff_http_answers"].samples}
    assert "/api/arena/vote" in routes and "/api/models/{key}" in routes
