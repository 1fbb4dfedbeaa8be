//! Many plays at random moments, some side by side, whose moments can be played again.
//!
//! The night has other moments each time; `STRESS_SEED=N` plays those of one night again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ralph_speckit::world;

use super::amounts::few_or_all;

/// How many plays there are, how many run side by side (they wait most of the time), and the latest moment.
pub struct Moments {
    /// The variable of the environment that asks for another number of plays.
    pub variable: &'static str,
    pub plays: u64,
    pub at_once: usize,
    pub latest: Duration,
}

impl Moments {
    /// Plays all of them, each with its number from 0 and its moment, and returns the sum of what they return.
    ///
    /// Unless more than half of them return more than 0, the machine is too busy for these moments: all are played again, twice
    /// as late.
    ///
    /// # Panics
    ///
    /// If that is still so at the last time: without this, a runner that never gets so far would pass.
    pub fn play(&self, one: impl Fn(u64, Duration) -> u64 + Sync) -> u64 {
        let seed = number("STRESS_SEED").unwrap_or_else(|| few_or_all(1, world::now().millis()));
        println!("the seed is {seed}");
        let (mut latest, mut sum) = (self.latest, 0);
        for _ in 0..ROUNDS {
            let (met, all, returned) = self.play_until(latest, seed, &one);
            sum += returned;
            if met * 2 > all {
                return sum;
            }
            println!("only {met} of {all} got so far by {latest:?}");
            latest *= 2;
        }
        panic!("fewer than half got so far");
    }

    /// How many returned more than 0, how many there were, and the sum.
    fn play_until(
        &self,
        latest: Duration,
        seed: u64,
        one: &(impl Fn(u64, Duration) -> u64 + Sync),
    ) -> (u64, u64, u64) {
        let mut dice = Dice(seed);
        let latest = u64::try_from(latest.as_millis()).unwrap();
        let moments: Vec<_> = (0..number(self.variable).unwrap_or(self.plays))
            .map(|_| Duration::from_millis(dice.next(latest)))
            .collect();
        let (next, met, sum) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..self.at_once {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(moment) = moments.get(usize::try_from(number).unwrap()) else {
                            break;
                        };
                        println!("number {number} after {moment:?}");
                        let returned = one(number, *moment);
                        met.fetch_add(u64::from(returned > 0), Ordering::Relaxed);
                        sum.fetch_add(returned, Ordering::Relaxed);
                    }
                });
            }
        });
        (met.into_inner(), moments.len() as u64, sum.into_inner())
    }
}

/// How often the moments are played at most.
const ROUNDS: u32 = 6;

/// A row of numbers that looks random and is the same for the same seed.
struct Dice(u64);

impl Dice {
    /// The next number below `limit`.
    fn next(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn number(name: &str) -> Option<u64> {
    world::variable(name).map(|text| text.parse().unwrap())
}
