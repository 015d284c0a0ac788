//! Volumes on disk: NumPy files of 3-D arrays, axes (z, y, x), read with messages that say what is wrong with a file.

use anyhow::{Context, Result, bail};
use ndarray::{Array3, ArrayBase, Data, Dimension, Ix3};
use ndarray_npy::{ReadNpyExt, ReadableElement, WritableElement, WriteNpyExt};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

/// Voxels along z, y and x.
pub type Size = (usize, usize, usize);

/// Reads a volume; `what` names it in messages, as in "the volume".
pub fn read<T: ReadableElement + Clone>(path: &Path, what: &str) -> Result<Array3<T>> {
    let shown = path.display();
    let file = File::open(path).with_context(|| {
        format!("cannot open {what} {shown}; `microct phantom` makes one, a stage before this one writes one")
    })?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let volume = Array3::<T>::read_npy(&mut reader).with_context(|| {
        format!(
            "{what} {shown} is not a whole NumPy file of a 3-D array with elements of type {}; make it anew",
            std::any::type_name::<T>()
        )
    })?;
    if volume.is_empty() {
        bail!("{what} {shown} has no voxels: its shape is {:?}", volume.dim());
    }
    // Every loop over voxels expects rows along x to be contiguous.
    Ok(if volume.is_standard_layout() { volume } else { volume.as_standard_layout().to_owned() })
}

/// Writes a volume.
pub fn write<T: WritableElement, S: Data<Elem = T>, D: Dimension>(
    path: &Path,
    volume: &ArrayBase<S, D>,
) -> Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(path).with_context(writing)?);
    volume.write_npy(&mut writer).with_context(writing)?;
    writer.flush().with_context(writing)
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
        "{one} has {:?} voxels along z, y and x, {other} has {:?}; both must come from the same phantom or scan",
        first.dim(),
        second.dim()
    );
}

/// A directory to write into, made if it is not there.
pub fn directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the directory {}", path.display()))
}

/// `name` inside a directory, or the file itself if the path is one.
pub fn inside(path: &Path, name: &str) -> std::path::PathBuf {
    if path.extension().is_some_and(|extension| extension == "npy") {
        path.to_owned()
    } else {
        path.join(name)
    }
}
