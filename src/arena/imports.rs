//! Imports: builds that an admin uploads.

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::audit::{self, Admin};
use super::builds::{self, BuildSlot, GenerationInfo, PackedBuild, StoreError, StoredBuild};
use super::{ModelKey, PromptId, Settings, jobs};

/// Imports that may add the same prompt wait for each other.
const LOCK: i64 = 0x696d_706f_7274_0000;

/// The longest slug that is derived from a text.
const MAX_SLUG_LEN: usize = 48;

/// What an imported build is for.
#[derive(Clone, Debug)]
pub struct ImportTarget {
    pub prompt: PromptRef,
    pub model: ModelKey,
    pub settings: Settings,
}

/// A prompt of the catalog, or any text. An unknown text becomes a new prompt, which is inactive until an admin
/// activates it.
#[derive(Clone, Debug)]
pub enum PromptRef {
    Id(PromptId),
    Text(String),
}

#[derive(Clone, Debug)]
pub struct ImportedBuild {
    pub stored: StoredBuild,
    pub prompt: PromptId,
    pub prompt_text: String,
    pub is_active: bool,
    pub is_enabled: bool,
    pub model_name: String,
    pub provider: String,
}

/// With `overwrite`, the build in force is retired.
pub async fn import(
    pool: &PgPool,
    admin: Admin,
    destination: &ImportTarget,
    build: &PackedBuild,
    overwrite: bool,
) -> Result<ImportedBuild, StoreError> {
    let mut transaction = pool.begin().await?;
    let prompt = prompt(&mut transaction, &destination.prompt).await?;
    let ImportTarget { model, settings, .. } = destination;
    let slot = BuildSlot { prompt: prompt.clone(), model: model.clone(), settings: settings.clone() };
    jobs::cancel_for_import(&mut transaction, &slot).await?;
    let stored = builds::store(&mut transaction, &slot, build, GenerationInfo::default(), overwrite).await?;
    let subject = format!("{prompt} by {model}");
    let detail =
        json!({ "build": stored.id, "settings": settings.slug(), "overwritten": stored.overwritten });
    audit::record(&mut transaction, admin, "import", &subject, detail).await?;
    let row = sqlx::query!(
        "
        SELECT text, active, enabled, display_name, provider
        FROM prompts, models
        WHERE id = $1 AND key = $2
        ",
        prompt as _,
        model as _,
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(ImportedBuild {
        stored,
        prompt,
        prompt_text: row.text,
        is_active: row.active,
        is_enabled: row.enabled,
        model_name: row.display_name,
        provider: row.provider,
    })
}

async fn prompt(connection: &mut PgConnection, asked: &PromptRef) -> Result<PromptId, StoreError> {
    let text = match asked {
        PromptRef::Id(id) => return Ok(id.clone()),
        PromptRef::Text(text) => text.trim(),
    };
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *connection).await?;
    let existing = sqlx::query_scalar!(
        r#"SELECT id AS "id: PromptId" FROM prompts WHERE text = $1 ORDER BY active DESC, id LIMIT 1"#,
        text
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(id) = existing {
        return Ok(id);
    }
    let slug = slug(text);
    for number in 1.. {
        let id = if number == 1 { slug.clone() } else { format!("{slug}-{number}") };
        let added = sqlx::query_scalar!(
            r#"
            INSERT INTO prompts (id, text, active)
            VALUES ($1, $2, false)
            ON CONFLICT (id) DO NOTHING
            RETURNING id AS "id: PromptId"
            "#,
            id,
            text,
        )
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(id) = added {
            return Ok(id);
        }
    }
    Err(StoreError::NoPrompt)
}

/// A slug made of the words of a text that consist of ASCII letters and digits.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + 1 + word.len() > MAX_SLUG_LEN {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    if slug.is_empty() { "prompt".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slug_is_made_of_a_texts_words() {
        for (text, expected) in [
            ("a steam locomotive", "a-steam-locomotive"),
            ("  Café, “Chez Ada”! ", "caf-chez-ada"),
            ("ein Schloß", "ein-schlo"),
            ("橋", "prompt"),
            (
                "a very long prompt about a castle with nine towers and a moat",
                "a-very-long-prompt-about-a-castle-with-nine",
            ),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_has_a_slug(text in ".{0,200}") {
            prop_assert!(slug(&text).parse::<PromptId>().is_ok());
        }
    }
}
