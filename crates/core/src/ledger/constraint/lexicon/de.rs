//! German.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "der|die|das|ein|eine|einen|einem|einer|ist|sind|war|sein|und|oder|aber|nicht|kein|keine|keinen|zu|in|im|auf|an|am|für|mit|von|vom|bei|als|aus|nach|um|über|unter|vor|ich|du|sie|wir|ihr|er|es|mir|mich|dir|dich|uns|mein|meine|dein|deine|den|dem|des|wie|was|wer|wenn|dann|auch|nur|noch|schon|doch|mal|bitte|immer|nie|niemals|alle|jede|jeder|jedes|jeden|soll|sollen|muss|müssen|kann|kannst|können|darf|darfst|dürfen|hat|haben|habe|wird|werden|wurde|mehr|so|jetzt|hier|dass|damit|statt|stattdessen|lieber|bitte|zum|zur|sich|bin|bist|machen|mach|mache|sollst|sag|gesagt|wieder|eigentlich|doch|ab|sofort",
    ),
    (
        Sign::Always,
        "immer|stets|jedes mal|jedesmal|grundsätzlich|ausnahmslos|generell|standardmäßig|in jedem fall|durchgehend",
    ),
    (
        Sign::Never,
        "nie|niemals|nie wieder|auf keinen fall|unter keinen umständen|keinesfalls|nie und nimmer",
    ),
    (
        Sign::Dont,
        "nicht|vermeide|vermeiden sie|verzichte auf|verzichten sie auf|lass das|hör auf|lass die finger von|keinerlei",
    ),
    (Sign::No, "kein|keine|keinen|keinerlei|ohne"),
    (
        Sign::Must,
        "muss|müssen|sollen|soll|sollten|sollte|hat zu|haben zu|ist zu|sind zu",
    ),
    (
        Sign::MustNot,
        "darf nicht|dürfen nicht|darf nie|dürfen nie|darf niemals|dürfen niemals|soll nicht|sollen nicht|sind verboten|ist verboten|ist tabu|sind tabu|darf kein|darf keine|dürfen keine|sind nicht erlaubt|ist nicht erlaubt",
    ),
    (
        Sign::YouMust,
        "du musst|du sollst|du solltest|sie müssen|sie sollen|sie sollten|achte darauf|achten sie darauf|stell sicher|stelle sicher|stellen sie sicher|ich möchte dass du|ich will dass du|ich möchte , dass du|ich will , dass du|ich möchte , dass sie",
    ),
    (
        Sign::YouMustNot,
        "du darfst nicht|du darfst nie|du darfst niemals|du darfst keine|du darfst nur|sie dürfen nicht|sie dürfen nur|sie dürfen keine|du sollst nicht|du sollst keine|du sollst nie|ich will keine|ich möchte keine|ich will nicht , dass du|ich möchte nicht , dass du",
    ),
    (
        Sign::YouMay,
        "du darfst|du kannst|sie dürfen|sie können|du darfst jetzt|du kannst jetzt|ich erlaube dir|es ist in ordnung|ist schon in ordnung",
    ),
    (
        Sign::YouNeedNot,
        "du musst nicht|du brauchst nicht|du brauchst keine|du musst keine|sie müssen nicht|sie brauchen nicht|sie brauchen keine|brauchen wir nicht mehr|wir brauchen keine|ist nicht nötig|sind nicht nötig|nicht mehr nötig|ist nicht mehr nötig|sind nicht mehr nötig|nicht mehr nötig|nicht mehr erforderlich|du musst nicht mehr|du brauchst nicht mehr|nicht länger nötig|muss nicht mehr|müssen nicht mehr|müssen nicht",
    ),
    (
        Sign::Allowed,
        "ist erlaubt|sind erlaubt|ist ok|sind ok|ist okay|sind okay|ist in ordnung|sind in ordnung|geht klar|dürfen|darf|können|wieder erlaubt|ist jetzt erlaubt|sind jetzt erlaubt",
    ),
    (
        Sign::Only,
        "nur|ausschließlich|lediglich|nichts außer|nur noch",
    ),
    (
        Sign::Prefer,
        "ich bevorzuge|wir bevorzugen|bevorzuge|bevorzugen sie|ich mag lieber|mir ist lieber|mir wäre lieber , wenn du|ich habe es lieber , wenn du|vorzugsweise|bevorzugt",
    ),
    (
        Sign::Instead,
        "statt|anstatt|anstelle von|anstelle|und nicht|nicht mit",
    ),
    (
        Sign::Limit,
        "höchstens|maximal|nicht mehr als|mindestens|weniger als|nicht länger als|bis zu|unter|unterhalb|begrenze|begrenzen sie",
    ),
    (
        Sign::Scope,
        "ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft|zukünftig|für den rest|den rest der sitzung|in diesem gespräch|in dieser sitzung|in diesem projekt|bis auf weiteres|bis ich etwas anderes sage|ohne zu fragen|ohne rückfrage|ohne mich zu fragen|ohne meine zustimmung|ohne meine erlaubnis|ohne nachzufragen|ohne rücksprache|bevor ich zustimme",
    ),
    (
        Sign::Each,
        "jede|jeder|jedes|jeden|jedem|alle|allen|pro|sämtliche|alles",
    ),
    (
        Sign::Reply,
        "antwort|antworten|ausgabe|ausgaben|nachricht|nachrichten|erklärung|erklärungen|zusammenfassung|zusammenfassungen|text|texte",
    ),
    (
        Sign::Artefact,
        "commit|commits|commit-nachricht|commit-nachrichten|code|kommentar|kommentare|funktion|funktionen|datei|dateien|dateinamen|variablen|variablennamen|namen|test|tests|branch|branches|zeile|zeilen|bericht|berichte|tabelle|tabellen|zahl|zahlen|betrag|beträge|datum|daten|preis|preise|einheiten|quellen|zitate|änderung|änderungen|dokumentation|e-mail|e-mails|mails|bezeichner|migrationen|abhängigkeiten|überschriften|sätze|absätze",
    ),
    (
        Sign::When,
        "wenn|wann immer|jedes mal , wenn|immer wenn|falls|sobald|bei jeder|bei jedem|in jeder|in jedem|nach jeder|nach jedem|vor jeder|vor jedem|bei allen|in allen|für jede|für jeden|für jedes|am ende jeder",
    ),
    (
        Sign::Around,
        "bevor|ehe|vor dem|vor der|vor jedem|vor jeder|nach dem|nachdem|ohne|bis",
    ),
    (
        Sign::Verb,
        "verwende|benutze|benutz|nutze|nutz|nimm|schreib|schreibe|antworte|halte|halt|mach|mache|nenn|nenne|frag|frage|zeig|zeige|führe|führ|teste|prüfe|prüf|lass|lasse|gib|formatiere|beginne|beende|setze|füge|erkläre|erklär|sprich|rede|sag|sage|bleib|bleibe|achte|speichere|lösche|ändere|committe|pushe|liste|zitiere|übersetze|runde|informiere|warte|bestätige|erstelle|lege|leg|sei|verwenden sie|benutzen sie|nutzen sie|nehmen sie|schreiben sie|antworten sie|halten sie|machen sie|nennen sie|fragen sie|zeigen sie|geben sie|formatieren sie|beginnen sie|beenden sie|sprechen sie|bleiben sie|seien sie|begrenze|begrenzen sie|deploye|wechsle|wechsel|nimm|berücksichtige|beachte|beachten sie|ignoriere|vergiss|vergessen sie|duze|sieze|duz|siez",
    ),
    (
        Sign::Style,
        "schreib|schreibe|antworte|formatiere|halte|sprich|rede|sag|sage|sei|bleib|bleibe|erkläre|erklär|gib|schreiben sie|antworten sie|halten sie|sprechen sie|seien sie|bleiben sie|geben sie|formatieren sie|beginne|beende|mach|mache|fass dich|fasse dich|duze|sieze|antworten|schreiben",
    ),
    (
        Sign::Use,
        "verwende|benutze|benutz|nutze|nutz|nimm|verwenden sie|benutzen sie|nutzen sie|nehmen sie|bleib bei|verwenden|benutzen|nutzen",
    ),
    (
        Sign::Hold,
        "halte dich an|halten sie sich an|bleib bei|bleibe bei|beschränke dich auf|beschränken sie sich auf|bleib im|bleib unter",
    ),
    (
        Sign::You,
        "du|dir|dich|dein|deine|deinen|deiner|ihnen|ihre antworten",
    ),
    (Sign::I, "ich|mir|mich|mein|meine|meinen"),
    (Sign::We, "wir|uns|unser|unsere|das team|dieses projekt"),
    (
        Sign::They,
        "er|es|man|jemand|das|dies|diese|dieser|die leute|leute|der nutzer",
    ),
    (
        Sign::Filler,
        "bitte|auch|und|aber|also|ok|okay|hinweis|wichtig|achtung|übrigens|ach ja|ja|gut|danke|denk daran|denk dran|denke daran|außerdem|ferner|eigentlich|noch etwas|grundsätzlich gilt|ich bitte dich|lass uns|lasst uns",
    ),
    (
        Sign::Joint,
        "und|aber|oder|sondern|also|denn|außerdem|sonst",
    ),
    (
        Sign::Asks,
        "was|warum|wieso|wie|wer|wo|welche|welcher|welches|ist das|gibt es|sind die|hast du|soll ich|sollen wir|kann ich|können wir|darf ich|weißt du",
    ),
    (
        Sign::AsksPolitely,
        "kannst du|könntest du|können sie|könnten sie|würdest du|würden sie",
    ),
    (
        Sign::Imagined,
        "wenn ich|wenn wir|wenn es|wenn er|wenn das|wenn der|wenn die|was wäre wenn|angenommen|stell dir vor|zum beispiel|z.b|falls du möchtest|wenn du willst|wenn du magst|wenn möglich|falls nötig|sobald ich|sobald du|wenn du fertig bist",
    ),
    (
        Sign::Reported,
        "sagt|sagte|laut|behauptet|schreibt|meldet|die fehlermeldung",
    ),
    (
        Sign::Once,
        "diesmal|dieses mal|nur dieses eine mal|heute|vorerst|fürs erste|gerade|im moment|noch nicht|jetzt gerade|morgen|einmalig",
    ),
    (
        Sign::CallMe,
        "nenn mich|nenne mich|nennen sie mich|sprich mich mit|sprechen sie mich mit|ich heiße|mein name ist",
    ),
    (
        Sign::RuleNoun,
        "regel|regeln|vorgabe|vorgaben|konvention|anweisung|anweisungen|vorschrift|vorliebe|einschränkung|beschränkung|limit",
    ),
    (
        Sign::Forget,
        "vergiss|vergessen sie|ignoriere|ignorieren sie|streiche|hebe|verwirf|nimm zurück|ich nehme zurück|ich habe es mir anders überlegt|schon gut mit",
    ),
    (
        Sign::Gone,
        "nicht mehr|gilt nicht mehr|gelten nicht mehr|entfällt|hinfällig|aufgehoben|wieder|doch",
    ),
    (
        Sign::Actually,
        "eigentlich|stattdessen|doch lieber|lieber|korrektur|jetzt|ab jetzt|ab sofort|nun|ich meine|ich meinte|besser|doch|inzwischen|mittlerweile|künftig|statt dessen",
    ),
    (
        Sign::Switch,
        "wechsle|wechsel|wechseln|wechsle zu|umgestiegen|umgezogen|gewechselt|umgestellt|stell um|stelle um|stellen um|wir sind auf|ersetze|ersetzt|ändere|erhöhe|erhöht|senke|gesenkt|geändert|läuft jetzt|laufen jetzt|liegt jetzt|liegen jetzt|ist jetzt|sind jetzt",
    ),
    (
        Sign::All,
        "alles|alle regeln|alle vorgaben|alle anweisungen|alle bisherigen anweisungen|sämtliche regeln",
    ),
    (
        Sign::Idle,
        "schlimm|nötig|so schnell|wahr|schlecht|dass|sicher|ganz|wirklich|viel",
    ),
    (
        Sign::Want,
        "ich will|ich möchte|ich brauche|ich erwarte|wir wollen|ich verlange",
    ),
];
