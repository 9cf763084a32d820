//! Dutch.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "de|het|een|en|of|maar|is|zijn|was|van|in|op|aan|met|voor|door|bij|als|uit|naar|om|over|onder|ik|jij|je|u|wij|we|hij|zij|ze|mij|me|jou|ons|mijn|jouw|uw|dit|dat|deze|die|niet|geen|ook|nog|wel|dan|er|hier|te|wat|wie|hoe|wanneer|altijd|nooit|alle|elke|elk|moet|moeten|mag|mogen|kan|kun|kunnen|heb|hebt|heeft|wordt|worden|meer|nu|alleen|alsjeblieft|graag|toch|liever|weer",
    ),
    (
        Sign::Always,
        "altijd|elke keer|iedere keer|steeds|standaard|zonder uitzondering",
    ),
    (Sign::Never, "nooit|in geen geval|onder geen beding"),
    (Sign::Dont, "niet|vermijd|stop met|blijf af van"),
    (Sign::No, "geen|zonder"),
    (Sign::Must, "moet|moeten|dient|dienen"),
    (
        Sign::MustNot,
        "mag niet|mogen niet|mag nooit|mogen nooit|mag geen|mogen geen|is verboden|zijn verboden",
    ),
    (
        Sign::YouMust,
        "je moet|jij moet|u moet|zorg ervoor dat je|ik wil dat je",
    ),
    (
        Sign::YouMustNot,
        "je mag niet|je mag nooit|je mag geen|je mag alleen|u mag niet|ik wil niet dat je|ik wil geen",
    ),
    (Sign::YouMay, "je mag|je kunt|je kan|u mag|je mag nu"),
    (
        Sign::YouNeedNot,
        "je hoeft niet|je hoeft geen|je hoeft niet meer|je hoeft geen meer|is niet nodig|is niet meer nodig|zijn niet meer nodig|hoeft niet meer|hoeft niet|hoeven niet meer",
    ),
    (
        Sign::Allowed,
        "is goed|is prima|zijn prima|is toegestaan|zijn toegestaan|is oké|zijn oké|mag weer|mogen weer|mag|mogen",
    ),
    (Sign::Only, "alleen|enkel|uitsluitend|slechts"),
    (
        Sign::Prefer,
        "ik heb liever|ik geef de voorkeur|bij voorkeur|wij gebruiken liever",
    ),
    (Sign::Instead, "in plaats van|en niet"),
    (
        Sign::Limit,
        "hoogstens|maximaal|niet meer dan|minstens|minimaal|minder dan|tot|onder de|ten hoogste",
    ),
    (
        Sign::Scope,
        "vanaf nu|van nu af aan|voortaan|in het vervolg|in de toekomst|voor de rest van|in dit gesprek|in deze sessie|in dit project|tot nader order|zonder te vragen|zonder mijn toestemming|zonder mij te vragen",
    ),
    (Sign::Each, "elke|elk|iedere|ieder|alle|per"),
    (
        Sign::Reply,
        "antwoord|antwoorden|bericht|berichten|uitvoer|uitleg|samenvatting|samenvattingen|tekst",
    ),
    (
        Sign::Artefact,
        "commit|commits|code|commentaar|functie|functies|bestand|bestanden|variabelen|namen|test|tests|branch|regel|regels|rapport|rapporten|tabel|tabellen|getal|getallen|datum|bedragen|prijzen|eenheden|bronnen|wijziging|wijzigingen|documentatie|e-mail|e-mails|afhankelijkheden",
    ),
    (
        Sign::When,
        "als|wanneer|telkens als|zodra|bij elke|bij elk|in elke|in elk|na elke|voor elke|aan het eind van elk",
    ),
    (Sign::Around, "voordat|voor je|nadat|zonder|tenzij|totdat"),
    (
        Sign::Verb,
        "gebruik|schrijf|antwoord|houd|hou|maak|noem|vraag|toon|laat|voer|test|controleer|geef|formatteer|begin|eindig|voeg|leg|spreek|praat|zeg|blijf|bewaar|verwijder|wijzig|citeer|vertaal|wacht|bevestig|wees|beperk|vergeet|negeer|stap|zet",
    ),
    (
        Sign::Style,
        "schrijf|antwoord|houd|hou|spreek|praat|wees|blijf|formatteer|geef|begin|eindig|maak",
    ),
    (Sign::Use, "gebruik|neem|kies"),
    (
        Sign::Hold,
        "houd je aan|hou je aan|beperk je tot|blijf bij|blijf binnen",
    ),
    (Sign::You, "je|jij|jou|jouw|u|uw"),
    (Sign::I, "ik|mij|me|mijn"),
    (Sign::We, "wij|we|ons|onze|het team"),
    (Sign::They, "hij|zij|ze|het|men|iemand|dit|dat"),
    (
        Sign::Filler,
        "alsjeblieft|aub|graag|ook|en|maar|dus|oké|ok|bedankt|ja|belangrijk|let op|trouwens|eigenlijk|onthoud|laten we",
    ),
    (Sign::Joint, "en|maar|of|dus|want"),
    (
        Sign::Asks,
        "wat|waarom|hoe|wie|waar|welke|welk|kan ik|moet ik|zullen we",
    ),
    (Sign::AsksPolitely, "kun je|kan je|kunt u|zou je|wil je"),
    (
        Sign::Imagined,
        "als ik|als we|als het|als de|stel dat|stel je voor|bijvoorbeeld|als je wilt|indien mogelijk|als je klaar bent",
    ),
    (Sign::Reported, "zegt|zei|volgens"),
    (
        Sign::Once,
        "deze keer|dit keer|voorlopig|vandaag|voor nu|morgen|nog niet",
    ),
    (Sign::CallMe, "noem me|noem mij|ik heet|mijn naam is"),
    (
        Sign::RuleNoun,
        "afspraak|afspraken|instructie|instructies|voorschrift|beperking|voorkeur",
    ),
    (
        Sign::Forget,
        "vergeet|negeer|laat maar|schrap|ik ben van gedachten veranderd",
    ),
    (
        Sign::Gone,
        "niet meer|niet langer|geldt niet meer|vervalt|weer|toch",
    ),
    (
        Sign::Actually,
        "eigenlijk|liever|toch|in plaats daarvan|correctie|nu|voortaan|ik bedoel",
    ),
    (
        Sign::Switch,
        "stap over|schakel over|overgestapt|overgeschakeld|verhuisd|vervang|vervangen|wijzig|verhoog|verlaag|is nu|zijn nu|we zitten nu",
    ),
    (
        Sign::All,
        "alles|alle regels|alle instructies|alle afspraken",
    ),
    (Sign::Idle, "erg|zeker|nodig|zo"),
    (Sign::Want, "ik wil|ik verwacht|ik heb nodig|wij willen"),
];
