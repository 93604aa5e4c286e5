import Synchronization

/// The only way to answer a request later, from any thread.
///
/// If this object is released unused, the wait ends without an answer, so that no client waits forever.
package final class LateReply: Sendable {
    private let isGiven = Atomic(false)
    private let give: @Sendable (Response?) -> Void
    private let work: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates a reply. `give` is called once, and without a response if none will come. `work` runs a closure on a
    /// thread that may block.
    package init(
        work: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        give: @escaping @Sendable (Response?) -> Void
    ) {
        self.give = give
        self.work = work
    }

    /// Answers the request. Only the first call has an effect.
    package func callAsFunction(_ response: Response) {
        if !isGiven.exchange(true, ordering: .acquiringAndReleasing) { give(response) }
    }

    /// Continues the request on a thread that may block, even if the queue is full, because the
    /// request was accepted and perhaps carried out.
    package func whenPatient(_ body: @escaping @Sendable () -> Void) { work(body) }

    deinit {
        if !isGiven.load(ordering: .acquiring) { give(nil) }
    }
}
