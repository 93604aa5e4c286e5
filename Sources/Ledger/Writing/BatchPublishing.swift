import Core
import Crypto

extension Batch {
    /// Appends what the clock and new catalogs brought the customer since the stream was written last, up
    /// to the instant at which whatever comes next is recorded.
    mutating func publishDue(of stream: Stream) {
        guard let customer = published(stream), let head = heads[stream.shard] else { return }
        let through = max(head.recordedAt, now)
        var counts: [String: Int16] = [:]
        for due in customer.dueNotices(through: through, of: project(of: stream)) {
            let text = due.reason.cause
            let cause = EventCause(
                actor: due.reason.actor, text: text, digest: SHA256.digest(Array(text.utf8)).bytes,
                index: counts[text, default: 0], evidence: nil)
            counts[text, default: 0] += 1
            append(due.event, to: stream, because: cause)
        }
    }

    /// What tells that access goes on which was published as ended.
    func regained(by stream: Stream) -> [Event] {
        published(stream)?.regained(at: now, by: project(of: stream).catalog) ?? []
    }

    /// The customer of the stream, if it is one whose boundaries are published.
    private func published(_ stream: Stream) -> CustomerState? {
        stream.customer.isReserved ? nil : folds[stream]?.state.customer
    }
}

extension DueNotice.Reason {
    fileprivate var actor: Actor {
        switch self {
        case .clock: .clock
        case .catalog: .catalog
        }
    }
}

extension Actor {
    /// Who publishes what the clock brought.
    static let clock = Actor(prefix: "deed:", random: "clock")
    /// Who publishes and credits what a new catalog brought.
    static let catalog = Actor(prefix: "deed:", random: "catalog")
}
