//! French.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "le|la|les|l'|un|une|des|du|de|d'|et|ou|mais|est|sont|être|à|au|aux|en|dans|sur|pour|par|avec|sans|que|qui|qu'|quoi|ce|cette|ces|cet|je|j'|tu|il|elle|nous|vous|ils|elles|me|te|se|ne|n'|pas|plus|mon|ma|mes|ton|ta|tes|votre|vos|notre|nos|son|sa|ses|s'il|si|comme|ai|as|a|avons|avez|ont|fait|faire|très|tout|tous|toute|toutes|chaque|toujours|jamais|moi|y|merci|svp|plaît|c'|m'|t'|s'|plutôt|maintenant|désormais|finalement|peux|pouvez|dois|devez|doit|doivent|faut|dit",
    ),
    (
        Sign::Always,
        "toujours|à chaque fois|systématiquement|en toutes circonstances|sans exception|par défaut|dans tous les cas",
    ),
    (
        Sign::Never,
        "jamais|ne jamais|en aucun cas|sous aucun prétexte|à aucun moment",
    ),
    (
        Sign::Dont,
        "ne|n'|évite|évitez|éviter|abstiens-toi|abstenez-vous|arrête de|arrêtez de|cesse de|ne pas|pas de|pas d'",
    ),
    (Sign::No, "aucun|aucune|pas de|pas d'|sans|zéro"),
    (
        Sign::Must,
        "doit|doivent|devrait|devraient|il faut|il faut que|faut",
    ),
    (
        Sign::MustNot,
        "ne doit pas|ne doivent pas|ne doit jamais|ne doivent jamais|ne peut pas|ne peuvent pas|est interdit|est interdite|sont interdits|sont interdites|il ne faut pas|il ne faut jamais",
    ),
    (
        Sign::YouMust,
        "tu dois|vous devez|tu devrais|vous devriez|assure-toi|assurez-vous|veille à|veillez à|je veux que tu|je veux que vous|je souhaite que tu|je voudrais que tu|je voudrais que vous",
    ),
    (
        Sign::YouMustNot,
        "tu ne dois pas|vous ne devez pas|tu ne dois jamais|vous ne devez jamais|tu ne peux pas|vous ne pouvez pas|je ne veux pas que tu|je ne veux pas que vous|je ne veux pas de|je ne veux aucun|je ne veux aucune",
    ),
    (
        Sign::YouMay,
        "tu peux|vous pouvez|n'hésite pas à|n'hésitez pas à|tu as le droit de|tu es libre de|tu peux maintenant|vous pouvez maintenant|tu peux désormais|vous pouvez désormais",
    ),
    (
        Sign::YouNeedNot,
        "pas besoin de|pas besoin d'|inutile de|tu n' as pas besoin|vous n' avez pas besoin|tu n' as plus besoin|vous n' avez plus besoin|plus besoin de|plus besoin d'|n' est plus nécessaire|n' est pas nécessaire|ne sont plus nécessaires|tu n' es pas obligé|ce n' est plus la peine",
    ),
    (
        Sign::Allowed,
        "est permis|sont permis|est autorisé|sont autorisés|est autorisée|sont autorisées|est acceptable|ça va|est ok|sont ok|sont de nouveau permis|peuvent|peut",
    ),
    (
        Sign::Only,
        "uniquement|seulement|exclusivement|rien que|rien d'autre que",
    ),
    (
        Sign::Prefer,
        "je préfère|nous préférons|préfère|préférez|privilégie|privilégiez|de préférence|je préfère que tu",
    ),
    (
        Sign::Instead,
        "au lieu de|au lieu d'|plutôt que|plutôt qu'|à la place de|et non|et pas",
    ),
    (
        Sign::Limit,
        "au maximum|maximum|au plus|pas plus de|au moins|moins de|limite|limitez|jusqu'à|ne dépasse pas|ne dépassez pas|sous les",
    ),
    (
        Sign::Scope,
        "à partir de maintenant|dorénavant|désormais|à l' avenir|dès maintenant|pour le reste de|dans cette conversation|dans cette session|dans ce projet|jusqu'à nouvel ordre|sans me demander|sans demander|sans mon accord|sans ma permission|sans mon autorisation",
    ),
    (Sign::Each, "chaque|tous|toutes|tout|toute|par"),
    (
        Sign::Reply,
        "réponse|réponses|message|messages|sortie|explication|explications|résumé|résumés|texte|textes",
    ),
    (
        Sign::Artefact,
        "commit|commits|code|commentaire|commentaires|fonction|fonctions|fichier|fichiers|variable|variables|noms|test|tests|branche|branches|ligne|lignes|rapport|rapports|tableau|tableaux|nombre|nombres|date|dates|montant|montants|prix|unités|sources|citations|modification|modifications|documentation|e-mail|e-mails|courriel|courriels|dépendances|titres|phrases|mesures",
    ),
    (
        Sign::When,
        "quand|lorsque|lorsqu'|chaque fois que|si|dès que|pour chaque|dans chaque|à chaque|après chaque|avant chaque|dans toutes|dans tes|dans vos|pour toutes|à la fin de chaque",
    ),
    (
        Sign::Around,
        "avant de|avant d'|avant|après|sauf|sans|jusqu'à",
    ),
    (
        Sign::Verb,
        "utilise|utilisez|emploie|employez|écris|écrivez|réponds|répondez|garde|gardez|mets|mettez|appelle|appelez|demande|demandez|demande-moi|demandez-moi|préviens-moi|prévenez-moi|dis-moi|dites-moi|montre-moi|montrez-moi|donne-moi|donnez-moi|réponds-moi|répondez-moi|parle-moi|parlez-moi|vouvoie-moi|tutoie-moi|montre|montrez|lance|lancez|teste|testez|vérifie|vérifiez|laisse|laissez|donne|donnez|formate|formatez|commence|commencez|termine|terminez|ajoute|ajoutez|explique|expliquez|parle|parlez|dis|dites|reste|restez|sauvegarde|supprime|supprimez|modifie|modifiez|liste|listez|cite|citez|traduis|traduisez|attends|attendez|confirme|confirmez|crée|créez|sois|soyez|limite|limitez|privilégie|privilégiez|préfère|préférez|oublie|oubliez|ignore|ignorez|passe|passez|respecte|respectez|suis|suivez|tutoie|tutoyez|vouvoie|vouvoyez|fais|faites|touche|touchez|pousse|déploie|déployez",
    ),
    (
        Sign::Style,
        "écris|écrivez|réponds|répondez|parle|parlez|formate|formatez|sois|soyez|reste|restez|garde|gardez|explique|expliquez|donne|donnez|termine|terminez|commence|commencez|tutoie|vouvoie|fais|faites|exprime",
    ),
    (
        Sign::Use,
        "utilise|utilisez|emploie|employez|privilégie|privilégiez|préfère|préférez|prends|prenez",
    ),
    (
        Sign::Hold,
        "tiens-toi à|tenez-vous à|limite-toi à|limitez-vous à|reste sur|restez sur|tiens-t'en à|tenez-vous-en à|reste dans",
    ),
    (Sign::You, "tu|te|toi|vous|ton|ta|tes|votre|vos"),
    (Sign::I, "je|j'|moi|mon|ma|mes|m'"),
    (Sign::We, "nous|notre|nos|on|l' équipe"),
    (
        Sign::They,
        "il|elle|ils|elles|ça|cela|ceci|ce|c'|quelqu'un|les gens",
    ),
    (
        Sign::Filler,
        "s'il te plaît|s'il vous plaît|stp|svp|et|mais|aussi|alors|donc|bon|ok|merci|oui|important|attention|au fait|note|n'oublie pas de|n'oubliez pas de|pense à|pensez à|finalement|merci de|veuillez|en fait",
    ),
    (Sign::Joint, "et|mais|ou|donc|car|sinon|puis"),
    (
        Sign::Asks,
        "que|quoi|pourquoi|comment|qui|où|quel|quelle|quels|quelles|est-ce que|est-ce qu'|qu'est-ce|combien|dois-je|puis-je",
    ),
    (
        Sign::AsksPolitely,
        "peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|est-ce que tu peux|est-ce que vous pouvez",
    ),
    (
        Sign::Imagined,
        "si je|si j'|si nous|si on|et si|supposons|imagine|imagine que|par exemple|si tu veux|si vous voulez|si possible|si c'|si le|si la|si les|si ça|quand tu auras fini|quand je|quand le|quand la",
    ),
    (Sign::Reported, "dit|disait|selon|affirme|indique|prétend"),
    (
        Sign::Once,
        "cette fois|pour l' instant|pour le moment|aujourd'hui|juste cette fois|demain|exceptionnellement|pas encore",
    ),
    (
        Sign::CallMe,
        "appelle-moi|appelez-moi|je m' appelle|mon nom est",
    ),
    (
        Sign::RuleNoun,
        "règle|règles|convention|consigne|consignes|instruction|instructions|contrainte|préférence|limite|interdiction",
    ),
    (
        Sign::Forget,
        "oublie|oubliez|ignore|ignorez|annule|annulez|laisse tomber|abandonne|j'ai changé d'avis|j' ai changé d' avis|je retire",
    ),
    (
        Sign::Gone,
        "ne s' applique plus|ne s' appliquent plus|n' est plus|plus|à nouveau|de nouveau|n' est plus valable",
    ),
    (
        Sign::Actually,
        "en fait|plutôt|finalement|correction|à la place|maintenant|désormais|dorénavant|je voulais dire|en réalité",
    ),
    (
        Sign::Switch,
        "passe à|passez à|passe aux|passez aux|passe au|passons à|passons aux|changé pour|sommes passés|est passé|migré|remplace|remplacez|change pour|changez|basculé|augmente|réduis|passé à|passée à|avons migré|est maintenant|sont maintenant",
    ),
    (
        Sign::All,
        "tout|toutes les règles|toutes les consignes|toutes les instructions|tout ce que",
    ),
    (
        Sign::Idle,
        "t'inquiète|inquiète|inquiétez|vous inquiétez|hésite|hésitez|oublie|oubliez|sais|suis|peux|veux|vois|comprends|pense|marche|fonctionne",
    ),
    (
        Sign::Want,
        "je veux|je souhaite|j' ai besoin|j' exige|nous voulons|je voudrais",
    ),
];
