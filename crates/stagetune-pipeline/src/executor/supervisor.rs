//! Supervisors as their owner sees them: started, given an order, kept in reserve.
//!
//! A supervisor is a program that has to be loaded, which takes a millisecond or two. One in
//! reserve is loaded already: it waits for its order while another stage runs, and ends when its
//! owner does.
//!
//! The order is one line of JSON on a socket, which is the supervisor's standard input. The open
//! file that holds the lock of the attempt goes over with its first byte, so that the lock is held
//! at every instant.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::FdFlags;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

use super::command::Order;
use super::orphans;
use super::supervise::SUPERVISOR_COMMAND;

/// A supervisor process, and the socket that leads to it.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) process: Child,
    pub(super) socket: UnixStream,
}

/// Starts supervisors, and keeps one in reserve.
#[derive(Debug)]
pub(super) struct Supervisors {
    program: Program,
    reserve: Mutex<Reserve>,
}

/// What supervisors are started from.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    /// It is the program of this process: that stays what it is when another one takes its path.
    is_this: bool,
}

impl Program {
    fn new(path: PathBuf) -> Self {
        let same = |about: Metadata| (about.dev(), about.ino());
        let this = fs::metadata(THIS).ok().map(same);
        let is_this = this.is_some() && fs::metadata(&path).ok().map(same) == this;
        Self { path, is_this }
    }

    fn started_from(&self) -> &Path {
        if self.is_this { Path::new(THIS) } else { &self.path }
    }
}

/// The program of the process that looks, on Linux.
const THIS: &str = "/proc/self/exe";

#[derive(Debug)]
enum Reserve {
    Empty,
    Waiting(Supervisor),
    /// The owner ends: nobody is kept in reserve any more.
    Closed,
}

impl Supervisor {
    fn start(program: &Program) -> io::Result<Self> {
        let (socket, other) = UnixStream::pair()?;
        let mut command = Command::new(program.started_from());
        command.arg0(&program.path);
        // A group of its own: Ctrl-C in a terminal reaches the owner alone.
        command.arg(SUPERVISOR_COMMAND).process_group(0);
        command.stdin(OwnedFd::from(other)).stdout(Stdio::null()).stderr(Stdio::null());
        // Nobody may take it for an orphan.
        let mut known = orphans::supervisors();
        let process = command.spawn()?;
        known.extend(i32::try_from(process.id()));
        Ok(Self { process, socket })
    }

    /// Waits for its end.
    pub(super) fn wait(process: &mut Child) -> io::Result<ExitStatus> {
        let status = process.wait();
        if let Ok(number) = i32::try_from(process.id()) {
            orphans::supervisors().remove(&number);
        }
        status
    }

    /// Why a fresh one did not take its order.
    fn refuse(mut self, program: &Program, error: io::Error) -> io::Error {
        drop(self.socket);
        let _ = self.process.kill();
        match Self::wait(&mut self.process) {
            Ok(status) if error.kind() == io::ErrorKind::BrokenPipe => io::Error::other(format!(
                "as a supervisor it ended at once ({status}); if another program stands there since \
                    this one was \
                 started, start this one again",
            )),
            Ok(_) | Err(_) => io::Error::new(error.kind(), format!("{}: {error}", program.path.display())),
        }
    }

    /// One without an order has nothing to end. It is killed, so that one which stands still is not
    /// waited for.
    fn dismiss(mut self) {
        let _ = self.process.kill();
        let _ = Self::wait(&mut self.process);
    }
}

impl Supervisors {
    pub(super) fn new(program: PathBuf) -> Self {
        Self { program: Program::new(program), reserve: Mutex::new(Reserve::Empty) }
    }

    pub(super) fn program(&self) -> &PathBuf {
        &self.program.path
    }

    /// A supervisor that has its order; it holds the lock of the attempt from now on.
    pub(super) fn begin(&self, order: &[u8], lock: &File) -> io::Result<Supervisor> {
        if let Some(waiting) = self.take() {
            match send(&waiting.socket, order, lock) {
                Ok(()) => return Ok(waiting),
                // Somebody has ended it, so that it has not read the order as a whole.
                Err(_) => waiting.dismiss(),
            }
        }
        let fresh = Supervisor::start(&self.program)?;
        match send(&fresh.socket, order, lock) {
            Ok(()) => Ok(fresh),
            Err(error) => Err(fresh.refuse(&self.program, error)),
        }
    }

    /// Puts a supervisor in reserve if there is none. Where that fails, the next attempt says why.
    pub(super) fn refill(&self) {
        let mut reserve = self.lock();
        if let Reserve::Empty = *reserve
            && let Ok(fresh) = Supervisor::start(&self.program)
        {
            *reserve = Reserve::Waiting(fresh);
        }
    }

    /// Ends the one in reserve, for good.
    pub(super) fn close(&self) {
        let before = std::mem::replace(&mut *self.lock(), Reserve::Closed);
        match before {
            Reserve::Waiting(waiting) => waiting.dismiss(),
            Reserve::Empty | Reserve::Closed => {}
        }
    }

    fn take(&self) -> Option<Supervisor> {
        let mut reserve = self.lock();
        match std::mem::replace(&mut *reserve, Reserve::Empty) {
            Reserve::Waiting(waiting) => Some(waiting),
            Reserve::Empty => None,
            Reserve::Closed => {
                *reserve = Reserve::Closed;
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reserve> {
        self.reserve.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A supervisor that is gone is an error here, and no signal for a program that embeds this crate.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// Sends an order, and with its first byte the file.
fn send(socket: &UnixStream, order: &[u8], lock: &File) -> io::Result<()> {
    let files = [lock.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::Error::other("a file does not fit into a message"));
    }
    let sent = rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(socket, &[IoSlice::new(order)], &mut control, NO_SIGNAL)
    })?;
    let mut socket = socket;
    socket.write_all(order.get(sent..).unwrap_or_default())
}

/// An order as it arrives.
pub(super) struct Received {
    pub(super) order: Order,
    /// The file that holds the lock of the attempt.
    pub(super) lock: File,
    /// What the owner says later.
    pub(super) socket: BufReader<UnixStream>,
}

/// Waits for an order; `None` if the owner ended before it had sent one as a whole.
pub(super) fn receive(socket: UnixStream) -> io::Result<Option<Received>> {
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(&socket, &mut [IoSliceMut::new(&mut first)], &mut control, RecvFlags::empty())
    })?;
    let file = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let Some(file) = file.filter(|_| received.bytes == first.len()) else { return Ok(None) };
    // The command that the supervisor starts must not hold the lock.
    rustix::io::fcntl_setfd(&file, FdFlags::CLOEXEC)?;
    let mut line = first.to_vec();
    let mut socket = BufReader::new(socket);
    socket.read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    Ok(Some(Received { order: serde_json::from_slice(&line)?, lock: File::from(file), socket }))
}
