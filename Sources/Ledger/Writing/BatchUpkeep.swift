import Core
import Crypto
import Postgres
import SQL

extension Batch {
    /// Calls for table changes without an event.
    var upkeepCalls: [Call] {
        var whole = ProjectedRows()
        var mended: [Stream] = []
        var others: [Call] = []
        for (stream, what) in upkeep {
            switch what {
            case .publishing: break
            case .projecting(let settled):
                whole.addAll(origin(stream))
                if !settled.isEmpty { others.append(settled.forgetting(of: stream)) }
            case .mending where stream.isOfProject:
                others += Table.rewriting(stream.project, project(of: stream))
            case .mending: mended.append(stream)
            case .concluding(let version):
                others.append(Statement.markProjected(.text(stream.project.text), .int8(version)))
            }
        }
        let origins = mended.map(origin).filter { $0.customer.version > 0 }
        return whole.calls + (mended.isEmpty ? [] : Table.rewriting(mended, origins)) + others
    }

    /// Streams whose rows were changed by events, or whose own row a command rewrites.
    var writtenStreams: [Stream] {
        var seen = Set<Stream>()
        let published = upkeep.filter { $0.what == .publishing }.map(\.stream)
        return (entries.map(\.header.stream) + published).filter { seen.insert($0).inserted }
    }

    /// Returns changes to the customer that the clock and new catalogs caused since the stream was last written, up to
    /// the next event's instant. They are recorded before anything else. If older programs could not read one of them,
    /// nothing is written.
    func dueNotices(of stream: Stream) throws(Undecided) -> [DueNotice] {
        guard let customer = published(stream), let head = heads[stream.shard] else { return [] }
        let due = customer.dueNotices(
            through: max(head.recordedAt, now), by: try openEditions(of: stream))
        try requireFormat(of: due.lazy.map(\.event))
        return due
    }

    mutating func publish(_ due: [DueNotice], of stream: Stream) -> [RecordedEvent] {
        var counts: [String: Int16] = [:]
        return due.map { due in
            let text = due.reason.cause
            let cause = EventCause(
                actor: due.reason.actor, text: text, digest: SHA256.digest(Array(text.utf8)).bytes,
                index: counts[text, default: 0], evidence: nil)
            counts[text, default: 0] += 1
            return append(due.event, to: stream, because: cause)
        }
    }

    /// Refuses events that programs for the log's format could not read.
    func requireFormat(of events: some Sequence<Event>) throws(Undecided) {
        let needed = events.map(\.format).max()
        guard let needed, needed > format else { return }
        throw .refused(.formatPending(needed: needed, present: format))
    }

    /// Returns events that state that access continues although its end was published. Events that older programs could
    /// not read are left out here and recorded later.
    func regained(by stream: Stream) -> [Event] {
        let events = published(stream)?.regained(at: now, by: project(of: stream).catalog) ?? []
        return events.filter { $0.format <= format }
    }

    /// Returns the stream's customer, if the customer's boundaries are published.
    func published(_ stream: Stream) -> CustomerState? {
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

extension [WaitingCredit] {
    fileprivate func forgetting(of stream: Stream) -> Call {
        var settled = WaitingCreditRows()
        for credit in self { settled.add(credit, of: stream) }
        return Table.waitingCredits.remove(settled.rows())
    }
}

extension Upkeep {
    /// Whether the command first publishes the changes that the clock and new catalogs caused.
    var publishes: Bool {
        switch self {
        case .publishing, .projecting, .mending: true
        case .concluding: false
        }
    }
}
