package import Core

/// A customer in memory whose facts are recorded and whose boundaries are published, as in the ledger.
package struct PublishedLife {
    package private(set) var customer = CustomerState()
    package private(set) var project = ProjectState()
    /// The published notices, in order: type, entitlement, and the day since 1 January.
    package private(set) var notices: [String] = []
    package private(set) var events: [RecordedEvent] = []
    private var catalogs: [Catalog] = [Catalog()]
    private let stream = Stream(
        project: id("default"), environment: .production, customer: id("u1"))

    package init(catalog: Catalog = shop) {
        project.apply(
            .projectCreated(ProjectCreated(project: stream.project)), recordedAt: .distantPast)
        apply(catalog, at: .distantPast)
    }

    /// Publishes the due boundaries, like the job.
    package mutating func look(at now: Instant) {
        let open = customer.openEditions(of: project).map { $0.with(catalogs[Int($0.version)]) }
        for due in customer.dueNotices(through: now, by: open) { append(due.event, at: now) }
    }

    package mutating func record(_ facts: Facts, at now: Instant) {
        append(customer.decide(RecordFacts(facts, catalog: project.catalog)), at: now)
    }

    package mutating func append(_ decided: [Event], at now: Instant) {
        if decided.isEmpty { return }
        look(at: now)
        for event in decided { append(event, at: now) }
        for event in customer.regained(at: now, by: project.catalog) { append(event, at: now) }
    }

    package mutating func apply(_ catalog: Catalog, at now: Instant) {
        let changed = CatalogChanged(version: project.catalogVersion + 1, catalog: catalog)
        project.apply(.catalogChanged(changed), recordedAt: now)
        catalogs.append(catalog)
    }

    private mutating func append(_ event: Event, at now: Instant) {
        let record = EventRecord(
            occurredAt: event.statedAt ?? now, recordedAt: now,
            actor: id("test"), cause: "test",
            catalogVersion: project.catalogVersion)
        let recorded = RecordedEvent(
            stream: stream, version: customer.version + 1,
            position: Position(shard: stream.shard, sequence: customer.version + 1), event: event,
            record: record)
        customer.apply(recorded)
        events.append(recorded)
        switch event {
        case .accessStarted(let notice): note("started", notice)
        case .accessEnded(let notice): note("ended", notice)
        case .accessEndingSoon(let notice): note("ending_soon", notice)
        default: break
        }
    }

    private mutating func note(_ word: String, _ notice: AccessNotice) {
        notices.append(PublishedLife.line(word, notice))
    }

    package static func line(_ word: String, _ notice: AccessNotice) -> String {
        "\(word) \(notice.entitlement) \(days(notice.at))"
    }

    package static func days(_ instant: Instant) -> String {
        let milliseconds = instant.milliseconds - at(0).milliseconds
        return milliseconds % day == 0
            ? "\(milliseconds / day)" : "\(Double(milliseconds) / Double(day))"
    }
}
