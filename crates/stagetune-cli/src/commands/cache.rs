//! `stagetune cache`: what it holds, why a stage would run, whether it is sound, making room.

use super::{Done, best, print, print_json, say};
use crate::cli::{FileArgs, WhyArgs};
use crate::exit::Code;
use crate::format::{bytes, clean, count, digits};
use crate::paint::{BAD, FAINT, GOOD, STRONG, WARNING, paint};
use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value, json};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::file::{Pipeline, parse_bytes};
use stagetune_pipeline::ledger::Ledger;
use stagetune_pipeline::log::{Log, LogError, Sqlite};
use stagetune_pipeline::outputs::{Cache, Difference, Evicted, Listed, Unreadable, Unusable, Verdict};
use stagetune_pipeline::owner::{Hold, StagePlan, plan};
use stagetune_pipeline::state_dir::StateDir;
use stagetune_pipeline::text::escaped;
use std::fmt::Write;
use std::path::Path;

fn cache_of(file: &Path) -> anyhow::Result<(Pipeline, Cache)> {
    let pipeline = Pipeline::read(file)?;
    let state = StateDir::of(&pipeline.root);
    let cache = Cache::at(state.path(), Disk::default(), pipeline.cache_limit);
    Ok((pipeline, cache))
}

/// What the cache holds.
pub fn ls(args: &FileArgs) -> Done {
    let (pipeline, cache) = cache_of(&args.file)?;
    let mut listed = cache.list()?;
    let order = |entry: &Listed| entry.entry.as_ref().map_or(f64::INFINITY, |entry| entry.began);
    listed.sort_by(|a, b| order(a).total_cmp(&order(b)));
    if args.json {
        let one = |listed: &Listed| match &listed.entry {
            Ok(entry) => json!({
                "key": listed.id, "stage": entry.key.stage, "bytes": entry.bytes(), "files": entry.files.len(),
                "cost": entry.cost, "seconds": entry.seconds, "made": entry.ended, "used": listed.used,
                "params": entry.key.params, "study": entry.maker.study, "trial": entry.maker.trial,
            }),
            Err(Unreadable::Newer(format)) => json!({"key": listed.id, "newer": format}),
            Err(Unreadable::Damaged(problem)) => json!({"key": listed.id, "damaged": problem}),
        };
        print_json(&listed.iter().map(one).collect::<Vec<_>>())?;
        return Ok(Code::Done);
    }
    let mut out = String::new();
    let mut total = 0;
    for listed in &listed {
        match &listed.entry {
            Ok(entry) => {
                total += entry.bytes();
                let params = entry.key.params.iter().map(|(n, v)| clean(&format!("{n}={v}")));
                let params: Vec<String> = params.collect();
                let _ = writeln!(
                    out,
                    "{}  {:<12} {:>10}  cost {:>8}  {}",
                    paint(FAINT, listed.id.short()),
                    entry.key.stage,
                    bytes(entry.bytes()),
                    digits(entry.cost, 3),
                    params.join(" ")
                );
            }
            Err(newer @ Unreadable::Newer(_)) => {
                let _ = writeln!(out, "{}  {}: {newer}", listed.id.short(), paint(FAINT, "left alone"));
            }
            Err(Unreadable::Damaged(problem)) => {
                let _ = writeln!(out, "{}  {}: {}", listed.id.short(), paint(BAD, "damaged"), clean(problem));
            }
        }
    }
    let limit = pipeline.cache_limit.map_or(String::new(), |limit| format!(" of {}", bytes(limit)));
    let _ = writeln!(out, "{} entries, {}{limit}", count(listed.len()), bytes(total));
    print(&out)?;
    Ok(Code::Done)
}

/// The keys of a trial's stages, and what differs from the nearest entry where one is not there.
pub fn why(args: &WhyArgs) -> Done {
    let (pipeline, cache) = cache_of(&args.common.file)?;
    let values = wanted_values(&pipeline, args)?;
    let point = best::point(&pipeline, &values).ok_or_else(|| {
        anyhow!("these are no values of the pipeline's parameters; give all of them with `--set NAME=VALUE`")
    })?;
    let mut stages = plan(&pipeline, &point)?;
    if let Some(name) = &args.stage {
        stages.retain(|stage| stage.stage == *name);
        if stages.is_empty() {
            bail!("there is no stage `{name}`");
        }
    }
    let mut facts = Vec::new();
    let mut out = String::new();
    for stage in &stages {
        let nearest = if stage.cached { None } else { cache.nearest(&stage.key)? };
        explain(&mut out, stage, nearest.as_ref().map(|nearest| &nearest.differences[..]));
        facts.push(json!({
            "stage": stage.stage, "key": stage.key, "id": stage.id, "cached": stage.cached, "nearest": nearest,
            "argv": stage.argv,
        }));
    }
    if args.common.json {
        print_json(&facts)?
    } else {
        print(&out)?
    }
    Ok(Code::Done)
}

/// Reads every byte of every entry.
pub fn verify(args: &FileArgs, remove: bool) -> Done {
    let (_, cache) = cache_of(&args.file)?;
    let listed = cache.list()?;
    let mut damaged = Vec::new();
    for listed in &listed {
        if let Verdict::Damaged(problem) = cache.verify(listed) {
            let removed = remove && cache.remove(&listed.id)?;
            if !args.json {
                let done = if removed { ", removed" } else { "" };
                say!("{}  {}: {}{done}", listed.id, paint(BAD, "damaged"), clean(&problem));
            }
            damaged.push(json!({"key": listed.id, "problem": problem, "removed": removed}));
        }
    }
    // What is damaged within it may have been found only now.
    let pack = cache.unusable_pack()?;
    if let Some((path, problem)) = &pack {
        let is_damaged = matches!(problem, Unusable::Damaged(_));
        if remove && is_damaged {
            cache.remove_damaged_pack()?;
        }
        if !args.json {
            let done = if remove && is_damaged { ", removed" } else { "" };
            let what = paint(if is_damaged { BAD } else { FAINT }, "small outputs");
            say!("{what}  {}: {}{done}", clean(&path.display().to_string()), clean(&problem.to_string()));
        }
    }
    if args.json {
        let pack = pack.as_ref().map(|(path, problem)| json!({"path": path, "problem": problem.to_string()}));
        print_json(&json!({"entries": listed.len(), "damaged": damaged, "unusable_pack": pack}))?;
    } else if damaged.is_empty() && pack.is_none() {
        say!("{} entries, every byte as it was: {}", count(listed.len()), paint(GOOD, "sound"));
    } else if !remove {
        say!("a damaged entry is made again when it is needed; `--remove` takes it away now");
    }
    let gone = remove && damaged.iter().all(|one| one["removed"] == true) && cache.unusable_pack()?.is_none();
    let sound = damaged.is_empty() && !matches!(pack, Some((_, Unusable::Damaged(_))));
    Ok(if sound || gone { Code::Done } else { Code::Damaged })
}

/// Makes room, and counts what the logs take; those of finished studies go if that is asked for.
pub fn gc(args: &FileArgs, to: Option<&str>, logs: bool, dry_run: bool) -> Done {
    let (pipeline, cache) = cache_of(&args.file)?;
    let limit = match to {
        Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => {
            Some(text.parse().context("--to is too large")?)
        }
        Some(text) => {
            Some(parse_bytes(text).map_err(|problem| anyhow!("{problem}")).context("--to makes no sense")?)
        }
        None => pipeline.cache_limit,
    };
    let exists = StateDir::of(&pipeline.root).path().join("tmp").is_dir();
    let swept = if dry_run || !exists { 0 } else { cache.sweep()?.removed };
    let evicted = match limit {
        Some(limit) if dry_run => cache.would_evict(limit)?,
        Some(limit) => cache.shrink(limit)?,
        None => Vec::new(),
    };
    let freed: u64 = evicted.iter().map(|one| one.bytes).sum();
    let logs = Logs::collect(&StateDir::of(&pipeline.root), logs, dry_run)?;
    if args.json {
        let one =
            |one: &Evicted| json!({"key": one.id, "stage": one.stage, "bytes": one.bytes, "cost": one.cost});
        let evicted: Vec<Value> = evicted.iter().map(one).collect();
        print_json(&json!({
            "evicted": evicted, "freed": freed, "left_by_killed_runs": swept, "dry_run": dry_run,
            "logs": {"files": logs.files, "bytes": logs.bytes, "removed": logs.removed, "freed": logs.freed},
        }))?;
        return Ok(Code::Done);
    }
    for one in &evicted {
        let (id, cost) = (one.id.short(), digits(one.cost, 3));
        say!("{}  {:<12} {:>10}  cost {cost}", paint(FAINT, id), one.stage, bytes(one.bytes));
    }
    let verb = if dry_run { "would free" } else { "freed" };
    say!("{verb} {} in {} entries; {swept} left by killed runs", bytes(freed), count(evicted.len()));
    logs.tell(verb)?;
    if limit.is_none() {
        say!("no limit is set: give one with `--to 5GB`, or `[cache] limit = \"5 GB\"` in the file");
    }
    Ok(Code::Done)
}

/// The logs of all studies in this directory.
#[derive(Debug, Default)]
struct Logs {
    files: usize,
    bytes: u64,
    /// Files of finished studies that were removed, or would be.
    removed: usize,
    freed: u64,
}

impl Logs {
    fn collect(state: &StateDir, remove: bool, dry_run: bool) -> anyhow::Result<Self> {
        let mut sum = Self::default();
        for study in state.all_logs().context("cannot count the logs")? {
            sum.files += study.files;
            sum.bytes += study.bytes;
            if !remove || study.files == 0 || !is_finished(state, &study.study)? {
                continue;
            }
            if !dry_run {
                // Whoever goes on with the study at this moment needs its logs.
                let Ok(_hold) = Hold::take(state, &study.study, &Disk::default()) else { continue };
                Disk::default().remove_dir(&state.logs(&study.study))?;
            }
            sum.removed += study.files;
            sum.freed += study.bytes;
        }
        Ok(sum)
    }

    fn tell(&self, verb: &str) -> anyhow::Result<()> {
        let Self { files, bytes: size, removed, freed } = self;
        let all = format!("logs take {} in {} files", bytes(*size), count(*files));
        if *removed > 0 {
            say!("{all}; {verb} {} in {} logs of finished studies", bytes(*freed), count(*removed));
        } else {
            say!("{all}; `--logs` removes those of finished studies");
        }
        Ok(())
    }
}

/// Whether the journal knows the study, and knows that it is complete.
fn is_finished(state: &StateDir, study: &str) -> Result<bool, LogError> {
    match Sqlite::look(&state.journal(), study).and_then(|journal| journal.read(0)) {
        Ok(records) => Ok(Ledger::of(study, &records).finished),
        Err(LogError::Missing { .. } | LogError::NoStudy { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn explain(out: &mut String, stage: &StagePlan, differences: Option<&[Difference]>) {
    let verdict = if stage.cached { paint(GOOD, "cached") } else { paint(WARNING, "would run") };
    let _ = writeln!(out, "{}  {verdict}  {}", paint(STRONG, &stage.stage), paint(FAINT, &stage.id));
    let key = &stage.key;
    let _ = writeln!(out, "  command    {}", escaped(&key.run.join(" ")));
    for (name, value) in &key.params {
        let _ = writeln!(out, "  parameter  {name} = {}", escaped(value));
    }
    for (path, hash) in &key.inputs {
        let _ =
            writeln!(out, "  input      {}  {}", escaped(path), paint(FAINT, hash.get(..12).unwrap_or(hash)));
    }
    for (name, value) in &key.env {
        let _ = writeln!(out, "  variable   {name} = {}", escaped(value.as_deref().unwrap_or("not set")));
    }
    for (name, id) in &key.after {
        let _ = writeln!(out, "  after      {name}  {}", paint(FAINT, id.short()));
    }
    match differences {
        None if stage.cached => {}
        None => {
            let _ = writeln!(out, "  nothing of this stage is in the cache");
        }
        Some(differences) => {
            let _ = writeln!(out, "  the nearest entry differs in");
            for one in differences {
                let side = |text: &Option<String>| escaped(text.as_deref().unwrap_or("nothing"));
                let _ = writeln!(
                    out,
                    "    {}: {} here, {} there",
                    one.what,
                    side(&one.wanted),
                    side(&one.cached)
                );
            }
        }
    }
    let _ = writeln!(out);
}

/// The values of a trial, or of the best one, with those on the command line in their place.
fn wanted_values(pipeline: &Pipeline, args: &WhyArgs) -> anyhow::Result<Map<String, Value>> {
    let state = StateDir::of(&pipeline.root);
    let study = Sqlite::look(&state.journal(), &pipeline.study.name)
        .and_then(|journal| Ok(Ledger::of(&pipeline.study.name, &journal.read(0)?)));
    let mut values = match (study, args.trial) {
        (Ok(study), wanted) => {
            let id = wanted.or(study.best_trial()).or_else(|| study.trials.last().map(|trial| trial.trial));
            let trial = study.trials.iter().find(|trial| Some(trial.trial) == id);
            if let (Some(id), None) = (wanted, trial) {
                bail!("there is no trial {id}; the study has {}", study.trials.len());
            }
            trial.map(|trial| trial.point.clone()).unwrap_or_default()
        }
        (Err(LogError::Missing { .. } | LogError::NoStudy { .. }), None) => Map::new(),
        (Err(error), _) => return Err(error.into()),
    };
    for setting in &args.set {
        let (name, text) = setting
            .split_once('=')
            .ok_or_else(|| anyhow!("`{setting}` is not NAME=VALUE, such as lr=0.01"))?;
        if pipeline.space.param_index(name).is_none() {
            bail!("there is no parameter `{name}`");
        }
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        values.insert(name.to_owned(), value);
    }
    let missing: Vec<&str> = pipeline
        .space
        .params()
        .iter()
        .map(|p| &**p.name())
        .filter(|name| !values.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        bail!("no trial has values yet; give {} with `--set NAME=VALUE`", missing.join(", "));
    }
    Ok(values)
}
