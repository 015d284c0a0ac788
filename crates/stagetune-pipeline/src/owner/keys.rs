//! The cache keys of a point: one for each stage, from the first on.

use std::collections::BTreeMap;
use std::path::Path;

use stagetune::space::Point;

use super::error::RunError;
use crate::file::{Pipeline, Stage, value_text};
use crate::outputs::{Inputs, KEY_FORMAT, KeyId, Looks, StageKey};

/// What is the same for every point: hashes of inputs and values of variables, taken when the run began.
#[derive(Debug)]
pub struct Keys {
    inputs: Inputs,
    stages: Vec<Fixed>,
}

#[derive(Clone, Debug)]
struct Fixed {
    inputs: BTreeMap<String, String>,
    env: BTreeMap<String, Option<String>>,
}

impl Keys {
    /// Reads every input.
    pub fn new(pipeline: &Pipeline) -> Result<Self, RunError> {
        let inputs = Inputs::default();
        let stages = pipeline
            .stages
            .iter()
            .map(|stage| {
                let env = environment(stage);
                Ok(Fixed { inputs: hashes(&inputs, pipeline, stage)?, env })
            })
            .collect::<Result<_, RunError>>()?;
        Ok(Self { inputs, stages })
    }

    /// The keys of a point's stages.
    pub fn of(&self, pipeline: &Pipeline, point: &Point) -> Vec<StageKey> {
        let mut keys: Vec<StageKey> = Vec::with_capacity(pipeline.stages.len());
        let mut ids: Vec<KeyId> = Vec::with_capacity(pipeline.stages.len());
        for (stage, fixed) in pipeline.stages.iter().zip(&self.stages) {
            let above =
                |index: &usize| Some((pipeline.stages.get(*index)?.name.clone(), ids.get(*index)?.clone()));
            let key = StageKey {
                format: KEY_FORMAT,
                stage: stage.name.clone(),
                run: match &stage.call {
                    Some(name) => vec![format!("call:{name}")],
                    None => stage.run.iter().map(|argument| argument.source.clone()).collect(),
                },
                params: values(stage, point),
                inputs: fixed.inputs.clone(),
                env: fixed.env.clone(),
                after: stage.after.iter().filter_map(above).collect(),
            };
            ids.push(key.id());
            keys.push(key);
        }
        keys
    }

    /// Fails if an input of a stage is not what it was when the run began.
    pub(super) fn check(&self, pipeline: &Pipeline, index: usize) -> Result<(), RunError> {
        let (Some(stage), Some(fixed)) = (pipeline.stages.get(index), self.stages.get(index)) else {
            return Ok(());
        };
        let now = hashes(&self.inputs, pipeline, stage)?;
        let changed = now.iter().find(|(path, hash)| fixed.inputs.get(*path) != Some(*hash));
        match changed {
            Some((input, _)) => {
                Err(RunError::InputChanged { stage: stage.name.clone(), input: input.clone() })
            }
            None => Ok(()),
        }
    }

    /// What the inputs of a stage look like now.
    pub(super) fn look(&self, pipeline: &Pipeline, index: usize) -> Result<Vec<(String, Looks)>, RunError> {
        let Some(stage) = pipeline.stages.get(index) else { return Ok(Vec::new()) };
        let look = |input: &Path| Ok((input.display().to_string(), self.inputs.look(&pipeline.root, input)?));
        files(stage).map(look).collect()
    }

    /// Fails if an input of a stage is not what it was when the run began, or was written to since `before`.
    pub(super) fn check_since(
        &self,
        pipeline: &Pipeline,
        index: usize,
        before: &[(String, Looks)],
    ) -> Result<(), RunError> {
        self.check(pipeline, index)?;
        let now = self.look(pipeline, index)?;
        let touched =
            before.iter().zip(&now).find(|((_, before), (_, now))| before.written_since(now).is_some());
        match (touched, pipeline.stages.get(index)) {
            (Some(((input, _), _)), Some(stage)) => {
                Err(RunError::InputTouched { stage: stage.name.clone(), input: input.clone() })
            }
            (None, _) | (_, None) => Ok(()),
        }
    }

    pub(super) fn inputs_of(&self, index: usize) -> BTreeMap<String, String> {
        self.stages.get(index).map(|fixed| fixed.inputs.clone()).unwrap_or_default()
    }

    pub(super) fn env_of(&self, index: usize) -> BTreeMap<String, Option<String>> {
        self.stages.get(index).map(|fixed| fixed.env.clone()).unwrap_or_default()
    }
}

/// A stage's own parameters as the command sees them.
pub fn values(stage: &Stage, point: &Point) -> BTreeMap<String, String> {
    let text = |name: &String| Some((name.clone(), value_text(point.get(name)?)));
    stage.params.iter().filter_map(text).collect()
}

/// Declared inputs, and the program where it is a file of the study.
fn files(stage: &Stage) -> impl Iterator<Item = &Path> {
    let program = stage.run.first().map(|program| program.source.as_str());
    let own = program.filter(|program| program.contains('/') && !program.starts_with('/')).map(Path::new);
    stage.inputs.iter().map(|input| input.as_path()).chain(own)
}

/// The hashes of declared inputs, and of the program where it is a file of the study.
fn hashes(inputs: &Inputs, pipeline: &Pipeline, stage: &Stage) -> Result<BTreeMap<String, String>, RunError> {
    let mut hashes = BTreeMap::new();
    for input in files(stage) {
        hashes.insert(input.display().to_string(), inputs.hash(&pipeline.root, input)?);
    }
    Ok(hashes)
}

fn environment(stage: &Stage) -> BTreeMap<String, Option<String>> {
    let set = stage.env.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    let seen = |name: &String| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let watched = stage.watch_env.iter().map(|name| (name.clone(), seen(name)));
    watched.chain(set).collect()
}
