use std::collections::BTreeSet;
use std::fs;

use super::*;

const TAGS: [&str; 6] = ["architecture", "vehicle", "nature", "creature", "object", "scene"];

/// A catalog from a directory with these files.
fn load(files: &[(&str, &str)]) -> anyhow::Result<Catalog> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    Catalog::load(Some(dir.path()))
}

fn problem_of(name: &str, text: &str) -> String {
    format!("{:#}", load(&[(name, text)]).unwrap_err())
}

#[test]
fn twenty_prompts_are_built_in_short_and_tagged_from_one_vocabulary() {
    let prompts = Catalog::load(None).unwrap().prompts;
    assert_eq!(prompts.len(), 20);
    for Prompt { id, text, tags, .. } in &prompts {
        assert!(text.split(' ').count() <= 10 && text.len() <= 60, "{id} is a phrase, not a story");
        assert!(text.starts_with("a ") || text.starts_with("an "), "{id}: {text}");
        assert!(!text.ends_with('.') && text.trim() == text, "{id}: {text}");
        assert!(!tags.is_empty() && tags.iter().all(|tag| TAGS.contains(&tag.as_str())), "{id}: {tags:?}");
    }
    for tag in TAGS {
        let tagged = prompts.iter().filter(|prompt| prompt.tags.iter().any(|own| own == tag)).count();
        assert!(tagged >= 3, "only {tagged} are {tag}");
    }
    let texts: BTreeSet<_> = prompts.iter().map(|prompt| &prompt.text).collect();
    assert_eq!(texts.len(), prompts.len());
}

/// Builds are shipped for these.
#[test]
fn the_prompts_of_the_first_hour_are_what_they_were() {
    let prompts = Catalog::load(None).unwrap().prompts;
    for (slug, text) in [
        ("steam-locomotive", "a steam locomotive"),
        ("lighthouse", "a lighthouse on a rocky island"),
        ("treehouse", "a treehouse in an old oak"),
        ("sleeping-dragon", "a sleeping dragon"),
        ("pirate-ship", "a pirate ship under full sail"),
    ] {
        assert!(prompts.iter().any(|prompt| prompt.id.as_str() == slug && prompt.text == text), "{slug}");
    }
}

#[test]
fn every_built_in_model_is_a_reference_or_can_be_asked_somewhere() {
    let catalog = Catalog::load(None).unwrap();
    assert!((20..=30).contains(&catalog.models.len()), "{}", catalog.models.len());
    for model in &catalog.models {
        let routes = catalog.routes(model).count();
        let expected = if model.provider == REFERENCE { 0 } else { 1 + model.via.len() };
        assert_eq!(routes, expected, "{}", model.key);
    }
    let opus = catalog.model(&"anthropic_claude_opus_5".parse().unwrap()).unwrap();
    let routes: Vec<_> = catalog.routes(opus).map(|(provider, id)| (provider.kind, id)).collect();
    assert_eq!(
        routes,
        [(ProviderKind::Anthropic, "claude-opus-5"), (ProviderKind::Compatible, "anthropic/claude-opus-5")]
    );
    let keyless: Vec<_> = catalog.providers.iter().filter(|p| p.key_variable.is_none()).collect();
    assert_eq!(keyless, Vec::<&Provider>::new());
}

#[test]
fn a_file_in_the_data_directory_stands_in_and_knows_the_built_in_providers() {
    let catalog = load(&[(
        "models.toml",
        r#"
        [[provider]]
        key = "ollama"
        displayName = "Ollama"
        kind = "compatible"
        baseUrl = "http://127.0.0.1:11434/v1/"

        [[provider]]
        key = "openai"
        displayName = "OpenAI, elsewhere"
        kind = "openai"
        baseUrl = "https://proxy.example/v1"
        keyVariable = "PROXY_KEY"

        [[model]]
        key = "llama"
        provider = "ollama"
        modelId = "llama4"
        displayName = "Llama"
        via = { openrouter = "meta-llama/llama-4-maverick" }
        options = { temperature = 0.5, maxOutputTokens = 9000, effort = "low", efforts = ["high", "low"] }
        prices = { input = 0.5, cachedInput = 0.05, output = 0.25 }
        vision = true

        [[model]]
        key = "somebody"
        provider = "nobody"
        modelId = "x"
        displayName = "Imported only"
        "#,
    )])
    .unwrap();

    assert_eq!(catalog.models.len(), 2);
    assert_eq!([catalog.models[0].vision, catalog.models[1].vision], [true, false]);
    assert_eq!(catalog.prompts.len(), 20, "the prompts are the built-in ones");
    let routes: Vec<_> =
        catalog.routes(&catalog.models[0]).map(|(provider, id)| (provider.base_url.as_str(), id)).collect();
    assert_eq!(
        routes,
        [
            ("http://127.0.0.1:11434/v1", "llama4"),
            ("https://openrouter.ai/api/v1", "meta-llama/llama-4-maverick")
        ]
    );
    let expected = ModelOptions {
        effort: Some(ThinkingEffort::Low),
        temperature: Some(0.5),
        max_output_tokens: Some(9000),
        efforts: EffortSet::of(&[ThinkingEffort::Low, ThinkingEffort::High]),
        background: false,
    };
    let prices = Prices { input: 0.5, cached_input: Some(0.05), output: 0.25 };
    assert_eq!(catalog.models[0].prices, Some(prices));
    assert_eq!(catalog.models[0].options, expected);
    assert_eq!(catalog.routes(&catalog.models[1]).count(), 0);
    assert_eq!(catalog.provider("openai").unwrap().base_url, "https://proxy.example/v1");
    assert!(catalog.provider("anthropic").is_some());
}

#[test]
fn what_is_wrong_in_a_file_is_said_clearly() {
    let provider = |rest: &str| format!("[[provider]]\nkey = \"p\"\ndisplayName = \"P\"\n{rest}");
    let model = |rest: &str| {
        format!("[[model]]\nkey = \"m\"\nprovider = \"openai\"\nmodelId = \"m\"\ndisplayName = \"M\"\n{rest}")
    };
    let address = "kind = \"compatible\"\nbaseUrl = \"https://x.example\"\n";
    for (text, said) in [
        (provider("kind = \"telepathy\"\nbaseUrl = \"https://x.example\""), "unknown variant `telepathy`"),
        (provider("kind = \"compatible\""), "missing field `baseUrl`"),
        (provider("kind = \"compatible\"\nbaseUrl = \"x.example\""), "the baseUrl of p must be an address"),
        (provider("kind = \"compatible\"\nbaseUrl = \"https://\""), "the baseUrl of p must be an address"),
        (provider(&format!("{address}keyVariable = \"sk-secret\"")), "the keyVariable of p must be the name"),
        (provider(&format!("{address}keys = 3")), "unknown field `keys`"),
        (provider(address).repeat(2), "two providers are called p"),
        (model("").repeat(2), "two models are called m"),
        (model("via = { nobody = \"x\" }"), "m: via nobody: this provider does not exist"),
        (model("prices = { input = -1.0, output = 2.0 }"), "m: prices must be dollars"),
        (model("prices = { input = 1.0 }"), "missing field `output`"),
        (model("options = { temperature = nan }"), "m: the temperature must be from 0 to 2"),
        (model("options = { effort = \"heroic\" }"), "unknown variant `heroic`"),
        (model("options = { maxOutputTokens = 1023 }"), "m: maxOutputTokens must be at least 1024"),
        (model("prices = { input = 1.0, cachedInput = -1.0, output = 1.0 }"), "m: prices must be dollars"),
        (model("options = { efforts = [\"heroic\"] }"), "unknown variant `heroic`"),
        (model("colour = \"red\""), "unknown field `colour`"),
        ("[[modle]]\n".to_owned(), "unknown field `modle`"),
    ] {
        let problem = problem_of("models.toml", &text);
        assert!(problem.starts_with("models.toml cannot be used"), "{problem}");
        assert!(problem.contains(said), "{said:?} is not in {problem:?}");
        assert!(!problem.contains("sk-secret"), "{problem}");
    }
    for (text, said) in [
        ("[[prompt]]\nslug = \"a b\"\ntext = \"x\"", "slug"),
        ("[[prompt]]\nslug = \"a\"\ntext = \" \"", "a: a prompt's text must have 1 to 800 characters"),
        (
            "[[prompt]]\nslug = \"a\"\ntext = \"x\"\n[[prompt]]\nslug = \"a\"\ntext = \"y\"",
            "two prompts are called a",
        ),
    ] {
        let problem = problem_of("prompts.toml", text);
        assert!(problem.contains(said) && problem.starts_with("prompts.toml cannot be used"), "{problem}");
    }
}

#[test]
fn a_prompt_is_held_out_in_the_file_or_stays_as_it_is() {
    let file = "
        [[prompt]]
        slug = \"shed\"
        text = \"a shed\"
        held_out = true
        [[prompt]]
        slug = \"barn\"
        text = \"a barn\"
    ";
    let prompts = load(&[("prompts.toml", file)]).unwrap().prompts;
    let held_out: Vec<_> = prompts.iter().map(|prompt| prompt.held_out).collect();
    assert_eq!(held_out, [Some(true), None]);
}
