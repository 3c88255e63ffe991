//! The schema of a grid's size in an OpenAPI document. Other values derive theirs.

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::GridSize;

impl PartialSchema for GridSize {
    fn schema() -> RefOr<Schema> {
        let sizes = Self::ALL.map(Self::get);
        ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some(sizes)).into()
    }
}

impl ToSchema for GridSize {}
