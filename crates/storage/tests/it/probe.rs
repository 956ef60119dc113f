//! The probe refuses what cannot be trusted, and says why.

use sandkeep_storage::{ErrorKind, Expected, RefKey, probe};

use crate::broken::{Broken, Defect};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sound_backend_is_trusted() {
    probe(&Broken::with(Defect::None)).await.unwrap();
}

#[tokio::test]
async fn a_sound_backend_is_trusted_on_one_thread() {
    probe(&Broken::with(Defect::None)).await.unwrap();
}

#[tokio::test]
async fn the_probe_leaves_nothing_behind() {
    for defect in [Defect::None, Defect::IgnoresTokens, Defect::ChecksTooEarly] {
        let storage = Broken::with(defect);
        probe(&storage).await.ok();
        assert_eq!(storage.list_refs("", None, 10).await.unwrap(), [], "{defect:?}");
        assert_eq!(storage.list(None, None, 10).await.unwrap(), [], "{defect:?}");
    }
}

#[tokio::test]
async fn the_probe_clears_away_what_a_dead_one_left() {
    let storage = Broken::with(Defect::None);
    let left = RefKey::new("probe/dead/counted").unwrap();
    let kept = RefKey::new("probed").unwrap();
    for key in [&left, &kept] {
        storage.swap(key, &Expected::Absent, "x".into()).await.unwrap();
    }
    probe(&storage).await.unwrap();
    assert_eq!(storage.load(&left).await.unwrap(), None);
    assert!(storage.load(&kept).await.unwrap().is_some());
}

#[tokio::test]
async fn a_backend_that_ignores_expectations_is_refused() {
    refused(Defect::IgnoresExpectations, "create-if-absent").await;
}

#[tokio::test]
async fn a_backend_that_ignores_tokens_is_refused() {
    refused(Defect::IgnoresTokens, "compare-and-swap").await;
}

#[tokio::test]
async fn a_backend_that_never_swaps_is_refused() {
    refused(Defect::NeverSwaps, "compare-and-swap").await;
}

#[tokio::test]
async fn a_backend_that_checks_before_it_writes_is_refused() {
    refused(Defect::ChecksTooEarly, "one winner among racing creates").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backend_that_checks_before_it_writes_is_refused_on_many_threads() {
    // Which of the two races it loses first depends on the threads.
    refused(Defect::ChecksTooEarly, "among racing").await;
}

#[tokio::test]
async fn a_backend_whose_swaps_check_before_they_write_is_refused() {
    refused(Defect::ChecksSwapsTooEarly, "no lost update among racing swaps").await;
}

#[tokio::test]
async fn a_backend_that_deletes_any_ref_is_refused() {
    refused(Defect::DeletesAnyRef, "exact-token delete of refs").await;
}

#[tokio::test]
async fn a_backend_that_deletes_any_object_is_refused() {
    refused(Defect::DeletesAnyObject, "exact-token delete of objects").await;
}

#[tokio::test]
async fn a_backend_that_checks_before_it_deletes_a_ref_is_refused() {
    refused(Defect::DeletesRefsTooEarly, "exact-token delete among racing swaps").await;
}

#[tokio::test]
async fn a_backend_that_checks_before_it_deletes_an_object_is_refused() {
    refused(Defect::DeletesObjectsTooEarly, "exact-token delete among racing writes").await;
}

#[tokio::test]
async fn a_backend_that_forgets_is_refused() {
    refused(Defect::Forgets, "reading what was written").await;
}

async fn refused(defect: Defect, promise: &str) {
    let err = probe(&Broken::with(defect)).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsafe, "{err}");
    assert!(err.to_string().contains(promise), "{err}");
}
