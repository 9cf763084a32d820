//! What is found, what is not, and what a later sentence does to an earlier rule. The sentences are our own.

use super::*;

/// A user's messages, heard one after another.
fn hear(messages: &[&str]) -> Rules {
    let mut rules = Rules::default();
    for (ordinal, text) in messages.iter().enumerate() {
        let handle = crate::id::Handle(0);
        let message = MessageView::new(handle, Role::User, Vec::new(), Ident::of(text));
        rules.hear(text, &message, ordinal as u64);
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
