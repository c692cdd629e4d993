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
        fn read(__from: &mut __mcp::ConfigReader<'_>) -> ::core::option::Option<Self> {
            use __mcp::settings::*;
            let __root = __mcp::ConfigProbe::<PathBuf>::new()
                .parser()
                .read::<
                    PathBuf,
                >(
                    __from,
                    __mcp::ConfigField::new("root", "root", ::core::line!())
                        .about("Directory to serve"),
                    ::core::option::Option::None,
                );
            let __api_key = __mcp::ConfigProbe::<Option<String>>::new()
                .parser()
                .read::<
                    Option<String>,
                >(
                    __from,
                    __mcp::ConfigField::new("api_key", "api-key", ::core::line!())
                        .variable("SERVICE_KEY")
                        .secret(),
                    ::core::option::Option::None,
                );
            let __retries = __mcp::ConfigProbe::<u8>::new()
                .parser()
                .read::<
                    u8,
                >(
                    __from,
                    __mcp::ConfigField::new("retries", "attempts", ::core::line!())
                        .default("5"),
                    ::core::option::Option::Some(|| 5),
                );
            #[cfg(unix)]
            let __unit = __mcp::ConfigProbe::<String>::new()
                .parser()
                .read::<
                    String,
                >(
                    __from,
                    __mcp::ConfigField::new("unit", "unit", ::core::line!())
                        .default("C"),
                    ::core::option::Option::Some(|| __mcp::from_text("C")),
                );
            ::core::option::Option::Some(Self {
                root: __root?,
                api_key: __api_key?,
                retries: __retries?,
                #[cfg(unix)]
                unit: __unit?,
            })
        }
    }
    __mcp::register_config!(
        __mcp::ConfigDef::new:: < Config >
        (__mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "Config"), "Settings of the file server.",
        ::core::option::Option::Some("FILES"))
    );
};
