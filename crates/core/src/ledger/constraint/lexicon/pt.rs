//! Portuguese.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "o|os|as|um|uma|uns|umas|de|do|da|dos|das|e|ou|mas|é|são|ser|está|estão|a|ao|à|em|no|na|nos|nas|com|por|para|sem|que|quem|este|esta|esse|essa|isso|isto|eu|tu|você|vocês|ele|ela|nós|eles|me|te|se|lhe|meu|minha|meus|minhas|seu|sua|seus|suas|não|sim|como|quando|muito|mais|menos|todo|todos|toda|todas|cada|sempre|nunca|há|tem|ter|fazer|pode|deve|devem|agora|também|já|só|pelo|pela|favor|melhor|disse|vez|foi",
    ),
    (
        Sign::Always,
        "sempre|toda vez|todas as vezes|em todos os casos|sem exceção|por padrão",
    ),
    (
        Sign::Never,
        "nunca|jamais|em hipótese alguma|em nenhum caso|de forma alguma|em nenhuma circunstância",
    ),
    (
        Sign::Dont,
        "não|evite|evita|evitar|pare de|para de|deixe de",
    ),
    (Sign::No, "nenhum|nenhuma|nada de|sem|zero"),
    (
        Sign::Must,
        "deve|devem|deveria|deveriam|tem que|têm que|é preciso",
    ),
    (
        Sign::MustNot,
        "não deve|não devem|não pode|não podem|nunca deve|nunca devem|é proibido|é proibida|são proibidos|são proibidas",
    ),
    (
        Sign::YouMust,
        "você deve|você tem que|você precisa sempre|certifique-se|garanta que|quero que você|gostaria que você",
    ),
    (
        Sign::YouMustNot,
        "você não deve|você não pode|você nunca deve|não quero que você|não quero nenhum|não quero nenhuma|você só pode",
    ),
    (
        Sign::YouMay,
        "você pode|pode usar|sinta-se à vontade|tem permissão|agora você pode|agora pode|já pode",
    ),
    (
        Sign::YouNeedNot,
        "não precisa|não é necessário|não são necessários|você não precisa|já não precisa|não precisa mais|não é mais necessário|não são mais necessários|não é preciso|não é obrigatório",
    ),
    (
        Sign::Allowed,
        "tudo bem|está bem|é permitido|são permitidos|são permitidas|é aceitável|estão liberados|estão liberadas|está liberado|podem",
    ),
    (Sign::Only, "só|somente|apenas|exclusivamente|unicamente"),
    (
        Sign::Prefer,
        "prefiro|preferimos|prefira|de preferência|prefiro que",
    ),
    (
        Sign::Instead,
        "em vez de|ao invés de|em lugar de|no lugar de|e não",
    ),
    (
        Sign::Limit,
        "no máximo|máximo|não mais que|não mais de|pelo menos|no mínimo|menos de|até|limite|limita",
    ),
    (
        Sign::Scope,
        "a partir de agora|de agora em diante|daqui em diante|doravante|no futuro|daqui para frente|pelo resto|no resto da|nesta conversa|nesta sessão|neste projeto|até segunda ordem|sem me perguntar|sem perguntar|sem minha permissão|sem a minha permissão|sem minha aprovação|sem me consultar",
    ),
    (Sign::Each, "cada|todos|todas|todo|toda|qualquer|por"),
    (
        Sign::Reply,
        "resposta|respostas|mensagem|mensagens|saída|explicação|explicações|resumo|resumos|texto|textos",
    ),
    (
        Sign::Artefact,
        "commit|commits|código|comentário|comentários|função|funções|arquivo|arquivos|ficheiro|ficheiros|variável|variáveis|nomes|teste|testes|ramo|branch|branches|linha|linhas|relatório|relatórios|tabela|tabelas|número|números|data|datas|valor|valores|preço|preços|unidades|fontes|citações|mudança|mudanças|documentação|e-mail|e-mails|dependências|títulos|frases|medidas",
    ),
    (
        Sign::When,
        "quando|sempre que|toda vez que|se|assim que|em cada|em todas|em todos|para cada|depois de cada|antes de cada|no final de cada|nas suas",
    ),
    (
        Sign::Around,
        "antes de|depois de|sem|salvo|a menos que|até que",
    ),
    (
        Sign::Verb,
        "use|usa|utilize|utiliza|escreva|escreve|responda|responde|mantenha|mantém|faça|faz|coloque|me chame|chame-me|pergunte|pergunta|mostre|mostra|execute|rode|teste|verifique|deixe|dê|formate|comece|termine|adicione|explique|fale|fala|diga|salve|guarde|apague|remova|modifique|altere|liste|cite|traduza|espere|confirme|crie|seja|limite|prefira|esqueça|esquece|ignore|passe|respeite|siga|fique|trate|mude",
    ),
    (
        Sign::Style,
        "escreva|escreve|responda|responde|fale|fala|formate|seja|mantenha|mantém|explique|dê|termine|comece|faça|redija",
    ),
    (Sign::Use, "use|usa|utilize|utiliza|prefira|empregue"),
    (
        Sign::Hold,
        "limite-se a|atenha-se a|fique em|fique dentro|mantenha-se em",
    ),
    (Sign::You, "você|vocês|tu|te|seu|sua|seus|suas"),
    (Sign::I, "eu|me|meu|minha|meus|minhas|mim"),
    (Sign::We, "nós|nosso|nossa|nossos|a gente|a equipe"),
    (Sign::They, "ele|ela|eles|elas|isso|isto|alguém|as pessoas"),
    (
        Sign::Filler,
        "por favor|e|mas|também|além disso|então|bom|ok|obrigado|obrigada|sim|importante|atenção|aliás|nota|lembre-se de|lembre-se|lembre|na verdade|certifique-se de",
    ),
    (Sign::Joint, "e|mas|ou|então|porque|senão"),
    (
        Sign::Asks,
        "o que|por que|como|quem|onde|qual|quais|quanto|é possível|devo|posso",
    ),
    (Sign::AsksPolitely, "você pode|pode|poderia|você poderia"),
    (
        Sign::Imagined,
        "se eu|se não|se for|se o|se a|e se|suponha|imagine|por exemplo|se quiser|se puder|se possível|quando terminar|quando eu|quando o",
    ),
    (Sign::Reported, "diz|disse|segundo|afirma"),
    (
        Sign::Once,
        "desta vez|dessa vez|por enquanto|por agora|hoje|só desta vez|amanhã|ainda não",
    ),
    (
        Sign::CallMe,
        "me chame de|chame-me de|me chamo|meu nome é|pode me chamar de",
    ),
    (
        Sign::RuleNoun,
        "regra|regras|convenção|norma|normas|instrução|instruções|restrição|preferência|limite|proibição",
    ),
    (
        Sign::Forget,
        "esqueça|esquece|ignore|cancele|descarte|retiro|mudei de ideia",
    ),
    (
        Sign::Gone,
        "não mais|já não|não se aplica mais|não vale mais|de novo|novamente",
    ),
    (
        Sign::Actually,
        "na verdade|melhor|correção|em vez disso|agora|a partir de agora|quis dizer|aliás",
    ),
    (
        Sign::Switch,
        "mude para|muda para|mudamos para|trocamos|troque|passe para|passamos para|migramos|migrado|substitua|altere para|aumente|reduza|agora é|agora são|agora está|agora usamos",
    ),
    (
        Sign::All,
        "tudo|todas as regras|todas as instruções|tudo o que",
    ),
    (
        Sign::Idle,
        "se preocupe|hesite|esqueça|sei|é|está|há|posso|quero|tenho|funciona|me|estou|são|foi|importa|entendo|preciso|acho|consigo|lembro",
    ),
    (Sign::Want, "quero|preciso|desejo|exijo|queremos"),
];
