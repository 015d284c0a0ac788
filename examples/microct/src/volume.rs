//! Volumes on disk: NumPy files of arrays with axes (…, z, y, x), read with messages that say what is wrong with a file.

use anyhow::{Context, Result, anyhow, bail, ensure};
use ndarray::{Array, ArrayBase, ArrayView, Data, Dimension, Ix3};
use ndarray_npy::{ViewElement, ViewNpyExt, WritableElement, WriteNpyExt};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Voxels along z, y and x.
pub type Size = (usize, usize, usize);

/// Reads an array; `what` names it in messages, as in "the volume".
pub fn read<T: ViewElement + Clone, D: Dimension>(path: &Path, what: &str) -> Result<Array<T, D>> {
    let shown = path.display();
    // The bytes first: a header that promises more than the file holds is then refused before memory is asked for.
    let bytes = std::fs::read(path).with_context(|| {
        format!("cannot read {what} {shown}; `microct phantom` makes the data, `microct denoise` and `microct unet` write what the stage after them reads")
    })?;
    let view = ArrayView::<T, D>::view_npy(&bytes).map_err(|error| {
        // Causes repeat themselves, and the parser draws its own over several lines.
        let reason = error.to_string();
        let reason = reason.lines().next().unwrap_or_default();
        anyhow!(
            "{what} {shown} is not a whole NumPy file of a {}-D array with elements of type {} ({reason}); make it anew",
            D::NDIM.unwrap_or_default(),
            std::any::type_name::<T>()
        )
    })?;
    ensure!(!view.is_empty(), "{what} {shown} has no voxels: its shape is {:?}", view.shape());
    // Every loop over voxels expects rows along x to be contiguous.
    Ok(view.as_standard_layout().into_owned())
}

/// Writes an array.
pub fn write<T: WritableElement, S: Data<Elem = T>, D: Dimension>(
    path: &Path,
    volume: &ArrayBase<S, D>,
) -> Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(path).with_context(writing)?);
    volume.write_npy(&mut writer).with_context(writing)?;
    writer.flush().with_context(writing)
}

/// Removes a file if it is there.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .with_context(|| format!("cannot remove {}, which an earlier run has left", path.display())),
        _ => Ok(()),
    }
}

/// Refuses two volumes of different shapes.
pub fn same_shape<A, B>(
    (one, first): (&str, &ArrayBase<impl Data<Elem = A>, Ix3>),
    (other, second): (&str, &ArrayBase<impl Data<Elem = B>, Ix3>),
) -> Result<()> {
    if first.dim() == second.dim() {
        return Ok(());
    }
    bail!(
        "voxels along z, y and x differ: {:?} in {one}, {:?} in {other}; both must come from the same phantom or scan",
        first.dim(),
        second.dim()
    );
}

/// Refuses to write a file over one that is read.
pub fn not_over(input: &Path, output: &Path) -> Result<()> {
    let same =
        matches!((input.canonicalize(), output.canonicalize()), (Ok(input), Ok(output)) if input == output);
    ensure!(!same, "--out would overwrite {}, which is read; name another directory", input.display());
    Ok(())
}

/// A directory to write into, made if it is not there.
pub fn directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the directory {}", path.display()))
}

/// `name` inside a directory, or the file itself if the path is one.
pub fn inside(path: &Path, name: &str) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "npy") || path.is_file() {
        path.to_owned()
    } else {
        path.join(name)
    }
}
