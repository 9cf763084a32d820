//! The same behind `conspectus serve`.

use super::{Desk, whole_life};
use crate::serve::Service;

#[test]
fn a_whole_life_behind_a_service() {
    let mut desk = Desk::of_file();
    let service = Service::start(&desk.place, &["--store", "memory"]);
    let url = service.api();
    let url = url
        .strip_suffix("/api")
        .expect("the API is below")
        .to_owned();
    desk.at = vec!["--server".to_owned(), url];
    whole_life(&desk);
}

#[test]
fn a_token_is_needed_where_there_are_some_and_is_never_shown() {
    let desk = Desk::of_file();
    // The digest of "open-sesame-4242".
    let digest = "sha256:7efdcfed8af2074647b970f36c1f8ee6fc74667e19cc71005dc14496e02a03fb ann\n";
    desk.place.write("tokens.txt", digest.as_bytes());
    desk.place.write("token", b"open-sesame-4242\n");
    desk.place.write("wrong", b"hush-hush\n");
    let service = Service::start(
        &desk.place,
        &["--store", "memory", "--tokens", "tokens.txt"],
    );
    let url = service.api();
    let url = url.strip_suffix("/api").expect("the API is below");
    let list = |more: &[&str]| {
        let mut command = desk
            .place
            .command(&[&["thread", "ls", "--server", url], more].concat());
        command.env_remove("CONSPECTUS_TOKEN");
        command
    };
    let ran = crate::support::Ran::of(&list(&[]).output().expect("runs"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("put the token into CONSPECTUS_TOKEN"),
        "{}",
        ran.err
    );
    let wrong = crate::support::Ran::of(&list(&["--token-file", "wrong"]).output().expect("runs"));
    assert_eq!(wrong.code, 3, "{}", wrong.err);
    assert!(!wrong.err.contains("hush"), "{}", wrong.err);
    let file = crate::support::Ran::of(&list(&["--token-file", "token"]).output().expect("runs"));
    file.done().says("no threads in ");
    let mut command = list(&[]);
    command.env("CONSPECTUS_TOKEN", "open-sesame-4242");
    let variable = crate::support::Ran::of(&command.output().expect("runs"));
    variable.done().says("no threads in ");
}

#[test]
fn a_store_is_the_services_too() {
    let desk = Desk::of_file();
    desk.run(&["thread", "import", "openai.json", "--id", "tea"])
        .done();
    let service = Service::start(&desk.place, &["--store", "sqlite:t.db"]);
    assert_eq!(service.get("/api/threads/tea").done()["message_count"], 62);
    desk.run(&["compact", "--thread", "tea"]).done();
    assert_eq!(
        service.get("/api/threads/tea/log").done()[0]["active"],
        true
    );
}
