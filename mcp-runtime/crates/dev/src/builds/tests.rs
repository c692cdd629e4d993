//! Builds of three seconds each, while an author and a build script write files. The clock is paused.

use std::{
    cell::{Cell, RefCell},
    future::pending,
};

use tokio::{join, sync::Notify, time::sleep};

use super::*;

const BUILD: Duration = Duration::from_secs(3);
const SECOND: Duration = Duration::from_secs(1);

/// Sources whose builds return the text of the sources.
#[derive(Default)]
struct Played {
    text: Cell<u32>,
    files: RefCell<ChangedFiles>,
    changed: Notify,
    /// Files that each build writes at its beginning. `*` is the number of the build.
    script: &'static [&'static str],
    count: Cell<u32>,
    /// Text whose build hangs.
    hangs: Option<u32>,
}

impl Played {
    fn write(&self, file: &str) {
        self.files.borrow_mut().insert(PathBuf::from(file));
        self.changed.notify_one();
    }

    fn save(&self, file: &str, text: u32) {
        self.text.set(text);
        self.write(file);
    }
}

/// The sources are shared with the author.
impl BuildSite for &Played {
    async fn changed(&self) -> ChangedFiles {
        loop {
            self.changed.notified().await;
            let files = self.files.take();
            if !files.is_empty() {
                return files;
            }
        }
    }

    async fn build(&self) -> Built {
        let text = self.text.get();
        self.count.set(self.count.get() + 1);
        sleep(SECOND / 10).await;
        for file in self.script {
            self.write(&file.replace('*', &self.count.get().to_string()));
        }
        if self.hangs == Some(text) {
            pending().await
        }
        sleep(BUILD).await;
        Built::Program(text.to_string().into())
    }

    fn follow(&mut self, _: &Path) -> Result<bool, DevError> {
        Ok(false)
    }
}

/// Builds after a change as [`build_after_changes`] does. Returns the text that the result contains.
async fn round(mut site: &Played, written: &mut WrittenFiles) -> String {
    written.edited(site.changed().await);
    let built = build_until_quiet(&mut site, written, &mut PathBuf::new(), true).await.unwrap();
    let Built::Program(text) = built else { panic!("{built:?}") };
    text.into_os_string().into_string().unwrap()
}

/// Saves each file a second after the last one, with the texts 1, 2, 3 …
async fn save_each(site: &Played, files: &[&str]) {
    for (file, text) in files.iter().zip(1..) {
        site.save(file, text);
        sleep(SECOND).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_of_many_changes_is_built() {
    for files in [
        &["main.rs"; 4][..],
        &["main.rs"; 9],
        &["main.rs", "lib.rs", "lib.rs", "lib.rs", "lib.rs"],
        &["main.rs", "lib.rs", "a.rs", "b.rs", "c.rs"],
    ] {
        let site = Played::default();
        let mut written = WrittenFiles::default();
        let (built, ()) = join!(round(&site, &mut written), save_each(&site, files));
        assert_eq!(built, files.len().to_string(), "{files:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_build_script_that_writes_sources_ends_no_build_once_it_is_known() {
    let site = Played { script: &["generated.rs", "more.rs"], ..Played::default() };
    let mut written = WrittenFiles::default();
    site.save("main.rs", 1);
    assert_eq!(round(&site, &mut written).await, "1");
    assert_eq!(site.count.replace(0), 4, "two ended builds, and two whole builds");
    site.save("main.rs", 2);
    assert_eq!(round(&site, &mut written).await, "2");
    assert_eq!(site.count.replace(0), 1);
    // The author still ends builds.
    let (built, ()) =
        join!(round(&site, &mut written), save_each(&site, &["main.rs", "lib.rs", "lib.rs"]));
    assert_eq!((built, site.count.replace(0)), ("3".to_owned(), 3));
    // A change of the file outside of a build is that of the author.
    site.save("generated.rs", 4);
    assert_eq!(round(&site, &mut written).await, "4");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_comes_together_with_those_of_a_build_script_is_built() {
    let site = Played { script: &["generated.rs"], ..Played::default() };
    let mut written = WrittenFiles::default();
    let (built, ()) = join!(round(&site, &mut written), save_each(&site, &["main.rs"; 6]));
    assert_eq!(built, "6");
}

#[tokio::test(start_paused = true)]
async fn a_build_script_that_writes_new_files_each_time_does_not_end_each_build() {
    let site = Played { script: &["generated-*.rs"], ..Played::default() };
    site.save("main.rs", 1);
    assert_eq!(round(&site, &mut WrittenFiles::default()).await, "1");
}

#[tokio::test(start_paused = true)]
async fn a_change_ends_a_build_that_hangs() {
    for script in [&[][..], &["generated.rs"]] {
        let site = Played { hangs: Some(3), script, ..Played::default() };
        let mut written = WrittenFiles::default();
        let (built, ()) = join!(round(&site, &mut written), save_each(&site, &["main.rs"; 4]));
        assert_eq!(built, "4");
    }
}
