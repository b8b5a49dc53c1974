//! Lists that are sent page by page as they are read.
//!
//! A long list is never held in memory. Its first page is read before the answer starts, so that errors still get a
//! status; each further page is read when the client has taken the previous one. A page holds a permit for lists while
//! it is read, none while it is sent, and its bytes count until they are sent. If a page cannot be read, the connection
//! is closed: the client sees an incomplete body, never a list that is too short.

use super::backend::Backend;
use super::problem::Problem;
use crate::surfaces::limits::{QUEUE_TIMEOUT, Work};
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use serde::Serialize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tracing::warn;

/// How long a page of a started answer waits for its permit, and for room for its bytes.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A list to send.
pub(in crate::surfaces) struct List {
    /// The start of the body, with the first page.
    text: Vec<u8>,
    /// Whether the first page has items.
    any: bool,
    /// What stands between two pages.
    separator: &'static [u8],
    end: Vec<u8>,
    rest: Option<Box<dyn Rest>>,
}

/// The items of a page, separated by commas, or lines.
pub(in crate::surfaces) struct Page {
    pub(in crate::surfaces) items: Vec<u8>,
    pub(in crate::surfaces) rest: Option<Box<dyn Rest>>,
}

/// The part of a list that is not read yet.
pub(in crate::surfaces) trait Rest: Send {
    /// Reads the next page.
    fn read(self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>>;
}

/// Source of the rows of a list, in order of their cursors.
pub(in crate::surfaces) trait Rows: Send + 'static {
    /// A row in the form in which it is sent.
    type Row: Serialize;
    /// Maximum number of rows in a page.
    const PAGE: usize;
    /// Maximum number of cursors read at a time.
    const CURSORS: usize = Self::PAGE;

    /// Reads at most `limit` rows after a cursor, each with its own cursor. Fewer are the end of the list.
    async fn read(&self, after: &str, limit: usize) -> Result<Vec<(String, Self::Row)>, Problem>;

    /// Reads at most `limit` cursors after a cursor.
    async fn cursors(&self, after: &str, limit: usize) -> Result<Vec<String>, Problem> {
        Ok(self.read(after, limit).await?.into_iter().map(|(cursor, _)| cursor).collect())
    }
}

impl List {
    /// Creates a list from its first page; `empty` is the answer with an empty list.
    pub(in crate::surfaces) fn new(empty: &impl Serialize, first: Page) -> Result<Self, Problem> {
        let mut text = serde_json::to_vec(empty).map_err(Problem::own_fault)?;
        let middle = text.iter().rposition(|byte| *byte == b']').unwrap_or(text.len());
        let end = text.split_off(middle);
        let any = !first.items.is_empty();
        text.extend(first.items);
        Ok(Self { text, any, separator: b",", end, rest: first.rest })
    }

    /// Creates an answer that is lines instead of a list.
    pub(in crate::surfaces) fn lines(Page { items, rest }: Page) -> Self {
        Self { text: items, any: false, separator: b"", end: Vec::new(), rest }
    }

    /// Converts the list to the body of an answer.
    pub(in crate::surfaces) async fn body(
        self,
        backend: &Arc<Backend>,
        caller: &str,
    ) -> Result<Body, Problem> {
        let Self { mut text, any, separator, end, rest } = self;
        if rest.is_none() {
            text.extend(&end);
            return Ok(backend.limits.answer(caller, text, QUEUE_TIMEOUT).await?.into());
        }
        let first = backend.limits.answer(caller, text, QUEUE_TIMEOUT).await?;
        let backend = Arc::clone(backend);
        Ok(Body::new(PagedBody {
            backend,
            caller: caller.to_owned(),
            any,
            separator,
            end,
            step: Step::Read(first, rest),
        }))
    }
}

/// Lists at most `size` rows after a cursor, and returns the cursor of the last one if more follow.
pub(in crate::surfaces) async fn listed<R: Rows>(
    empty: &impl Serialize,
    rows: R,
    after: &str,
    size: usize,
) -> Result<(List, Option<String>), Problem> {
    // One extra row shows whether more follow.
    let mut first = rows.read(after, size.saturating_add(1).min(R::PAGE)).await?;
    let is_all = first.len() < R::PAGE;
    let mut count = first.len();
    if is_all || count > size {
        let more = count > size;
        first.truncate(size);
        let last = first.last().map(|(cursor, _)| cursor.clone()).filter(|_| more);
        let page = Page { items: items(first.iter().map(|(_, row)| row))?, rest: None };
        return Ok((List::new(empty, page)?, last));
    }
    let begin = first.last().map(|(cursor, _)| cursor.clone()).unwrap_or_default();
    let items = items(first.iter().map(|(_, row)| row))?;
    drop(first);
    // The head of the answer has the cursor of the next page, so the end of the list is found first.
    let (mut at, mut more) = (begin.clone(), false);
    while !more {
        let wanted = (size - count).clamp(1, R::CURSORS);
        let found = rows.cursors(&at, wanted).await?;
        more = count == size && !found.is_empty();
        count += found.len();
        let is_last = found.len() < wanted || more;
        if let Some(cursor) = found.into_iter().next_back().filter(|_| !more) {
            at = cursor;
        }
        if is_last {
            break;
        }
    }
    let next = more.then(|| at.clone());
    let rest = (at != begin).then(|| Box::new(Walk { rows, after: begin, last: at }) as Box<dyn Rest>);
    Ok((List::new(empty, Page { items, rest })?, next))
}

/// The remaining rows, up to a last one.
struct Walk<R> {
    rows: R,
    after: String,
    last: String,
}

impl<R: Rows> Rest for Walk<R> {
    fn read(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<Page, Problem>>>> {
        Box::pin(async move {
            let found = self.rows.read(&self.after, R::PAGE).await?;
            let is_all = found.len() < R::PAGE;
            let own = |(cursor, _): &&(String, R::Row)| *cursor <= self.last;
            let shown = found.iter().take_while(own).count();
            let items = items(found.iter().take(shown).map(|(_, row)| row))?;
            let end = found.into_iter().take(shown).next_back().map(|(cursor, _)| cursor);
            let rest = match end {
                Some(end) if !is_all && end < self.last => {
                    self.after = end;
                    Some(self as Box<dyn Rest>)
                }
                _ => None,
            };
            Ok(Page { items, rest })
        })
    }
}

/// Reads `limit` rows after a cursor, or fewer at the end of a list, from a source whose pages may be short: a row that is
/// deleted while a page is read is missing from it. `read` returns a page, and where the list continues.
pub(in crate::surfaces) async fn fill<T, E>(
    after: &str,
    limit: usize,
    read: impl AsyncFn(&str, usize) -> Result<(Vec<T>, Option<String>), E>,
) -> Result<Vec<T>, E> {
    let (mut rows, mut after) = (Vec::new(), after.to_owned());
    loop {
        let (page, next) = read(&after, limit - rows.len()).await?;
        rows.extend(page);
        match next {
            // A cursor that stays would be read for ever.
            Some(next) if rows.len() < limit && next != after => after = next,
            _ => return Ok(rows),
        }
    }
}

/// Writes rows as the items of a list.
pub(in crate::surfaces) fn items<T: Serialize>(rows: impl Iterator<Item = T>) -> Result<Vec<u8>, Problem> {
    let mut text = Vec::new();
    for row in rows {
        if !text.is_empty() {
            text.push(b',');
        }
        serde_json::to_writer(&mut text, &row).map_err(Problem::own_fault)?;
    }
    Ok(text)
}

/// A body that reads its next page when it is polled for it.
struct PagedBody {
    backend: Arc<Backend>,
    caller: String,
    any: bool,
    separator: &'static [u8],
    end: Vec<u8>,
    step: Step,
}

type Reading = Pin<Box<dyn Future<Output = Result<(Bytes, Option<Box<dyn Rest>>), Problem>> + Send>>;

enum Step {
    /// A page is ready to send.
    Read(Bytes, Option<Box<dyn Rest>>),
    /// The next page is being read.
    Reading(Reading),
    Over,
}

impl HttpBody for PagedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        loop {
            match std::mem::replace(&mut self.step, Step::Over) {
                Step::Read(bytes, rest) => {
                    if let Some(rest) = rest {
                        let (backend, caller) = (Arc::clone(&self.backend), self.caller.clone());
                        let before = if self.any { self.separator } else { b"" };
                        let page = page(backend, caller, rest, before, self.end.clone());
                        self.step = Step::Reading(Box::pin(page));
                    }
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(bytes))));
                    }
                }
                Step::Reading(mut reading) => match reading.as_mut().poll(context) {
                    Poll::Pending => {
                        self.step = Step::Reading(reading);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((bytes, rest))) => {
                        self.any |= !bytes.is_empty();
                        self.step = Step::Read(bytes, rest);
                    }
                    Poll::Ready(Err(why)) => {
                        warn!(?why, "a list could not be read to its end; its connection is closed");
                        return Poll::Ready(Some(Err("the list could not be read to its end".into())));
                    }
                },
                Step::Over => return Poll::Ready(None),
            }
        }
    }
}

/// Reads the next page, with the separator from the previous one.
async fn page(
    backend: Arc<Backend>,
    caller: String,
    rest: Box<dyn Rest>,
    separator: &'static [u8],
    end: Vec<u8>,
) -> Result<(Bytes, Option<Box<dyn Rest>>), Problem> {
    let permit = backend.limits.permit(Work::List, &caller, PAGE_TIMEOUT).await?;
    let owned = Arc::clone(&backend);
    let work = move || async move {
        let Page { mut items, rest } = rest.read().await?;
        if !items.is_empty() {
            items.splice(0..0, separator.iter().copied());
        }
        if rest.is_none() {
            items.extend(end);
        }
        let bytes = owned.limits.answer(&caller, items, PAGE_TIMEOUT).await?;
        drop(permit);
        Ok((bytes, rest))
    };
    backend.run(None, work).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::convert::Infallible;

    /// Ten rows with the cursors 0 to 9, of which some are deleted once their cursors are read.
    async fn filled(after: &str, limit: usize, deleted: &[usize]) -> (Vec<usize>, Vec<(String, usize)>) {
        let asked = RefCell::new(Vec::new());
        let read = async |after: &str, limit: usize| {
            asked.borrow_mut().push((after.to_owned(), limit));
            let begin = after.parse::<usize>().map_or(0, |last| last + 1);
            let end = (begin + limit).min(10);
            let rows: Vec<usize> = (begin..end).filter(|row| !deleted.contains(row)).collect();
            Ok::<_, Infallible>((rows, (end < 10).then(|| (end - 1).to_string())))
        };
        let Ok(rows) = fill(after, limit, read).await;
        (rows, asked.into_inner())
    }

    fn asked(of: &[(&str, usize)]) -> Vec<(String, usize)> {
        of.iter().map(|(after, limit)| ((*after).to_owned(), *limit)).collect()
    }

    #[tokio::test]
    async fn a_row_that_is_deleted_while_it_is_read_does_not_end_a_list() {
        assert_eq!(filled("", 4, &[]).await, (vec![0, 1, 2, 3], asked(&[("", 4)])));
        assert_eq!(filled("", 4, &[1, 3]).await, (vec![0, 2, 4, 5], asked(&[("", 4), ("3", 2)])));
        let all = asked(&[("", 4), ("3", 4), ("7", 4)]);
        assert_eq!(filled("", 4, &[0, 1, 2, 3, 4, 5, 6, 7]).await, (vec![8, 9], all), "a page without rows");
        assert_eq!(filled("5", 4, &[9]).await, (vec![6, 7, 8], asked(&[("5", 4)])), "the end");
    }

    #[tokio::test]
    async fn a_cursor_that_stays_ends_a_list() {
        let read = async |after: &str, _: usize| Ok::<_, Infallible>((vec![1], Some(after.to_owned())));
        assert_eq!(fill("a", 3, read).await, Ok(vec![1]));
    }
}
