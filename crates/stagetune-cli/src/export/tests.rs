//! What every format keeps of a study.

use super::{Format, write};
use crate::sample;
use serde_json::json;
use stagetune::space::{DomainDescription, ParamDescription};
use stagetune_pipeline::ledger::{Ledger, ParamRow, TrialState};

fn text(ledger: &Ledger, format: Format) -> String {
    let mut out = Vec::new();
    write(ledger, format, &mut out).unwrap();
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
    let ledger = sample::study(60);
    let rows = parse(&text(&ledger, Format::Csv));
    assert_eq!(rows.len(), 61);
    assert!(rows.iter().all(|row| row.len() == 9 + 8 + 9 + 4 + 4));
    let header: Vec<&str> = rows[0].iter().map(|name| name.as_deref().unwrap()).collect();
    assert_eq!(
        &header[..10],
        "trial,state,value,best,cost,spent,asked,told,reason,strength".split(',').collect::<Vec<_>>()
    );
    assert_eq!(&header[17..20], ["denoise.how", "denoise.cost", "denoise.seconds"]);
    assert_eq!(&header[26..30], ["denoise.psnr", "unet.loss", "reconstruct.f1", "reconstruct.iou"]);
    assert_eq!(&header[30..], ["release", "host", "interpreter", "commit"]);
    assert_eq!(rows[1][6].as_deref(), Some("2026-09-21T14:13:20.250Z"));
    let open = rows.last().unwrap();
    assert_eq!((open[1].as_deref(), &open[2], &open[7]), (Some("open"), &None, &None));
}

#[test]
fn csv_doubles_read_back_as_the_same_doubles() {
    let values = [0.1 + 0.2, -1e300, 5e-324, 1.0 / 3.0, -0.0, f64::MAX];
    let ledger = sample::with_values(&values, stagetune::objective::Direction::Minimize);
    for (row, value) in parse(&text(&ledger, Format::Csv)).iter().skip(1).zip(values) {
        assert_eq!(row[2].as_deref().unwrap().parse::<f64>().unwrap().to_bits(), value.to_bits());
    }
}

#[test]
fn csv_keeps_every_text_that_a_user_can_choose() {
    for nasty in ["a,b", "say \"no\"", "two\nlines", "\r\n", " padded ", "<script>", "ünï→", "=1+1"] {
        let ledger = sample::with_text(nasty);
        let rows = parse(&text(&ledger, Format::Csv));
        assert_eq!(rows.len(), 13, "{nasty:?}");
        assert_eq!(rows[0][9].as_deref(), Some(format!("{nasty}strength").as_str()));
        let failed = rows.iter().find(|row| row[1].as_deref() == Some("failed")).unwrap();
        assert_eq!(failed[8].as_deref(), Some(nasty));
    }
}

#[test]
fn csv_has_every_number_that_a_stage_reported_and_is_empty_where_there_is_none() {
    let ledger = sample::study(60);
    let rows = parse(&text(&ledger, Format::Csv));
    let at = |name: &str| rows[0].iter().position(|head| head.as_deref() == Some(name)).unwrap();
    let (loss, f1) = (at("unet.loss"), at("reconstruct.f1"));
    for (row, trial) in rows.iter().skip(1).zip(&ledger.trials) {
        let number = |at: usize| row[at].as_deref().map(|text| text.parse::<f64>().unwrap());
        let reported = |stage: &str, name: &str| {
            trial.stages.iter().find(|row| row.stage == stage).and_then(|row| row.metrics.get(name)).copied()
        };
        assert_eq!(number(loss), reported("unet", "loss"));
        assert_eq!(number(f1), reported("reconstruct", "f1"));
    }
    assert!(rows.iter().skip(1).any(|row| row[loss].is_none()) && rows[1][loss].is_some());
}

#[test]
fn csv_says_what_each_trial_ran_with() {
    let rows = parse(&text(&sample::study(20), Format::Csv));
    let last = |row: usize| rows[row][30..].iter().map(|cell| cell.as_deref()).collect::<Vec<_>>();
    let python = Some("Python 3.12.3 (/usr/bin/python3)");
    assert_eq!(last(1), [Some("0.1.0"), Some("lab"), python, Some("0123abc")]);
    assert_eq!(last(20), [Some("0.2.0"), Some("attic"), python, None]);
}

#[test]
fn a_metric_with_the_name_of_another_column_gets_a_prefix() {
    let mut ledger = sample::study(3);
    for name in ["cost", "a \"quoted\", name", "<script>"] {
        ledger.trials[0].stages[0].metrics.insert(name.into(), 7.5);
    }
    let rows = parse(&text(&ledger, Format::Csv));
    for name in ["metric.denoise.cost", "denoise.a \"quoted\", name", "denoise.<script>"] {
        let at = rows[0].iter().position(|head| head.as_deref() == Some(name)).unwrap();
        assert_eq!((rows[1][at].as_deref(), &rows[2][at]), (Some("7.5"), &None), "{name}");
    }
    let unique: std::collections::BTreeSet<_> = rows[0].iter().collect();
    assert_eq!(unique.len(), rows[0].len());
}

#[test]
fn json_has_the_numbers_of_each_stage_and_what_each_trial_ran_with() {
    let mut ledger = sample::study(20);
    let nasty = "a \"quoted\", <script> name";
    ledger.trials[0].stages[0].metrics.insert(nasty.into(), 7.5);
    let facts: serde_json::Value = serde_json::from_str(&text(&ledger, Format::Json)).unwrap();
    let trial = &facts["trials"][0];
    assert_eq!(trial["stages"][0]["metrics"][nasty], 7.5);
    assert_eq!((&trial["release"], &trial["host"]), (&json!("0.1.0"), &json!("lab")));
    assert_eq!((&trial["commit"], &facts["trials"][19]["commit"]), (&json!("0123abc"), &json!(null)));
}

#[test]
fn states_have_their_names_in_files() {
    let mut ledger = sample::study(5);
    (ledger.trials[1].state, ledger.trials[2].state) = (TrialState::Abandoned, TrialState::Withdrawn);
    let rows = parse(&text(&ledger, Format::Csv));
    assert_eq!((rows[2][1].as_deref(), rows[3][1].as_deref()), (Some("abandoned"), Some("withdrawn")));
}

#[test]
fn a_parameter_with_the_name_of_another_column_gets_a_prefix() {
    let mut ledger = sample::study(3);
    for name in ["param.cost", "cost", "unet.how", "param.param.cost"] {
        let domain = DomainDescription::Int { low: 0, high: 9, step: 1, log: false };
        ledger
            .params
            .push(ParamRow { stage: "unet".into(), param: ParamDescription { name: name.into(), domain } });
        ledger.trials.iter_mut().for_each(|trial| drop(trial.point.insert(name.into(), json!(name.len()))));
    }
    let rows = parse(&text(&ledger, Format::Csv));
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
    let mut ledger = sample::study(3);
    ledger.trials[1].point.insert("batch".into(), json!("many"));
    let error = write(&ledger, Format::Csv, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("trial 1") && error.contains("\"batch\"") && error.contains("JSON"), "{error}");
}

#[test]
fn json_reads_back_as_the_same_record() {
    for ledger in
        [sample::empty(), sample::study(60), sample::all_failed(5), sample::with_text("</script>\"")]
    {
        assert_eq!(serde_json::from_str::<Ledger>(&text(&ledger, Format::Json)).unwrap(), ledger);
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

    fn read(ledger: &Ledger) -> SerializedFileReader<bytes_of::Bytes> {
        let mut out = Vec::new();
        write(ledger, Format::Parquet, &mut out).unwrap();
        SerializedFileReader::new(bytes_of::Bytes::from(out)).unwrap()
    }

    /// The buffer type that the reader takes.
    mod bytes_of {
        pub use bytes::Bytes;
    }

    #[test]
    fn parquet_columns_have_types_and_read_back_alike() {
        let ledger = sample::study(60);
        let reader = read(&ledger);
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
        for (row, trial) in rows.iter().zip(&ledger.trials) {
            let get = |name: &str| row.get_column_iter().find(|(n, _)| *n == name).unwrap().1.clone();
            assert_eq!(get("trial"), Field::Long(trial.trial as i64));
            assert_eq!(get("value"), trial.value.map_or(Field::Null, Field::Double));
            assert_eq!(get("reason"), trial.reason.clone().map_or(Field::Null, Field::Str));
            let loss = trial.stages.iter().find_map(|stage| stage.metrics.get("loss")).copied();
            assert_eq!(get("unet.loss"), loss.map_or(Field::Null, Field::Double));
            let host = &ledger.owner(trial.epoch).unwrap().owner.host;
            assert_eq!(get("host"), Field::Str(host.clone()));
            assert_eq!(get("augment"), Field::Bool(trial.point["augment"].as_bool().unwrap()));
            assert_eq!(get("asked"), Field::TimestampMicros((trial.asked * 1e6).round() as i64));
        }
    }

    #[test]
    fn parquet_keeps_every_name_of_a_metric() {
        let mut ledger = sample::study(3);
        for name in ["a \"quoted\", name", "<script>", "cost"] {
            ledger.trials[0].stages[0].metrics.insert(name.into(), 7.5);
        }
        let rows: Vec<_> = read(&ledger).get_row_iter(None).unwrap().map(Result::unwrap).collect();
        for name in ["denoise.a \"quoted\", name", "denoise.<script>", "metric.denoise.cost"] {
            let get = |row: usize| rows[row].get_column_iter().find(|(n, _)| *n == name).unwrap().1.clone();
            assert_eq!((get(0), get(1)), (Field::Double(7.5), Field::Null), "{name}");
        }
    }

    #[test]
    fn a_study_without_trials_is_a_parquet_file_without_rows() {
        assert_eq!(read(&sample::empty()).get_row_iter(None).unwrap().count(), 0);
    }
}
