import Synchronization

/// The one chance to answer a request later, from any thread.
///
/// A reply that is let go of unused ends the wait by itself, so that no client waits for ever.
package final class LateReply: Sendable {
    private let isGiven = Atomic(false)
    private let give: @Sendable (Response?) -> Void
    private let work: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `give` is called once, without a response when there will be none; `work` has something done by a
    /// thread that may wait.
    package init(
        work: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        give: @escaping @Sendable (Response?) -> Void
    ) {
        self.give = give
        self.work = work
    }

    /// Answers the request; only the first call does anything.
    package func callAsFunction(_ response: Response) {
        if !isGiven.exchange(true, ordering: .acquiringAndReleasing) { give(response) }
    }

    /// Goes on with the request on a thread that may wait, however many requests wait for one: this one
    /// was taken, and maybe obeyed.
    package func whenPatient(_ body: @escaping @Sendable () -> Void) { work(body) }

    deinit {
        if !isGiven.load(ordering: .acquiring) { give(nil) }
    }
}
