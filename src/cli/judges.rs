//! `buildoff judges`: how good judges are, computed from downloaded logs.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use super::output::{self, OutputArgs};
use crate::judge::agreement::{JudgeReport, Leaning, MeasuredValue, judge_reports};
use crate::judge::log::{JudgeLogCounts, JudgeLogReader};

#[derive(clap::Args)]
pub(super) struct JudgesArgs {
    /// Logs of judgements and of votes, such as judgements.jsonl and votes.jsonl, in any order. "-" reads standard input.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    from: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct JudgesOutput {
    #[serde(flatten)]
    counts: JudgeLogCounts,
    judges: Vec<JudgeReport>,
}

pub(super) fn run(arguments: &JudgesArgs) -> anyhow::Result<ExitCode> {
    let found = compute(&arguments.from)?;
    if arguments.output.json {
        output::json(&found)?;
    } else {
        let mut out = output::stdout();
        print(&mut out, &found)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compute(files: &[PathBuf]) -> anyhow::Result<JudgesOutput> {
    let mut reader = JudgeLogReader::default();
    for file in files {
        let read = match file == Path::new("-") {
            true => reader.read(io::stdin().lock()),
            false => {
                let open = || File::open(file).with_context(|| format!("cannot read {}", file.display()));
                reader.read(BufReader::new(open()?))
            }
        };
        read.with_context(|| file.display().to_string())?;
    }
    Ok(JudgesOutput { counts: reader.counts(), judges: judge_reports(&reader.finish()) })
}

fn print(out: &mut impl Write, found: &JudgesOutput) -> io::Result<()> {
    let JudgesOutput { counts, judges } = found;
    let JudgeLogCounts { judgements, excluded_judgements, votes, excluded_votes } = counts;
    for report in judges {
        print_report(out, report)?;
        writeln!(out)?;
    }
    writeln!(
        out,
        "read: judgements {judgements}, of which excluded {excluded_judgements}; votes {votes}, of which excluded {excluded_votes}"
    )
}

fn print_report(out: &mut impl Write, report: &JudgeReport) -> io::Result<()> {
    let JudgeReport { judge, provider, agreement, larger_build, own_provider, .. } = report;
    match provider {
        Some(provider) => writeln!(
            out,
            "{} ({}, {})",
            output::printable(&judge.key),
            judge.kind,
            output::printable(provider)
        )?,
        None => writeln!(out, "{} ({})", output::printable(&judge.key), judge.kind)?,
    }
    let mut line = |label: &str, value: String| writeln!(out, "  {label:34} {value}");
    line("builds scored", report.scored_builds.to_string())?;
    line("pairs compared, with votes", format!("{}, {}", report.compared_pairs, report.shared_pairs))?;
    line("agrees with a voter", percent(agreement.share))?;
    line("  voters with each other", percent(agreement.voters_share))?;
    line("  difference, on the same pairs", points(agreement.beyond_voters))?;
    line("Cohen's kappa with voters", decimal(agreement.kappa))?;
    line("  voters with each other", decimal(agreement.voters_kappa))?;
    line("keeps its verdict when swapped", percent(report.consistency))?;
    line("chooses the left (unbiased: 50 %)", percent(report.left))?;
    for (label, Leaning { judge, voters, beyond_voters, when_voters_split }) in
        [("chooses the larger build", larger_build), ("chooses its own provider", own_provider)]
    {
        line(label, percent(*judge))?;
        line("  voters, on the same pairs", percent(*voters))?;
        line("  difference", points(*beyond_voters))?;
        line("  where voters are evenly split", percent(*when_voters_split))?;
    }
    line("rank correlation with skill", decimal(report.rank_correlation))
}

/// `62 % (55 to 69), 140 pairs`
fn percent(measured: Option<MeasuredValue>) -> String {
    in_hundredths(measured, " %", |hundredths| format!("{hundredths:.0}"))
}

/// `+6 points (-1 to +13), 140 pairs`
fn points(measured: Option<MeasuredValue>) -> String {
    in_hundredths(measured, " points", |hundredths| format!("{hundredths:+.0}"))
}

fn in_hundredths(measured: Option<MeasuredValue>, unit: &str, write: fn(f64) -> String) -> String {
    measured.map_or_else(too_little, |MeasuredValue { value, low, high, count }| {
        // Adding zero turns -0 into 0.
        let [value, low, high] = [value, low, high].map(|part| write((100.0 * part).round() + 0.0));
        format!("{value}{unit} ({low} to {high}), {count} pairs")
    })
}

fn decimal(measured: Option<MeasuredValue>) -> String {
    measured.map_or_else(too_little, |MeasuredValue { value, low, high, .. }| {
        format!("{value:.2} ({low:.2} to {high:.2})")
    })
}

fn too_little() -> String {
    "not enough data".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::agreement::VoterAgreement;
    use crate::judge::{Judge, JudgeKind};

    #[test]
    fn a_report_is_printed_in_lines() {
        let measured = |value, low, high| Some(MeasuredValue { value, low, high, count: 140 });
        let report = JudgeReport {
            judge: Judge { kind: JudgeKind::Model, key: "one".to_owned() },
            provider: Some("openai".to_owned()),
            scored_builds: 7,
            compared_pairs: 200,
            shared_pairs: 140,
            agreement: VoterAgreement {
                share: measured(0.624, 0.55, 0.69),
                beyond_voters: measured(-0.001, -0.08, 0.05),
                ..VoterAgreement::default()
            },
            consistency: None,
            left: None,
            larger_build: Leaning::default(),
            own_provider: Leaning::default(),
            rank_correlation: measured(0.81, 0.4, 0.95),
            build_disagreements: Vec::new(),
            pair_disagreements: Vec::new(),
        };
        let counts = JudgeLogCounts { judgements: 9, excluded_judgements: 2, votes: 8, excluded_votes: 1 };
        let mut out = Vec::new();
        print(&mut out, &JudgesOutput { counts, judges: vec![report] }).unwrap();
        let out = String::from_utf8(out).unwrap();
        let expected = [
            "one (model, openai)\n",
            "\n  pairs compared, with votes         200, 140\n",
            "\n  agrees with a voter                62 % (55 to 69), 140 pairs\n",
            "\n    voters with each other           not enough data\n",
            "\n    difference, on the same pairs    +0 points (-8 to +5), 140 pairs\n",
            "\n  rank correlation with skill        0.81 (0.40 to 0.95)\n",
            "\n\nread: judgements 9, of which excluded 2; votes 8, of which excluded 1\n",
        ];
        for line in expected {
            assert!(out.contains(line), "{line:?} is not in\n{out}");
        }
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\n{\"judge\": 7}\n").unwrap();
        let error = format!("{:#}", compute(&[file.path().to_owned()]).map(|_| ()).unwrap_err());
        assert!(error.starts_with(&format!("{}: line 2 is", file.path().display())), "{error}");
        let error = format!("{:#}", compute(&[PathBuf::from("/nowhere")]).map(|_| ()).unwrap_err());
        assert!(error.starts_with("cannot read /nowhere: "), "{error}");
    }
}
