//! The messages of a body, read as far as they are new: [`ClientList`] over the bytes that came.

use std::sync::{Arc, OnceLock};

use conspectus::core::count::{Estimator, TokenCounter as _};
use conspectus::core::id::{Handle, Ident, ReplyId};
use conspectus::core::view::{MessageView, PartRef, Role, Texts as _};
use conspectus::threads::ClientList;
use conspectus::{Conversation, Document, Format, OpenOptions};
use hyper::body::Bytes;

use crate::scan::{Layout, scan, slice};

/// What Codex says about itself in the user's name; it stays where it is.
const CONTEXTS: [&str; 2] = ["<environment_context>", "<user_instructions>"];

/// A body with its messages.
#[derive(Debug)]
pub(crate) struct List {
    format: Format,
    key: &'static str,
    body: Bytes,
    layout: Layout,
    /// Digests of the first message, the first two, …
    prefixes: Vec<Ident>,
    /// Estimated tokens of the first message, the first two, …
    tokens: Vec<u64>,
    /// Which reply each message is a piece of; empty in formats where replies are one message.
    replies: Vec<Option<ReplyId>>,
    /// The first message that was read here; those before it were known.
    from: usize,
    views: Vec<MessageView>,
    /// Estimate of what was read here.
    new_tokens: u64,
    /// The first message in which a person asks for something.
    root: Option<usize>,
    whole: OnceLock<Option<Vec<MessageView>>>,
}

impl List {
    /// Reads a body. What it has in common with `before`, a body of the same client and so many bytes, is taken over from
    /// there. `None`: it is no body of this format, or there is something in it that is not understood.
    pub(crate) fn read(
        format: Format,
        key: &'static str,
        body: &Bytes,
        before: Option<(&Self, usize)>,
    ) -> Option<Self> {
        let known = before.and_then(|(before, both)| {
            let elements = &before.layout.elements;
            let count = elements.partition_point(|element| element.1 as usize <= both);
            // A value without an end mark of its own could go on.
            let last = slice(&before.body, *elements.get(count.checked_sub(1)?)?);
            matches!(last.last(), Some(b'}' | b'"')).then_some((before, count))
        });
        let layout = scan(body, key, known.map(|(before, n)| (&before.layout, n)))?;
        let (before, from) = known.map_or((None, 0), |(before, n)| (Some(before), n));
        let is_new = |element: &&(u32, u32)| slice(body, **element);
        let new: Vec<&[u8]> = layout.elements[from..].iter().map(|e| is_new(&e)).collect();
        // Whom such an output answers is told by an item that may be known already.
        let looks_back =
            |element: &&[u8]| memchr::memmem::find(element, b"local_shell_call_output").is_some();
        if from > 0 && format == Format::Responses && new.iter().any(looks_back) {
            return Self::read(format, key, body, None);
        }
        let mut list = Self {
            format,
            key,
            body: body.clone(),
            prefixes: before.map_or(Vec::new(), |before| before.prefixes[..from].to_vec()),
            tokens: before.map_or(Vec::new(), |before| before.tokens[..from].to_vec()),
            replies: before.map_or(Vec::new(), |before| {
                before.replies.get(..from).unwrap_or_default().to_vec()
            }),
            layout,
            from,
            views: Vec::new(),
            new_tokens: 0,
            root: before
                .and_then(|before| before.root)
                .filter(|root| *root < from),
            whole: OnceLock::new(),
        };
        list.take(&new)?;
        Some(list)
    }

    /// The body as it came.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Its format.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Messages of it.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// How many of them were known from the body before.
    pub(crate) fn known(&self) -> usize {
        self.from
    }

    /// Digests of the first message, the first two, …
    pub(crate) fn prefixes(&self) -> &[Ident] {
        &self.prefixes
    }

    /// Whether the newest message is a person's.
    pub(crate) fn ends_with_request(&self) -> bool {
        let last = (self.len() as u64).checked_sub(1);
        let last = last.and_then(|last| self.message(last));
        last.is_some_and(|(_, view)| view.is_user_request())
    }

    /// Digest of how the conversation begins: up to the first message in which a person asks for something.
    pub(crate) fn root(&self) -> Ident {
        let root = self.prefixes.get(self.root.unwrap_or(0));
        root.copied().unwrap_or(Ident::EMPTY)
    }

    /// Estimate of the tokens of all messages.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.last().copied().unwrap_or(0)
    }

    /// Estimate of the tokens of what was not known, and of what stands outside of the messages where none was.
    pub(crate) fn new_tokens(&self) -> u64 {
        self.new_tokens
    }

    /// The model that is asked for.
    pub(crate) fn model(&self) -> Option<&str> {
        self.layout.plain(&self.body, "model")
    }

    /// Whether a member is there and says something.
    pub(crate) fn says(&self, key: &str) -> bool {
        let value = self.layout.get(&self.body, key);
        value.is_some_and(|value| value != b"null")
    }

    /// Whether a member is true.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.layout.get(&self.body, key) == Some(b"true")
    }

    /// Roughly the bytes that it holds in memory.
    pub(crate) fn weight(&self) -> usize {
        const MESSAGE: usize = size_of::<(Ident, u64, Option<ReplyId>, (u32, u32))>();
        // A view has parts, of which most have one.
        const VIEW: usize = size_of::<MessageView>() + 128;
        self.body.len() + self.len() * MESSAGE + self.views.len() * VIEW + size_of::<Self>()
    }

    /// The JSON of a message.
    pub(crate) fn json(&self, at: usize) -> &[u8] {
        let element = self.layout.elements.get(at);
        element.map_or(&[], |element| slice(&self.body, *element))
    }

    /// The source of what stands outside of the messages and is sent with every request.
    pub(crate) fn fixed_source(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let keys = ["system", "instructions", "tools", "functions"];
        let source = |key| Some((key, self.layout.get(&self.body, key)?));
        keys.into_iter().filter_map(source)
    }

    /// The same as texts.
    pub(crate) fn fixed(&self) -> Vec<String> {
        let mut request = format!("{{\"{}\":[]", self.key).into_bytes();
        for (key, value) in self.fixed_source() {
            request.extend_from_slice(format!(",\"{key}\":").as_bytes());
            request.extend_from_slice(value);
        }
        request.push(b'}');
        let document = open(request, self.format);
        let fixed = document.as_ref().and_then(|document| {
            let conversation = document.conversations().first()?;
            Some(conversation.fixed())
        });
        fixed.map_or(Vec::new(), |fixed| {
            vec![fixed.system.clone(), fixed.tools.clone()]
        })
    }

    /// The views of all messages.
    fn whole(&self) -> Option<&[MessageView]> {
        let read = || match self.from {
            0 => Some(self.views.clone()),
            _ => Some(Self::read(self.format, self.key, &self.body, None)?.views),
        };
        self.whole.get_or_init(read).as_deref()
    }

    /// Reads new elements.
    fn take(&mut self, new: &[&[u8]]) -> Option<()> {
        if new.is_empty() {
            return Some(());
        }
        let size: usize = new.iter().map(|element| element.len() + 1).sum();
        let mut source = Vec::with_capacity(size + 1);
        for (at, element) in new.iter().enumerate() {
            source.push(if at == 0 { b'[' } else { b',' });
            match element.first() {
                Some(b'"') => source.extend_from_slice(&said(element)),
                _ => source.extend_from_slice(element),
            }
        }
        source.push(b']');
        let document = open(source, self.format)?;
        let conversation = document.conversations().first()?;
        if conversation.views().len() != new.len() || !document.faults().is_empty() {
            return None;
        }
        let counter = Estimator::new();
        let before = self.tokens.last().copied().unwrap_or(0);
        let mut weight = 0;
        let mut prefix = self.prefixes.last().copied().unwrap_or(Ident::EMPTY);
        for view in conversation.views() {
            weight += counter.message(view, conversation);
            self.tokens.push(before + counter.tokens(weight));
            prefix = prefix.then(view.ident);
            self.prefixes.push(prefix);
            let view = self.placed(view, conversation)?;
            if self.root.is_none() && view.is_user_request() && !view.flags.pinned {
                self.root = Some(self.from + self.views.len());
            }
            self.views.push(view);
        }
        self.new_tokens = counter.tokens(weight);
        if self.from == 0 {
            let fixed: usize = self.fixed_source().map(|(_, source)| source.len()).sum();
            // Names and schemas of tools, mostly: about three letters a token.
            self.new_tokens += fixed as u64 / 3;
        }
        Some(())
    }

    /// The next view, as it is in the whole list.
    fn placed(&mut self, view: &MessageView, texts: &Conversation) -> Option<MessageView> {
        let at = self.from + self.views.len();
        let mut view = view.clone();
        let own = view.handle;
        view.handle = Handle(u32::try_from(at).ok()?);
        // What a client repeats of a reply's usage is of the list that it was then.
        view.usage = None;
        if self.format == Format::Responses {
            let before = self.replies.last().copied().flatten();
            let begins = ReplyId(view.handle.0);
            view.reply = view.reply.map(|_| before.unwrap_or(begins));
            self.replies.push(view.reply);
            let first = PartRef {
                message: own,
                part: 0,
            };
            let says = texts.head(first, 32);
            view.flags.pinned |= view.role == Role::User
                && CONTEXTS
                    .iter()
                    .any(|start| says.trim_start().starts_with(start));
        }
        Some(view)
    }
}

impl ClientList for List {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn prefix(&self, count: u64) -> Option<Ident> {
        match usize::try_from(count).ok()?.checked_sub(1) {
            None => Some(Ident::EMPTY),
            Some(last) => self.prefixes.get(last).copied(),
        }
    }

    fn message(&self, at: u64) -> Option<(Arc<[u8]>, MessageView)> {
        let at = usize::try_from(at).ok()?;
        let view = match at.checked_sub(self.from) {
            Some(new) => self.views.get(new)?,
            None => self.whole()?.get(at)?,
        };
        let json = self.json(at);
        let bytes = match json.first() {
            Some(b'"') => said(json).into(),
            _ => json.into(),
        };
        Some((bytes, view.clone()))
    }
}

/// A prompt as a string, as the message that it stands for.
fn said(string: &[u8]) -> Vec<u8> {
    [b"{\"role\":\"user\",\"content\":", string, b"}"].concat()
}

/// A document of this format.
pub(crate) fn open(source: Vec<u8>, format: Format) -> Option<Document> {
    let options = OpenOptions {
        format: Some(format),
        lenient: false,
    };
    Document::open(source, &options).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::common;

    fn read(body: &str, before: Option<&List>) -> List {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let before = before.map(|before| (before, common(before.body(), &body)));
        List::read(Format::OpenAi, "messages", &body, before).expect("a body")
    }

    const ONE: &str = r#"{"model":"m","messages":[{"role":"user","content":"q"}]}"#;
    const TWO: &str = r#"{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}],"stream":true}"#;

    #[test]
    fn what_is_known_gives_what_reading_all_gives() {
        let (one, alone) = (read(ONE, None), read(TWO, None));
        let two = read(TWO, Some(&one));
        assert_eq!((two.known(), alone.known()), (1, 0));
        assert_eq!(two.prefixes(), alone.prefixes());
        assert_eq!(two.layout, alone.layout);
        assert_eq!(two.model(), Some("m"));
        for at in 0..3 {
            assert_eq!(two.message(at), alone.message(at), "{at}");
            assert!(two.message(at).is_some());
        }
        assert_eq!(two.message(3), None);
    }

    #[test]
    fn an_edit_is_read_from_there_on() {
        let two = read(TWO, None);
        let edited = TWO.replace("\"a\"", "\"b\"");
        let other = read(&edited, Some(&two));
        assert_eq!(other.known(), 1);
        assert_eq!(other.prefixes(), read(&edited, None).prefixes());
        assert_ne!(other.prefixes()[1], two.prefixes()[1]);
    }

    #[test]
    fn pieces_of_a_reply_belong_together_wherever_it_is_cut() {
        let item = |n: usize| match n % 4 {
            0 => format!(r#"{{"role":"user","content":"q{n}"}}"#),
            1 => format!(r#"{{"type":"reasoning","id":"rs_{n}","summary":[]}}"#),
            2 => format!(
                r#"{{"type":"function_call","call_id":"c{n}","name":"t","arguments":"{{}}"}}"#
            ),
            _ => format!(
                r#"{{"type":"function_call_output","call_id":"c{}","output":"x"}}"#,
                n - 1
            ),
        };
        let body = |count: usize| {
            let items: Vec<_> = (0..count).map(item).collect();
            Bytes::from(format!(r#"{{"input":[{}]}}"#, items.join(",")))
        };
        let alone = List::read(Format::Responses, "input", &body(8), None).expect("a body");
        for cut in 1..8 {
            let first = List::read(Format::Responses, "input", &body(cut), None).expect("a body");
            let both = common(first.body(), &body(8));
            let grown = List::read(Format::Responses, "input", &body(8), Some((&first, both)));
            let grown = grown.expect("a body");
            assert_eq!(grown.known(), cut);
            for at in 0..8 {
                assert_eq!(grown.message(at), alone.message(at), "{at} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_prompt_as_a_string_is_a_message() {
        let body = Bytes::from_static(br#"{"input":"hello","instructions":"be brief"}"#);
        let list = List::read(Format::Responses, "input", &body, None).expect("a body");
        let (bytes, view) = list.message(0).expect("one message");
        assert_eq!(&*bytes, br#"{"role":"user","content":"hello"}"#);
        assert_eq!(view.role, Role::User);
        assert_eq!(list.fixed(), ["be brief", ""]);
    }
}
