/// Settings of the file server.
///
/// The second paragraph is not shown.
#[derive(Clone)]
pub struct Config {
    /// Directory to serve
    pub root: PathBuf,
    api_key: Option<String>,
    retries: u8,
    #[cfg(unix)]
    unit: String,
}
impl ::core::fmt::Debug for Config {
    fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut __shown = __f.debug_struct("Config");
        __shown.field("root", &(self.root));
        __shown.field("api_key", &::core::format_args!("<secret>"));
        __shown.field("retries", &(self.retries));
        #[cfg(unix)] __shown.field("unit", &(self.unit));
        __shown.finish()
    }
}
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    impl __mcp::Configuration for Config {
        fn read(_: &mut __mcp::ConfigReader<'_>) -> ::core::option::Option<Self> {
            ::core::option::Option::None
        }
    }
};
const _: fn() = || {
    ::mcp_runtime::__private::ConfigField::new("", "", 0)
        .variable("SERVICE_KEY")
        .secret();
    ::mcp_runtime::__private::ConfigField::new("", "", 0).default("5");
    let _: ::core::option::Option<fn() -> u8> = ::core::option::Option::Some(|| 5);
    #[cfg(unix)] ::mcp_runtime::__private::ConfigField::new("", "", 0).default("C");
    #[cfg(unix)]
    let _: ::core::option::Option<fn() -> String> = ::core::option::Option::Some(|| ::mcp_runtime::__private::from_text(
        "C",
    ));
};
