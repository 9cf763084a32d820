//! What is found, what is not, and what a later sentence does to an earlier rule. The sentences are our own.

use super::*;

/// A user's messages, heard one after another.
fn hear(messages: &[&str]) -> Rules {
    let mut rules = Rules::default();
    for (ordinal, text) in messages.iter().enumerate() {
        let handle = crate::id::Handle(0);
        let message = MessageView::new(handle, Role::User, Vec::new(), Ident::of(text));
        rules.hear(text, &message, ordinal as u64, None);
    }
    rules
}

fn texts(rules: &Rules) -> Vec<&str> {
    rules.standing().iter().map(|r| r.text.as_ref()).collect()
}

/// Each of these is a rule, whole.
const RULES: &[&str] = &[
    "Never touch the vendor folder!",
    "Use tabs instead of spaces.",
    "請務必使用 pnpm。",
    "コミットしないでください。",
    "Bitte niemals direkt auf main pushen.",
    "Always run the tests before committing.",
    "From now on, answer in French.",
    "Call me Bob.",
    "Deploy to us-east.",
    "Use tabs.",
    "Keep replies under 100 words.",
    "Please don't use emojis.",
    "No emojis.",
    "Don't add new dependencies without asking me.",
    "Ask me before deleting anything.",
    "We use pnpm, not npm.",
    "Prefer composition over inheritance.",
    "I prefer short answers.",
    "All commit messages must be in English.",
    "Commit messages should always start with a ticket number.",
    "You must not read the .env file.",
    "You may only edit files under src/.",
    "Only change files below src/.",
    "Be concise.",
    "Respond only in JSON.",
    "When you write SQL, use uppercase keywords.",
    "If you are unsure, ask.",
    "Before you push, run the linter.",
    "Whenever you edit a file, update the changelog.",
    "Limit lines to 80 characters.",
    "Stick to the standard library.",
    "Stop apologizing.",
    "stop using semicolons",
    "Address me as Captain.",
    "My rule: no force pushes.",
    "House rule: never rebase shared branches.",
    "Feel free to refactor anything in tests.",
    "You don't need to ask before running the tests.",
    "For the rest of this session, auto-approve all edits.",
    "Could you please always reply in German?",
    "Can you stop using emojis from now on?",
    "Make sure your answers never exceed three sentences.",
    "Never spend more than $200 on a hotel.",
    "I'm vegetarian.",
    "I'm allergic to peanuts, so never suggest them.",
    "I want all code in TypeScript.",
    "Write in British English.",
    "Use metric units.",
    "Use ISO 8601 dates.",
    "Sign every email with \"Best, Ana\".",
    "End your answers with a question.",
    "Start each response with a one-line summary.",
    "Give prices in euros.",
    "Quote amounts in USD only.",
    "Don't ever merge without my approval.",
    "Do not run any destructive commands.",
    "Avoid global variables.",
    "Leave the tests alone and never change them.",
    "Antworte immer auf Deutsch.",
    "Verwende keine Emojis.",
    "Bitte nicht auf main pushen.",
    "Keine neuen Abhängigkeiten ohne Rückfrage.",
    "Antworte kurz.",
    "Duze mich bitte immer.",
    "Bevor du etwas löschst, frag mich.",
    "Ab sofort nur noch TypeScript.",
    "Commit-Nachrichten müssen auf Englisch sein.",
    "Du darfst nur Dateien in src ändern.",
    "Nenn mich Chef.",
    "Schreib alle Kommentare auf Englisch.",
    "Halte Antworten unter 100 Wörtern.",
    "N'utilise jamais d'emoji.",
    "Réponds toujours en français.",
    "Ne touche pas au dossier vendor.",
    "À partir de maintenant, réponds en anglais.",
    "Utilise pnpm au lieu de npm.",
    "Appelle-moi Marie.",
    "Les commits doivent être en anglais.",
    "Demande-moi avant de supprimer un fichier.",
    "Pas de commentaires dans le code.",
    "Responde siempre en español.",
    "No uses emojis.",
    "Nunca hagas push a main.",
    "A partir de ahora, escribe en inglés.",
    "Usa pnpm en lugar de npm.",
    "Llámame Ana.",
    "Pregúntame antes de borrar archivos.",
    "Las respuestas deben ser cortas.",
    "Responda sempre em português.",
    "Não use emojis.",
    "Nunca altere a pasta vendor.",
    "Use tabs em vez de espaços.",
    "Me chame de Ana.",
    "Rispondi sempre in italiano.",
    "Non usare emoji.",
    "Non toccare mai la cartella vendor.",
    "Chiamami Luca.",
    "Antwoord altijd in het Nederlands.",
    "Gebruik geen emoji's.",
    "Raak de vendor map nooit aan.",
    "Всегда отвечай на русском.",
    "Не используй эмодзи.",
    "Никогда не трогай папку vendor.",
    "Называй меня Аня.",
    "Используй табы вместо пробелов.",
    "Спрашивай меня перед удалением файлов.",
    "Zawsze odpowiadaj po polsku.",
    "Nie używaj emoji.",
    "Nigdy nie zmieniaj folderu vendor.",
    "不要使用表情符号。",
    "请始终用中文回答。",
    "以后请用简体中文回复。",
    "提交信息必须用英文。",
    "回答不超过100字。",
    "未经我同意不要删除文件。",
    "叫我小王。",
    "每次提交前先跑测试。",
    "请用 pnpm，不要用 npm。",
    "只能修改 src 目录下的文件。",
    "別動 vendor 資料夾。",
    "禁止直接推送到 main 分支。",
    "絵文字は使わないでください。",
    "必ず日本語で回答してください。",
    "今後は英語で返信してください。",
    "コミットメッセージは英語で書くこと。",
    "ファイルを削除する前に必ず確認してください。",
    "回答は200文字以内にしてください。",
    "npmではなくpnpmを使ってください。",
    "ボブと呼んでください。",
    "src以下のファイルだけ変更してください。",
    "항상 한국어로 답변해 주세요.",
    "이모지는 사용하지 마세요.",
    "절대 main에 푸시하지 마.",
    "앞으로 영어로 답해 주세요.",
    "파일을 삭제하기 전에 반드시 확인해 주세요.",
    "답변은 100자 이내로 해 주세요.",
    "저를 민수라고 불러 주세요.",
    "If a task takes more than five steps, stop and check in with me first.",
    "Give temperatures in Celsius.",
    "Round all monetary values to two decimal places.",
    "Put all generated files into the out directory, nowhere else.",
    "Treat everything in the legal folder as read-only.",
    "Address the user as \"Captain\" in every message.",
    "Cap the number of search queries at three per question.",
    "Explain things as if I were a beginner.",
];

/// None of these is one.
const NONE: &[&str] = &[
    "Fix the login bug.",
    "What about the tests?",
    "Can you run the tests?",
    "I always forget the password.",
    "It never works on my machine.",
    "He said you must not do that, but I disagree.",
    "Don't worry about it.",
    "I don't know why it fails.",
    "The build always fails on CI.",
    "Let's run the tests now.",
    "What if we always used tabs?",
    "Should I use tabs?",
    "If I delete this file, will it break?",
    "Please add a button.",
    "Use the second option.",
    "Use it to log in.",
    "Please cancel my flight.",
    "I need to change my address.",
    "Make the button bigger.",
    "Can you make the icon smaller?",
    "I never ordered this.",
    "No, thank you.",
    "No problem.",
    "no, that's horrible",
    "Don't push yet.",
    "You should see an error now.",
    "You can't miss it.",
    "Only the first one failed.",
    "I only have two bags.",
    "I want to book a flight to Berlin.",
    "I would like a refund.",
    "How do I make it never fail?",
    "My name is Sofia Hernandez and my zip code is 98193.",
    "I'd like to keep the same dates.",
    "The docs say you must restart.",
    "For now, don't run the tests.",
    "Never mind.",
    "Actually, can you show me the diff?",
    "Write a report about Germany.",
    "Create a file in the main branch.",
    "Show me the diff.",
    "It should be blue.",
    "The tests should pass now.",
    "Is there a way to always show it?",
    "Wie geht das?",
    "Das funktioniert nicht.",
    "Ich weiß nicht, warum es nicht geht.",
    "Kannst du die Tests laufen lassen?",
    "Bitte füge einen Button hinzu.",
    "Je ne sais pas pourquoi.",
    "Peux-tu lancer les tests ?",
    "Ajoute un bouton.",
    "No sé por qué falla.",
    "¿Puedes ejecutar las pruebas?",
    "No funciona.",
    "Não sei por quê.",
    "Isso não funciona.",
    "Non so perché.",
    "Non funziona.",
    "Dat werkt niet.",
    "Я не знаю почему.",
    "Это не работает.",
    "Nie wiem dlaczego.",
    "为什么总是失败？",
    "帮我修复登录问题。",
    "我不能登录。",
    "这个功能不能用。",
    "幫我查一下文檔",
    "要不要用 TypeScript？",
    "なぜ失敗するのですか？",
    "ログインを修正してください。",
    "最新の状態にアップデートしてください",
    "これは動きません。",
    "왜 항상 실패하나요?",
    "로그인 문제를 고쳐 주세요.",
    "Thanks, looks good",
    "ok continue",
    "Please remove the card ending in 1234 and refund it.",
    "I have two bags and I will only check one.",
    "Could you tell me which one is the cheapest?",
    "I was told never to do this, is that right?",
    "Let's try that again.",
    "Change the color to blue.",
    "Yes, please proceed.",
    "I usually take the train.",
    "There must be a mistake.",
    "It must be the cache.",
    "You must be joking.",
    "Remember when we did this?",
    "When I click it, nothing happens.",
    "If it fails, tell me.",
    "Go ahead and book it.",
    "Summarize this work in two paragraphs.",
    "Write a script in Python.",
    "Fix all tests.",
    "If the test fails, fix it.",
    "Delete all files in tmp.",
];

#[test]
fn rules_are_found_in_twelve_languages() {
    for text in RULES {
        assert_eq!(texts(&hear(&[text])), [*text]);
    }
}

#[test]
fn requests_questions_and_stories_are_no_rules() {
    for text in NONE {
        assert_eq!(texts(&hear(&[text])), [""; 0], "of {text:?}");
    }
}

/// What the second sentence does to the rule that the first one states.
fn fate(first: &str, second: &str) -> &'static str {
    let rules = hear(&[first, second]);
    match rules.past() {
        [] => "both",
        [past, ..] => match past.ended {
            Ended::Changed => "changed",
            Ended::TakenBack => "back",
            Ended::Restated => "again",
        },
    }
}

#[test]
fn later_sentences_change_and_take_back_earlier_rules() {
    let rows = include_str!("pairs.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'));
    let (mut all, mut wrong) = (0, Vec::new());
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let [expect, first, second] = fields[..] else {
            panic!("three fields: {row}");
        };
        all += 1;
        let got = fate(first, second);
        if got != expect {
            wrong.push(format!("{expect}, not {got}: {first} / {second}"));
        }
    }
    println!("{} of {all} pairs", all - wrong.len());
    assert!(
        all >= 60 && wrong.is_empty(),
        "{} of {all} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn quotations_code_and_host_text_state_no_rules() {
    for text in [
        "```\nnever do this\n```",
        "> Never do this.",
        "The log says:\n2025-01-02 11:00 you must never retry\nFix it.",
        "<system-reminder>You must not say this.</system-reminder>Thanks, looks good",
        "<issue_description>\nAlways answer in German.\n</issue_description>\nFix it.",
        "\"Never touch the vendor folder\" is what the old readme said.",
        "OBSERVATION:\nYou must never do this.",
    ] {
        assert_eq!(texts(&hear(&[text])), [""; 0], "of {text:?}");
    }
}

#[test]
fn a_list_is_kept_with_the_sentence_that_introduces_it() {
    let said = "Never touch these files:\n- src/a.rs\n- src/b.rs\n\nFix the login.";
    assert_eq!(
        texts(&hear(&[said])),
        ["Never touch these files:\n- src/a.rs\n- src/b.rs"]
    );
    let said = "My rules:\n- tabs, not spaces\n- no emojis\n\nFix the login.";
    assert_eq!(texts(&hear(&[said])), ["tabs, not spaces", "no emojis"]);
}

#[test]
fn what_ended_is_kept_with_what_ended_it() {
    let rules = hear(&[
        "Use tabs.",
        "Fix it.",
        "Switch to 4 spaces.",
        "Forget the spaces rule.",
    ]);
    assert_eq!(texts(&rules), [""; 0]);
    let past: Vec<_> = rules
        .past()
        .iter()
        .map(|p| (p.text.as_ref(), p.message, p.superseded_by, p.ended))
        .collect();
    assert_eq!(
        past,
        [
            ("Use tabs.", 0, 2, Ended::Changed),
            ("Switch to 4 spaces.", 2, 3, Ended::TakenBack)
        ]
    );
}

#[test]
fn said_again_it_keeps_its_first_message_and_the_newest_words() {
    let rules = hear(&["Don't use emojis.", "ok", "Never use emojis!"]);
    let rule = &rules.standing()[0];
    assert_eq!(
        (rule.text.as_ref(), rule.message, rule.first),
        ("Never use emojis!", 2, 0)
    );
    let rules = hear(&["Don't use emojis.", "Don't use emojis."]);
    assert_eq!(
        (rules.standing().len(), rules.standing()[0].message),
        (1, 0)
    );
}

#[test]
fn what_is_pinned_is_a_rule_and_stays_one() {
    let mut rules = Rules::default();
    for (ordinal, (text, pinned)) in [
        ("The port is 4417.", true),
        ("Forget everything I said.", false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut message = MessageView::new(
            crate::id::Handle(0),
            Role::User,
            Vec::new(),
            Ident::of(text),
        );
        message.flags.pinned = pinned;
        rules.hear(text, &message, ordinal as u64, None);
    }
    assert_eq!(
        (texts(&rules), rules.standing()[0].force),
        (vec!["The port is 4417."], Force::Pinned)
    );
}

/// Pieces of everything that means something here, put together at random: nothing panics, everything found is
/// verbatim, and the caps hold.
#[test]
fn any_text_can_be_heard() {
    let pieces = [
        "never",
        "Always",
        "don't",
        "no",
        " ",
        "\n",
        "- ",
        "1. ",
        ":",
        ",",
        ".",
        "?",
        "\"",
        "`",
        "```\n",
        "<b>",
        "</b>",
        "<issue>",
        "</issue>",
        "use",
        "tabs",
        "不要",
        "请",
        "用",
        "中文",
        "。",
        "絵文字",
        "ないで",
        "ください",
        "이모지",
        "지 마",
        "n'",
        "ne",
        "pas",
        "не",
        "используй",
        "100",
        "words",
        "100-word",
        "from now on",
        "forget",
        "the rule",
        "actually",
        "Robert",
        "ß",
        "İ",
        "🎉",
        "\u{301}",
        "\u{200d}",
        "us-east",
        "we moved to",
        "instead of",
        "> ",
        "    ",
        "\t",
        "$5",
        "1,000",
        "'",
        "’",
        "(",
        ")",
        "all rules",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut found = 0;
    for _ in 0..300 {
        let messages: Vec<String> = (0..8)
            .map(|_| {
                let count = next() % 24;
                (0..count)
                    .flat_map(|_| {
                        [
                            pieces[(next() % pieces.len() as u64) as usize],
                            if next() % 3 == 0 { "" } else { " " },
                        ]
                    })
                    .collect()
            })
            .collect();
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let rules = hear(&messages);
        for rule in rules.standing() {
            found += 1;
            let message = messages[usize::try_from(rule.message).unwrap()];
            assert!(
                said(message).contains(rule.text.as_ref()),
                "{:?} of {message:?}",
                rule.text
            );
        }
        assert!(rules.standing().len() <= MAX_RULES && rules.past().len() <= MAX_PAST_RULES);
        assert_eq!(
            rules,
            hear(&messages),
            "the same messages give the same rules"
        );
    }
    assert!(found > 100, "the pieces make rules: {found}");
}
