//! How a palette is stored in Postgres: by its name.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use crate::Palette;

impl Type<Postgres> for Palette {
    fn type_info() -> PgTypeInfo {
        <str as Type<Postgres>>::type_info()
    }

    fn compatible(stored: &PgTypeInfo) -> bool {
        <str as Type<Postgres>>::compatible(stored)
    }
}

impl Encode<'_, Postgres> for Palette {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(self.name(), buffer)
    }
}

impl Decode<'_, Postgres> for Palette {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(value.as_str()?.parse()?)
    }
}
