//! The document of the service says what the service does.

use serde_json::Value;

use crate::support::{Service, Stream};

#[test]
fn every_path_of_the_document_is_there_and_says_what_is_not() {
    let service = Service::start();
    let document = service.get("/api/openapi.json").done();
    assert_eq!(document["openapi"], "3.1.0");
    let methods = ["get", "post", "patch", "delete", "put"];
    let mut seen = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let at = path
            .replace("{thread_id}", "a.b")
            .replace("{checkpoint_id}", "x")
            .replace("{message_id}", "x")
            .replace("{reference}", "x")
            .replace("{run_id}", "x");
        for method in methods {
            // This one has no end.
            if (method, path.as_str()) == ("get", "/api/events") {
                let (head, _) = Stream::open(service.address(), path, &[]);
                assert_eq!(head.status, 200);
                continue;
            }
            let reply = service.ask(&method.to_uppercase(), &at, &[], None);
            let is_there = reply.status != 405 && !reply.body.contains("no_route");
            assert_eq!(
                is_there,
                item.get(method).is_some(),
                "{method} {path}: {reply:?}"
            );
            seen += u32::from(is_there);
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn every_reference_leads_somewhere_and_every_name_is_used() {
    let document = Service::start().get("/api/openapi.json").done();
    let mut used = Vec::new();
    collect(&document, &mut used);
    for reference in &used {
        let at = reference.trim_start_matches('#');
        assert!(document.pointer(at).is_some(), "{reference}");
    }
    for kind in ["schemas", "responses"] {
        for name in document["components"][kind]
            .as_object()
            .expect("a map")
            .keys()
        {
            let reference = format!("#/components/{kind}/{name}");
            assert!(used.contains(&reference), "{reference} is used nowhere");
        }
    }
}

fn collect(value: &Value, used: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                used.push(reference.clone());
            }
            map.values().for_each(|value| collect(value, used));
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, used)),
        _ => {}
    }
}
