//! Spanish.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "el|la|los|las|un|una|unos|unas|de|del|al|y|o|pero|es|son|ser|está|están|a|en|con|por|para|sin|que|qué|quien|este|esta|estos|estas|ese|esa|eso|esto|yo|tú|usted|él|ella|nosotros|ellos|me|te|se|lo|le|les|nos|mi|mis|tu|tus|su|sus|no|sí|si|como|cuando|muy|más|menos|todo|todos|toda|todas|cada|siempre|nunca|hay|ha|he|has|hacer|puedes|puede|debes|debe|deben|tienes|ahora|también|ya|solo|sólo|favor|mejor|dije|vez|vuelve|vuelta",
    ),
    (
        Sign::Always,
        "siempre|cada vez|en todo momento|sin excepción|por defecto|en todos los casos",
    ),
    (
        Sign::Never,
        "nunca|jamás|bajo ninguna circunstancia|en ningún caso|de ninguna manera",
    ),
    (
        Sign::Dont,
        "no|evita|evite|evitar|deja de|deje de|abstente de",
    ),
    (Sign::No, "ningún|ninguna|nada de|cero|sin"),
    (
        Sign::Must,
        "debe|deben|debería|deberían|tiene que|tienen que|hay que",
    ),
    (
        Sign::MustNot,
        "no debe|no deben|no debería|no puede|no pueden|nunca debe|nunca deben|está prohibido|está prohibida|están prohibidos|están prohibidas|no se permite|no se permiten|prohibido",
    ),
    (
        Sign::YouMust,
        "debes|tienes que|deberías|usted debe|asegúrate|asegúrese|quiero que|quiero que siempre|me gustaría que",
    ),
    (
        Sign::YouMustNot,
        "no debes|no puedes|no deberías|nunca debes|no tienes permitido|no quiero que|no quiero ningún|no quiero ninguna|solo puedes|sólo puedes",
    ),
    (
        Sign::YouMay,
        "puedes|puede usted|tienes permiso|eres libre de|siéntete libre de|ya puedes|ahora puedes",
    ),
    (
        Sign::YouNeedNot,
        "no hace falta|no es necesario|no son necesarios|no son necesarias|no necesitas|no tienes que|ya no necesitas|ya no tienes que|ya no hace falta|ya no es necesario|no es obligatorio|no te molestes en",
    ),
    (
        Sign::Allowed,
        "está bien|están bien|está permitido|están permitidos|están permitidas|se permite|se permiten|es aceptable|pueden|puede",
    ),
    (
        Sign::Only,
        "solo|sólo|solamente|únicamente|exclusivamente|nada más que",
    ),
    (
        Sign::Prefer,
        "prefiero|preferimos|prefiere|de preferencia|preferiblemente|prefiero que",
    ),
    (Sign::Instead, "en vez de|en lugar de|y no"),
    (
        Sign::Limit,
        "como máximo|máximo|no más de|al menos|como mínimo|menos de|hasta|limita|limite|no superes|no excedas",
    ),
    (
        Sign::Scope,
        "a partir de ahora|de ahora en adelante|desde ahora|en adelante|en el futuro|en lo sucesivo|durante el resto|por el resto de|en esta conversación|en esta sesión|en este proyecto|hasta nuevo aviso|sin preguntarme|sin preguntar|sin mi permiso|sin mi aprobación|sin consultarme",
    ),
    (Sign::Each, "cada|todos|todas|todo|toda|cualquier|por"),
    (
        Sign::Reply,
        "respuesta|respuestas|mensaje|mensajes|salida|explicación|explicaciones|resumen|resúmenes|texto|textos",
    ),
    (
        Sign::Artefact,
        "commit|commits|código|comentario|comentarios|función|funciones|archivo|archivos|fichero|ficheros|variable|variables|nombres|prueba|pruebas|test|tests|rama|ramas|línea|líneas|informe|informes|tabla|tablas|número|números|fecha|fechas|importe|importes|precio|precios|unidades|fuentes|citas|cambio|cambios|documentación|correo|correos|dependencias|títulos|frases|medidas",
    ),
    (
        Sign::When,
        "cuando|siempre que|cada vez que|si|en cuanto|en cada|en todas|en todos|en tus|para cada|después de cada|antes de cada|al final de cada",
    ),
    (
        Sign::Around,
        "antes de|después de|sin|salvo|a menos que|hasta que",
    ),
    (
        Sign::Verb,
        "usa|use|utiliza|utilice|escribe|escriba|responde|responda|contesta|contesta|mantén|mantenga|haz|haga|pon|ponga|llámame|pregunta|pregúntame|pregunte|muestra|muéstrame|ejecuta|ejecute|prueba|comprueba|verifica|deja|deje|da|dame|formatea|empieza|empiece|comienza|termina|termine|añade|agrega|explica|explique|habla|hable|di|diga|guarda|borra|elimina|modifica|cambia|lista|cita|cite|traduce|espera|espere|confirma|crea|sé|sea|limita|limite|prefiere|olvida|olvide|ignora|ignore|pasa|respeta|sigue|siga|quédate|trata|tutéame|redacta|indica|despliega",
    ),
    (
        Sign::Style,
        "escribe|escriba|responde|responda|contesta|habla|hable|formatea|sé|sea|mantén|mantenga|explica|explique|da|dame|termina|termine|empieza|empiece|comienza|haz|redacta|trátame|tutéame",
    ),
    (Sign::Use, "usa|use|utiliza|utilice|prefiere|emplea"),
    (
        Sign::Hold,
        "limítate a|limítese a|cíñete a|quédate en|atente a|mantente en|mantente dentro",
    ),
    (Sign::You, "tú|ti|usted|tu|tus|te"),
    (Sign::I, "yo|me|mi|mis|mí"),
    (Sign::We, "nosotros|nuestro|nuestra|nuestros|el equipo"),
    (
        Sign::They,
        "él|ella|ellos|ellas|eso|esto|alguien|la gente|se",
    ),
    (
        Sign::Filler,
        "por favor|y|pero|también|además|entonces|bueno|ok|vale|gracias|sí|importante|atención|por cierto|nota|recuerda|recuerde|en realidad|oye|acuérdate de|asegúrate de",
    ),
    (Sign::Joint, "y|pero|o|así que|porque|sino|además"),
    (
        Sign::Asks,
        "qué|por qué|cómo|quién|dónde|cuál|cuáles|cuánto|hay algún|es posible|debo|debería",
    ),
    (Sign::AsksPolitely, "puedes|podrías|puede usted|podría"),
    (
        Sign::Imagined,
        "si yo|si no|si es|si el|si la|si los|y si|supongamos|imagina|imagínate|por ejemplo|si quieres|si puedes|si es posible|cuando termines|cuando yo|cuando el|cuando la",
    ),
    (Sign::Reported, "dice|dijo|según|afirma|indica que"),
    (
        Sign::Once,
        "esta vez|por ahora|de momento|hoy|solo por esta vez|mañana|todavía no|aún no",
    ),
    (
        Sign::CallMe,
        "llámame|llámeme|me llamo|mi nombre es|puedes llamarme|dirígete a mí como",
    ),
    (
        Sign::RuleNoun,
        "regla|reglas|convención|norma|normas|instrucción|instrucciones|restricción|preferencia|límite|prohibición",
    ),
    (
        Sign::Forget,
        "olvida|olvide|olvídate de|ignora|ignore|cancela|descarta|retiro|he cambiado de opinión|cambié de opinión",
    ),
    (
        Sign::Gone,
        "ya no|ya no se aplica|ya no aplica|ya no vale|ya no rige|otra vez|de nuevo",
    ),
    (
        Sign::Actually,
        "en realidad|mejor|corrección|en su lugar|ahora|a partir de ahora|quise decir|de hecho|más bien|mejor dicho",
    ),
    (
        Sign::Switch,
        "cambia a|cambie a|cambiamos a|hemos cambiado|pasa a|pasamos a|hemos pasado|migramos|hemos migrado|migrado|reemplaza|sustituye|cambiemos|nos mudamos|nos movimos|aumenta|reduce|ahora es|ahora son|ahora está|ahora usamos",
    ),
    (
        Sign::All,
        "todo lo anterior|todas las reglas|todas las instrucciones|todas las normas|todo lo que",
    ),
    (
        Sign::Idle,
        "te preocupes|se preocupe|dudes|olvides|sé|es|está|hay|puedo|quiero|tengo|funciona|me|lo|la|se|estoy|he|ha|son|era|fue|importa|entiendo|necesito|creo|pasa|gracias|va|te",
    ),
    (Sign::Want, "quiero|necesito|deseo|exijo|queremos"),
];
