//! `buildoff agents`.

use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{AgentsFixture, builder};

impl AgentsFixture {
    /// The exit code, standard output, and standard error.
    async fn command(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_buildoff"));
        command.args(arguments).env("DATABASE_URL", self.db.url());
        command.envs(super::settings(&self.data_dir, &[]));
        let Output { status, stdout, stderr } =
            tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_added_changed_and_removed_by_commands() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let (code, added, _) = fixture.command(&["agents", "add", "tower", &agent.url, "--builds"]).await;
    assert_eq!(code, 0, "{added}");
    assert!(added.starts_with("tower ") && added.contains("builds") && added.contains("Fake at"), "{added}");
    assert!(added.contains("version 1, A2A 1.0"), "{added}");
    assert_ne!(fixture.command(&["agents", "add", "tower", &agent.url]).await.0, 0);

    let note = ["agents", "change", "tower", "--note", "Builds towers.", "--builds", "no", "--json"];
    let changed: Value = serde_json::from_str(&fixture.command(&note).await.1).unwrap();
    assert_eq!((&changed["note"], &changed["builds"]), (&json!("Builds towers."), &json!(false)));
    assert_eq!(fixture.command(&["agents", "change", "tower"]).await.0, 2);
    assert!(fixture.command(&["agents", "disable", "tower"]).await.1.contains("disabled"));
    assert!(fixture.command(&["agents"]).await.1.contains("disabled"));
    assert_eq!(fixture.command(&["agents", "remove", "tower"]).await.1, "tower is deleted\n");
    assert_eq!(fixture.command(&["agents", "list"]).await.1, "");

    // Whoever sits at the machine may name any variable, and hears why an agent cannot be asked yet.
    let add = ["agents", "add", "later", "http://127.0.0.1:1", "--key-variable", "MY_SECRET"];
    let (code, added, said) = fixture.command(&add).await;
    assert_eq!(code, 0, "{said}");
    assert!(added.contains("no secret") && added.contains("card not read"), "{added}");
    assert!(said.contains("cannot be asked yet"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_made_listed_and_revoked_by_commands() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    fixture.add_builder("tower", &agent).await;
    let (code, token, said) = fixture.command(&["agents", "token", "tower", "--name", "Ada"]).await;
    assert_eq!((code, token.trim().len()), (0, 73), "{said}");
    assert!(said.contains("not shown again"), "{said}");
    let listed = fixture.command(&["agents", "token", "tower"]).await.1;
    assert!(listed.contains("valid") && listed.contains("Ada (20 a day, used: never)"), "{listed}");
    let id = listed.split(' ').next().unwrap();
    assert_eq!(fixture.command(&["agents", "token", "tower", "--revoke", id]).await.0, 0);
    assert!(fixture.command(&["agents", "token", "tower"]).await.1.contains("revoked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_explained_and_checked_without_a_database() {
    let (fixture, agent) = (AgentsFixture::new().await, builder().await);
    let (code, shown, _) = fixture.command(&["agents", "card", &agent.url]).await;
    assert_eq!(code, 0, "{shown}");
    assert!(shown.starts_with("Fake 1\n") && shown.contains("in version 1.0 of the protocol"), "{shown}");
    assert!(shown.contains("warning (0.3) at url"), "{shown}");

    agent.change_card(|card| {
        card.as_object_mut().unwrap().remove("version");
        card["supportedInterfaces"][0]["protocolBinding"] = json!("GRPC");
    });
    let (code, shown, _) = fixture.command(&["agents", "card", &agent.url]).await;
    assert_eq!(code, 1, "{shown}");
    assert!(
        shown.contains("error at version: It is missing.") && shown.contains("cannot be asked"),
        "{shown}"
    );
    let (code, _, said) = fixture.command(&["agents", "card", "http://127.0.0.1:1"]).await;
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("card cannot be read"), "{said}");
}
