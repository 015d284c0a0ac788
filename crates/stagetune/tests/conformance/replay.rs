//! Same seed and same answers, same proposals: again, on other numbers of threads, and after a restart.

use super::contestants::{all, study};
use super::{bowl, drive, spaces};
use stagetune::space::Point;
use stagetune::study::{Event, Study};

fn run(name: &str, seed: u64, trials: usize) -> Vec<Point> {
    let space = spaces::mixed();
    drive(&mut study(name, &space, seed), trials, |i, point| (i % 7 != 5).then(|| bowl(&space, point)))
}

#[test]
fn the_same_seed_gives_the_same_points_and_another_seed_others() {
    for name in all() {
        let points = run(name, 8, 30);
        assert_eq!(points, run(name, 8, 30), "{name}");
        assert_ne!(points, run(name, 9, 30), "{name}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for name in all() {
        let [one, three] = [1, 3].map(|threads| pool(threads).install(|| run(name, 10, 28)));
        assert_eq!(one, three, "{name}");
    }
}

#[test]
fn a_study_that_is_cut_off_anywhere_goes_on_as_if_nothing_had_happened() {
    let space = spaces::mixed();
    let value = |i: usize, point: &Point| (i % 7 != 5).then(|| bowl(&space, point));
    for name in all() {
        for cut in [1, 3, 17, 31] {
            let mut live = study(name, &space, 11);
            drive(&mut live, cut, value);
            // Two trials are running when the process dies.
            live.ask().unwrap();
            live.ask().unwrap();
            let text: Vec<String> =
                live.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
            let events: Vec<Event> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(events, live.events(), "{name}: JSON keeps every bit");
            let mut resumed: Study = study(name, &space, 11).replay(events).unwrap();
            let finish = |study: &mut Study| -> Vec<Point> {
                let open: Vec<_> = study.open().cloned().collect();
                assert_eq!(open.len(), 2, "{name}");
                for trial in open {
                    let value = bowl(&space, trial.point());
                    study.tell(trial.observe(value).unwrap()).unwrap();
                }
                drive(study, 6, |_, point| Some(bowl(&space, point)))
            };
            assert_eq!(finish(&mut resumed), finish(&mut live), "{name}, cut off after {cut}");
            assert_eq!(resumed.events(), live.events(), "{name}");
        }
    }
}
