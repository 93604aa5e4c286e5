package import Core

/// Customers whose boundaries could not be published lately. A look without them does not begin with finding out
/// again who they are, which takes two transactions for each.
package struct RestingCustomers: Sendable {
    /// In milliseconds.
    private static let rest: Int64 = 5000

    private var ends: [Stream: Int64] = [:]
    /// Why the first of them could not be published.
    package private(set) var fault: Fault?

    package init() {}

    package var customers: Set<Stream> { Set(ends.keys) }

    /// Wakes those who have rested, by the clock that only moves forward.
    package mutating func wake(at now: Int64) {
        ends = ends.filter { $0.value > now }
        if ends.isEmpty { fault = nil }
    }

    package mutating func add(_ publication: Publication, at now: Int64) {
        for stream in publication.blamed.keys { ends[stream] = now + RestingCustomers.rest }
        if !ends.isEmpty { fault = publication.fault ?? fault }
    }
}
