#![expect(
    clippy::needless_pass_by_value,
    reason = "rows of JSON are written in place"
)]

use serde_json::json;

use super::*;

fn read_of(tool: &str, args: Value, extra: Value, content: &str) -> Vec<Message> {
    vec![
        Message::new(
            json!({"type": "ai", "tool_calls": [{"name": tool, "args": args, "id": "c"}]}),
        ),
        Message::new(json!({
            "type": "tool", "content": content, "tool_call_id": "c",
            "additional_kwargs": {STAMP: extra},
        })),
    ]
}

fn names(reads: &Reads, messages: &[Message]) -> Vec<String> {
    let skills = reads.capture(messages, 0, 0).skills;
    skills.iter().map(|skill| skill.name.to_string()).collect()
}

#[test]
fn b6_paths_under_the_root_named_skill_md_count_and_nothing_else() {
    let check = |root: &str, path: &str, expect: Option<&str>| {
        let reads = Reads {
            root: root.into(),
            ..Reads::default()
        };
        assert_eq!(reads.file(path).as_deref(), expect, "{root} {path}");
    };
    let pdf = Some("/mnt/skills/public/pdf/SKILL.md");
    check("/mnt/skills", "/mnt/skills/public/pdf/SKILL.md", pdf);
    check("/mnt/skills/", "/mnt/skills//public/./pdf/SKILL.md", pdf);
    check("/mnt/skills", "/mnt/skills/x/../public/pdf/SKILL.md", pdf);
    check("/", "/pdf/SKILL.md", Some("/pdf/SKILL.md"));
    for path in [
        "/mnt/skills/../secret/SKILL.md",
        "/mnt/skillsets/pdf/SKILL.md",
        "/mnt/skills/pdf/README.md",
        "/mnt/skills/SKILL.md",
        "/../../SKILL.md",
        "mnt/skills/pdf/SKILL.md",
        "",
    ] {
        check("/mnt/skills", path, None);
    }
}

#[test]
fn b6_a_stamped_read_by_a_listed_tool_is_captured_by_its_folder() {
    let path = "/mnt/skills/pdf/SKILL.md";
    let stamp = json!({"path": path, "description": "  Fill\n forms ", "name": "never this"});
    for (tool, key) in [
        ("read_file", "path"),
        ("read", "file_path"),
        ("view", "filepath"),
        ("cat", "path"),
    ] {
        let talk = read_of(tool, json!({key: path}), stamp.clone(), "body");
        let captured = Reads::default().capture(&talk, 0, 40);
        assert_eq!(
            captured.skills,
            [Skill {
                name: "pdf".into(),
                path: path.into(),
                description: "Fill forms".into(),
                loaded_at: 41,
            }]
        );
    }
    let other = read_of("open", json!({"path": path}), stamp.clone(), "body");
    assert_eq!(names(&Reads::default(), &other), [] as [String; 0]);
    let off = Reads {
        tools: Vec::new(),
        ..Reads::default()
    };
    let talk = read_of("read_file", json!({"path": path}), stamp, "body");
    assert_eq!(
        names(&off, &talk),
        [] as [String; 0],
        "an empty list turns it off"
    );
}

#[test]
fn b6_missing_or_foreign_metadata_is_a_warning_and_an_error_is_none() {
    let path = "/mnt/skills/pdf/SKILL.md";
    let check = |extra: Value, content: &str, warnings: usize| {
        let talk = read_of("read_file", json!({"path": path}), extra, content);
        let captured = Reads::default().capture(&talk, 0, 0);
        assert_eq!(
            (captured.skills.len(), captured.warnings.len()),
            (0, warnings)
        );
    };
    check(Value::Null, "body", 1);
    check(Value::Null, "Error: no such file", 0);
    check(json!({"path": "/mnt/skills/doc/SKILL.md"}), "body", 1);
    check(json!({"description": "no path"}), "body", 1);
    let mut failed = read_of(
        "read_file",
        json!({"path": path}),
        json!({"path": path}),
        "x",
    );
    let mut value = failed[1].value().clone();
    value["status"] = json!("error");
    failed[1] = Message::new(value);
    assert_eq!(Reads::default().capture(&failed, 0, 0), Captured::default());
}

#[test]
fn b6_descriptions_are_one_line_of_500_characters_and_no_text_is_none() {
    assert_eq!(
        one_line(Some(&json!("x ".repeat(900)))).chars().count(),
        MAX_DESCRIPTION
    );
    assert_eq!(one_line(Some(&json!(3))), "");
}

#[test]
fn b6_a_skill_that_is_read_again_is_the_newest_and_eight_are_kept() {
    let skill = |name: &str| Skill {
        name: name.into(),
        path: format!("/mnt/skills/{name}/SKILL.md").into(),
        description: "".into(),
        loaded_at: 0,
    };
    let names = |skills: &[Skill]| {
        skills
            .iter()
            .map(|s| s.name.to_string())
            .collect::<Vec<_>>()
    };
    let known = reduce(&[], &["a", "b", "c"].map(skill));
    assert_eq!(names(&reduce(&known, &[skill("a")])), ["b", "c", "a"]);
    let many: Vec<Skill> = (0..12).map(|n| skill(&n.to_string())).collect();
    assert_eq!(
        names(&reduce(&[], &many)),
        ["4", "5", "6", "7", "8", "9", "10", "11"]
    );
}

#[test]
fn b6_entries_of_older_versions_lose_what_is_not_known_and_bodies_are_never_kept() {
    let stored = json!([
        {"name": "a", "path": "/p", "description": "d", "loaded_at": 3, "content": "the body"},
        {"name": "no path"}, 7,
    ]);
    let read = read(&stored);
    assert_eq!(read.len(), 1);
    assert!(!serde_json::to_string(&read).expect("json").contains("body"));
}

#[test]
fn front_matter_in_the_forms_that_skills_use() {
    let check = |text: &str, expect: Option<(&str, &str)>| {
        let found = front_matter(text);
        let found = found.map(|f| {
            (
                f.name.unwrap_or_default(),
                f.description.unwrap_or_default(),
            )
        });
        let expect = expect.map(|(n, d)| (n.to_owned(), d.to_owned()));
        assert_eq!(found, expect, "{text}");
    };
    check(
        "---\nname: pdf\ndescription: Fill forms: all\n---\nbody",
        Some(("pdf", "Fill forms: all")),
    );
    check(
        "---\r\nname: \"pdf\"\r\ndescription: >\r\n  Fill\r\n  forms\r\nother: x\r\n---\r\n",
        Some(("pdf", "Fill forms")),
    );
    check("---\nname: pdf\n", None);
    check("# no front matter", None);
    check("", None);
}
