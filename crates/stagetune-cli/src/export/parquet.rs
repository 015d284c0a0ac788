//! Parquet: every column optional, typed, uncompressed; numbers as they are, instants in microseconds of UTC.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use anyhow::Result;

use super::columns::{Cells, Column};

/// Writes one row group with all trials.
pub fn write(study: &str, columns: &[Column], out: &mut dyn Write) -> Result<()> {
    // The format's writer wants an owner that can cross threads; a study's table is small enough to be kept whole.
    let mut buffer = Vec::new();
    fill(study, columns, &mut buffer)?;
    out.write_all(&buffer)?;
    Ok(())
}

fn fill(study: &str, columns: &[Column], buffer: &mut Vec<u8>) -> ParquetResult<()> {
    let fields = columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("trials").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_created_by(format!("stagetune {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new("stagetune.study".into(), study.to_owned())]))
        .build();
    let mut writer = SerializedFileWriter::new(buffer, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        match &column.cells {
            Cells::Int(cells) => put::<Int64Type, _>(&mut group, cells, |value| *value)?,
            Cells::Double(cells) => put::<DoubleType, _>(&mut group, cells, |value| *value)?,
            Cells::Bool(cells) => put::<BoolType, _>(&mut group, cells, |value| *value)?,
            Cells::Text(cells) => {
                put::<ByteArrayType, _>(&mut group, cells, |text| ByteArray::from(text.as_str()))?
            }
            // The conversion saturates: an instant beyond it is none that a clock has shown.
            Cells::Time(cells) => put::<Int64Type, _>(&mut group, cells, |t| (t * 1e6).round() as i64)?,
        }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(column: &Column) -> ParquetResult<TypePtr> {
    let (physical, logical) = match column.cells {
        Cells::Int(_) => (Physical::INT64, None),
        Cells::Double(_) => (Physical::DOUBLE, None),
        Cells::Bool(_) => (Physical::BOOLEAN, None),
        Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Time(_) => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// Writes the values that are there, and for every row whether it has one.
fn put<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    cells: &[Option<C>],
    convert: impl Fn(&C) -> T::T,
) -> ParquetResult<()> {
    let values: Vec<T::T> = cells.iter().flatten().map(convert).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    if let Some(mut writer) = group.next_column()? {
        writer.typed::<T>().write_batch(&values, Some(&present), None)?;
        writer.close()?;
    }
    Ok(())
}
