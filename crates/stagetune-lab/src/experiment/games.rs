//! `stagetune-lab peers`: games of other optimisers on our problems, each in a process that is told
//! values and asked for points.

use super::plan::Plan;
use super::record::seeds;
use super::run::in_threads;
use crate::peers::NAMES;
use crate::peers::transcript::{Game, Games, Transcript};
use crate::simulate::normal;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Which games to play.
#[derive(Debug, Args)]
pub struct Options {
    /// Plans whose problem, noise, start and seed the games have; plans that differ in modules and
    /// costs alone share their games.
    #[arg(required = true, value_name = "PLAN.toml")]
    plans: Vec<PathBuf>,
    /// The program that plays, with its arguments; it is given the peer, the dimension and a seed.
    /// Comes last.
    #[arg(long, required = true, num_args = 1.., allow_hyphen_values = true, value_name = "PROGRAM")]
    player: Vec<String>,
    /// Who plays.
    #[arg(long, value_delimiter = ',', default_values = NAMES, value_parser = NAMES)]
    peers: Vec<String>,
    /// Games of each on every problem.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    sims: u32,
    /// Folder of the games.
    #[arg(long, default_value = "experiments/peers")]
    out: PathBuf,
    /// Games at the same time; as many as there are cores by default.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
}

/// Digits after the point that are kept of a coordinate: finer than any metric, and files stay small.
const DIGITS: i32 = 6;

/// Beyond the border by no more than rounding.
const BORDER: f64 = 1e-6;

/// Plays what has not been played yet.
pub fn play(options: &Options) -> Result<()> {
    let plans = options.plans.iter().map(|path| Plan::read(path)).collect::<Result<Vec<_>>>()?;
    let mut games: Vec<(&Plan, Game, usize)> = Vec::new();
    for sim in 1..=options.sims as usize {
        for plan in &plans {
            for peer in &options.peers {
                let (game, trials) = (plan.game(peer, sim), plan.trials_of_game());
                match games.iter_mut().find(|(_, other, _)| *other == game) {
                    Some((_, _, longest)) => *longest = trials.max(*longest),
                    None => games.push((plan, game, trials)),
                }
            }
        }
    }
    let all = games.len();
    let mut missing = Vec::new();
    for (plan, game, trials) in games {
        // One that was too short is played again: how a peer goes on depends on its whole game.
        let before = Games::open(&options.out, &game.problem)?.load(&game)?;
        if before.is_none_or(|played| played.trials() < trials) {
            missing.push((plan, game, trials));
        }
    }
    let threads = match options.threads {
        Some(threads) => threads as usize,
        None => std::thread::available_parallelism()?.get(),
    };
    let played = in_threads(threads, all, &missing, |(plan, game, trials)| {
        one(options, plan, game, *trials)
            .with_context(|| format!("game {} of {} on {}", game.sim, game.peer, game.problem))?
            .save(&options.out)
    })?;
    for plan in &plans {
        Games::open(&options.out, plan.pipeline.problem.name())?.fold()?;
    }
    eprintln!("{}: {all} games, {} of them played now", options.out.display(), played.len());
    Ok(())
}

fn one(options: &Options, plan: &Plan, game: &Game, trials: usize) -> Result<Transcript> {
    let space = plan.pipeline.space()?;
    let (design_seed, noise_seed) = seeds(plan.seed, game.sim);
    let observe = |u: &[f64], number: usize| -> Result<f64> {
        let value = plan.pipeline.value(&space.decode(u)?)?;
        Ok(value + plan.pipeline.noise * normal(noise_seed, number as u64))
    };
    let mut x = Vec::new();
    for index in 0..plan.start.len() {
        x.push(space.encode(&plan.start.point(&space, design_seed, index)?)?);
    }
    let start = x.len();
    ensure!(start < trials, "a budget of {} full runs leaves nothing after the start", plan.budget);
    let mut y = (0..start).map(|i| observe(&x[i], i)).collect::<Result<Vec<f64>>>()?;

    let mut player = Player::start(&options.player, &game.peer, space.dim(), design_seed)?;
    let (mut told, mut seconds) = (0, Vec::new());
    while x.len() < trials {
        let turn = player.turn(&x[told..], &y[told..])?;
        told = x.len();
        let inside = |u: &f64| (-BORDER..=1.0 + BORDER).contains(u);
        let sound = turn.x.len() == space.dim() && turn.x.iter().all(inside);
        ensure!(sound, "the player asked for {:?}, which is no point of the unit cube", turn.x);
        let round = |u: &f64| (u.clamp(0.0, 1.0) * 10f64.powi(DIGITS)).round() / 10f64.powi(DIGITS);
        let u: Vec<f64> = turn.x.iter().map(round).collect();
        y.push(observe(&u, x.len())?);
        x.push(u);
        seconds.push((turn.seconds * 1e6).round() / 1e6);
    }
    Ok(Transcript::new(game.clone(), y[..start].to_vec(), x.split_off(start), seconds))
}

/// The process of a peer.
struct Player {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
}

/// What a peer answers.
#[derive(Deserialize)]
struct Turn {
    x: Vec<f64>,
    seconds: f64,
}

impl Player {
    fn start(command: &[String], peer: &str, dim: usize, seed: u64) -> Result<Self> {
        let (program, arguments) = command.split_first().context("--player names no program")?;
        let mut process = Command::new(program)
            .args(arguments)
            // Python's generators take seeds of 32 bits.
            .args([peer, &dim.to_string(), &(seed % (1 << 31)).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}; `cargo xtask peers play` sets it up"))?;
        let answers = BufReader::new(process.stdout.take().context("the player has no output")?);
        Ok(Self { process, answers })
    }

    /// Tells what is new and asks for a point.
    fn turn(&mut self, x: &[Vec<f64>], y: &[f64]) -> Result<Turn> {
        let input = self.process.stdin.as_mut().context("the player has no input")?;
        let told = writeln!(input, "{}", json!({"x": x, "y": y})).and_then(|()| input.flush());
        let mut line = String::new();
        if told.is_err() || self.answers.read_line(&mut line)? == 0 {
            bail!("the player ended ({}); what it printed is above", self.process.wait()?);
        }
        serde_json::from_str(&line).with_context(|| format!("the player answered {line:?}"))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It has nothing to lose, and would wait for the next turn for ever.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
