//! What a database has to do for us: run statements in one transaction. The statements are the same for all.

use conspectus::store::{StoreError, Stores};

/// A value of a row or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `NULL`.
    Null,
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A row.
pub(crate) type Row = Vec<Value>;

/// A statement with its parameters, `$1` being the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text, in what both databases understand.
    pub sql: &'static str,
    /// The parameters.
    pub params: Vec<Value>,
    /// Whether the rows that it reads stay as they are until the transaction ends.
    pub locks: bool,
}

impl Statement {
    /// A statement.
    pub fn new(sql: &'static str, params: impl IntoIterator<Item = Value>) -> Self {
        Self {
            sql,
            params: params.into_iter().collect(),
            locks: false,
        }
    }

    /// One that locks what it reads.
    pub fn locking(self) -> Self {
        Self {
            locks: true,
            ..self
        }
    }
}

/// What is to be written, and what is answered when it is.
pub(crate) type Decided<T> = Result<(Vec<Statement>, T), StoreError>;

/// Called with the name of each step of a transaction ([`STEPS`]), for tests that kill the process there.
pub type Failpoint = std::sync::Arc<dyn Fn(&'static str) + Send + Sync>;

/// The steps of a transaction, in order.
pub const STEPS: [&str; 5] = [
    "before the transaction",
    "after the reads",
    "before a statement",
    "before the commit",
    "after the commit",
];

/// The process passes a step.
pub(crate) fn pass(failpoint: Option<&Failpoint>, step: usize) {
    if let Some(failpoint) = failpoint {
        failpoint(STEPS[step]);
    }
}

/// A database.
pub trait Backend: Send + Sync + 'static {
    /// Finds messages: `$3` is the thread's own term, `$4` a JSON list of terms, `$5` the limit.
    const SEARCH: &'static str;

    /// What reads the database's clock in milliseconds, where leases go by it.
    fn clock(&self) -> Option<&'static str>;

    /// Reads.
    fn query(&self, statement: Statement) -> Stores<'_, Vec<Row>>;

    /// One transaction: `reads`, then what `decide` makes of their rows, all or nothing. Reads that lock nothing are
    /// of one instant.
    fn transact<T: Send + 'static>(
        &self,
        reads: Vec<Statement>,
        decide: impl FnOnce(Vec<Vec<Row>>) -> Decided<T> + Send + 'static,
    ) -> Stores<'_, T>;

    /// Something was deleted that is not to be found any more: whatever the database still has of it beside its
    /// tables goes too, as far as it can tell.
    fn scrub(&self) -> Stores<'_, ()>;
}

/// A number as databases keep it.
pub(crate) fn int(number: u64) -> Value {
    Value::Int(number.cast_signed())
}

/// A text.
pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Reads a row from left to right.
pub(crate) struct Columns(std::vec::IntoIter<Value>);

impl Columns {
    /// Of this row.
    pub(crate) fn of(row: Row) -> Self {
        Self(row.into_iter())
    }

    /// A number.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn int(&mut self) -> Result<u64, StoreError> {
        match self.0.next() {
            Some(Value::Int(number)) => Ok(number.cast_unsigned()),
            other => Err(wrong("a number", other.as_ref())),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.maybe_text()?
            .ok_or_else(|| wrong("a text", Some(&Value::Null)))
    }

    /// A text or nothing.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            other => Err(wrong("a text", other.as_ref())),
        }
    }

    /// A number or nothing.
    ///
    /// # Errors
    /// When it is something else.
    pub(crate) fn maybe_int(&mut self) -> Result<Option<u64>, StoreError> {
        match self.0.next() {
            Some(Value::Int(number)) => Ok(Some(number.cast_unsigned())),
            Some(Value::Null) => Ok(None),
            other => Err(wrong("a number", other.as_ref())),
        }
    }

    /// Bytes.
    ///
    /// # Errors
    /// When they are none.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        match self.0.next() {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            other => Err(wrong("bytes", other.as_ref())),
        }
    }
}

fn wrong(wanted: &str, found: Option<&Value>) -> StoreError {
    let found = match found {
        None => "no column",
        Some(Value::Null) => "nothing",
        Some(Value::Int(_)) => "a number",
        Some(Value::Text(_)) => "a text",
        Some(Value::Bytes(_)) => "bytes",
    };
    StoreError::Damaged(format!("{found} stands where {wanted} should"))
}
