//! How many runs there are at a time, and who waits for one.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Runs that may wait; who comes after them is sent away.
const LONGEST: usize = 64;

/// Runs of one address, running and waiting.
const AT_ONE_ADDRESS: usize = 4;

/// Everybody who has a run or waits for one.
#[derive(Clone)]
pub struct Line {
    inner: Arc<Inner>,
}

struct Inner {
    at_once: usize,
    people: Mutex<People>,
    /// Changes whenever somebody has left.
    moved: watch::Sender<u64>,
}

#[derive(Default)]
struct People {
    next: u64,
    /// In the order of coming; the first so many of them run.
    tickets: Vec<(u64, IpAddr)>,
}

/// A place in the line. Dropping it leaves the line.
pub struct Ticket {
    number: u64,
    inner: Arc<Inner>,
    moved: watch::Receiver<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMany {
    #[error("so many runs of yours are under way already")]
    Yours,
    #[error("too many people are waiting")]
    Everybodys,
}

impl Line {
    pub fn new(at_once: usize) -> Self {
        let inner = Inner { at_once, people: Mutex::default(), moved: watch::Sender::new(0) };
        Self { inner: Arc::new(inner) }
    }

    pub fn join(&self, address: IpAddr) -> Result<Ticket, TooMany> {
        let mut people = self.inner.people();
        let theirs = people.tickets.iter().filter(|(_, other)| *other == address).count();
        if theirs >= AT_ONE_ADDRESS {
            return Err(TooMany::Yours);
        }
        if people.tickets.len() >= self.inner.at_once + LONGEST {
            return Err(TooMany::Everybodys);
        }
        people.next += 1;
        let number = people.next;
        people.tickets.push((number, address));
        drop(people);
        Ok(Ticket { number, moved: self.inner.moved.subscribe(), inner: Arc::clone(&self.inner) })
    }

    /// Runs under way, for those who want to know how busy it is.
    pub fn running(&self) -> usize {
        self.inner.people().tickets.len().min(self.inner.at_once)
    }

    /// Runs that have not begun yet.
    pub fn waiting(&self) -> usize {
        self.inner.people().tickets.len().saturating_sub(self.inner.at_once)
    }
}

impl Ticket {
    /// How many are before this one; none when it may begin.
    pub fn position(&self) -> Option<usize> {
        let people = self.inner.people();
        let place = people.tickets.iter().position(|(number, _)| *number == self.number)?;
        (place + 1).checked_sub(self.inner.at_once).filter(|before| *before > 0)
    }

    /// Resolves when somebody has left.
    pub async fn moves(&mut self) {
        let _ = self.moved.changed().await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.inner.people().tickets.retain(|(number, _)| *number != self.number);
        self.inner.moved.send_modify(|times| *times += 1);
    }
}

impl Inner {
    fn people(&self) -> MutexGuard<'_, People> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[tokio::test]
    async fn whoever_comes_later_waits_and_moves_up() {
        let line = Line::new(2);
        let first = line.join(address(1)).unwrap();
        let second = line.join(address(2)).unwrap();
        let mut third = line.join(address(3)).unwrap();
        let fourth = line.join(address(4)).unwrap();
        let places = [&first, &second, &third, &fourth].map(Ticket::position);
        assert_eq!(places, [None, None, Some(1), Some(2)]);
        assert_eq!(line.running(), 2);
        drop(first);
        third.moves().await;
        assert_eq!((third.position(), fourth.position()), (None, Some(1)));
    }

    #[test]
    fn neither_one_address_nor_all_of_them_fill_the_line() {
        let line = Line::new(2);
        let mine: Vec<_> = (0..AT_ONE_ADDRESS).map(|_| line.join(address(1)).unwrap()).collect();
        assert_eq!(line.join(address(1)).err(), Some(TooMany::Yours));
        let others: Vec<_> = (0..200).filter_map(|n| line.join(address(n / 2 + 2)).ok()).collect();
        assert_eq!(mine.len() + others.len(), 2 + LONGEST);
        assert_eq!(line.join(address(250)).err(), Some(TooMany::Everybodys));
        drop(others);
        assert!(line.join(address(250)).is_ok());
    }
}
