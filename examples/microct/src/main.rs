//! `microct`: the stages of a real imaging pipeline, each a subcommand, and what it takes to study it.

use clap::{Parser, Subcommand};
use microct::{denoise, measure, phantom, picture, reconstruct, table, unet};
use std::process::ExitCode;

/// Training allocates and frees the same large blocks all the time; the system's allocator gives each back to the kernel.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Find cells in a volume of brain tissue: denoise, train a U-Net, reconstruct in 3-D.
#[derive(Debug, Parser)]
#[command(name = "microct", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Example:\n  microct phantom --out data\n  microct denoise --in data --strength 5 --contrast 1.2 --out clean\n  microct unet --in clean --truth data --lr 0.01 --batch 8 --out maps\n  microct reconstruct --in maps --truth data --purity 0.6 --opening 1 --extent 0.4 --out cells"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a volume of brain tissue with its truth
    #[command(
        after_help = "Examples:\n  microct phantom --out data\n  microct phantom --out small --size 16,64,64 --seed 2"
    )]
    Phantom(phantom::Options),
    /// Take out noise by 3-D non-local means and stretch the contrast
    #[command(after_help = "Example:\n  microct denoise --in data --strength 5 --contrast 1.2 --out clean")]
    Denoise(denoise::Options),
    /// Train a U-Net on the annotated slices and write probability maps of the whole volume
    #[command(after_help = "Example:\n  microct unet --in clean --truth data --lr 0.01 --batch 8 --out maps")]
    Unet(unet::Options),
    /// Turn probability maps into cells and score them against the truth
    #[command(
        after_help = "Example:\n  microct reconstruct --in maps --truth data --purity 0.6 --opening 1 --extent 0.4 --out cells"
    )]
    Reconstruct(reconstruct::Options),
    /// Draw a slice beside its truth
    #[command(after_help = "Example:\n  microct picture --data data --slice 30 --out slice.png")]
    Picture(picture::Options),
    /// Measure what each stage takes, at random settings
    #[command(after_help = "Example:\n  microct measure --data data --runs 10 --out seconds.json")]
    Measure(measure::Options),
    /// Compute F1 over a whole grid of settings; goes on where it was stopped
    #[command(
        after_help = "Example:\n  microct table --stages 2 --data data --rows rows --seconds seconds.json --out microct-2"
    )]
    Table(table::Options),
}

fn main() -> ExitCode {
    let done = match &Cli::parse().command {
        Command::Phantom(options) => phantom::run(options),
        Command::Denoise(options) => denoise::run(options),
        Command::Unet(options) => unet::run(options),
        Command::Reconstruct(options) => reconstruct::run(options),
        Command::Picture(options) => picture::run(options),
        Command::Measure(options) => measure::run(options),
        Command::Table(options) => table::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
