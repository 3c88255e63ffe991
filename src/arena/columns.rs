//! How the arena's values are stored in Postgres: names and settings as text, a model's standing as a row of columns.
//!
//! Decoding parses, so a row that was read holds values of the domain, and no query parses text again.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use super::decisions::VoteVerdict;
use super::elo::Standing;
use super::{Choice, Exclusion, Mode, ModelKey, PromptId, Settings};

/// Stores a type as the text that `$text` makes of it and [`std::str::FromStr`] reads.
macro_rules! text_column {
    ($type:ty, $text:expr) => {
        impl Type<Postgres> for $type {
            fn type_info() -> PgTypeInfo {
                <str as Type<Postgres>>::type_info()
            }
        }

        impl PgHasArrayType for $type {
            fn array_type_info() -> PgTypeInfo {
                <String as PgHasArrayType>::array_type_info()
            }
        }

        impl Encode<'_, Postgres> for $type {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                Encode::<Postgres>::encode($text(self), buffer)
            }
        }

        impl Decode<'_, Postgres> for $type {
            fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
                Ok(value.as_str()?.parse()?)
            }
        }
    };
}

text_column!(ModelKey, ModelKey::as_str);
text_column!(PromptId, PromptId::as_str);
text_column!(Mode, Mode::as_str);
text_column!(Settings, Settings::slug);
text_column!(Choice, |choice: &Choice| choice.name());
text_column!(Exclusion, |exclusion: &Exclusion| exclusion.name());
text_column!(VoteVerdict, |verdict: &VoteVerdict| verdict.name());

/// `(elo, wins, losses, ties, both_bad)`, as a query selects it from the ratings.
type StandingRow = (f64, i64, i64, i64, i64);

impl Type<Postgres> for Standing {
    fn type_info() -> PgTypeInfo {
        <StandingRow as Type<Postgres>>::type_info()
    }
}

impl Decode<'_, Postgres> for Standing {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let (elo, wins, losses, ties, both_bad) = <StandingRow as Decode<Postgres>>::decode(value)?;
        Ok(Self { elo, wins, losses, ties, both_bad })
    }
}
