//! What a sealed output may hold of others, and what making copies of links does to those.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::seal::{Amount, Entries, seal};
use super::*;
use crate::disk::Disk;

fn key(x: usize) -> StageKey {
    StageKey {
        format: KEY_FORMAT,
        stage: "a".into(),
        run: vec!["tool".into()],
        params: BTreeMap::from([("x".to_owned(), x.to_string())]),
        inputs: BTreeMap::new(),
        env: BTreeMap::new(),
        after: BTreeMap::new(),
    }
}

/// The `{out}` of an attempt, with a file in it.
fn fresh(root: &Path, x: usize) -> PathBuf {
    let out = root.join(format!("attempts/{x}/out"));
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("value"), x.to_string()).unwrap();
    out
}

fn publish(cache: &Cache, x: usize, out: &Path) -> Result<Output, PublishError> {
    let Claim::Mine(permit) = cache.claim(&key(x)).unwrap() else { panic!("{x} is there") };
    cache.publish(permit, out, Run::default())
}

fn refused(made: Result<Output, PublishError>) -> String {
    let Err(PublishError::Unfit(reason)) = made else { panic!("{made:?}") };
    reason
}

#[test]
fn a_link_to_more_than_one_output_is_refused_and_nothing_is_copied() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), None).unwrap();
    let above = publish(&cache, 1, &fresh(dir.path(), 1)).unwrap();
    let entry = above.dir.parent().unwrap();
    let targets = [
        dir.path().join("cache"),
        entry.to_owned(),
        entry.join("entry.json"),
        dir.path().to_owned(),
        "../../../cache".into(),
    ];
    for (i, target) in targets.iter().enumerate() {
        let out = fresh(dir.path(), 10 + i);
        symlink(target, out.join("all")).unwrap();
        let reason = refused(publish(&cache, 10 + i, &out));
        assert!(reason.contains("`all`") && reason.contains("copy the files"), "{target:?}: {reason}");
        assert!(!out.with_file_name("copied").exists() && out.join("all").is_symlink(), "{target:?}");
    }
    assert_eq!(cache.list().unwrap().len(), 1);
}

#[test]
fn what_links_lead_to_is_copied_up_to_a_limit_and_links_to_outside_stay_links() {
    let dir = tempfile::tempdir().unwrap();
    let (state, outside) = (dir.path().join("state"), dir.path().join("outside"));
    fs::create_dir_all(outside.join("deep")).unwrap();
    let cache = Cache::open(&state, Disk::default(), None).unwrap();
    let out = fresh(&state, 1);
    symlink(&outside, out.join("data")).unwrap();
    symlink(dir.path(), out.join("everything")).unwrap();
    let above = publish(&cache, 1, &out).unwrap();
    let out = fresh(&state, 2);
    symlink(&above.dir, out.join("above")).unwrap();
    let made = publish(&cache, 2, &out).unwrap();
    assert_eq!(fs::read_to_string(made.dir.join("above/value")).unwrap(), "1");
    assert!(!made.dir.join("above").is_symlink());
    assert!(made.dir.join("above/data").is_symlink() && made.dir.join("above/everything").is_symlink());

    let out = fresh(&state, 3);
    symlink(&above.dir, out.join("above")).unwrap();
    let folder = &state.join("cache");
    for most in [Amount { bytes: 0, files: 100 }, Amount { bytes: 100, files: 2 }] {
        let entries = Entries { folder, inner: Some("out"), most };
        let Err(PublishError::Unfit(reason)) = seal(&out, &state, entries, &Disk::default()) else {
            panic!("{most:?}")
        };
        assert!(reason.contains("copy what is needed"), "{reason}");
    }
    publish(&cache, 3, &out).unwrap();
}

#[test]
fn hard_links_that_become_copies_are_no_change_of_what_they_were_made_of() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), None).unwrap();
    let above = publish(&cache, 1, &fresh(dir.path(), 1)).unwrap();
    let data = dir.path().join("data");
    fs::write(&data, "data").unwrap();
    let inputs = Inputs::default();
    let look = || inputs.look(dir.path(), Path::new("data")).unwrap();
    let before = look();
    // Two stages at a time make hard links; the output of one is kept while the other still runs.
    for x in [2, 3] {
        let out = fresh(dir.path(), x);
        fs::hard_link(above.dir.join("value"), out.join("hard")).unwrap();
        fs::hard_link(&data, out.join("data")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        cache.recheck(&above).unwrap();
        publish(&cache, x, &out).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    cache.recheck(&above).unwrap();
    assert_eq!(before.written_since(&look()), None);
}

#[test]
fn an_output_that_was_written_to_and_put_back_with_its_time_is_not_taken_as_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), None).unwrap();
    let above = publish(&cache, 1, &fresh(dir.path(), 1)).unwrap();
    let file = above.dir.join("value");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let about = fs::metadata(&file).unwrap();
    let mut rights = about.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o644);
    fs::set_permissions(&file, rights).unwrap();
    fs::write(&file, "9").unwrap();
    fs::write(&file, "1").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(about.modified().unwrap()).unwrap();
    fs::set_permissions(&file, about.permissions()).unwrap();
    assert!(cache.recheck(&above).unwrap_err().contains("written back"));
}
