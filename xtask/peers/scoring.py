"""Log expected improvement of given points under given hyper-parameters, in plain numpy: the neutral judge.

An exact Gaussian process with a squared-exponential kernel, one length scale per coordinate and a constant mean:
k(a, b) = s exp(-1/2 sum_j ((a_j - b_j) / l_j)^2), noise variance v on the diagonal, all in units of the standardised
objective.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import erfcx, log_ndtr


def standardise(y):
    """Zero mean, unit sample standard deviation."""
    y = np.asarray(y, dtype=float)
    return (y - y.mean()) / y.std(ddof=1)


def kernel(a, b, hyper):
    difference = (a[:, None, :] - b[None, :, :]) / np.asarray(hyper["lengthscales"], float)
    return hyper["signal_variance"] * np.exp(-0.5 * (difference**2).sum(-1))


def log_posterior(x, y, hyper):
    """What both fits maximise: log marginal likelihood plus the log densities of BoTorch's default priors (no constants)."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    factor = cho_factor(kernel(x, x, hyper) + hyper["noise_variance"] * np.eye(len(x)), lower=True)
    residual = y - hyper["mean"]
    fit = -0.5 * residual @ cho_solve(factor, residual) - np.log(np.diag(factor[0])).sum() - 0.5 * len(y) * np.log(2 * np.pi)

    def log_normal(values, location, spread):
        logs = np.log(np.asarray(values, float))
        return (-logs - 0.5 * ((logs - location) / spread) ** 2).sum()

    prior = log_normal(hyper["lengthscales"], np.sqrt(2) + 0.5 * np.log(x.shape[1]), np.sqrt(3))
    return float(fit + prior + log_normal(hyper["noise_variance"], -4.0, 1.0))


def log_ei(points, x, y, hyper):
    """Log EI below the smallest y at each point; `y` is standardised already."""
    points, x, y = np.asarray(points, float), np.asarray(x, float), np.asarray(y, float)
    factor = cho_factor(kernel(x, x, hyper) + hyper["noise_variance"] * np.eye(len(x)), lower=True)
    cross = kernel(points, x, hyper)
    mean = hyper["mean"] + cross @ cho_solve(factor, y - hyper["mean"])
    variance = hyper["signal_variance"] - (cross * cho_solve(factor, cross.T).T).sum(1)
    sd = np.sqrt(np.maximum(variance, 1e-18))
    return np.log(sd) + log_h((y.min() - mean) / sd)


def log_h(z):
    """ln(phi(z) + z Phi(z)), without cancellation far below 0 (Ament et al., 2023, after eq. 9)."""
    z = np.asarray(z, float)
    log_phi = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    high, low = np.maximum(z, -1.0), np.minimum(z, -1.0)
    direct = np.log(np.exp(-0.5 * high**2) / np.sqrt(2 * np.pi) + high * np.exp(log_ndtr(high)))
    # phi + z Phi = phi (1 - |z| sqrt(pi/2) erfcx(-z / sqrt 2)); the bracket is near 1/z^2 and fades below z = -1e3.
    bracket = 1.0 - np.abs(low) * np.sqrt(np.pi / 2) * erfcx(-low / np.sqrt(2))
    tail = np.where(low > -1e3, np.log(np.maximum(bracket, 1e-300)), -2 * np.log(np.abs(low)))
    return np.where(z > -1.0, direct, log_phi + tail)
