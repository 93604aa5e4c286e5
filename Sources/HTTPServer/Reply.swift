import Synchronization

/// The one chance to answer a request later, from any thread.
///
/// A reply that is let go of unused ends the wait by itself, so that no client waits for ever.
package final class Reply: Sendable {
    private let isGiven = Atomic(false)
    private let give: @Sendable (Response?) -> Void

    /// `give` is called once, without a response when there will be none.
    package init(give: @escaping @Sendable (Response?) -> Void) {
        self.give = give
    }

    /// Answers the request; only the first call does anything.
    package func callAsFunction(_ response: Response) {
        if !isGiven.exchange(true, ordering: .acquiringAndReleasing) { give(response) }
    }

    deinit {
        if !isGiven.load(ordering: .acquiring) { give(nil) }
    }
}
