import Core
import Histories
import Testing

/// Tests how many customers may submit the app transaction of one store account.
@Suite("Store accounts that customers share")
struct SharedAccountTests {
    private let names: [CustomerID] = ["anna", "ben", "carl", "dora", "emil"].map { id($0) }

    private func installed(_ account: String? = "account1", on day: Int64 = 0) -> Facts {
        var fact = installation("1.0", on: at(0), signed: at(day + 1))
        fact.appTransaction = account.map { id($0) }
        return facts(apps: [fact])
    }

    private func world(_ limit: Int64? = ProjectSettings.customersPerAccount) -> World {
        World(settings: ProjectSettings(customersPerAccount: limit))
    }

    private func submit(
        _ facts: Facts, of customer: CustomerID, to world: inout World
    ) throws -> ItemOutcome.Result? {
        try world.submit([facts], by: .customer(customer)).first?.result
    }

    @Test("The first three have it, a fourth is refused, and the three continue")
    func first() throws {
        var world = world()
        let results = try names.map { try submit(installed(), of: $0, to: &world) }
        let no = ItemOutcome.Result.refused(.move(.accountShared))
        #expect(results == [.recorded, .recorded, .recorded, no, no])
        #expect(no.word == "refused")
        #expect(names.map { world.customer($0).apps.count } == [1, 1, 1, 0, 0])
        #expect(world.customer(names[3]).version == 0)
        let known = try names.map { try submit(installed(on: 1), of: $0, to: &world) }
        #expect(known == [.alreadyKnown, .alreadyKnown, .alreadyKnown, no, no])
        #expect(world.events.count { $0.event.type.name == "account.joined" } == 3)
    }

    @Test(
        "Each account has its own customers, and an app transaction without one is not counted")
    func apart() throws {
        var world = world(1)
        #expect(try submit(installed("account1"), of: names[0], to: &world) == .recorded)
        #expect(try submit(installed("account2"), of: names[1], to: &world) == .recorded)
        #expect(
            try submit(installed("account1"), of: names[1], to: &world)
                == .refused(.move(.accountShared)))
        for name in names.dropFirst(2) {
            #expect(try submit(installed(nil, on: 3), of: name, to: &world) == .recorded)
        }
    }

    @Test("Without a limit all have it; a later limit applies to whoever submits again")
    func later() throws {
        var open = world(nil)
        for name in names { #expect(try submit(installed(), of: name, to: &open) == .recorded) }
        #expect(open.events.count { $0.event.type.name == "account.joined" } == 0)
        open.limit(to: 2)
        for name in names.prefix(3) {
            // These customers keep the installation, because Deed recorded it earlier. The first two of them count.
            #expect(try submit(installed(), of: name, to: &open) == .alreadyKnown)
        }
        #expect(open.events.count { $0.event.type.name == "account.joined" } == 2)
        #expect(
            try submit(installed(), of: id("fred"), to: &open) == .refused(.move(.accountShared)))
    }

    @Test("A higher limit lets more in, and a lower one takes it from no one")
    func changed() throws {
        var world = world(1)
        #expect(try submit(installed(), of: names[0], to: &world) == .recorded)
        #expect(
            try submit(installed(), of: names[1], to: &world) == .refused(.move(.accountShared)))
        world.limit(to: 2)
        #expect(try submit(installed(), of: names[1], to: &world) == .recorded)
        world.limit(to: 1)
        for name in names.prefix(2) {
            #expect(try submit(installed(), of: name, to: &world) == .alreadyKnown)
        }
    }

    @Test("The rest of a submission is recorded, and its repetition gets the same answer")
    func beside() throws {
        var world = world(1)
        _ = try submit(installed(), of: names[0], to: &world)
        let bought = facts([transaction("1", "level2", .nonConsumable, at(0))])
        let submission = Submission(
            [
                Submission.Item(index: 0, facts: installed()),
                Submission.Item(index: 1, facts: bought),
            ],
            by: .customer(names[1]))
        let results: [ItemOutcome.Result] = [.refused(.move(.accountShared)), .recorded]
        #expect(try world.submit(submission).map(\.result) == results)
        let told = world.events.filter { $0.customer == names[1] }.map(\.event)
        #expect(
            submission.outcomes(repeating: told, in: world.customer(names[1])).map(\.result)
                == results)
    }
}
