//! The order of middlewares. The default is deer-flow's.

use std::sync::Arc;

use crate::channel::skill::Reads;
use crate::middleware::{
    Clarification, DurableContext, DynamicContext, Memory, Middleware, SkillActivation,
    Summarization, ThreadData, Title,
};

/// Middlewares in their order: the first is the outermost.
///
/// | place | what | why there |
/// |---|---|---|
/// | 1 | [`ThreadData`] | every tool needs the workspace |
/// | 2 | [`DynamicContext`] | what it adds stands in front of the request |
/// | 3 | [`SkillActivation`] | what it loads is captured by the next |
/// | 4 | [`DurableContext`] | captures before messages can be folded |
/// | 5 | [`Summarization`] | folds |
/// | 6 to 8 | [`Title`], [`Memory`], [`Clarification`] | work on what is left; a question ends the stack |
#[derive(Clone, Default)]
pub struct Stack(Vec<Arc<dyn Middleware>>);

impl Stack {
    /// Without any.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The lead agent's.
    pub fn lead(reads: &Reads) -> Self {
        Self::subagent(reads)
            .push(Title)
            .push(Memory::default())
            .push(Clarification)
    }

    /// A subagent's: it gives no titles, remembers nothing and asks nobody.
    pub fn subagent(reads: &Reads) -> Self {
        Self::empty()
            .push(ThreadData)
            .push(DynamicContext::default())
            .push(SkillActivation)
            .push(DurableContext::new(reads.clone()))
            .push(Summarization)
    }

    /// With one at the end.
    #[must_use]
    pub fn push(mut self, middleware: impl Middleware + 'static) -> Self {
        self.0.push(Arc::new(middleware));
        self
    }

    /// With one in front of the one of this name; at the end where there is none.
    #[must_use]
    pub fn before(mut self, name: &str, middleware: impl Middleware + 'static) -> Self {
        let at = self.place(name).unwrap_or(self.0.len());
        self.0.insert(at, Arc::new(middleware));
        self
    }

    /// With one behind the one of this name; at the end where there is none.
    #[must_use]
    pub fn behind(mut self, name: &str, middleware: impl Middleware + 'static) -> Self {
        let at = self.place(name).map_or(self.0.len(), |at| at + 1);
        self.0.insert(at, Arc::new(middleware));
        self
    }

    /// Without the one of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|middleware| middleware.name() != name);
        self
    }

    /// Their names in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|middleware| middleware.name()).collect()
    }

    pub(crate) fn all(&self) -> &[Arc<dyn Middleware>] {
        &self.0
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0
            .iter()
            .position(|middleware| middleware.name() == name)
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mine;

    impl Middleware for Mine {
        fn name(&self) -> &'static str {
            "mine"
        }
    }

    #[test]
    fn the_default_order_is_the_seeds_and_ones_own_go_anywhere() {
        let stack = Stack::lead(&Reads::default());
        let seed = [
            "thread_data",
            "dynamic_context",
            "skill_activation",
            "durable_context",
            "summarization",
            "title",
            "memory",
            "clarification",
        ];
        assert_eq!(stack.names(), seed);
        assert_eq!(Stack::subagent(&Reads::default()).names(), seed[..5]);
        let mine = stack.clone().before("summarization", Mine).without("title");
        assert_eq!(
            mine.names()[3..7],
            ["durable_context", "mine", "summarization", "memory"]
        );
        assert_eq!(stack.clone().behind("title", Mine).names()[6], "mine");
        assert_eq!(stack.behind("nobody", Mine).names()[8], "mine");
    }
}
