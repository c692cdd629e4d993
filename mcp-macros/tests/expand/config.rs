/// Settings of the file server.
///
/// The second paragraph is not shown.
#[config(env = "FILES")]
#[derive(Clone, Debug)]
pub struct Config {
    /// Directory to serve
    pub root: PathBuf,
    #[config(secret, env = "SERVICE_KEY")]
    api_key: Option<String>,
    #[config(default = 5, name = "attempts")]
    retries: u8,
    #[cfg(unix)]
    #[config(default = "C")]
    unit: String,
}
