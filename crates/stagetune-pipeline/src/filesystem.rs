//! What kind of file system a path is on: SQLite's write-ahead log needs memory that all its users share, so
//! one machine.
//!
//! The system tells the type as a number (`NETWORKS`). All user-space file systems (FUSE) have one number;
//! of those the mount table tells the name and the source.

use std::io;
use std::path::Path;

/// Whether other machines may use the same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filesystem {
    /// Only this machine, as far as one can tell.
    Local,
    /// Others as well.
    Network {
        /// Its name, for people.
        kind: String,
    },
}

/// Type numbers of file systems that several machines use at once, from `linux/magic.h` and the systems' own
/// sources.
const NETWORKS: [(&str, u64); 19] = [
    ("NFS", 0x6969),
    ("SMB", 0x517b),
    ("SMB2", 0xfe53_4d42),
    ("CIFS", 0xff53_4d42),
    ("Lustre", 0x0bd0_0bd0),
    ("9p", 0x0102_1997),
    ("AFS", 0x5346_414f),
    ("kAFS", 0x6b41_4653),
    ("BeeGFS", 0x1983_0326),
    ("GPFS", 0x4750_4653),
    ("CephFS", 0x00c3_6400),
    ("OrangeFS", 0x2003_0528),
    ("PanFS", 0xaad7_aaea),
    ("Coda", 0x7375_7245),
    ("NCP", 0x564c),
    ("OCFS2", 0x7461_636f),
    ("GFS2", 0x0116_1970),
    ("VirtualBox shared folder", 0x786f_4256),
    ("VMware shared folder", 0xbacb_acbc),
];

/// The type number of every user-space file system.
const FUSE: u64 = 0x6573_5546;

/// User-space file systems on a disk or directory of this machine, as the mount table names them.
const LOCAL_FUSE: [&str; 19] = [
    "fuseblk",
    "fuse.ntfs",
    "fuse.ntfs-3g",
    "fuse.exfat",
    "fuse.exfat-fuse",
    "fuse.ext2",
    "fuse.fuse-ext2",
    "fuse.apfs",
    "fuse.zfs",
    "fuse.bindfs",
    "fuse.mergerfs",
    "fuse.unionfs",
    "fuse.fuse-overlayfs",
    "fuse.encfs",
    "fuse.gocryptfs",
    "fuse.cryfs",
    "fuse.securefs",
    "fuse.dislocker",
    "fuse.lxcfs",
];

/// Those that reach other machines.
const NETWORK_FUSE: [&str; 25] = [
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.s3ql",
    "fuse.goofys",
    "fuse.gcsfuse",
    "fuse.mount-s3",
    "fuse.blobfuse",
    "fuse.blobfuse2",
    "fuse.juicefs",
    "fuse.seaweedfs",
    "fuse.mfs",
    "fuse.lizardfs",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.davfs2",
    "fuse.smbnetfs",
    "fuse.gvfsd-fuse",
    "fuse.hdfs",
    "fuse.fuse_dfs",
    "fuse.cvmfs2",
    "virtiofs",
];

/// The file system of a file or directory that exists.
#[cfg(target_os = "linux")]
pub fn detect(path: &Path) -> io::Result<Filesystem> {
    use std::os::unix::fs::MetadataExt;
    // Some architectures have a signed number of 32 bits.
    let number = rustix::fs::statfs(path)?.f_type as u64 & 0xffff_ffff;
    if number != FUSE {
        return Ok(of_number(number));
    }
    let device = std::fs::metadata(path)?.dev();
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    Ok(of_mount(&std::fs::read_to_string("/proc/self/mountinfo")?, &device))
}

/// The file system of a file or directory: only Linux tells.
#[cfg(not(target_os = "linux"))]
pub fn detect(_: &Path) -> io::Result<Filesystem> {
    Ok(Filesystem::Local)
}

fn of_number(number: u64) -> Filesystem {
    match NETWORKS.iter().find(|(_, magic)| *magic == number) {
        Some((kind, _)) => Filesystem::Network { kind: (*kind).to_owned() },
        None => Filesystem::Local,
    }
}

/// What the mount table says of a device, `major:minor`, with a user-space file system.
///
/// A name on neither list counts by its source: `host:/directory`, `//host/share` and `https://…` are
/// elsewhere.
fn of_mount(mountinfo: &str, device: &str) -> Filesystem {
    let Some((kind, source)) = mountinfo
        .lines()
        .filter_map(mount)
        .find_map(|(of, kind, source)| (of == device).then_some((kind, source)))
    else {
        return Filesystem::Local;
    };
    let elsewhere = source.contains(':') || source.starts_with("//");
    let network = NETWORK_FUSE.contains(&kind) || (elsewhere && !LOCAL_FUSE.contains(&kind));
    if network { Filesystem::Network { kind: kind.to_owned() } } else { Filesystem::Local }
}

/// Device, type and source of one line:
/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn mount(line: &str) -> Option<(&str, &str, &str)> {
    let (place, what) = line.split_once(" - ")?;
    let mut what = what.split(' ');
    Some((place.split(' ').nth(2)?, what.next()?, what.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:35 / /srv/lab rw,nosuid,nodev - fuse.sshfs ann@lab:/data rw,user_id=1000
41 22 0:36 / /mnt/gluster rw,relatime shared:20 master:3 - fuse.glusterfs store:/volume rw
42 22 8:17 / /media/stick rw,relatime - fuseblk /dev/sdb1 rw,user_id=0
43 22 0:37 / /media/win rw,relatime - fuse.ntfs-3g /dev/sdc1 rw
44 22 0:38 / /mnt/new rw,relatime - fuse.brandnewfs host.example:/x rw
45 22 0:39 / /mnt/vault rw,relatime - fuse.vault /srv/cipher rw
46 22 0:40 / /mnt/with\\040space rw,nosuid - fuse /srv/data rw,user_id=0,allow_other
47 22 0:41 / /mnt/colon rw - fuse.bindfs /data/12:30 rw
a line that is none";

    #[test]
    fn user_space_file_systems_are_told_apart_by_name_and_source() {
        let network = |kind: &str| Filesystem::Network { kind: kind.to_owned() };
        assert_eq!(of_mount(MOUNTS, "0:35"), network("fuse.sshfs"));
        assert_eq!(of_mount(MOUNTS, "0:36"), network("fuse.glusterfs"));
        assert_eq!(of_mount(MOUNTS, "0:38"), network("fuse.brandnewfs"));
        for local in ["8:17", "0:37", "0:39", "0:40", "0:41", "9:99"] {
            assert_eq!(of_mount(MOUNTS, local), Filesystem::Local, "{local}");
        }
    }

    #[test]
    fn type_numbers_of_networks_are_known_and_those_of_disks_are_not_among_them() {
        assert_eq!(of_number(0x6969), Filesystem::Network { kind: "NFS".into() });
        assert_eq!(of_number(0xff53_4d42), Filesystem::Network { kind: "CIFS".into() });
        // ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(of_number(local), Filesystem::Local, "{local:x}");
        }
        let mut numbers = NETWORKS.map(|(_, magic)| magic).to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), NETWORKS.len());
        assert!(!numbers.contains(&FUSE));
    }

    #[test]
    fn a_path_that_exists_has_a_file_system_and_one_that_does_not_has_an_error() {
        let dir = tempfile::tempdir().unwrap();
        detect(dir.path()).unwrap();
        if cfg!(target_os = "linux") {
            assert!(detect(&dir.path().join("absent")).is_err());
            assert_eq!(detect(Path::new("/proc")).unwrap(), Filesystem::Local);
        }
    }
}
