//! The probes.

use super::*;

#[tokio::test]
async fn the_process_is_well_without_a_database_and_not_ready_for_visitors() {
    let site = Site::open().await;
    let started = Instant::now();

    let healthz = site.get("/healthz").send().await.unwrap();
    assert_eq!(healthz.status(), 200);
    assert_eq!(header(healthz.headers(), "cache-control"), "no-store");
    assert_eq!(healthz.json::<Value>().await.unwrap(), json!({ "status": "ok" }));

    let readyz = site.get("/readyz").send().await.unwrap();
    assert_eq!(readyz.status(), 503);
    assert_eq!(header(readyz.headers(), "cache-control"), "no-store");
    assert_eq!(readyz.json::<Value>().await.unwrap()["code"], "not_ready");
    assert!(started.elapsed() < Duration::from_secs(5), "a probe does not wait for long");
}
