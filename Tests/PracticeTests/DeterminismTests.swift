import Core
import Foundation
import JSON
import Practice
import Testing

@Suite("The same scenario with the same seed")
struct DeterminismTests {
    /// Returns everything that the store signed and recorded during a scenario, without signatures.
    private func outcome(
        _ scenario: Scenario, seed: UInt64
    ) throws -> (
        signed: [String], states: [Entitlements], balances: [Balances]
    ) {
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:1/"
        let practised = PractisedStore(
            PracticeWorld(shop, from: opening, seed: seed), answers: ["TIMED_OUT", "SUCCESS"])
        let store = practised.store
        let end = try store.change { world throws(PracticeError) in try world.plan(scenario) }
        try store.advance(to: end)
        var signed = try practised.posts.map { post in
            try unsigned(JSON.read(post.body)["signedPayload"]?.string ?? "").text
        }
        var states: [Entitlements] = []
        var balances: [Balances] = []
        for customer in store.read({ $0.customers }) {
            let (given, receipt) = store.read { world in
                let outcome = Outcome(
                    customer: customer, transaction: world.sales(of: customer).last?.id)
                let given = HandOver(outcome, in: world, by: practice)
                return (given, world.receipt(of: customer, by: practice))
            }
            for text in [given.signedTransaction, given.signedRenewal, given.appTransaction] {
                if let text { signed.append(try unsigned(text).text) }
            }
            // Receipts with the same content have the same RSA signature.
            signed.append(receipt.map { String($0, radix: 16) }.joined(separator: " "))
            var judge = try Judge()
            try store.read { world in
                try judge.takeNotifications(of: world, about: customer)
                let answer = judge.state.entitlements(at: world.now, catalog: judge.catalog)
                states.append(answer)
                balances.append(judge.state.balances)
            }
        }
        return (signed, states, balances)
    }

    /// Returns the header and the payload of a signed statement and of the statements inside it.
    private func unsigned(_ signed: String) throws -> JSON {
        let json = try payload(of: signed)
        var object = JSONObject()
        for member in json.object?.members ?? [] {
            object.append(member.name, try plain(member.value))
        }
        object.append("header", .string(String(signed.split(separator: ".")[0])))
        return .object(object)
    }

    private func plain(_ json: JSON) throws -> JSON {
        if let text = json.string, text.hasPrefix("eyJ") { return try unsigned(text) }
        guard let members = json.object?.members else { return json }
        var object = JSONObject()
        for member in members { object.append(member.name, try plain(member.value)) }
        return .object(object)
    }

    @Test("signs the same bytes except signatures, and Deed derives the same", arguments: examples)
    func twice(_ file: String) throws {
        let scenario = try readExample(file)
        let (first, second) = (
            try outcome(scenario, seed: 11), try outcome(scenario, seed: 11)
        )
        #expect(!first.signed.isEmpty)
        #expect(first.signed == second.signed)
        #expect(first.states == second.states)
        #expect(first.balances == second.balances)
    }

    @Test("ends as its file says", arguments: examples)
    func ends(_ file: String) throws {
        let scenario = try readExample(file)
        let store = PractisedStore(PracticeWorld(.example, from: opening, seed: 4)).store
        let end = try store.change { world throws(PracticeError) in try world.plan(scenario) }
        let events = try store.advance(to: end)
        #expect(scenario.expect?.isEmpty == false)
        #expect(events.filter { $0.text.contains("was refused") }.isEmpty)
        #expect(store.read { $0.unmet(scenario) } == [])
    }

    @Test("names other transactions with another seed")
    func otherSeed() throws {
        let scenario = try readExample(try #require(examples.first))
        #expect(try outcome(scenario, seed: 11).signed != outcome(scenario, seed: 12).signed)
    }
}

let exampleFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/examples/practice").path

/// The file names of the documented scenarios.
let examples = ((try? FileManager.default.contentsOfDirectory(atPath: exampleFolder)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

func readExample(_ file: String) throws -> Scenario {
    guard let data = FileManager.default.contents(atPath: "\(exampleFolder)/\(file)") else {
        throw Unreadable()
    }
    return try Scenario(Array(data))
}
