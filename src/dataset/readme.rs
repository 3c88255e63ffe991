//! The file of a dataset that people read first.

use anyhow::Result;
use time::format_description::well_known::Rfc3339;

use super::DatasetManifest;

pub fn text(manifest: &DatasetManifest) -> Result<String> {
    let DatasetManifest { source, license, as_of, counts, .. } = manifest;
    let as_of = as_of.map_or_else(|| Ok("the beginning".to_owned()), |moment| moment.format(&Rfc3339))?;
    let source = source.as_deref().unwrap_or("a Buildoff without a public address");
    let license = license.as_deref().unwrap_or("The site that it comes from names none.");
    Ok(format!(
        "# Buildoff dataset

Builds of AI models for the same prompts, and the blind votes of visitors on pairs of them.

- Source: {source}
- As of: {as_of}
- Prompts: {}
- Models: {}
- Builds: {}
- Votes: {}, of which {} count
- Decisions about votes: {}
- License: {license}

## Files

| file | content |
|---|---|
| `votes.jsonl.gz` | the votes, in the order in which they counted |
| `builds/<id>.json.gz` | the spec of a build: boxes, lines and blocks, as its model gave them |
| `builds/<id>.grid.gz` | its grid, one byte per run of equal cells |
| `prompts.jsonl`, `models.jsonl`, `builds.jsonl`, `decisions.jsonl` | one record per line |
| `ladders.json` | the ratings that follow from the votes |
| `manifest.json` | the size and the SHA-256 of every other file |

A vote names builds by their `logId`. Builds of held-out prompts are left out until enough votes on them are counted.
Nothing says who voted.

`buildoff import-all FILE` reads this file into another installation, and `buildoff recompute --from votes.jsonl` replays
the votes. Every field is described in docs/dataset.md of Buildoff.
",
        counts.prompts, counts.models, counts.builds, counts.votes, counts.counted_votes, counts.decisions,
    ))
}
