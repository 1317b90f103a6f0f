//! What a context measures: the speed of its memory, a profile of its calls, and which variants are fastest.
use crate::callbacks::caught;
use crate::context::{c_string, filled, Context, Format};
use crate::error::{Error, Result};
use crate::info::{duration, text};
use gpumem_sys as sys;
use std::ffi::{c_void, CString};
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// How fast a device's memory and its link are, in bytes a second. `gpumem_ceiling_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceiling {
    /// Reading the memory.
    pub read: i64,
    /// Writing it.
    pub write: i64,
    /// Copying within it: bytes read and bytes written.
    pub copy: i64,
    /// From pinned memory to the device; `None` on the host.
    pub to_device: Option<i64>,
    /// From the device to pinned memory, likewise.
    pub from_device: Option<i64>,
    /// By the device's data; `None` where it gives none.
    pub theoretical: Option<i64>,
}

impl From<sys::gpumem_ceiling_info> for Ceiling {
    fn from(info: sys::gpumem_ceiling_info) -> Ceiling {
        let some = |rate| if rate == 0 { None } else { Some(rate) };
        Ceiling {
            read: info.read,
            write: info.write,
            copy: info.copy,
            to_device: some(info.to_device),
            from_device: some(info.from_device),
            theoretical: some(info.theoretical),
        }
    }
}

/// Calls of one problem by one variant; or all calls between two kinds of memory. `gpumem_profile_row`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileRow {
    /// How many.
    pub calls: i64,
    /// Of them, those whose time is known.
    pub timed: i64,
    /// That the calls read and wrote; across the link to the device, that crossed it.
    pub bytes: i64,
    /// Time of a call; `None` where none is timed, and for kinds of memory.
    pub median: Option<Duration>,
    /// Time of the timed calls.
    pub total: Duration,
    /// Of the timed calls.
    pub bytes_per_s: f64,
    /// That as a share of the memory's theoretical bandwidth, where it is known.
    pub of_theoretical: Option<f64>,
    /// As a share of what [`Context::ceiling`] measured, where it was called and caches do not hold the data.
    pub of_ceiling: Option<f64>,
    /// By the median, for what is arithmetic.
    pub flops_per_s: Option<f64>,
    /// `None` for kinds of memory.
    pub variant: Option<String>,
    /// The problem line, or `pageable to device`; cut at 511 bytes.
    pub problem: String,
}

impl From<&sys::gpumem_profile_row> for ProfileRow {
    fn from(row: &sys::gpumem_profile_row) -> ProfileRow {
        let some = |value| if value == 0.0 { None } else { Some(value) };
        ProfileRow {
            calls: row.calls,
            timed: row.timed,
            bytes: row.bytes,
            median: some(row.median_s).map(duration),
            total: duration(row.total_s),
            bytes_per_s: row.bytes_per_s,
            of_theoretical: some(row.of_theoretical),
            of_ceiling: some(row.of_ceiling),
            flops_per_s: some(row.flops_per_s),
            variant: Some(text(&row.variant)).filter(|name| !name.is_empty()),
            problem: text(&row.problem),
        }
    }
}

/// How [`Context::tune`] measures. `gpumem_tune_options`.
pub struct TuneOptions<'a> {
    budget: Option<Duration>,
    progress: Option<Box<Ask<'a>>>,
}

type Ask<'a> = dyn FnMut(f64) -> ControlFlow<()> + 'a;

impl<'a> TuneOptions<'a> {
    /// Two seconds, without a function that is asked.
    pub fn new() -> Self {
        TuneOptions { budget: None, progress: None }
    }

    /// The time that the timing may take, about.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Is told on the way how far the call is, from 0 to 1, and stops it by `Break`. It may not use the context.
    pub fn progress(mut self, ask: impl FnMut(f64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(ask));
        self
    }
}

impl Default for TuneOptions<'_> {
    fn default() -> Self {
        TuneOptions::new()
    }
}

/// What tuning found. `gpumem_tune_info`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuneInfo {
    /// Calls of problems like this one take `winner` from now on; otherwise the table's choice.
    pub adopted: bool,
    /// Variants that were held against the table's choice.
    pub candidates: i32,
    /// The median time of the table's choice.
    pub table_time: Duration,
    /// That of the fastest other variant.
    pub winner_time: Duration,
    /// How many times as fast the fastest other variant is.
    pub ratio: f64,
    /// The wider interquartile range of the two, as a share of its median.
    pub spread: f64,
    /// The table's choice.
    pub table: String,
    /// The fastest other variant; the table's choice where there is no other.
    pub winner: String,
    /// Why it was adopted, or not.
    pub reason: String,
}

impl From<sys::gpumem_tune_info> for TuneInfo {
    fn from(info: sys::gpumem_tune_info) -> TuneInfo {
        TuneInfo {
            adopted: info.adopted != 0,
            candidates: info.candidates,
            table_time: duration(info.table_s),
            winner_time: duration(info.winner_s),
            ratio: info.ratio,
            spread: info.spread,
            table: text(&info.table),
            winner: text(&info.winner),
            reason: text(&info.reason),
        }
    }
}

/// What became of the lines of a file. `gpumem_tuning_load()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuningLines {
    /// Those for this device and this host.
    pub taken: i64,
    /// The others.
    pub skipped: i64,
}

/// The function that a call asks whether to go on, and what it panicked with.
struct Progress<'a> {
    ask: Box<Ask<'a>>,
    panicked: Option<String>,
}

unsafe extern "C" fn on_progress(user: *mut c_void, done: f64) -> i32 {
    let Progress { ask, panicked } = &mut *(user as *mut Progress);
    if panicked.is_none() {
        match caught(|| ask(done)) {
            Ok(answer) => return answer.is_break().into(),
            Err(message) => *panicked = Some(message),
        }
    }
    1
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::argument(format!("{:?} has a NUL in it", path)))
}

impl Context {
    /// How fast the memory and its link are, measured by the first call. `gpumem_ceiling()`.
    pub fn ceiling(&self) -> Result<Ceiling> {
        let api = self.api();
        filled(api.gpumem_ceiling_info_init, |info| unsafe { (api.gpumem_ceiling)(self.as_raw(), info) })
            .map(Ceiling::from)
    }

    /// Keeps a record of each call from now on, of so many at a time, with the time of its work. `gpumem_profile_begin()`.
    pub fn profile_begin(&self, most_records: usize) -> Result<()> {
        let most = i64::try_from(most_records).unwrap_or(i64::MAX);
        self.check(unsafe { (self.api().gpumem_profile_begin)(self.as_raw(), most) })
    }

    /// Keeps what was recorded, and records no more. `gpumem_profile_end()`.
    pub fn profile_end(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_profile_end)(self.as_raw()) })
    }

    /// What was recorded: a row for each problem and variant, the longest first, then one for each pair of kinds of memory.
    /// `gpumem_profile_report()`.
    ///
    /// ```
    /// # fn main() -> gpumem::Result<()> {
    /// let ctx = gpumem::Context::new()?;
    /// ctx.profile_begin(1 << 14)?;
    /// ctx.reduce(&vec![1i32; 1000], gpumem::Op::Sum)?;
    /// ctx.profile_end()?;
    /// let rows = ctx.profile()?;
    /// assert_eq!((rows[0].calls, rows[0].bytes), (1, 4000));
    /// assert_eq!(rows[0].problem, "reduce dtype=i32 op=sum n=1000 x=pageable");
    /// # Ok(())
    /// # }
    /// ```
    pub fn profile(&self) -> Result<Vec<ProfileRow>> {
        let (api, mut all) = (self.api(), 0);
        let report = |rows, cap, all: &mut i64| {
            self.check(unsafe { (api.gpumem_profile_report)(self.as_raw(), rows, cap, all) })
        };
        report(std::ptr::null_mut(), 0, &mut all)?;
        let mut rows = vec![unsafe { std::mem::zeroed::<sys::gpumem_profile_row>() }; all as usize];
        if let Some(first) = rows.first_mut() {
            self.check(unsafe { (api.gpumem_profile_row_init)(first, size_of::<sys::gpumem_profile_row>() as i64) })?;
            report(rows.as_mut_ptr(), rows.len() as i64, &mut all)?;
            rows.truncate(all as usize); // another thread may have begun anew
        }
        Ok(rows.iter().map(ProfileRow::from).collect())
    }

    /// Writes these rows, or with [`Format::Trace`] the calls, to a file, which is replaced. `gpumem_profile_write()`.
    pub fn profile_write(&self, path: impl AsRef<Path>, format: Format) -> Result<()> {
        let path = c_path(path.as_ref())?;
        self.check(unsafe { (self.api().gpumem_profile_write)(self.as_raw(), format as i32, path.as_ptr()) })
    }

    /// Measures which variant is fastest for the problem of a line, and takes it from now on for problems like it where it
    /// wins clearly. Results never change. `gpumem_tune()`.
    ///
    /// ```
    /// use gpumem::{Context, Op, TuneOptions};
    /// use std::{ops::ControlFlow, time::Duration};
    /// # fn main() -> gpumem::Result<()> {
    /// let ctx = Context::new()?;
    /// ctx.reduce(&[1i32; 1000], Op::Sum)?;
    /// let options = TuneOptions::new().budget(Duration::from_millis(10)).progress(|done| {
    ///     println!("{:.0} %", 100.0 * done);
    ///     ControlFlow::Continue(())
    /// });
    /// let info = ctx.tune(&gpumem::last_problem()?, options)?;
    /// println!("{} against {}: {}", info.winner, info.table, info.reason);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tune(&self, line: &str, options: TuneOptions<'_>) -> Result<TuneInfo> {
        let (api, line) = (self.api(), c_string(line)?);
        let mut given = filled(api.gpumem_tune_options_init, |_| sys::GPUMEM_OK)?;
        if let Some(budget) = options.budget {
            given.budget_s = budget.as_secs_f64();
        }
        let mut progress = options.progress.map(|ask| Progress { ask, panicked: None });
        if let Some(progress) = &mut progress {
            given.progress = Some(on_progress);
            given.user = progress as *mut Progress as *mut c_void;
        }
        let info = filled(api.gpumem_tune_info_init, |info| unsafe {
            (api.gpumem_tune)(self.as_raw(), line.as_ptr(), &given, info)
        })?;
        match progress.and_then(|progress| progress.panicked) {
            Some(message) => Err(Error::panicked(&message)),
            None => self.check(sys::GPUMEM_OK).map(|_| TuneInfo::from(info)),
        }
    }

    /// Takes over from a file what was tuned before. `gpumem_tuning_load()`.
    pub fn tuning_load(&self, path: impl AsRef<Path>) -> Result<TuningLines> {
        let (path, mut taken, mut skipped) = (c_path(path.as_ref())?, 0, 0);
        self.check(unsafe { (self.api().gpumem_tuning_load)(self.as_raw(), path.as_ptr(), &mut taken, &mut skipped) })?;
        Ok(TuningLines { taken, skipped })
    }

    /// Writes what is tuned in this context to a file, which keeps its lines of other devices and problems.
    /// `gpumem_tuning_save()`.
    pub fn tuning_save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        self.check(unsafe { (self.api().gpumem_tuning_save)(self.as_raw(), path.as_ptr()) })
    }

    /// Gives all choices back. `gpumem_tuning_clear()`.
    pub fn tuning_clear(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_tuning_clear)(self.as_raw()) })
    }
}
