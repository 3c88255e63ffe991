//! The schemas of values in an OpenAPI document.

use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::{Format, GridSize, Palette};

fn one_of<T: Into<Value>, const N: usize>(kind: Type, values: [T; N]) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(kind).enum_values(Some(values)).into()
}

impl PartialSchema for GridSize {
    fn schema() -> RefOr<Schema> {
        one_of(Type::Integer, Self::ALL.map(Self::get))
    }
}

impl ToSchema for GridSize {}

impl PartialSchema for Palette {
    fn schema() -> RefOr<Schema> {
        one_of(Type::String, Self::ALL.map(Self::name))
    }
}

impl ToSchema for Palette {}

impl PartialSchema for Format {
    fn schema() -> RefOr<Schema> {
        one_of(Type::String, Self::ALL.map(Self::name))
    }
}

impl ToSchema for Format {}
