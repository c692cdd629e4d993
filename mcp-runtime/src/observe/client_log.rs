//! Layer that sends the `tracing` events of a call to its client.

use std::fmt;

use serde_json::{Map, Value};
use tracing::{
    Event, Level as TracingLevel, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    subscriber::Interest,
};
use tracing_subscriber::{
    Layer,
    layer::{Context as LayerContext, Filter},
    registry::LookupSpan,
};

use crate::{
    call::context::{current, logging},
    model::Level,
};

/// Creates a layer that sends the `tracing` events of a call to its client, if the client has asked for log messages.
///
/// `.run()` installs this layer, together with output on stderr, unless the program has set a global subscriber of its own. Such a program
/// adds this layer to its subscriber. The server advertises the capability `logging` only if the layer is installed. If a client asks for log
/// messages and the layer is missing, the server logs a warning, once for each process. While no client has asked for log messages, an
/// event that no other layer records costs only the relaxed load that `tracing` itself does.
///
/// Clients receive the events of the server's own code. Events from mcp-runtime and from the crates that it uses, such as tokio and hyper,
/// are never sent to clients. With `.run()`, they are written to stderr, where `RUST_LOG` filters them.
///
/// A filter of the whole subscriber, such as an `EnvFilter` that is added to the registry, also removes events that a client has asked for.
/// Filter only the other layers, with `with_filter`.
///
/// Specification: Server features, Utilities, Logging.
///
/// ```
/// use tracing_subscriber::{filter::LevelFilter, fmt, prelude::*};
///
/// let subscriber = tracing_subscriber::registry()
///     .with(fmt::layer().with_filter(LevelFilter::WARN))
///     .with(mcp_runtime::logging::client_log());
/// ```
pub fn client_log<S>() -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    ClientLog(()).with_filter(WantedLevels)
}

/// Layer that sends events to clients, without the filter that [`client_log`] adds. Call that function to create the layer.
#[derive(Debug)]
pub struct ClientLog(());

/// Crates whose events are not sent to clients: mcp-runtime and its dependencies that log. The names are sorted for the binary search.
static FRAMEWORK: [&str; 15] = [
    "axum",
    "axum_core",
    "h2",
    "hyper",
    "hyper_util",
    "mcp_runtime",
    "mcp_runtime_authorization_server",
    "mcp_runtime_redis",
    "mio",
    "redis",
    "rustls",
    "tokio",
    "tokio_rustls",
    "tokio_util",
    "tower",
];

/// Whether an event with this target comes from the framework.
fn is_of_framework(target: &str) -> bool {
    let crate_name = target.split("::").next().unwrap_or(target);
    FRAMEWORK.binary_search(&crate_name).is_ok()
}

/// Whether an event has a level that some client has asked for, and does not come from the framework.
fn is_wanted(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && *metadata.level() <= wanted() && !is_of_framework(metadata.target())
}

/// Filter that lets events pass only at levels that some client has asked for.
struct WantedLevels;

fn wanted() -> LevelFilter {
    match logging::wanted() {
        None => LevelFilter::OFF,
        Some(wanted) if wanted <= Level::Debug as u8 => LevelFilter::TRACE,
        Some(wanted) if wanted <= Level::Notice as u8 => LevelFilter::INFO,
        Some(wanted) if wanted <= Level::Warning as u8 => LevelFilter::WARN,
        Some(_) => LevelFilter::ERROR,
    }
}

impl<S> Filter<S> for WantedLevels {
    fn enabled(&self, metadata: &Metadata<'_>, _: &LayerContext<'_, S>) -> bool {
        is_wanted(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_wanted(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(wanted())
    }
}

impl<S: Subscriber> Layer<S> for ClientLog {
    fn on_register_dispatch(&self, _: &tracing::Dispatch) {
        logging::set_installed();
    }

    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let Some(context) = current() else { return };
        let caller = &context.0.caller;
        let metadata = event.metadata();
        let level = level_of(*metadata.level());
        let (Some(channel), Some(least)) = (&caller.channel, caller.log_level) else { return };
        if level < least {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let _sending = context.lock_progress();
        if !context.is_over() {
            channel.log(level, metadata.target(), &fields.into_json());
        }
    }
}

fn level_of(level: TracingLevel) -> Level {
    match level {
        TracingLevel::ERROR => Level::Error,
        TracingLevel::WARN => Level::Warning,
        TracingLevel::INFO => Level::Info,
        _ => Level::Debug,
    }
}

/// Fields of an event. A message without other fields becomes a JSON string. Any other event becomes a JSON object.
#[derive(Default)]
struct Fields {
    message: Option<String>,
    others: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }

    fn into_json(mut self) -> String {
        match self.message {
            Some(message) if self.others.is_empty() => Value::from(message),
            message => {
                if let Some(message) = message {
                    self.others.insert("message".to_owned(), message.into());
                }
                Value::Object(self.others)
            }
        }
        .to_string()
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = Some(format!("{value:?}"));
        } else {
            self.put(field, format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = Some(value.to_owned());
        } else {
            self.put(field, value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

/// Installs the subscriber of `.run()`, which writes events to stderr and sends them to clients. Complaints about `RUST_LOG` go to stderr
/// too. If the program has already set a global subscriber, this function does nothing.
#[cfg(feature = "stdio")]
pub(crate) fn install() {
    #[cfg(not(feature = "workbench"))]
    let writer = std::io::stderr;
    // The last line of the terminal may show the progress of a call. This writer puts log lines above it.
    #[cfg(feature = "workbench")]
    let writer = || mcp_runtime_workbench::LogStderr;
    install_with(writer);
}

/// Installs the same subscriber in a test. The test harness shows what it writes, if the test fails.
#[cfg(feature = "workbench")]
pub(crate) fn install_in_test() {
    install_with(tracing_subscriber::fmt::TestWriter::new());
}

#[cfg(feature = "stdio")]
fn install_with<W>(writer: W)
where
    W: for<'a> tracing_subscriber::fmt::MakeWriter<'a> + Send + Sync + 'static,
{
    use std::io::Write as _;

    use tracing_subscriber::{Registry, fmt::layer, layer::SubscriberExt as _, registry};

    use super::log_filter::LogFilter;

    let is_known = |name: &str| {
        is_of_framework(name) || crate::registry::all().any(|def| def.origin.crate_name() == name)
    };
    let LogFilter { targets: filter, complaints } = LogFilter::of_environment(is_known);
    let on_stderr = Filter::<Registry>::max_level_hint(&filter).unwrap_or(LevelFilter::TRACE);
    let subscriber = super::lazy_subscriber::LazySubscriber::new(
        || {
            let lines = layer().with_writer(writer).with_filter(filter);
            registry().with(lines).with(client_log())
        },
        move || on_stderr.max(wanted()),
    );
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        logging::set_installed();
        for complaint in complaints {
            // If stderr is closed, the log has no reader either.
            let _ = writeln!(std::io::stderr(), "{complaint}");
        }
    }
}
