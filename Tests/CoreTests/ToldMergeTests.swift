import Core
import Histories
import Testing

@Suite("What the feed tells of a merge")
struct ToldMergeTests {
    private let anon: CustomerID = id("anon")
    private let ben: CustomerID = id("ben")

    /// Returns a world in which two customers have something, are merged, buy something more, and are unmerged.
    private func world(purchases count: Int) throws -> World {
        var world = World()
        for number in 0..<count {
            let level = transaction("p\(number)", "level2", .nonConsumable, at(0))
            try world.submit([facts([level])], by: .customer(anon))
        }
        let pro = transaction("q", "pro", .autoRenewable, at(0), to: at(30))
        try world.submit([facts([pro])], by: .customer(anon))
        world.give("g_1", "season", to: ben, days: 9)
        try world.merge(anon, into: ben)
        let later = transaction("r", "level3", .nonConsumable, at(0))
        try world.submit([facts([later])], by: .customer(ben))
        try world.undoMerge(of: anon)
        return world
    }

    private func events(of customer: CustomerID, in world: World) -> [RecordedEvent] {
        let stream = Stream(project: id("default"), environment: .production, customer: customer)
        let events = world.events.filter { $0.customer == customer }.map(\.event)
        return events.enumerated().map { place, event in
            let version = Int64(place + 1)
            return RecordedEvent(
                stream: stream, version: version,
                position: Position(shard: stream.shard, sequence: version), event: event,
                record: EventRecord(
                    occurredAt: at(5), recordedAt: at(5), actor: id("test"), cause: "",
                    catalogVersion: 1))
        }
    }

    /// Returns the contents of the answers about the events after the first ones, and the number of answers.
    private func tell(
        _ events: [RecordedEvent], passing count: Int = 0
    ) -> (changes: [[AnswerChange]], answers: [Int]) {
        var told = ToldAccess()
        var (changes, answers): ([[AnswerChange]], [Int]) = ([], [])
        for event in events.prefix(count) { told.pass(event) }
        for event in events.dropFirst(count) {
            var asked = 0
            changes.append(
                told.tell(event) { _, _ in
                    asked += 1
                    return shop
                })
            answers.append(asked)
        }
        return (changes, answers)
    }

    @Test("The changes are told with its last event, and cost no more answers than one purchase's")
    func linear() throws {
        let world = try world(purchases: 200)
        for customer in [anon, ben] {
            let events = events(of: customer, in: world)
            let (changes, answers) = tell(events)
            for (place, event) in events.enumerated() {
                guard let following = event.event.mergeAct?.following else { continue }
                #expect(following == 201, "\(customer) \(event.event.type)")
                let merge = place...place + following
                #expect(merge.reduce(0) { $0 + answers[$1] } <= 2)
                #expect(merge.dropLast().allSatisfy { changes[$0].isEmpty })
                let last = changes[place + following]
                #expect(last.map(\.entitlement.text) == ["ad_free", "level2", "pro"])
                let isBrought = event.event.broughtBelongings != nil
                #expect(last.allSatisfy { $0.kind == (isBrought ? .started : .ended) })
            }
        }
    }

    @Test("Joined from the first event on, the changes are what a read answers at the last")
    func joined() throws {
        let world = try world(purchases: 3)
        for customer in [anon, ben] {
            let (changes, _) = tell(events(of: customer, in: world))
            var answers: [EntitlementID: Entitlement] = [:]
            for change in changes.joined() { answers[change.entitlement] = change.after }
            let read = world.customer(customer).entitlements(at: at(5), catalog: shop).all
            #expect(answers.values.sorted { $0.id < $1.id } == read)
        }
    }

    @Test("Each event is told with the same, wherever the reader begins")
    func places() throws {
        let world = try world(purchases: 3)
        for customer in [anon, ben] {
            let events = events(of: customer, in: world)
            let (whole, _) = tell(events)
            for count in events.indices {
                let (changes, _) = tell(events, passing: count)
                #expect(changes == Array(whole[count...]), "\(customer) after \(count)")
            }
        }
    }
}
