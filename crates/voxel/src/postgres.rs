//! How the values of the format are stored in Postgres: a grid's size as a smallint, a palette by its name.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use crate::{GridSize, Palette};

impl Type<Postgres> for GridSize {
    fn type_info() -> PgTypeInfo {
        <i16 as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for GridSize {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(i16::try_from(self.get())?, buffer)
    }
}

impl Decode<'_, Postgres> for GridSize {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let cells = <i16 as Decode<Postgres>>::decode(value)?;
        Ok(cells.to_string().parse()?)
    }
}

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
