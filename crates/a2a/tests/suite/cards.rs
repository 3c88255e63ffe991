//! Cards of either version, and of both.

use a2a::{
    AgentCard, AgentCardError, CardDescription, ChosenInterface, CredentialPlace, DescribedSkill,
    FindingSeverity, ProtocolVersion, check_card,
};
use serde_json::{Value, json};

fn parse(card: &Value) -> AgentCard {
    AgentCard::parse(card.to_string().as_bytes()).unwrap()
}

fn card_of_0_3() -> Value {
    json!({
        "name": "Mason", "description": "Builds walls", "version": "2.1", "url": "https://mason.example/a2a",
        "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", "capabilities": { "streaming": true },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "wall", "name": "Wall", "description": "A wall", "tags": [] }],
    })
}

fn card_of_1_0() -> Value {
    json!({
        "name": "Mason", "description": "Builds walls", "version": "3.0", "capabilities": {},
        "supportedInterfaces": [
            { "url": "https://mason.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
            { "url": "https://mason.example/new", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t1" },
            { "url": "https://mason.example/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
        ],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "wall", "name": "Wall", "description": "A wall", "tags": [] }],
    })
}

#[test]
fn the_highest_version_over_json_rpc_is_chosen_with_its_tenant() {
    assert_eq!(
        parse(&card_of_1_0()).choose(),
        Ok(ChosenInterface {
            url: "https://mason.example/new".to_owned(),
            version: ProtocolVersion::V1_0,
            tenant: Some("t1".to_owned()),
        })
    );
    let old = parse(&card_of_0_3());
    assert!(old.streaming);
    assert_eq!(
        old.choose(),
        Ok(ChosenInterface {
            url: "https://mason.example/a2a".to_owned(),
            version: ProtocolVersion::V0_3,
            tenant: None
        })
    );
}

#[test]
fn a_card_of_0_2_is_spoken_to_as_0_3() {
    let mut card = card_of_0_3();
    card["protocolVersion"] = json!("0.2.5");
    assert_eq!(parse(&card).choose().unwrap().version, ProtocolVersion::V0_3);
}

#[test]
fn json_rpc_among_the_additional_interfaces_of_0_3_is_found() {
    let mut card = card_of_0_3();
    card["preferredTransport"] = json!("GRPC");
    card["additionalInterfaces"] = json!([{ "transport": "JSONRPC", "url": "https://mason.example/rpc" }]);
    assert_eq!(parse(&card).choose().unwrap().url, "https://mason.example/rpc");
}

#[test]
fn a_card_that_offers_nothing_usable_is_refused_in_words() {
    let mut grpc = card_of_0_3();
    grpc["preferredTransport"] = json!("GRPC");
    let mut extension = card_of_1_0();
    extension["capabilities"] = json!({ "extensions": [
        { "uri": "https://nice.example", "required": false }, { "uri": "https://must.example", "required": true },
    ] });
    for (card, reason) in [
        (grpc, "the card offers GRPC in version 0.3.0, but only JSON-RPC in version 0.3 or 1.0 is supported"),
        (json!({ "name": "x" }), "the card names no address at which the agent can be reached"),
        (extension, "the card requires the extension https://must.example, which is not supported"),
    ] {
        assert_eq!(parse(&card).choose().unwrap_err().to_string(), reason);
    }
    assert!(matches!(AgentCard::parse(b"<html>"), Err(AgentCardError::NotACard(_))));
    assert!(matches!(AgentCard::parse(b"[]"), Err(AgentCardError::NotACard(_))));
    assert_eq!(AgentCard::parse(&vec![b' '; (1 << 20) + 1]), Err(AgentCardError::TooLarge));
}

#[test]
fn the_place_of_a_secret_is_read_from_either_version() {
    let bearer = Some(CredentialPlace::Bearer);
    let header = Some(CredentialPlace::Header("X-Key".to_owned()));
    for (scheme, place) in [
        (json!({ "type": "http", "scheme": "bearer" }), &bearer),
        (json!({ "httpAuthSecurityScheme": { "scheme": "Bearer" } }), &bearer),
        (json!({ "type": "apiKey", "in": "header", "name": "X-Key" }), &header),
        (json!({ "apiKeySecurityScheme": { "location": "header", "name": "X-Key" } }), &header),
        (json!({ "type": "apiKey", "in": "query", "name": "key" }), &None),
        (json!({ "type": "http", "scheme": "basic" }), &None),
        (json!({ "type": "mutualTLS" }), &None),
    ] {
        let mut card = card_of_0_3();
        card["securitySchemes"] = json!({ "one": scheme });
        assert_eq!(&parse(&card).credential, place, "{scheme}");
    }
}

#[test]
fn a_written_card_serves_both_versions_and_has_no_findings() {
    let skill = DescribedSkill {
        id: "check".to_owned(),
        name: "Check".to_owned(),
        description: "Checks".to_owned(),
        tags: vec!["voxel".to_owned()],
        examples: Vec::new(),
        input_modes: vec!["application/json".to_owned()],
        output_modes: vec!["application/json".to_owned()],
    };
    let description = CardDescription {
        name: "Arena".to_owned(),
        description: "An arena".to_owned(),
        url: "https://arena.example/a2a".to_owned(),
        version: "0.1.0".to_owned(),
        documentation_url: None,
        provider: None,
        skills: vec![skill],
    };
    let written = description.write();
    assert_eq!(check_card(written.get()), []);
    let fields: Value = written.parse().unwrap();
    assert_eq!(fields["supportedInterfaces"][0]["protocolVersion"], "1.0");
    assert_eq!(fields["supportedInterfaces"][1]["protocolVersion"], "0.3");
    assert_eq!(
        (&fields["url"], &fields["protocolVersion"]),
        (&json!("https://arena.example/a2a"), &json!("0.3.0"))
    );
    let card = AgentCard::parse(written.get().as_bytes()).unwrap();
    assert_eq!(card.choose().unwrap().version, ProtocolVersion::V1_0);
}

#[test]
fn findings_name_the_field_and_the_version_that_demands_it() {
    for card in [card_of_0_3(), card_of_1_0()] {
        let errors =
            check_card(&card.to_string()).into_iter().filter(|f| f.severity == FindingSeverity::Error);
        assert_eq!(errors.collect::<Vec<_>>(), []);
    }
    let mut card = card_of_1_0();
    card["name"] = json!("");
    card["skills"][0].as_object_mut().unwrap().remove("tags");
    card["supportedInterfaces"][1]["url"] = json!(7);
    card["capabilities"] = json!([]);
    let found: Vec<String> = check_card(&card.to_string())
        .into_iter()
        .map(|finding| {
            format!("{} {}: {}", finding.version.unwrap_or("both"), finding.field, finding.message)
        })
        .collect();
    for expected in [
        "both name: It is empty.",
        "both skills[0].tags: It is missing.",
        "both capabilities: It must be an object.",
        "1.0 supportedInterfaces[1].url: It must be a text.",
        "0.3 url: Without it and \"protocolVersion\", clients of 0.3 cannot reach the agent.",
    ] {
        assert!(found.iter().any(|finding| finding == expected), "{expected:?} is not in {found:#?}");
    }
    assert_eq!(check_card("[]")[0].message, "This is not a JSON object.");
}
