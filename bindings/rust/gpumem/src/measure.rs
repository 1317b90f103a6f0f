//! Measurements: the bandwidth of memory, a profile of calls, and the fastest variants.
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

/// The measured peak bandwidth of device memory, and of PCIe or NVLink, in bytes per second. `gpumem_ceiling_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceiling {
    /// Reads of device memory.
    pub read: i64,
    /// Writes of device memory.
    pub write: i64,
    /// Copies within device memory, with bytes read plus bytes written.
    pub copy: i64,
    /// Copies from pinned memory to the device. `None` on the host.
    pub to_device: Option<i64>,
    /// Copies from the device to pinned memory. `None` on the host.
    pub from_device: Option<i64>,
    /// The theoretical bandwidth. `None` if the device does not report it.
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

/// The calls of one problem by one variant, or all transfers between two kinds of memory. `gpumem_profile_row`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileRow {
    /// The number of calls.
    pub calls: i64,
    /// The number of timed calls.
    pub timed: i64,
    /// The bytes that the calls read and wrote. For transfers, the bytes that crossed PCIe or NVLink.
    pub bytes: i64,
    /// The median time of a call. `None` without timed calls, and for kinds of memory.
    pub median: Option<Duration>,
    /// The total time of the timed calls.
    pub total: Duration,
    /// The bandwidth of the timed calls, in bytes per second.
    pub bytes_per_s: f64,
    /// The bandwidth as a share of the theoretical bandwidth, if that is known.
    pub of_theoretical: Option<f64>,
    /// The bandwidth as a share of [`Context::ceiling`], if that was called and the data exceeds the caches.
    pub of_ceiling: Option<f64>,
    /// Operations per second by the median time, for arithmetic.
    pub flops_per_s: Option<f64>,
    /// The variant. `None` for kinds of memory.
    pub variant: Option<String>,
    /// The operation descriptor, or `pageable to device`. Cut at 511 bytes.
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

/// Options of [`Context::tune`]. `gpumem_tune_options`.
pub struct TuneOptions<'a> {
    budget: Option<Duration>,
    progress: Option<Box<Ask<'a>>>,
}

type Ask<'a> = dyn FnMut(f64) -> ControlFlow<()> + 'a;

impl<'a> TuneOptions<'a> {
    /// A budget of two seconds, without a progress function.
    pub fn new() -> Self {
        TuneOptions { budget: None, progress: None }
    }

    /// The approximate time for the measurement.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The progress function. It receives a number from 0 to 1, and stops the call with `Break`. It must not use the
    /// context.
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

/// The result of tuning. `gpumem_tune_info`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuneInfo {
    /// True if similar problems use `winner` from now on. Otherwise they use the table's choice.
    pub adopted: bool,
    /// The number of variants that were compared with the table's choice.
    pub candidates: i32,
    /// The median time of the table's choice.
    pub table_time: Duration,
    /// The median time of the fastest other variant.
    pub winner_time: Duration,
    /// The time of the table's choice divided by the time of the fastest other variant.
    pub ratio: f64,
    /// The wider interquartile range of the two, as a share of its median.
    pub spread: f64,
    /// The table's choice.
    pub table: String,
    /// The fastest other variant. The table's choice if no other exists.
    pub winner: String,
    /// The reason why it was adopted or not.
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

/// The numbers of used and skipped lines of a tuning file. `gpumem_tuning_load()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuningLines {
    /// Lines for this device and this host.
    pub taken: i64,
    /// Other lines.
    pub skipped: i64,
}

/// The progress function of a call, and the text of its panic.
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
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::argument(format!("{:?} contains a NUL", path)))
}

impl Context {
    /// The peak bandwidth of memory, and of PCIe or NVLink. The first call measures it. `gpumem_ceiling()`.
    pub fn ceiling(&self) -> Result<Ceiling> {
        let api = self.api();
        filled(api.gpumem_ceiling_info_init, |info| unsafe { (api.gpumem_ceiling)(self.as_raw(), info) })
            .map(Ceiling::from)
    }

    /// Starts recording calls with the time of their work, up to `most_records` at a time. `gpumem_profile_begin()`.
    pub fn profile_begin(&self, most_records: usize) -> Result<()> {
        let most = i64::try_from(most_records).unwrap_or(i64::MAX);
        self.check(unsafe { (self.api().gpumem_profile_begin)(self.as_raw(), most) })
    }

    /// Stops recording, and keeps the records. `gpumem_profile_end()`.
    pub fn profile_end(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_profile_end)(self.as_raw()) })
    }

    /// The records: one row per problem and variant, the longest time first, then one per pair of memory kinds.
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
            rows.truncate(all as usize); // another thread may have restarted the profile
        }
        Ok(rows.iter().map(ProfileRow::from).collect())
    }

    /// Writes these rows to a file, or with [`Format::Trace`] the calls. It replaces the file.
    /// `gpumem_profile_write()`.
    pub fn profile_write(&self, path: impl AsRef<Path>, format: Format) -> Result<()> {
        let path = c_path(path.as_ref())?;
        self.check(unsafe { (self.api().gpumem_profile_write)(self.as_raw(), format as i32, path.as_ptr()) })
    }

    /// Measures the variants for an operation descriptor. If one is clearly faster, similar problems use it from now
    /// on. Results never change. `gpumem_tune()`.
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

    /// Loads earlier tuning results from a file. `gpumem_tuning_load()`.
    pub fn tuning_load(&self, path: impl AsRef<Path>) -> Result<TuningLines> {
        let (path, mut taken, mut skipped) = (c_path(path.as_ref())?, 0, 0);
        self.check(unsafe { (self.api().gpumem_tuning_load)(self.as_raw(), path.as_ptr(), &mut taken, &mut skipped) })?;
        Ok(TuningLines { taken, skipped })
    }

    /// Writes this context's tuning results to a file. Its lines for other devices and problems stay.
    /// `gpumem_tuning_save()`.
    pub fn tuning_save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        self.check(unsafe { (self.api().gpumem_tuning_save)(self.as_raw(), path.as_ptr()) })
    }

    /// Forgets all tuning results. `gpumem_tuning_clear()`.
    pub fn tuning_clear(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_tuning_clear)(self.as_raw()) })
    }
}
