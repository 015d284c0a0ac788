//! What every format keeps of a study.

use super::{Format, write};
use crate::sample;
use serde_json::json;
use stagetune_pipeline::record::{DomainFacts, ParamFacts, StudyRecord};

fn text(record: &StudyRecord, format: Format) -> String {
    let mut out = Vec::new();
    write(record, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Reads CSV with quotes, commas and line breaks inside quotes; tells a missing cell from an empty text.
fn parse(csv: &str) -> Vec<Vec<Option<String>>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), None::<String>);
    let mut letters = csv.chars().peekable();
    let mut inside = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => {
                letters.next();
                cell.get_or_insert_default().push('"');
            }
            '"' => {
                inside = !inside;
                cell.get_or_insert_default();
            }
            ',' if !inside => row.push(cell.take()),
            '\n' if !inside => {
                row.push(cell.take());
                rows.push(std::mem::take(&mut row));
            }
            letter => cell.get_or_insert_default().push(letter),
        }
    }
    rows
}

#[test]
fn csv_has_a_row_for_each_trial_and_a_cell_for_each_column() {
    let record = sample::study(60);
    let rows = parse(&text(&record, Format::Csv));
    assert_eq!(rows.len(), 61);
    assert!(rows.iter().all(|row| row.len() == 9 + 8 + 9));
    let header: Vec<&str> = rows[0].iter().map(|name| name.as_deref().unwrap()).collect();
    assert_eq!(
        &header[..10],
        "trial,state,value,best,cost,spent,asked,told,reason,strength".split(',').collect::<Vec<_>>()
    );
    assert_eq!(&header[17..20], ["denoise.how", "denoise.cost", "denoise.seconds"]);
    assert_eq!(rows[1][6].as_deref(), Some("2026-09-21T14:13:20.250Z"));
    let open = rows.last().unwrap();
    assert_eq!((open[1].as_deref(), &open[2], &open[7]), (Some("open"), &None, &None));
}

#[test]
fn csv_doubles_read_back_as_the_same_doubles() {
    let values = [0.1 + 0.2, -1e300, 5e-324, 1.0 / 3.0, -0.0, f64::MAX];
    let record = sample::with_values(&values, stagetune::study::Direction::Minimize);
    for (row, value) in parse(&text(&record, Format::Csv)).iter().skip(1).zip(values) {
        assert_eq!(row[2].as_deref().unwrap().parse::<f64>().unwrap().to_bits(), value.to_bits());
    }
}

#[test]
fn csv_keeps_every_text_that_a_user_can_choose() {
    for nasty in ["a,b", "say \"no\"", "two\nlines", "\r\n", " padded ", "<script>", "ünï→", "=1+1"] {
        let record = sample::with_text(nasty);
        let rows = parse(&text(&record, Format::Csv));
        assert_eq!(rows.len(), 13, "{nasty:?}");
        assert_eq!(rows[0][9].as_deref(), Some(format!("{nasty}strength").as_str()));
        let failed = rows.iter().find(|row| row[1].as_deref() == Some("failed")).unwrap();
        assert_eq!(failed[8].as_deref(), Some(nasty));
    }
}

#[test]
fn a_parameter_with_the_name_of_another_column_gets_a_prefix() {
    let mut record = sample::study(3);
    for name in ["param.cost", "cost", "unet.how", "param.param.cost"] {
        let domain = DomainFacts::Int { low: 0, high: 9, step: 1, log: false };
        record.params.push(ParamFacts { name: name.into(), stage: "unet".into(), domain });
        record.trials.iter_mut().for_each(|trial| drop(trial.point.insert(name.into(), json!(name.len()))));
    }
    let rows = parse(&text(&record, Format::Csv));
    let header: Vec<&str> = rows[0].iter().map(|name| name.as_deref().unwrap()).collect();
    assert_eq!(
        &header[17..21],
        ["param.cost", "param.param.param.cost", "param.unet.how", "param.param.cost"]
    );
    assert_eq!(
        rows[1][18].as_deref(),
        Some("4"),
        "the prefixed column holds the parameter of the short name"
    );
    let unique: std::collections::BTreeSet<_> = header.iter().collect();
    assert_eq!(unique.len(), header.len());
}

#[test]
fn a_value_of_another_type_is_an_error_that_names_trial_and_parameter() {
    let mut record = sample::study(3);
    record.trials[1].point.insert("batch".into(), json!("many"));
    let error = write(&record, Format::Csv, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("trial 1") && error.contains("\"batch\"") && error.contains("JSON"), "{error}");
}

#[test]
fn json_reads_back_as_the_same_record() {
    for record in
        [sample::empty(), sample::study(60), sample::all_failed(5), sample::with_text("</script>\"")]
    {
        assert_eq!(serde_json::from_str::<StudyRecord>(&text(&record, Format::Json)).unwrap(), record);
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_the_error_says_how_to_build_it() {
    let error = write(&sample::study(3), Format::Parquet, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("--features parquet"), "{error}");
}

#[cfg(feature = "parquet")]
mod with_parquet {
    use super::*;
    use parquet::basic::{ConvertedType, Type as Physical};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn read(record: &StudyRecord) -> SerializedFileReader<bytes_of::Bytes> {
        let mut out = Vec::new();
        write(record, Format::Parquet, &mut out).unwrap();
        SerializedFileReader::new(bytes_of::Bytes::from(out)).unwrap()
    }

    /// The buffer type that the reader takes.
    mod bytes_of {
        pub use bytes::Bytes;
    }

    #[test]
    fn parquet_columns_have_types_and_read_back_alike() {
        let record = sample::study(60);
        let reader = read(&record);
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let kind = |name: &str| {
            let column = schema.columns().iter().find(|column| column.name() == name).unwrap();
            (column.physical_type(), column.converted_type())
        };
        assert_eq!(kind("trial"), (Physical::INT64, ConvertedType::NONE));
        assert_eq!(kind("lr"), (Physical::DOUBLE, ConvertedType::NONE));
        assert_eq!(kind("augment"), (Physical::BOOLEAN, ConvertedType::NONE));
        assert_eq!(kind("norm"), (Physical::BYTE_ARRAY, ConvertedType::UTF8));
        assert_eq!(kind("asked"), (Physical::INT64, ConvertedType::TIMESTAMP_MICROS));
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 60);
        for (row, trial) in rows.iter().zip(&record.trials) {
            let get = |name: &str| row.get_column_iter().find(|(n, _)| *n == name).unwrap().1.clone();
            assert_eq!(get("trial"), Field::Long(trial.trial as i64));
            assert_eq!(get("value"), trial.value.map_or(Field::Null, Field::Double));
            assert_eq!(get("reason"), trial.reason.clone().map_or(Field::Null, Field::Str));
            assert_eq!(get("augment"), Field::Bool(trial.point["augment"].as_bool().unwrap()));
            assert_eq!(get("asked"), Field::TimestampMicros((trial.asked * 1e6).round() as i64));
        }
    }

    #[test]
    fn a_study_without_trials_is_a_parquet_file_without_rows() {
        assert_eq!(read(&sample::empty()).get_row_iter(None).unwrap().count(), 0);
    }
}
