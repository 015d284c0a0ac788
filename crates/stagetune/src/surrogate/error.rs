//! What can go wrong between data and a Gaussian process.

/// Why a surrogate could not be built, updated or asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurrogateError {
    /// There are no observations.
    #[error("no observations: a Gaussian process needs at least one point with its value")]
    NoData,
    /// A point has the wrong number of coordinates.
    #[error("{what} has {found} coordinates where {expected} are expected")]
    WrongDimension {
        /// Which argument.
        what: &'static str,
        /// How many coordinates it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// As many values as points are needed.
    #[error("{points} points but {values} values: give one value for each point")]
    UnequalLengths {
        /// Number of points.
        points: usize,
        /// Number of values.
        values: usize,
    },
    /// A coordinate or value is NaN, infinite or beyond 1e100.
    #[error(
        "{what} {index} is {value}: it must be finite and at most 1e100 in size; drop it, rescale it or tell the trial as a failure"
    )]
    NotFinite {
        /// Which argument.
        what: &'static str,
        /// Its position.
        index: usize,
        /// The value found.
        value: f64,
    },
    /// A hyper-parameter lies outside its meaning.
    #[error("{name} is {value}: it must be {must}")]
    BadHyper {
        /// Which hyper-parameter.
        name: &'static str,
        /// The value found.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// One lengthscale, or one per coordinate.
    #[error("{found} lengthscales for {dim} coordinates: give one for all or one for each")]
    LengthscaleCount {
        /// Lengthscales given.
        found: usize,
        /// Coordinates of the data.
        dim: usize,
    },
    /// A pair of bounds is empty or meaningless.
    #[error("bounds of {name} are [{low}, {high}]: they must be positive, finite and in order")]
    BadBounds {
        /// Which hyper-parameter.
        name: &'static str,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The covariance matrix stays singular on the last rung of the jitter ladder.
    #[error(
        "the covariance of the {n} observations is singular at row {row} even with {jitter:e} added to its diagonal: \
         raise the noise variance or shorten the lengthscales"
    )]
    Singular {
        /// Number of observations.
        n: usize,
        /// First row whose pivot is not positive.
        row: usize,
        /// Jitter of the last rung.
        jitter: f64,
    },
    /// Nothing to take back.
    #[error("no fantasised observation to take back")]
    NoFantasy,
    /// Every start of the fit failed.
    #[error(
        "no start of the hyper-parameter fit gave a finite likelihood: check the bounds and the scale of the values"
    )]
    FitFailed,
}
