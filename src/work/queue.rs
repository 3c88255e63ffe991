//! The queue in front of the slots, which decides whose turn is next. It uses no threads and no clock, so that its rules
//! can be tested step by step.

use std::collections::VecDeque;

use super::{Priority, WorkClient, WorkError};

/// Pieces that one client may have waiting: more than the pictures of a page that a browser requests at once.
pub(super) const MAX_WAITING_PER_CLIENT: usize = 64;

/// Pieces of one priority that may wait. More would wait longer than visitors do.
pub(super) const MAX_WAITING: usize = 256;

/// Turns of higher priorities before a lower priority that waits gets one.
pub(super) const MAX_PASSED_OVER: usize = 8;

/// Slots for voters alone, beside those for everybody. The cores are shared for a moment then, but a voter does not wait
/// for the end of somebody else's long piece.
pub(super) const VOTER_SLOTS: usize = 1;

/// Waiting pieces of work, each as a `T`, and the number of slots in use.
pub(super) struct WorkQueue<T> {
    slots: usize,
    running: [usize; Priority::ALL.len()],
    levels: [PriorityLevel<T>; Priority::ALL.len()],
    entered: u64,
}

/// The position of a piece, for leaving the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueHandle {
    client: WorkClient,
    number: u64,
}

/// All clients that wait at one priority.
struct PriorityLevel<T> {
    /// Clients with waiting pieces, in the order of their turns. There are at most a few hundred, so a linear search is
    /// enough.
    clients: VecDeque<Backlog<T>>,
    /// Turns of higher priorities since the last turn of this one.
    passed_over: usize,
}

/// The waiting pieces of one client, the oldest first.
struct Backlog<T> {
    client: WorkClient,
    pieces: VecDeque<(u64, T)>,
}

impl<T> WorkQueue<T> {
    pub fn new(slots: usize) -> Self {
        let levels = Priority::ALL.map(|_| PriorityLevel { clients: VecDeque::new(), passed_over: 0 });
        Self { slots: slots.max(1), running: [0; 3], levels, entered: 0 }
    }

    pub fn running(&self) -> usize {
        self.running.iter().sum()
    }

    pub fn waiting(&self) -> usize {
        self.levels.iter().map(PriorityLevel::waiting).sum()
    }

    /// Adds a piece, and returns the piece that had to make room for it, if any.
    ///
    /// If too many are waiting, the newest piece of the client with the most of them makes room. So a client with many
    /// pieces cannot keep out a client with few.
    ///
    /// # Errors
    /// If this client has too many pieces waiting, or if all clients have and none has more than this one.
    pub fn enter(&mut self, client: WorkClient, piece: T) -> Result<(QueueHandle, Option<T>), WorkError> {
        let level = &mut self.levels[client.priority as usize];
        let mut evicted = None;
        if client.is_bounded() {
            let own = level.backlog(client).map_or(0, |backlog| backlog.pieces.len());
            if own >= MAX_WAITING_PER_CLIENT {
                return Err(WorkError::ClientQueueFull);
            }
            if level.waiting() >= MAX_WAITING {
                evicted = Some(level.drop_newest_of_longest(own + 1).ok_or(WorkError::Busy)?);
            }
        }
        self.entered += 1;
        let number = self.entered;
        match level.backlog(client) {
            Some(backlog) => backlog.pieces.push_back((number, piece)),
            None => level.clients.push_back(Backlog { client, pieces: [(number, piece)].into() }),
        }
        Ok((QueueHandle { client, number }, evicted))
    }

    /// Removes a piece, unless its turn has come or it had to make room.
    pub fn leave(&mut self, handle: QueueHandle) -> Option<T> {
        let level = &mut self.levels[handle.client.priority as usize];
        let pieces = &mut level.backlog(handle.client)?.pieces;
        let index = pieces.iter().position(|(number, _)| *number == handle.number)?;
        let (_, piece) = pieces.remove(index)?;
        level.forget_idle_clients();
        Some(piece)
    }

    /// Takes the piece whose turn it is, and a slot for it. None if no slot is free for any waiting piece.
    pub fn next(&mut self) -> Option<(Priority, T)> {
        let may_begin = |priority: &Priority| {
            !self.levels[*priority as usize].clients.is_empty() && self.has_a_slot_for(*priority)
        };
        let overdue = |priority: &Priority| self.levels[*priority as usize].passed_over >= MAX_PASSED_OVER;
        let lowest_first = || Priority::ALL.into_iter().rev().filter(may_begin);
        let chosen = lowest_first().find(overdue).or_else(|| lowest_first().next_back())?;
        let waits_below: Vec<_> = lowest_first().take_while(|priority| *priority > chosen).collect();
        for priority in waits_below {
            self.levels[priority as usize].passed_over += 1;
        }
        let piece = self.levels[chosen as usize].take()?;
        self.running[chosen as usize] += 1;
        Some((chosen, piece))
    }

    /// Frees the slot of a piece that has ended.
    pub fn free(&mut self, priority: Priority) {
        self.running[priority as usize] -= 1;
    }

    /// Voters have a slot more than others. It counts as taken by the first of them, wherever that one began: otherwise
    /// others would never get a slot while many voters wait. If there are several slots, one is kept free of background
    /// work.
    fn has_a_slot_for(&self, priority: Priority) -> bool {
        let voters = self.running[Priority::Voter as usize];
        let shared = self.running() - voters.min(VOTER_SLOTS);
        match priority {
            Priority::Voter => self.running() < self.slots + VOTER_SLOTS,
            Priority::Visitor => shared < self.slots,
            Priority::Background => {
                shared < self.slots && self.running[priority as usize] < (self.slots - 1).max(1)
            }
        }
    }
}

impl<T> PriorityLevel<T> {
    fn waiting(&self) -> usize {
        self.clients.iter().map(|backlog| backlog.pieces.len()).sum()
    }

    fn backlog(&mut self, client: WorkClient) -> Option<&mut Backlog<T>> {
        self.clients.iter_mut().find(|backlog| backlog.client == client)
    }

    fn forget_idle_clients(&mut self) {
        self.clients.retain(|backlog| !backlog.pieces.is_empty());
        if self.clients.is_empty() {
            self.passed_over = 0;
        }
    }

    /// Takes the first piece of the client whose turn it is, and moves this client to the end.
    fn take(&mut self) -> Option<T> {
        let mut backlog = self.clients.pop_front()?;
        let first = backlog.pieces.pop_front();
        self.clients.push_back(backlog);
        self.forget_idle_clients();
        self.passed_over = 0;
        first.map(|(_, piece)| piece)
    }

    /// Removes the newest piece of the client with the most. None if no client has more than `fewer`.
    fn drop_newest_of_longest(&mut self, fewer: usize) -> Option<T> {
        let bounded = self.clients.iter_mut().filter(|backlog| backlog.client.is_bounded());
        let longest = bounded.max_by_key(|backlog| backlog.pieces.len())?;
        if longest.pieces.len() <= fewer {
            return None;
        }
        longest.pieces.pop_back().map(|(_, piece)| piece)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::*;

    fn visitor(last: u8) -> WorkClient {
        WorkClient::visitor(IpAddr::from([192, 0, last, 2]))
    }

    fn voter(last: u8) -> WorkClient {
        WorkClient::voter(IpAddr::from([192, 0, last, 2]))
    }

    /// A queue with one slot, and pieces that are called by these clients and numbers.
    fn queue(pieces: &[(WorkClient, u32)]) -> WorkQueue<(WorkClient, u32)> {
        let mut queue = WorkQueue::new(1);
        for piece in pieces {
            queue.enter(piece.0, *piece).unwrap();
        }
        queue
    }

    /// Everything that waits, in the order in which one slot would take it.
    fn drained(queue: &mut WorkQueue<(WorkClient, u32)>) -> Vec<(WorkClient, u32)> {
        let mut order = Vec::new();
        while let Some((priority, piece)) = queue.next() {
            assert_eq!(priority, piece.0.priority);
            order.push(piece);
            queue.free(priority);
        }
        order
    }

    #[test]
    fn clients_take_turns_and_each_is_served_in_order() {
        let [a, b, c] = [1, 2, 3].map(visitor);
        let mut queue = queue(&[(a, 0), (a, 1), (a, 2), (b, 0), (b, 1), (c, 0)]);
        assert_eq!(drained(&mut queue), [(a, 0), (b, 0), (c, 0), (a, 1), (b, 1), (a, 2)]);
    }

    #[test]
    fn a_full_backlog_delays_whoever_comes_next_by_one_piece() {
        let mut queue = queue(&[]);
        for number in 0..MAX_WAITING_PER_CLIENT as u32 {
            queue.enter(visitor(1), (visitor(1), number)).unwrap();
        }
        queue.enter(visitor(2), (visitor(2), 0)).unwrap();
        let place = drained(&mut queue).iter().position(|(client, _)| *client == visitor(2));
        assert_eq!(place, Some(1));
    }

    #[test]
    fn voters_come_before_visitors_and_both_before_the_background() {
        let (a, b) = (voter(1), visitor(1));
        let mut queue = queue(&[(WorkClient::BACKGROUND, 0), (b, 0), (b, 1), (a, 0), (a, 1)]);
        assert_eq!(drained(&mut queue), [(a, 0), (a, 1), (b, 0), (b, 1), (WorkClient::BACKGROUND, 0)]);
    }

    #[test]
    fn nobody_is_passed_over_for_ever() {
        let mut queue = queue(&[(WorkClient::BACKGROUND, 0), (visitor(1), 0)]);
        let mut turns = Vec::new();
        for number in 0..3 * MAX_PASSED_OVER as u32 {
            queue.enter(voter(1), (voter(1), number)).unwrap();
            let (priority, _) = queue.next().unwrap();
            queue.free(priority);
            turns.push(priority);
        }
        let place = |wanted| turns.iter().position(|priority| *priority == wanted);
        assert_eq!(place(Priority::Background), Some(MAX_PASSED_OVER), "{turns:?}");
        assert_eq!(place(Priority::Visitor), Some(MAX_PASSED_OVER + 1), "{turns:?}");
        assert_eq!(turns.iter().filter(|priority| **priority != Priority::Voter).count(), 2);
    }

    #[test]
    fn a_slot_is_kept_from_the_background() {
        let mut two = WorkQueue::new(2);
        for piece in 0..3 {
            two.enter(WorkClient::BACKGROUND, piece).unwrap();
        }
        assert_eq!(two.next(), Some((Priority::Background, 0)));
        assert_eq!(two.next(), None);
        two.enter(visitor(1), 9).unwrap();
        assert_eq!(two.next(), Some((Priority::Visitor, 9)));
        two.free(Priority::Background);
        assert_eq!(two.next(), Some((Priority::Background, 1)));

        let mut one = WorkQueue::new(1);
        one.enter(WorkClient::BACKGROUND, 0).unwrap();
        assert_eq!(one.next(), Some((Priority::Background, 0)), "where there is only one, it has to do");
    }

    #[test]
    fn a_voter_does_not_wait_for_the_long_pieces_of_others() {
        let mut queue = WorkQueue::new(2);
        for piece in 0..4 {
            queue.enter(visitor(1), piece).unwrap();
        }
        assert_eq!([queue.next(), queue.next()].map(Option::unwrap), [0, 1].map(|n| (Priority::Visitor, n)));
        assert_eq!(queue.next(), None);
        queue.enter(voter(2), 8).unwrap();
        queue.enter(voter(2), 9).unwrap();
        assert_eq!(queue.next(), Some((Priority::Voter, 8)));
        assert_eq!(queue.next(), None, "there is one such slot");
        queue.free(Priority::Visitor);
        assert_eq!(queue.next(), Some((Priority::Voter, 9)));
        queue.free(Priority::Voter);
        assert_eq!(queue.next(), Some((Priority::Visitor, 2)));
        queue.free(Priority::Voter);
        assert_eq!(queue.next(), None, "nobody else may use the slot of voters");
    }

    #[test]
    fn many_voters_leave_turns_to_others() {
        let mut queue = WorkQueue::new(2);
        for number in 0..20 {
            queue.enter(voter(1), number).unwrap();
            queue.enter(voter(2), number).unwrap();
        }
        queue.enter(visitor(1), 0).unwrap();
        let mut turns = Vec::new();
        for _ in 0..20 {
            while let Some((priority, _)) = queue.next() {
                turns.push(priority);
            }
            queue.free(Priority::Voter);
        }
        let place = turns.iter().position(|priority| *priority == Priority::Visitor);
        assert_eq!(place, Some(MAX_PASSED_OVER), "{turns:?}");
    }

    #[test]
    fn one_client_has_a_bounded_number_waiting_and_others_are_let_in() {
        let mut queue = WorkQueue::new(1);
        for piece in 0..MAX_WAITING_PER_CLIENT {
            queue.enter(visitor(1), piece).unwrap();
        }
        assert!(matches!(queue.enter(visitor(1), 0), Err(WorkError::ClientQueueFull)));
        assert!(queue.enter(visitor(2), 0).is_ok());
        assert!(queue.enter(voter(1), 0).is_ok(), "a voter at the same address waits elsewhere");
    }

    #[test]
    fn when_too_many_wait_the_longest_backlog_makes_room() {
        let mut queue = WorkQueue::new(1);
        for piece in 0..MAX_WAITING {
            queue.enter(visitor((piece / MAX_WAITING_PER_CLIENT) as u8), piece).unwrap();
        }
        let (_, evicted) = queue.enter(visitor(200), 1000).unwrap();
        assert_eq!(evicted, Some(MAX_WAITING - 1));
        assert_eq!(queue.waiting(), MAX_WAITING);

        let mut queue = WorkQueue::new(1);
        for piece in 0..MAX_WAITING {
            queue.enter(visitor(piece as u8), piece).unwrap();
        }
        assert!(matches!(queue.enter(visitor(0), 0), Err(WorkError::Busy)), "all have one");
        assert!(queue.enter(WorkClient::BACKGROUND, 0).is_ok(), "what nobody can ask again is never refused");
    }

    /// What may happen to a queue.
    #[derive(Clone, Debug)]
    enum QueueStep {
        Enter(WorkClient),
        Leave(usize),
        Next,
        Free,
    }

    fn step() -> impl Strategy<Value = QueueStep> {
        let client = (0..3_u8, 0..4_u8).prop_map(|(priority, last)| match priority {
            0 => voter(last),
            1 => visitor(last),
            _ => WorkClient::BACKGROUND,
        });
        prop_oneof![
            4 => client.prop_map(QueueStep::Enter),
            1 => any::<usize>().prop_map(QueueStep::Leave),
            3 => Just(QueueStep::Next),
            2 => Just(QueueStep::Free),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens_every_piece_is_served_once_in_the_order_of_its_client(
            slots in 1..4_usize,
            steps in prop::collection::vec(step(), 0..400),
        ) {
            let mut queue = WorkQueue::new(slots);
            let mut places: Vec<(WorkClient, u32, QueueHandle)> = Vec::new();
            let mut running = Vec::new();
            let mut latest: HashMap<WorkClient, u32> = HashMap::new();
            for (number, step) in steps.into_iter().enumerate() {
                let number = number as u32;
                match step {
                    QueueStep::Enter(client) => {
                        if let Ok((place, evicted)) = queue.enter(client, (client, number)) {
                            places.push((client, number, place));
                            places.retain(|(client, number, _)| evicted != Some((*client, *number)));
                        }
                    }
                    QueueStep::Leave(index) if !places.is_empty() => {
                        let (client, number, place) = places.swap_remove(index % places.len());
                        prop_assert_eq!(queue.leave(place), Some((client, number)));
                        prop_assert_eq!(queue.leave(place), None);
                    }
                    QueueStep::Leave(_) => {}
                    QueueStep::Next => if let Some((priority, (client, number))) = queue.next() {
                        prop_assert_eq!(priority, client.priority);
                        prop_assert!(latest.insert(client, number).is_none_or(|before| before < number));
                        let before = places.len();
                        places.retain(|(_, other, _)| *other != number);
                        prop_assert_eq!(places.len() + 1, before);
                        running.push(priority);
                    },
                    QueueStep::Free => if let Some(priority) = running.pop() {
                        queue.free(priority);
                    },
                }
                prop_assert!(running.len() <= slots + VOTER_SLOTS);
                let others = running.iter().filter(|priority| **priority != Priority::Voter).count();
                prop_assert!(others <= slots);
                prop_assert_eq!(queue.running(), running.len());
                prop_assert_eq!(queue.waiting(), places.len());
            }
            // Whoever still waits is served in the end.
            while !places.is_empty() {
                if let Some(priority) = running.pop() {
                    queue.free(priority);
                }
                while let Some((priority, (_, number))) = queue.next() {
                    places.retain(|(_, other, _)| *other != number);
                    running.push(priority);
                }
            }
        }
    }
}
