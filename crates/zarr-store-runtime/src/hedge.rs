//! Second requests for slow reads.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// Number of recent responses that determine what is slow.
const SAMPLE: usize = 128;

/// Least number of known responses for second requests.
const LEAST: usize = 64;

/// Number of requests for each allowed second request.
const SHARE: u64 = 50;

/// Sends a second, equal request if a response takes longer than 95 of 100 others did, and takes the first response. At most 2 of 100
/// requests have a second request. A store uses one value for all its requests.
#[derive(Debug)]
pub struct Hedge {
    is_on: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Durations of the recent responses.
    times: VecDeque<Duration>,
    requests: u64,
    seconds: u64,
}

impl Hedge {
    /// Creates a hedge that sends second requests, or never does if `is_on` is false.
    #[must_use]
    pub fn new(is_on: bool) -> Self {
        Self { is_on, state: Mutex::default() }
    }

    /// Returns the first response of one request, or of two equal ones. If one of two fails, or its response is not `good`, waits for the
    /// other.
    ///
    /// # Errors
    /// The errors of the requests.
    pub async fn first<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        send: impl Fn() -> F,
        good: impl Fn(&T) -> bool,
    ) -> Result<T, E> {
        let is_good = |result: &Result<T, E>| result.as_ref().is_ok_and(&good);
        if !self.is_on {
            return send().await;
        }
        let start = Instant::now();
        let mut first = pin!(send());
        let slow = self.begin();
        let result = match tokio::time::timeout(slow, first.as_mut()).await {
            Ok(result) => result,
            Err(_) if !self.take() => first.await,
            Err(_) => {
                let second = pin!(send());
                let mut both = [Some(first), Some(second)];
                poll_fn(|context| {
                    for at in [0, 1] {
                        let Some(Poll::Ready(result)) = both[at].as_mut().map(|sent| sent.as_mut().poll(context))
                        else {
                            continue;
                        };
                        both[at] = None;
                        if is_good(&result) || both.iter().all(Option::is_none) {
                            return Poll::Ready(result);
                        }
                    }
                    Poll::Pending
                })
                .await
            }
        };
        if is_good(&result) {
            self.note(start.elapsed());
        }
        result
    }

    /// Counts a request, and returns the time after which its response is slow.
    fn begin(&self) -> Duration {
        let mut state = self.state();
        state.requests += 1;
        if state.times.len() < LEAST {
            return Duration::MAX;
        }
        let mut times: Vec<Duration> = state.times.iter().copied().collect();
        let at = times.len() * 95 / 100;
        *times.select_nth_unstable(at).1
    }

    /// Returns whether a second request is allowed, and counts it.
    fn take(&self) -> bool {
        let mut state = self.state();
        let may = (state.seconds + 1) * SHARE <= state.requests;
        state.seconds += u64::from(may);
        may
    }

    fn note(&self, time: Duration) {
        let mut state = self.state();
        if state.times.len() == SAMPLE {
            state.times.pop_front();
        }
        state.times.push_back(time);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Returns a runtime with a paused clock, which only advances while all tasks wait for it.
    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
    }

    /// Makes requests of 2 ms, of which every `slow`-th takes 300 ms. Returns the number of sent requests, and the number of late results.
    fn run(hedge: &Hedge, slow: u64) -> (u64, usize) {
        let count = AtomicU64::new(0);
        let send = || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            async move {
                let time = if number % slow == slow - 1 { 300 } else { 2 };
                tokio::time::sleep(Duration::from_millis(time)).await;
                Ok::<u64, ()>(number)
            }
        };
        let late = runtime().block_on(async {
            let mut late = 0;
            for _ in 0..300 {
                let start = Instant::now();
                hedge.first(&send, |_| true).await.expect("a result");
                late += usize::from(start.elapsed() >= Duration::from_millis(250));
            }
            late
        });
        (count.into_inner(), late)
    }

    #[test]
    fn slow_answers_are_overtaken() {
        let (requests, late) = run(&Hedge::new(true), 100);
        assert!(late <= 1 && (302..=306).contains(&requests), "{late} late, {requests} requests");
        assert_eq!(run(&Hedge::new(false), 100), (300, 3));
    }

    #[test]
    fn second_requests_are_few() {
        let (requests, late) = run(&Hedge::new(true), 10);
        assert!(requests <= 306 && late > 10, "{late} late, {requests} requests");
    }

    #[test]
    fn the_other_of_two_is_waited_for_if_one_fails() {
        let hedge = Hedge::new(true);
        {
            let mut state = hedge.state();
            state.times.extend([Duration::from_millis(1); SAMPLE]);
            state.requests = 1000;
        }
        let runtime = runtime();
        for (first, second, due) in
            [((50, true), (5, false), Ok(0)), ((20, false), (90, true), Ok(1)), ((20, false), (5, false), Err(0))]
        {
            let count = AtomicU64::new(0);
            let send = |refuses: bool| {
                let count = &count;
                move || {
                    let number = count.fetch_add(1, Ordering::Relaxed) % 2;
                    let (time, is_good) = if number == 0 { first } else { second };
                    async move {
                        tokio::time::sleep(Duration::from_millis(time)).await;
                        if is_good || refuses { Ok((number, is_good)) } else { Err(number) }
                    }
                }
            };
            let result = runtime.block_on(hedge.first(send(false), |_| true));
            assert_eq!(result.map(|(number, _)| number), due);
            // An answer that asks for another attempt is no better than none.
            let result = runtime.block_on(hedge.first(send(true), |(_, is_good)| *is_good));
            assert_eq!(result, Ok(due.map_or_else(|number| (number, false), |number| (number, true))));
            assert_eq!(count.load(Ordering::Relaxed), 4);
        }
    }
}
