//! English.

use super::{Sign, Table};

pub(super) const TABLE: Table = &[
    (
        Sign::Stop,
        "the|a|an|ahead|eat|eats|eating|this|that|these|those|is|are|be|been|was|were|am|of|to|in|on|at|for|with|by|as|from|into|and|or|but|if|so|then|than|it|its|i|you|your|yours|my|me|we|our|us|he|she|they|them|their|his|her|do|does|did|don't|doesn't|didn't|not|no|have|has|had|will|would|can|could|should|may|might|must|shall|what|which|who|when|where|how|why|there|here|just|please|also|too|very|any|some|all|every|each|about|up|out|over|more|most|less|only|never|always|thing|things|way|stuff|one|ones|said|told|say|earlier|before|after|while|because|since|until|i'm|it's|that's|you're|i'd|i'll|we're|let's|even|still|yet|ever|again|back|own|same|other|else|instead|rather|actually|now|want|like|need|make|get|got|let|put|go|going|sure|okay|ok|yes|much|many|such|both|through|during|under|within|without|between|off|down",
    ),
    (
        Sign::Always,
        "always|at all times|every time|each time|every single time|without exception|no matter what|in every case|in all cases|consistently|invariably|as a rule|by default|at every step|every so often",
    ),
    (
        Sign::Never,
        "never|never ever|under no circumstances|in no case|not ever|on no account|at no point|at no time|by no means",
    ),
    (
        Sign::Dont,
        "don't|do not|dont|don't ever|do not ever|avoid|refrain from|steer clear of|stay away from|keep away from|hands off|leave out|stop using|stop adding|stop writing|stop doing|stop asking|stop saying|stop making|stop including|stop putting|stop sending|stop committing|stop running|stop creating|stop editing|stop changing|stop touching|stop explaining|stop apologizing|stop apologising|stop summarizing|stop summarising|stop repeating|stop printing|stop calling|quit using|quit adding|quit asking|skip the|skip any|skip all|mustn't|shouldn't|may not|do NOT|no more",
    ),
    (Sign::No, "no|zero"),
    (Sign::Not, "not"),
    (
        Sign::Must,
        "must|should|shall|has to|have to|needs to|need to|are to be|is to be|ought to|are required to|is required to|must be|should be",
    ),
    (
        Sign::MustNot,
        "must not|mustn't|should not|shouldn't|must never|should never|shall not|are not to|is not to|may not|may never|are forbidden|is forbidden|are not allowed|is not allowed|is off limits|are off limits|is off-limits|are off-limits|is prohibited|are prohibited|isn't allowed|aren't allowed|are banned|is banned",
    ),
    (
        Sign::YouMust,
        "you must|you should|you should always|you must always|you shall|you are required to|you're required to|you are to|you're to|you ought to|you are expected to|you're expected to|make sure you|make sure your|make sure that you|make sure that your|ensure you|ensure your|ensure that you|ensure that your|be sure to always|it is important that you|it's important that you|your job is to always|your task is specifically to|your task is to only|i expect you to|i need you to always|i want you to always|i'd like you to always|i would like you to always|you have to always|you need to always",
    ),
    (
        Sign::YouMustNot,
        "you must not|you mustn't|you should not|you shouldn't|you should never|you must never|you cannot|you can't|you can not|you may not|you may never|you can never|you are not to|you're not to|you are not allowed to|you're not allowed to|you aren't allowed to|you are forbidden|you may only|you can only|you must only|you should only|i don't want you to|i do not want you to|i never want you to|i don't want any|i do not want any|i don't want to see any|i never want to see|i don't ever want",
    ),
    (
        Sign::YouMay,
        "you may|you can|you're allowed to|you are allowed to|you are free to|you're free to|feel free to|you have my permission|you have permission|you have my approval|you are welcome to|you're welcome to|you can now|you may now|it's fine to|it is fine to|it's ok to|it's okay to|it is ok to|it is okay to|it's alright to|you can go back to|i'm fine with|i am fine with|i'm ok with|i'm okay with",
    ),
    (
        Sign::YouNeedNot,
        "you don't have to|you do not have to|you don't need to|you do not need to|you needn't|you need not|you no longer have to|you no longer need to|there's no need to|there is no need to|no need to|no need for|don't bother|you can stop|you may stop|you can skip|you may skip|we don't need to|we don't have to|we no longer need|we no longer have to|we don't need|we no longer use|isn't necessary|is not necessary|aren't necessary|is no longer necessary|are no longer necessary|is no longer needed|are no longer needed|not needed anymore|isn't needed|aren't needed|is not needed|are not needed|isn't required|is not required|is no longer required|are no longer required|is optional|are optional",
    ),
    (
        Sign::Allowed,
        "is fine|are fine|is ok|are ok|is okay|are okay|is allowed|are allowed|is permitted|are permitted|is acceptable|are acceptable|is alright|are alright|is now allowed|are now allowed|is now fine|are now fine|is welcome|are welcome|is all right|works too|are back in|is back in|can be|may be|may go up|can go up|may go|can go",
    ),
    (
        Sign::Only,
        "only|exclusively|solely|nothing but|strictly|and nothing else|nothing else|pure",
    ),
    (
        Sign::Prefer,
        "i prefer|i'd always prefer|we prefer|prefer|i generally prefer|i usually prefer|my preference is|i'd rather you|i would rather you|i'd prefer you|i would prefer you|i'd prefer that you|i'd prefer if you|i like it when you|i only want|i would only want|i'd only want|we only want|i'm allergic|i am allergic|preferably|default to|favor|favour|err on the side of",
    ),
    (
        Sign::Instead,
        "instead of|rather than|in place of|as opposed to|in favor of|in favour of|not with",
    ),
    (
        Sign::Limit,
        "at most|no more than|not more than|at least|no less than|no fewer than|fewer than|less than|no longer than|not longer than|up to|under|below|maximum|max|minimum|within|limit|limited to|not exceed|never exceed|cap|capped|shorter than|not over|no larger than|no bigger than|or fewer|or less|tops",
    ),
    (
        Sign::Scope,
        "from now on|from now onwards|from here on|from here on out|from this point on|from this point forward|from this point|going forward|moving forward|henceforth|hereafter|in future|in the future|for the future|for the rest of this session|for the rest of the session|for the rest of this conversation|for the rest of the conversation|for the rest of our conversation|for the rest of this chat|for the rest of the chat|for the rest of the project|for the rest of this project|for the rest of the day|for the remainder of|throughout this|throughout the conversation|throughout the session|throughout our|for this whole|for the whole session|for the whole conversation|for the entire session|for the entire conversation|during this session|during this conversation|for this session|for this conversation|until further notice|until i say otherwise|until i tell you otherwise|unless i say otherwise|unless i tell you otherwise|unless told otherwise|unless i ask|unless i explicitly|unless explicitly|without asking me|without asking first|without asking|without my permission|without my approval|without my go-ahead|without checking with me|until i approve|until i confirm|until i give",
    ),
    (
        Sign::Each,
        "every|each|all|any|per|whenever|everything|anything",
    ),
    (
        Sign::Reply,
        "reply|replies|response|responses|answer|answers|output|outputs|message|messages|explanation|explanations|summary|summaries|write-up|prose|text|wording|responding|answering|replying|chat|thinking|reasoning|tone|style|voice|writing",
    ),
    (
        Sign::Artefact,
        "commit|commits|commit message|commit messages|code|comments|comment|docstring|docstrings|function|functions|file|files|file name|file names|filename|filenames|variable|variables|variable names|names|identifiers|test|tests|branch|branches|pull request|pull requests|pr|prs|migration|migrations|log|logs|log lines|imports|lines|line length|line|email|emails|report|reports|document|documents|docs|documentation|table|tables|number|numbers|date|dates|amount|amounts|price|prices|measurements|units|quotes|citations|sources|endpoint|endpoints|types|api|queries|query|module|modules|class|classes|change|changes|patch|diff|diffs|release|releases|dependency|dependencies|package|packages|budget|results|indentation|heading|headings|titles|paragraphs|sentences|meetings|slides|tickets|issues|deploys|deployments|backups|data|credentials|secrets|calls|requests|steps|recommendations|papers|venues|recipes|meals|names",
    ),
    (
        Sign::When,
        "when|whenever|if|once|as soon as|any time|anytime|in case|for each|for every|for any|for all|on each|on every|after each|after every|before each|before every|in each|in every|in all|in your|at the end of each|at the end of every|at the start of each|at the start of every|with each|with every",
    ),
    (Sign::Around, "before|after|unless|without|until|prior to"),
    (
        Sign::Verb,
        "use|write|keep|make|put|add|include|show|tell|give|ask|check|run|test|commit|push|format|store|save|name|call|cite|quote|mention|list|show|explain|describe|summarize|summarise|translate|convert|round|report|prefix|suffix|start|begin|end|finish|sign|send|draft|create|delete|remove|edit|change|modify|touch|open|read|do|confirm|wait|stop|let|leave|follow|stick|stay|respect|treat|assume|consider|target|deploy|publish|release|merge|rebase|squash|review|document|log|print|return|validate|verify|ensure|double-check|look|search|fetch|pull|install|update|upgrade|pin|restrict|limit|cap|work|focus|ignore|skip|pick|choose|select|favor|favour|prefer|place|order|sort|group|separate|split|wrap|indent|spell|capitalize|capitalise|abbreviate|mark|tag|label|link|reference|refer|address|speak|talk|reply|respond|answer|say|state|provide|offer|suggest|recommend|propose|be|act|pretend|remember|note|bear|count|measure|charge|book|schedule|notify|warn|alert|escalate|hide|mask|redact|encrypt|escape|quote|annotate|import|export|declare|define|implement|build|compile|lint|type|submit|issue|emit|invoke|execute|plan|think|try|go|come|take|bring|move|copy|rename|reuse|base|cover|handle|catch|raise|throw|enable|disable|set|reset|switch|turn|default|require|demand|allow|accept|reject|enter|specify|obey|adhere|comply|conform|minimize|minimise|maximize|maximise|have|get|convey|phrase|word|close|conclude|preface|append|prepend|attach|render|display|present|draw|paint|visualize|compare|evaluate|rate|rank|compute|calculate|estimate|bill|invoice|pay|buy|order|ship|contact|email|text|message|phone|remind|track|monitor|watch|refresh|avoid|auto-accept|auto-approve|approve|auto-commit|auto|refactor|generate|produce|insert|supply|attempt|apply|maintain|preserve|record|define|honor|honour|observe|cross-check|re-run|rerun|recheck|justify|highlight|bold|italicize|underline|number|enumerate|prioritize|prioritise|escalate|acknowledge|greet|thank",
    ),
    (
        Sign::Style,
        "write|reply|respond|answer|speak|talk|format|indent|spell|phrase|word|say|be|keep|make|give|name|stay|sound|explain|address|sign|start|begin|end|finish|close|preface|prefix|conclude|output|type|quote|cite|number|count|measure|report|express|state|convert|render|present|show|list|communicate|conduct|summarize|summarise",
    ),
    (
        Sign::Use,
        "use|prefer|stick with|go with|run with|pick|choose|work with|code in|program in|target|favor|favour|default to|build with|test with|install with|format with",
    ),
    (
        Sign::Hold,
        "stick to|stay within|stay in|stay on|stay under|keep within|keep to|limit yourself|restrict yourself|confine yourself|limit your|leave alone|adhere to|comply with|obey|keep your|follow the convention|follow our|follow my|work exclusively|limit the|keep the number of|keep all|keep every|keep any|keep each|keep it under|keep it below|keep it to|cap the|cap all|treat all|treat every|treat any|treat everything|treat anything",
    ),
    (Sign::You, "you|your|you're|yourself"),
    (Sign::I, "i|i'm|i've|i'll|i'd|me|my|mine|myself"),
    (
        Sign::We,
        "we|we're|we've|our|us|the team|team|our team|this project|the project|this repo|this codebase|the codebase",
    ),
    (
        Sign::They,
        "he|she|they|it|it's|there|this|that|someone|everyone|people|users|user|customers|he's|she's|they're|who|which|these|those|one|nobody|something",
    ),
    (
        Sign::Filler,
        "please|also|and|but|then|ok|okay|so|well|just|hey|hi|hello|thanks|thank you|remember|note|important|attention|btw|by the way|oh|ah|yes|yeah|no|right|great|perfect|cool|again|one more thing|one thing|finally|additionally|furthermore|plus|reminder|fyi|very important|critical|note that|please note|please note that|keep in mind|keep in mind that|remember that|bear in mind that|kindly|pls|plz|actually|instead|let's|lets|for consistency|in general|generally|generally speaking|as always|as usual|first of all|small thing|quick note|heads up|i'd like you to|i would like you to|i want you to|i need you to|i'd prefer you to|i ask you to|i'd appreciate it if you|try to|do try to|be sure to|make sure to|make sure that|make sure|ensure that|ensure|remember to|it's important to|it is important to|you'll want to",
    ),
    (
        Sign::Joint,
        "and|but|or|so|then|also|because|while|though|although|however|plus|except|otherwise",
    ),
    (
        Sign::Asks,
        "what|why|how|who|where|which|should i|should we|may i|can i|can we|could we|shall we|shall i|will it|would it|what's|isn't|aren't|don't you|didn't|doesn't|can't we|can't you|couldn't|wouldn't|whose|would that|could it|might it|when will|when did|when is|when was|when do|when are",
    ),
    (
        Sign::AsksPolitely,
        "can you|could you|would you|will you|can you please|could you please|would you please|would you mind|can you always|please can you|please could you|do you mind|can we please|can we|could we",
    ),
    (
        Sign::Imagined,
        "if i|if we|if he|if she|if they|what if|suppose|supposing|imagine|let's say|say we|hypothetically|for example|for instance|e.g|such as|assuming|in theory|it would|that would|would have|would it|had i|were i|if you need|if you want|if you can|if you could|if you have any|if you'd like|if you like|if you think|if you wish|if it|if that|if this|if there|if the|if yes|if no|if not|if possible|when i|when we|when it|when he|when she|when they|when the|when this|when that|when there|once i|once we|once it|once the|once that|once you|as soon as i|as soon as the|as soon as it|when you're done|when you are done|when you're ready|when you are ready|when you're finished|when you are finished|when you get a chance|when you have time|when you have completed|when you've completed|when you have finished|when you've finished|once you have|once you've|after you have|after you've|after you are done|after you're done|when you're satisfied",
    ),
    (
        Sign::Reported,
        "says|said|told|tells|according to|states|stated|claims|claimed|reads|wrote|warns|complains|reported|reports that|the error|error message|the docs say|the documentation says",
    ),
    (
        Sign::Once,
        "this time|for now|just this once|just once|only once|this once|today|tonight|tomorrow|right now|at the moment|for the moment|yet|for this one|in this case|in that case|next time only|this one time|for this task only|for this request|for this answer|for this question|for this message|for this reply|this afternoon|this morning|this evening|this week|next week",
    ),
    (
        Sign::CallMe,
        "call me|address me as|refer to me as|address me|refer to me|my name is|my name's|i go by|i'd like to be called|i would like to be called|my pronouns are|you can call me|please call me|known as|i prefer to be called|i'm called|the name's|the name is",
    ),
    (
        Sign::RuleNoun,
        "rule|rules|convention|conventions|policy|instruction|instructions|constraint|constraints|guideline|guidelines|preference|preferences|house rule|house rules|ground rule|ground rules|requirement|restriction|restrictions|limit|ban|requirement to",
    ),
    (
        Sign::Forget,
        "forget|forget about|never mind|nevermind|ignore|disregard|scratch|drop|cancel|revoke|lift|undo|withdraw|take back|i take back|retract|scrap|remove the|discard|abandon|waive|strike|don't worry about|no longer care about|i don't care about|i no longer care about|i changed my mind about|changed my mind about|i've changed my mind about|changed my mind on|i've changed my mind|i changed my mind",
    ),
    (
        Sign::Gone,
        "no longer|anymore|any more|not anymore|any longer|doesn't apply|does not apply|don't apply|do not apply|isn't in force|is void|is lifted|are lifted|is gone|is over|has expired|is off the table|no longer applies|no longer apply|is obsolete|was lifted|has been lifted|is dropped|after all|again",
    ),
    (
        Sign::Actually,
        "actually|instead|correction|on second thought|on second thoughts|rather|scratch that|change of plan|change of plans|new plan|update|from now on|now|these days|as of today|as of now|effective immediately|sorry|i meant|i mean|make that|make it|let's make it|nowadays|after all|new rule|not anymore|anymore|lately|going forward|meanwhile|has changed|have changed|we've since",
    ),
    (
        Sign::Switch,
        "switch|switched|switching|switch to|switched to|change to|changed to|change|changed|move to|moved to|moving to|we've moved|migrate|migrated|migrate to|migrated to|replaced|replace|swap|swapped|upgrade to|upgraded to|went with|going with|go with|have standardized on|standardized on|standardised on|settled on|decided on|adopted|adopt|relocated|relocated to|raise|raised|lower|lowered|increase|increased|reduce|reduced|extend|extended|bump|bumped|convert to|now on|now use|now uses|now using|is now|are now|now live|now lives|now run|now runs|now in",
    ),
    (
        Sign::All,
        "everything|all rules|all the rules|all my rules|all instructions|all previous instructions|all the previous instructions|all prior instructions|all my instructions|every rule|every instruction|all previous rules|all constraints|all of the rules|all of my rules|all earlier rules|all earlier instructions",
    ),
    (
        Sign::Idle,
        "be joking|be kidding|miss|worry|hesitate|forget|be able|be fine|be good|find|tell|imagine|access|just|do that|already|probably|still|notice|be aware|get|know|think|mind|care|get me wrong|see|understand|remember|believe|have|feel|need|want|work|you|understand why|really|panic|be afraid|be shy|be sorry|like|recall|even|give up|sweat",
    ),
    (
        Sign::Want,
        "i want|i need|i require|i expect|i insist|i'd like|i would like|i demand|we want|we require|we expect|we need",
    ),
];
