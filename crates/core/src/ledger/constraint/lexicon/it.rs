//! Italian.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "il|lo|la|i|gli|le|un|uno|una|di|del|della|dei|delle|e|o|ma|è|sono|essere|a|al|alla|in|nel|nella|con|su|sul|per|da|dal|che|chi|questo|questa|questi|queste|quello|io|tu|lei|lui|noi|voi|loro|mi|ti|si|ci|vi|mio|mia|tuo|tua|tuoi|tue|suo|sua|non|sì|se|come|quando|molto|più|meno|tutto|tutti|tutta|tutte|ogni|sempre|mai|ha|ho|hai|fare|può|puoi|deve|devi|devono|adesso|ora|anche|già|solo|favore|meglio|detto|l'|d'|un'",
    ),
    (
        Sign::Always,
        "sempre|ogni volta|in ogni caso|senza eccezioni|di default",
    ),
    (
        Sign::Never,
        "mai|in nessun caso|per nessun motivo|assolutamente no",
    ),
    (Sign::Dont, "non|evita|evitare|smetti di|smettila di|niente"),
    (Sign::No, "nessun|nessuna|nessuno|niente|senza|zero"),
    (Sign::Must, "deve|devono|dovrebbe|dovrebbero|bisogna"),
    (
        Sign::MustNot,
        "non deve|non devono|non può|non possono|è vietato|è vietata|sono vietati|sono vietate",
    ),
    (
        Sign::YouMust,
        "devi|dovresti|assicurati|accertati|voglio che tu|vorrei che tu",
    ),
    (
        Sign::YouMustNot,
        "non devi|non puoi|non devi mai|non voglio che tu|non voglio nessun|non voglio nessuna|puoi solo",
    ),
    (
        Sign::YouMay,
        "puoi|sei libero di|sentiti libero di|hai il permesso|adesso puoi|ora puoi",
    ),
    (
        Sign::YouNeedNot,
        "non serve|non è necessario|non sono necessari|non occorre|non hai bisogno|non c'è bisogno|non serve più|non è più necessario|non occorre più|non devi più",
    ),
    (
        Sign::Allowed,
        "va bene|vanno bene|è permesso|sono permessi|sono permesse|è consentito|sono consentiti|è accettabile|possono",
    ),
    (
        Sign::Only,
        "solo|soltanto|solamente|esclusivamente|unicamente",
    ),
    (
        Sign::Prefer,
        "preferisco|preferiamo|preferisci|di preferenza|preferibilmente",
    ),
    (
        Sign::Instead,
        "invece di|anziché|al posto di|piuttosto che|e non",
    ),
    (
        Sign::Limit,
        "al massimo|massimo|non più di|almeno|meno di|fino a|limita|entro",
    ),
    (
        Sign::Scope,
        "d' ora in poi|da ora in poi|da adesso in poi|in futuro|in avanti|per il resto|in questa conversazione|in questa sessione|in questo progetto|fino a nuovo ordine|senza chiedermi|senza chiedere|senza il mio permesso|senza la mia approvazione",
    ),
    (
        Sign::Each,
        "ogni|tutti|tutte|tutto|tutta|qualsiasi|ciascun|per",
    ),
    (
        Sign::Reply,
        "risposta|risposte|messaggio|messaggi|output|spiegazione|spiegazioni|riassunto|riassunti|testo|testi",
    ),
    (
        Sign::Artefact,
        "commit|codice|commento|commenti|funzione|funzioni|file|variabile|variabili|nomi|test|ramo|branch|riga|righe|rapporto|rapporti|tabella|tabelle|numero|numeri|data|date|importo|importi|prezzo|prezzi|unità|fonti|citazioni|modifica|modifiche|documentazione|email|mail|dipendenze|titoli|frasi|misure",
    ),
    (
        Sign::When,
        "quando|ogni volta che|se|appena|in ogni|in tutte|in tutti|per ogni|dopo ogni|prima di ogni|alla fine di ogni|nelle tue",
    ),
    (Sign::Around, "prima di|dopo|senza|a meno che|finché"),
    (
        Sign::Verb,
        "usa|usate|utilizza|scrivi|scrivete|rispondi|rispondete|mantieni|tieni|fai|fa'|metti|chiamami|chiedi|chiedimi|mostra|mostrami|esegui|lancia|prova|verifica|controlla|lascia|dai|dammi|formatta|inizia|comincia|termina|finisci|aggiungi|spiega|parla|di'|dimmi|salva|cancella|elimina|modifica|cambia|elenca|cita|traduci|aspetta|attendi|conferma|crea|sii|limita|preferisci|dimentica|ignora|passa|rispetta|segui|resta|tratta|dammi",
    ),
    (
        Sign::Style,
        "scrivi|scrivete|rispondi|rispondete|parla|formatta|sii|mantieni|tieni|spiega|dai|termina|inizia|comincia|finisci|dammi|resta",
    ),
    (
        Sign::Use,
        "usa|usate|utilizza|preferisci|adopera|usare|utilizzare",
    ),
    (
        Sign::Hold,
        "limitati a|attieniti a|resta su|resta in|resta entro",
    ),
    (Sign::You, "tu|ti|te|tuo|tua|tuoi|tue|lei|voi"),
    (Sign::I, "io|mi|me|mio|mia|miei|mie"),
    (Sign::We, "noi|nostro|nostra|nostri|il team"),
    (
        Sign::They,
        "lui|esso|loro|questo|quello|ciò|qualcuno|la gente",
    ),
    (
        Sign::Filler,
        "per favore|e|ma|anche|inoltre|allora|bene|ok|grazie|sì|importante|attenzione|a proposito|nota|ricorda|ricordati di|ricorda di|in realtà|assicurati di",
    ),
    (Sign::Joint, "e|ma|o|quindi|perché|oppure"),
    (
        Sign::Asks,
        "che cosa|cosa|perché|come|chi|dove|quale|quali|quanto|è possibile|devo|posso",
    ),
    (Sign::AsksPolitely, "puoi|potresti|potrebbe|può"),
    (
        Sign::Imagined,
        "se io|se non|se è|se il|se la|e se|supponiamo|immagina|per esempio|ad esempio|se vuoi|se puoi|se possibile|quando hai finito|quando io|quando il",
    ),
    (Sign::Reported, "dice|ha detto|secondo|afferma"),
    (
        Sign::Once,
        "questa volta|per ora|per adesso|oggi|solo per stavolta|domani|non ancora|stavolta",
    ),
    (
        Sign::CallMe,
        "chiamami|mi chiami|mi chiamo|il mio nome è|puoi chiamarmi",
    ),
    (
        Sign::RuleNoun,
        "regola|regole|convenzione|norma|istruzione|istruzioni|vincolo|preferenza|limite|divieto",
    ),
    (
        Sign::Forget,
        "dimentica|ignora|annulla|lascia perdere|scarta|ritiro|ho cambiato idea",
    ),
    (
        Sign::Gone,
        "non più|non vale più|non si applica più|di nuovo|nuovamente",
    ),
    (
        Sign::Actually,
        "in realtà|anzi|meglio|correzione|invece|adesso|ora|d' ora in poi|volevo dire|piuttosto",
    ),
    (
        Sign::Switch,
        "passa a|passiamo a|siamo passati|cambia in|cambiato|abbiamo cambiato|migrato|migriamo|sostituisci|sostituito|aumenta|riduci|spostati|ora è|adesso è|ora sono|ci siamo spostati",
    ),
    (
        Sign::All,
        "tutto quello che|tutte le regole|tutte le istruzioni|tutto ciò che",
    ),
    (
        Sign::Idle,
        "preoccuparti|esitare|dimenticare|so|è|ho|posso|voglio|sono|funziona|mi|lo|ti|importa|capisco|credo|c'è|ci|riesco|vedo|ricordo|va",
    ),
    (
        Sign::Want,
        "voglio|ho bisogno|desidero|pretendo|vogliamo|vorrei",
    ),
];
