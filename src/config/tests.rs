use std::cell::RefCell;

use super::*;
use crate::generate::{Providers, RequestLimits};

fn config(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::from_lookup(|expected| {
        variables.iter().find(|(name, _)| *name == expected).map(|(_, value)| value.into())
    })
}

fn accepted(variables: &[(&str, &str)]) -> Config {
    config(variables).unwrap_or_else(|error| panic!("{variables:?} should be fine, but {error}"))
}

fn refused(variables: &[(&str, &str)]) -> String {
    match config(variables) {
        Ok(_) => panic!("{variables:?} should be refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_address_on_the_command_line_is_held_to_the_same_rules_as_one_in_the_environment() {
    let short = |name: &str| (name == "ADMIN_TOKEN").then(|| "short".into());
    let everywhere = ListenAt { host: Some([0, 0, 0, 0].into()), port: Some(9009) };
    assert!(Config::from_lookup_at(short, ListenAt::default()).is_ok());
    assert!(Config::from_lookup_at(short, everywhere).is_err(), "others reach the server");
    let config = Config::from_lookup_at(|_| None, everywhere).unwrap();
    assert_eq!(config.bind.to_string(), "0.0.0.0:9009");
    assert_eq!(config.site_url(), "http://127.0.0.1:9009");
}

#[test]
fn nothing_needs_to_be_set() {
    let config = accepted(&[]);

    assert!(matches!(config.database, DatabaseSource::Embedded { data_dir: None, pg_bin: None }));
    assert_eq!(config.bind.to_string(), "127.0.0.1:3000");
    assert_eq!(config.logging.format, LogFormat::Auto);
    assert_eq!(config.logging.filter, DEFAULT_LOG.parse().unwrap());
    assert_eq!(config.check_max_bytes, 32 << 20);
    assert_eq!(config.import_max_bytes, 256 << 20);
    assert_eq!(config.arena.grid, GridSize::G32);
    assert_eq!(config.arena.palette, Palette::Simple);
    assert_eq!(config.arena.mode.as_str(), "precise");
    assert_eq!(config.references, ReferencePolicy::Auto);
    assert_eq!(config.min_dwell, Duration::from_millis(1500));
    assert_eq!(config.cohort_percent, 50);
    assert!(config.rate_limits);
    assert_eq!(config.trusted_proxies, []);
    assert_eq!(config.public_url, None);
    assert_eq!(config.metrics_bind, None);
}

#[test]
fn the_time_that_a_stop_waits_has_a_unit() {
    for (text, seconds) in [("90s", 90), ("20m", 1200), ("24h", 86_400), ("0", 0), ("0s", 0)] {
        let waits = accepted(&[("STOP_WAIT", text)]).generation.stop_wait;
        assert_eq!(waits, Duration::from_secs(seconds), "{text}");
    }
    assert_eq!(accepted(&[]).generation.stop_wait, Duration::from_secs(20 * 60));
}

#[test]
fn the_metrics_address_needs_a_port() {
    let config = accepted(&[("METRICS_BIND", "[::1]:9464")]);
    assert_eq!(config.metrics_bind, Some("[::1]:9464".parse().unwrap()));
    assert!(
        refused(&[("METRICS_BIND", "127.0.0.1")]).contains("METRICS_BIND must be an address with a port")
    );
}

#[test]
fn fair_play_can_be_tuned() {
    let config = accepted(&[
        ("REFERENCE_MODELS", "off"),
        ("MIN_DWELL_MS", "0"),
        ("RATE_LIMITS", "off"),
        ("TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8,2001:db8::/32"),
        ("PUBLIC_URL", "https://buildoff.example/"),
    ]);
    assert_eq!(config.references, ReferencePolicy::Off);
    assert_eq!(config.min_dwell, Duration::ZERO);
    assert!(!config.rate_limits);
    let proxies: Vec<_> = config.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!(proxies, ["127.0.0.1/32", "10.0.0.0/8", "2001:db8::/32"]);
    assert_eq!(config.public_url.as_deref(), Some("https://buildoff.example"));
}

#[test]
fn voters_are_checked_by_work_on_a_public_site_and_by_a_service_only_with_its_keys() {
    let public = ("PUBLIC_URL", "https://buildoff.example");
    assert!(matches!(accepted(&[]).person_check, PersonCheckConfig::Off));
    assert!(matches!(accepted(&[public]).person_check, PersonCheckConfig::Work));
    assert!(matches!(accepted(&[public, ("PERSON_CHECK", "off")]).person_check, PersonCheckConfig::Off));
    assert!(matches!(accepted(&[("PERSON_CHECK", "work")]).person_check, PersonCheckConfig::Work));

    let turnstile = ("PERSON_CHECK", "turnstile");
    let problems = refused(&[turnstile]);
    for name in ["PERSON_CHECK_SITE_KEY", "PERSON_CHECK_SECRET"] {
        assert!(problems.contains(&format!("{name} is needed with PERSON_CHECK=turnstile")), "{problems}");
    }
    let problems = refused(&[("PERSON_CHECK", "captcha")]);
    assert!(problems.contains("PERSON_CHECK must be off, work, turnstile or hcaptcha"), "{problems}");
    let problems =
        refused(&[turnstile, ("PERSON_CHECK_SITE_KEY", "\"><script>"), ("PERSON_CHECK_SECRET", "s")]);
    assert!(problems.contains("PERSON_CHECK_SITE_KEY must be"), "{problems}");

    let keys = [("PERSON_CHECK_SITE_KEY", "0x4AAA_-"), ("PERSON_CHECK_SECRET", "hidden")];
    let config = accepted(&[("PERSON_CHECK", "hcaptcha"), keys[0], keys[1]]);
    let PersonCheckConfig::Captcha(account) = config.person_check else { panic!("no service") };
    assert_eq!((account.service, account.site_key.as_str()), (CaptchaService::Hcaptcha, "0x4AAA_-"));
    assert_eq!(account.verify_url, "https://api.hcaptcha.com/siteverify");
}

#[test]
fn an_empty_value_is_an_unset_one() {
    let names = ["DATABASE_URL", "DIRECT_URL", "DATA_DIR", "PG_BIN_DIR", "BIND", "PORT", "LOG", "ARENA_GRID"];
    let config = accepted(&names.map(|name| (name, "")));

    assert!(matches!(config.database, DatabaseSource::Embedded { data_dir: None, pg_bin: None }));
    assert_eq!(config.bind, DEFAULT_ADDRESS);
}

#[test]
fn the_address_comes_from_bind_and_the_port_alone_overrides_its_port() {
    let cases = [
        (vec![("BIND", "0.0.0.0:8080")], "0.0.0.0:8080"),
        (vec![("BIND", "0.0.0.0")], "0.0.0.0:3000"),
        (vec![("BIND", "[::1]:80")], "[::1]:80"),
        (vec![("PORT", "4000")], "127.0.0.1:4000"),
        (vec![("PORT", "0")], "127.0.0.1:0"),
        (vec![("BIND", "0.0.0.0:8080"), ("PORT", "9")], "0.0.0.0:9"),
    ];
    for (variables, expected) in cases {
        assert_eq!(accepted(&variables).bind.to_string(), expected, "{variables:?}");
    }
}

#[test]
fn a_database_elsewhere_takes_the_place_of_the_embedded_one() {
    let config = accepted(&[
        ("DATABASE_URL", "postgres://pool/buildoff"),
        ("DIRECT_URL", "postgresql://direct/buildoff"),
        ("DATABASE_REPLICA_URL", "postgres://replica/buildoff"),
        ("DATA_DIR", "/srv/buildoff"),
    ]);

    let DatabaseSource::Url { url, direct_url, replica_url } = config.database else {
        panic!("the embedded database was chosen")
    };
    assert_eq!(url, "postgres://pool/buildoff");
    assert_eq!(direct_url.as_deref(), Some("postgresql://direct/buildoff"));
    assert_eq!(replica_url.as_deref(), Some("postgres://replica/buildoff"));
}

#[test]
fn the_embedded_database_takes_its_directories() {
    let config = accepted(&[("DATA_DIR", "/srv/buildoff"), ("PG_BIN_DIR", "/opt/pg/bin")]);

    let DatabaseSource::Embedded { data_dir, pg_bin } = config.database else { panic!("a URL was chosen") };
    assert_eq!(data_dir, Some("/srv/buildoff".into()));
    assert_eq!(pg_bin, Some("/opt/pg/bin".into()));
}

#[test]
fn a_bad_value_is_refused_with_its_name_and_what_is_allowed() {
    let cases = [
        (
            "BIND",
            "localhost:x",
            "BIND must be an address such as 127.0.0.1:3000 or [::]:3000, not \"localhost:x\"",
        ),
        ("PORT", "65536", "PORT must be a port from 0 to 65535 (0 picks a free one), not \"65536\""),
        ("LOG", "loud", "LOG must be a level"),
        ("LOG", "buildoff=loud", "LOG must be a level"),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be auto, pretty or json, not \"xml\""),
        ("CHECK_MAX_MIB", "0", "CHECK_MAX_MIB must be a whole number of MiB from 1 to 2048, not \"0\""),
        ("IMPORT_MAX_MIB", "1.5", "IMPORT_MAX_MIB must be a whole number of MiB from 1 to 2048, not \"1.5\""),
        ("ARENA_GRID", "33", "ARENA_GRID must be 32, 64, 128 or 256, not \"33\""),
        ("ARENA_PALETTE", "fancy", "ARENA_PALETTE must be simple or advanced, not \"fancy\""),
        (
            "ARENA_MODE",
            "Very Precise",
            "ARENA_MODE must be 1 to 32 characters a-z, 0-9 and -, not \"Very Precise\"",
        ),
        ("REFERENCE_MODELS", "maybe", "REFERENCE_MODELS must be auto, on or off, not \"maybe\""),
        ("MIN_DWELL_MS", "-1", "MIN_DWELL_MS must be a number of milliseconds up to 600000, not \"-1\""),
        ("RATE_LIMITS", "no", "RATE_LIMITS must be on or off, not \"no\""),
        ("TRUSTED_PROXIES", "10.0.0.0/8, here", "TRUSTED_PROXIES must be a list of addresses"),
        ("PUBLIC_URL", "buildoff.example", "PUBLIC_URL must be an address such as https://buildoff.example"),
        ("PUBLIC_URL", "https://buildoff.example/path", "PUBLIC_URL must be an address"),
        ("AI_ATTEMPTS", "0", "AI_ATTEMPTS must be a number from 1 to 10, not \"0\""),
        ("STOP_WAIT", "20", "STOP_WAIT must be a time up to 24h, such as 20m, 90s or 0, not \"20\""),
        ("STOP_WAIT", "25h", "STOP_WAIT must be a time up to 24h"),
        ("STOP_WAIT", "-1s", "STOP_WAIT must be a time up to 24h"),
        ("AI_AT_ONCE", "many", "AI_AT_ONCE must be a number from 1 to 1000"),
        ("AI_DEBUG", "2", "AI_DEBUG must be on or off, not \"2\""),
        ("OPENAI_BASE_URL", "api.openai.com", "OPENAI_BASE_URL must be an address that begins with http://"),
        ("OPENAI_API_KEY", "line\nbreak", "OPENAI_API_KEY has characters that cannot be sent in a header"),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL must be an address that begins with postgres://"),
        ("DIRECT_URL", "postgres://x", "DIRECT_URL needs DATABASE_URL as well"),
    ];
    for (name, value, expected) in cases {
        let error = refused(&[(name, value)]);
        assert!(error.contains(expected), "{name}={value} gave {error:?}, which lacks {expected:?}");
    }
}

#[test]
fn a_provider_is_asked_only_with_its_key_and_where_one_says() {
    let config = accepted(&[
        ("OPENAI_API_KEY", "sk-1"),
        ("XAI_API_KEY", " "),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/"),
        ("AI_ATTEMPTS", "5"),
        ("AI_AT_ONCE", "9"),
        ("AI_DEBUG", "1"),
    ]);

    let generation = &config.generation;
    let known = &config.catalog.providers;
    let providers = Providers::new(known, &generation.keys, RequestLimits::default(), false).unwrap();
    let can_ask: Vec<_> = ["openai", "anthropic", "xai"].map(|key| providers.can_ask(key)).into();
    assert_eq!(can_ask, [true, false, false]);
    let address = |key: &str| &known.iter().find(|provider| provider.key == key).unwrap().base_url;
    assert_eq!(address("anthropic"), "http://127.0.0.1:9");
    assert_eq!(address("openai"), "https://api.openai.com/v1");
    assert_eq!(
        (generation.attempts, generation.max_concurrent, generation.answer_max_bytes),
        (5, 9, 64 << 20)
    );
    assert!(config.admin_token.is_none());
}

#[test]
fn the_servers_keys_are_lent_only_where_nobody_else_comes_or_where_somebody_says_so() {
    let (public_url, proxies) = (("PUBLIC_URL", "http://localhost:3000"), ("TRUSTED_PROXIES", "127.0.0.1"));
    for (variables, lent) in [
        (&[][..], ServerKeyAccess::ThisMachine),
        (&[("BIND", "[::1]:3000")], ServerKeyAccess::ThisMachine),
        (&[("BIND", "0.0.0.0:3000")], ServerKeyAccess::Nobody),
        (&[public_url], ServerKeyAccess::Nobody),
        (&[proxies], ServerKeyAccess::Nobody),
        (&[("BIND", "0.0.0.0:3000"), ("SANDBOX_SERVER_KEYS", "on")], ServerKeyAccess::Everybody),
        (&[public_url, proxies, ("SANDBOX_SERVER_KEYS", "on")], ServerKeyAccess::Everybody),
        (&[("SANDBOX_SERVER_KEYS", "off")], ServerKeyAccess::Nobody),
    ] {
        assert_eq!(accepted(variables).sandbox.server_keys, lent, "{variables:?}");
    }
    assert!(!accepted(&[]).sandbox.local);
}

#[test]
fn lent_keys_have_a_budget_of_money_and_of_runs() {
    let limits = |variables: &[(&str, &str)]| {
        let LoanLimits { budget, runs_per_network } = accepted(variables).sandbox.loan_limits;
        (budget.0, runs_per_network)
    };
    assert_eq!(limits(&[]), (10_000_000, 60));
    assert_eq!(limits(&[("SANDBOX_DAILY_DOLLARS", "0.25"), ("SANDBOX_DAILY_RUNS", "7")]), (250_000, 7));
    for (name, value) in
        [("SANDBOX_DAILY_DOLLARS", "-1"), ("SANDBOX_DAILY_DOLLARS", "NaN"), ("SANDBOX_DAILY_RUNS", "0")]
    {
        assert!(refused(&[(name, value)]).contains(&format!("{name} must be a number from")), "{value}");
    }
}

#[test]
fn a_short_admin_token_is_refused_where_others_can_reach_the_server() {
    let (short, long) = (("ADMIN_TOKEN", "fifteen letters"), ("ADMIN_TOKEN", "sixteen letters!"));
    let places =
        [("BIND", "0.0.0.0:3000"), ("BIND", "[::]:3000"), ("PUBLIC_URL", "https://buildoff.example")];
    for place in places {
        let error = refused(&[short, place]);
        assert!(error.contains("ADMIN_TOKEN needs at least 16 characters"), "{place:?}: {error}");
        assert!(!error.contains("fifteen"), "{error}");
        assert!(accepted(&[long, place]).admin_token.is_some());
    }
    assert!(accepted(&[short]).warnings().iter().any(|warning| warning.contains("ADMIN_TOKEN")));
    assert!(accepted(&[long]).warnings().is_empty());
}

#[test]
fn keys_without_a_decision_who_may_use_them_are_warned_about() {
    let key = ("OPENAI_API_KEY", "sk-planted");
    for (variables, warned) in [
        (&[key][..], true),
        (&[key, ("PUBLIC_URL", "https://buildoff.example")], true),
        (&[key, ("SANDBOX_SERVER_KEYS", "on")], false),
        (&[key, ("SANDBOX_SERVER_KEYS", "off")], false),
        (&[], false),
    ] {
        let warnings = accepted(variables).warnings();
        assert_eq!(
            warnings.iter().any(|warning| warning.contains("SANDBOX_SERVER_KEYS")),
            warned,
            "{variables:?}"
        );
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let error = refused(&[("PORT", "many"), ("ARENA_GRID", "1"), ("LOG_FORMAT", "xml")]);

    assert_eq!(error.lines().count(), 4, "{error}");
}

#[test]
fn a_secret_is_never_repeated() {
    let error = refused(&[
        ("DATABASE_URL", "hunter2"),
        ("DIRECT_URL", "hunter3"),
        ("OPENAI_BASE_URL", "hunter4"),
        ("OPENAI_API_KEY", "hunter5\nhunter6"),
    ]);

    for name in ["DATABASE_URL", "DIRECT_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"] {
        assert!(error.contains(name), "{error}");
    }
    assert!(!error.contains("hunter"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_is_not_text_is_refused_and_a_path_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt;

    let bytes = || OsString::from_vec(vec![b'/', 0xff]);
    let only = |expected: &'static str| move |name: &str| (name == expected).then(bytes);

    let error = Config::from_lookup(only("PORT")).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("PORT is not valid UTF-8"), "{error}");
    assert!(Config::from_lookup(only("DATA_DIR")).is_ok());
}

#[test]
fn the_example_file_explains_every_variable() {
    let asked = RefCell::new(Vec::new());
    accepted_with(|name| {
        asked.borrow_mut().push(name.to_owned());
        None
    });

    let example = include_str!("../../.env.example");
    for name in asked.into_inner() {
        assert!(example.contains(&format!("#{name}=")), ".env.example does not mention {name}");
    }
}

fn accepted_with(lookup: impl Fn(&str) -> Option<OsString>) -> Config {
    Config::from_lookup(lookup).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn budgets_are_dollars_and_the_webhook_is_an_https_address_that_is_not_repeated() {
    let limits = accepted(&[("BUDGET_DAY", "2.5"), ("BUDGET_MONTH", "0")]).budgets.limits;
    assert_eq!((limits.day, limits.month, limits.sandbox_day), (Some(2_500_000), Some(0), Some(10_000_000)));
    let unset = accepted(&[]).budgets;
    assert_eq!((unset.limits.day, unset.limits.month, unset.webhook.is_none()), (None, None, true));
    for value in ["-1", "NaN", "1e9", "much"] {
        assert!(
            refused(&[("BUDGET_DAY", value)]).contains("BUDGET_DAY must be a number of dollars"),
            "{value}"
        );
    }
    for address in [
        "http://hooks.example/s3cr3t",
        "https://s3cr3t@hooks.example/",
        "https://a.example/#s3cr3t",
        "s3cr3t",
    ] {
        let error = refused(&[("BUDGET_WEBHOOK", address)]);
        assert!(error.contains("BUDGET_WEBHOOK must be") && !error.contains("s3cr3t"), "{address}: {error}");
    }
    let hook = ("BUDGET_WEBHOOK", "https://hooks.example/a?sig=b");
    assert!(accepted(&[hook]).budgets.webhook.is_some_and(|webhook| !webhook.allow_private));
    let local = [("BUDGET_WEBHOOK", "http://127.0.0.1:9000/"), ("BUDGET_WEBHOOK_LOCAL", "on")];
    assert!(accepted(&local).budgets.webhook.is_some_and(|webhook| webhook.allow_private));
}
