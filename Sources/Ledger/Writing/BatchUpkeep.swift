import Core
import Crypto
import Postgres
import SQL

extension Batch {
    /// Calls that change tables without an event.
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

    /// Streams whose rows were changed by events, or whose own row was requested.
    var writtenStreams: [Stream] {
        var seen = Set<Stream>()
        let published = upkeep.filter { $0.what == .publishing }.map(\.stream)
        return (entries.map(\.header.stream) + published).filter { seen.insert($0).inserted }
    }

    /// Appends what the clock and new catalogs changed for the customer since the stream was last
    /// written, up to the next event's instant.
    @discardableResult
    mutating func publishDue(of stream: Stream) -> [RecordedEvent] {
        guard let customer = published(stream), let head = heads[stream.shard] else { return [] }
        let through = max(head.recordedAt, now)
        var counts: [String: Int16] = [:]
        return customer.dueNotices(through: through, of: project(of: stream)).map { due in
            let text = due.reason.cause
            let cause = EventCause(
                actor: due.reason.actor, text: text, digest: SHA256.digest(Array(text.utf8)).bytes,
                index: counts[text, default: 0], evidence: nil)
            counts[text, default: 0] += 1
            return append(due.event, to: stream, because: cause)
        }
    }

    /// Events stating that access continues although its end was published.
    func regained(by stream: Stream) -> [Event] {
        published(stream)?.regained(at: now, by: project(of: stream).catalog) ?? []
    }

    /// The stream's customer, if its boundaries are published.
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

extension [WaitingCredit] {
    fileprivate func forgetting(of stream: Stream) -> Call {
        var settled = WaitingCreditRows()
        for credit in self { settled.add(credit, of: stream) }
        return Table.waitingCredits.remove(settled.rows())
    }
}

extension Upkeep {
    /// Whether it first publishes what the clock and new catalogs changed.
    var publishes: Bool {
        switch self {
        case .publishing, .projecting, .mending: true
        case .concluding: false
        }
    }
}
