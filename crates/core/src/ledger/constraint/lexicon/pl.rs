//! Polish.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "i|lub|ale|w|we|na|z|ze|do|od|o|po|za|dla|bez|przy|jest|są|być|to|ten|ta|te|ja|ty|my|on|ona|oni|mi|mnie|ci|cię|nam|mój|moja|twój|nie|tak|co|kto|jak|kiedy|jeśli|że|się|już|jeszcze|tylko|zawsze|nigdy|wszystkie|każdy|każda|każde|można|trzeba|bardzo|więcej|teraz|proszę|lepiej|był|była|było|też|zamiast|znowu",
    ),
    (
        Sign::Always,
        "zawsze|za każdym razem|bez wyjątku|domyślnie|koniecznie",
    ),
    (
        Sign::Never,
        "nigdy|pod żadnym pozorem|w żadnym wypadku|w żadnym razie",
    ),
    (Sign::Dont, "nie|unikaj|przestań|powstrzymaj się"),
    (Sign::No, "żadnych|żadnego|żadnej|bez"),
    (Sign::Must, "musi|muszą|powinien|powinna|powinno|powinny"),
    (
        Sign::MustNot,
        "nie może|nie mogą|nie powinien|nie powinna|nie powinny|nie wolno|jest zabronione|są zabronione",
    ),
    (
        Sign::YouMust,
        "musisz|powinieneś|powinnaś|upewnij się|chcę , żebyś|chcę żebyś",
    ),
    (
        Sign::YouMustNot,
        "nie możesz|nie powinieneś|nie wolno ci|nie chcę , żebyś|nie chcę żadnych|możesz tylko",
    ),
    (Sign::YouMay, "możesz|wolno ci|możesz teraz|teraz możesz"),
    (
        Sign::YouNeedNot,
        "nie musisz|nie trzeba|nie ma potrzeby|już nie musisz|nie musisz już|nie jest już potrzebne|nie są już potrzebne",
    ),
    (
        Sign::Allowed,
        "jest dozwolone|są dozwolone|jest w porządku|są w porządku|można",
    ),
    (Sign::Only, "tylko|wyłącznie|jedynie"),
    (Sign::Prefer, "wolę|preferuję|preferuj|najlepiej"),
    (Sign::Instead, "zamiast|a nie"),
    (
        Sign::Limit,
        "najwyżej|maksymalnie|nie więcej niż|co najmniej|mniej niż|do|poniżej",
    ),
    (
        Sign::Scope,
        "od teraz|od tej pory|odtąd|w przyszłości|do końca sesji|do końca rozmowy|w tej rozmowie|w tym projekcie|do odwołania|bez pytania|bez mojej zgody",
    ),
    (
        Sign::Each,
        "każdy|każda|każde|każdej|każdego|wszystkie|wszystkich",
    ),
    (
        Sign::Reply,
        "odpowiedź|odpowiedzi|wiadomość|wiadomości|tekst|podsumowanie|wyjaśnienia",
    ),
    (
        Sign::Artefact,
        "commit|commity|commitów|kod|komentarz|komentarze|komentarzy|funkcja|funkcje|plik|pliki|plików|zmienne|nazwy|test|testy|testów|gałąź|linia|linie|raport|tabela|liczby|daty|ceny|kwoty|źródła|zmiany|dokumentacja|mail|maile|zależności",
    ),
    (
        Sign::When,
        "kiedy|gdy|za każdym razem , gdy|jeśli|w każdej|w każdym|po każdym|po każdej|przed każdym|przed każdą",
    ),
    (Sign::Around, "zanim|przed|po|bez|chyba że"),
    (
        Sign::Verb,
        "używaj|pisz|odpowiadaj|odpowiedz|trzymaj|rób|nazywaj|mów|pytaj|zapytaj|pokazuj|pokaż|uruchamiaj|sprawdzaj|testuj|zostaw|dawaj|formatuj|zaczynaj|kończ|dodawaj|wyjaśniaj|zapisuj|usuwaj|zmieniaj|dotykaj|cytuj|czekaj|potwierdzaj|twórz|bądź|ogranicz|zapomnij|ignoruj|przejdź|przestrzegaj|commituj|zwracaj",
    ),
    (
        Sign::Style,
        "pisz|odpowiadaj|odpowiedz|formatuj|bądź|mów|trzymaj|wyjaśniaj|kończ|zaczynaj|zwracaj",
    ),
    (Sign::Use, "używaj|użyj|stosuj"),
    (Sign::Hold, "trzymaj się|ogranicz się do|pozostań przy"),
    (Sign::You, "ty|ci|cię|twój|twoje|twoich"),
    (Sign::I, "ja|mi|mnie|mój|moje"),
    (Sign::We, "my|nam|nas|nasz|nasze|zespół"),
    (Sign::They, "on|ona|ono|oni|to|ktoś|ludzie"),
    (
        Sign::Filler,
        "proszę|i|ale|też|także|więc|ok|dobrze|dzięki|tak|ważne|uwaga|pamiętaj|pamiętaj , żeby|właściwie",
    ),
    (Sign::Joint, "i|ale|lub|więc|bo"),
    (
        Sign::Asks,
        "co|dlaczego|jak|kto|gdzie|który|która|które|ile|czy",
    ),
    (Sign::AsksPolitely, "czy możesz|czy mógłbyś|mógłbyś"),
    (
        Sign::Imagined,
        "jeśli ja|gdyby|a co jeśli|załóżmy|wyobraź sobie|na przykład|np|jeśli chcesz|jeśli możesz|kiedy skończysz",
    ),
    (Sign::Reported, "mówi|powiedział|według"),
    (
        Sign::Once,
        "tym razem|na razie|dzisiaj|dziś|jutro|jeszcze nie",
    ),
    (
        Sign::CallMe,
        "mów mi|nazywaj mnie|zwracaj się do mnie|nazywam się|mam na imię",
    ),
    (
        Sign::RuleNoun,
        "reguła|reguły|zasada|zasady|zasadzie|instrukcja|instrukcje|ograniczenie|zakaz",
    ),
    (
        Sign::Forget,
        "zapomnij|zapomnij o|ignoruj|anuluj|odwołuję|zmieniłem zdanie|zmieniłam zdanie",
    ),
    (
        Sign::Gone,
        "już nie|nie obowiązuje|nie obowiązują|znowu|znów",
    ),
    (
        Sign::Actually,
        "właściwie|lepiej|zamiast tego|poprawka|teraz|jednak|raczej",
    ),
    (
        Sign::Switch,
        "przejdź na|przechodzimy na|przeszliśmy|przeszliśmy na|przenieśliśmy|zmień na|zmieniliśmy|zamień|zwiększ|zmniejsz",
    ),
    (Sign::All, "wszystko|wszystkie zasady|wszystkie instrukcje"),
    (
        Sign::Idle,
        "martw|przejmuj|wiem|mogę|chcę|rozumiem|działa|myślę|jest|ma|widzę|pamiętam",
    ),
    (Sign::Want, "chcę|potrzebuję|wymagam|chcemy"),
];
