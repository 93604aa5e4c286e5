package import Core
import Following

extension FeedReader {
    /// Returns the next events of the given customers, in order for each customer. Remembers each customer's state
    /// before these events, so that a repeated request is cheap.
    package func later(
        _ wanted: [LaterEvents], of project: ProjectID, limit: Int
    ) throws(Fault) -> [[FeedItem]] {
        let found = try log.later(wanted, limit: limit)
        let items = try AccessTeller(log, waiters, project).tell(found, after: wanted)
        // The project is read after the events, so that it includes every key that they name.
        let owner = try log.project(project)
        return items.map { $0.naming(actorsOf: owner) }
    }

    /// Returns an event in the feed, found by its own id or by the id of a message about it; `nil` if no event has the
    /// id.
    package func item(
        _ id: String, of project: ProjectID, _ environment: Environment
    ) throws(FeedError) -> FeedItem? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4, let shard = Int(parts[0]),
            (0..<Shard.count).contains(shard),
            let sequence = Int64(parts[1]), sequence > 0
        else { return nil }
        var place = try rethrowing(as: FeedError.fault, log.heads())
        if place[shard] < sequence { return nil }
        place[shard] = sequence - 1
        var question = FeedQuestion(project, environment)
        question.start = .place(place)
        // Asks for as many events as there are shards, because a page is divided among them, and
        // other shards may have new events in the meantime.
        question.limit = Shard.count
        return try page(question).items.first { $0.id == parts.prefix(3).joined(separator: "-") }
    }

    /// Returns the last position in each shard that was recorded before the instant.
    package func places(before instant: Instant) throws(Fault) -> [Int64] {
        try log.places(before: instant)
    }
}

extension AccessTeller {
    /// Returns the events with the changes that they caused, in order for each customer.
    func tell(
        _ found: [[LoggedEvent]], after wanted: [LaterEvents]
    ) throws(Fault) -> [[FeedItem]] {
        let parts = wanted.map { wanted in
            PartlyTold(
                wanted.stream, memory.told(of: wanted.stream, before: wanted.version + 1),
                through: wanted.version)
        }
        let told = try recall(parts)
        var items: [[FeedItem]] = []
        for (wanted, events) in zip(wanted, found) {
            guard case .success(var access) = told[wanted.stream] else {
                items.append(events.compactMap { FeedItem($0, .unknown) })
                continue
            }
            memory.keep(access, of: wanted.stream)
            var told: [FeedItem] = []
            var isReadable = true
            for event in events {
                var found = AccessTold.unknown
                do throws(Fault) {
                    if isReadable { found = try changes(by: event, &access) }
                } catch {
                    if error.isOfWholeDatabase || error == .busy { throw error }
                    isReadable = false
                }
                if let item = FeedItem(event, found) { told.append(item) }
            }
            items.append(told)
        }
        return items
    }
}

extension [FeedItem] {
    /// Returns the same items, with the names of the keys that caused the events.
    func naming(actorsOf project: ProjectState) -> [FeedItem] {
        let names = project.names(of: lazy.map(\.record.actor))
        if names.isEmpty { return self }
        return map { item in
            var item = item
            item.actorName = names[item.record.actor]
            return item
        }
    }
}

extension FeedItem {
    init?(_ event: LoggedEvent, _ told: AccessTold) {
        guard let content = event.content else { return nil }
        self.init(
            stream: event.stream, position: event.position, version: event.version,
            type: event.type, record: content.record, payload: content.payload,
            mark: hex(content.chain.prefix(4)), access: told.changes,
            isAccessUnknown: told.isUnknown)
    }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
        decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
