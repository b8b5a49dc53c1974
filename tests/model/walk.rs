//! Random walks: what happens next, and how a world comes to rest when nothing goes wrong any more.

use super::random::Random;
use super::world::{End, Event, World};

/// Draws what happens next. Work is common, faults are not rare.
pub(crate) fn draw(world: &World, random: &mut Random) -> Event {
    let worker = random.below(world.workers());
    let end = |random: &mut Random| match random.below(20) {
        0 => End::AppliedUnknown,
        1 => End::LostUnknown,
        2 => End::Hangs,
        _ => End::Known,
    };
    match random.below(100) {
        0..=44 => Event::Act(worker, end(random)),
        45..=49 => Event::Beat(worker),
        50..=55 => Event::Reap(worker),
        56..=58 => Event::Crash(worker),
        59..=62 => Event::Restart(worker),
        63..=64 => Event::Pause(worker),
        65..=67 => Event::Resume(worker),
        68 => Event::Release(worker),
        69..=70 => Event::Jump(worker, random.whole(1_200_001) - 600_000),
        // Time goes on at any pace, since a worker's own is not asked for.
        71..=80 => Event::Tick(1 + random.whole(3)),
        81..=83 => Event::Due,
        84..=89 => Event::Ripen(random.below(world.memories())),
        90..=92 => Event::Deposit(random.below(3), end(random)),
        93 => Event::EndSession(random.below(world.memories())),
        94 => Event::Abort,
        95..=98 => Event::Decide(random.once_in(2)),
        _ => Event::Policy(1 + random.below(4)),
    }
}

/// Lets everybody work until there is nothing left to do.
///
/// # Errors
/// A world that does not come to rest, with what is left in it.
pub(crate) fn drain(world: &mut World) -> Result<(), String> {
    for round in 0..200 {
        world.step(Event::Decide(false));
        world.step(Event::Tick(5));
        if round % 20 == 0 {
            world.step(Event::Due);
        }
        for worker in 0..world.workers() {
            world.step(Event::Resume(worker));
            world.step(Event::Restart(worker));
            world.step(Event::Reap(worker));
            for _ in 0..4 {
                world.step(Event::Act(worker, End::Known));
                world.check()?;
            }
        }
        if world.is_at_rest() {
            return Ok(());
        }
    }
    world.check_rest()
}
