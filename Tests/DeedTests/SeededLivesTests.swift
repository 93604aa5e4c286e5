import Foundation
import JSON
import TestSupport
import Testing

extension ProgramTests {
    /// Two pairs of Deed and the practice store as processes.
    @Suite("A scenario run twice with one seed", .timeLimit(.minutes(20)))
    final class SeededLives {
        /// The result of one run.
        fileprivate struct Outcome {
            /// The program's output about the lives, and the state of its store.
            var printed: [String] = []
            /// What each customer's app submits: statements without their signatures, and receipts.
            var statements: [String] = []
            var signatures: Set<String> = []
            /// The store's state as stored in its folder.
            let state: NSDictionary
            /// Deed's answers about each customer, without positions in its log.
            var answers: [String] = []
        }

        private static let start = "2031-01-01T00:00:00Z"
        private let folder: ScratchFolder
        private let file: String

        init() throws {
            folder = try ScratchFolder()
            file = folder.file("lives.json")
            let demo = PracticeGround.example("../practice/demo.json")
            var scenario = JSONObject()
            let written = try JSON.read(String(contentsOfFile: demo, encoding: .utf8))
            scenario.append("title", written["title"] ?? .null)
            scenario.append("lives", written["lives"] ?? .null)
            scenario.append("until", "110d")
            scenario.append(
                "trouble",
                [
                    "drop": .decimal("0.1"), "repeat": .decimal("0.2"), "shuffle": .decimal("0.3"),
                    "delay_by": "2d", "wrong_signature": .decimal("0.1"),
                ])
            try JSON.object(scenario).text.write(toFile: file, atomically: true, encoding: .utf8)
        }

        @Test("The program signs the same bytes except signatures, and Deed has the same state")
        func twice() throws {
            let ground = try ground(seed: 7)
            let (first, second) = (
                try live(on: ground), try live(on: self.ground(seed: 7, keysOf: ground))
            )
            #expect(first.printed == second.printed)
            #expect(first.statements == second.statements)
            #expect(first.state == second.state)
            #expect(first.answers == second.answers)
            #expect(first.statements.count > 20 && first.answers.count > 40)
            #expect(first.signatures.isDisjoint(with: second.signatures))
        }

        private func ground(
            seed: Int, keysOf other: PracticeGround? = nil
        ) throws -> PracticeGround {
            try PracticeGround(
                ScratchDatabase(), ["--clock", SeededLives.start, "--seed", "\(seed)"],
                keysOf: other)
        }

        private func live(on ground: PracticeGround) throws -> Outcome {
            var client = try APIClient(key: ground.adminKey)
            let customers = try tell(ground, &client)
            let lived = try ground.practise("lives", "run", file, "--json")
            try #require(lived.code == 0, "\(lived.errors)")
            let state = try masked(
                String(contentsOfFile: "\(ground.data)/state.json", encoding: .utf8), of: ground)
            let kept = try JSONSerialization.jsonObject(with: Data(state.utf8))
            var outcome = Outcome(state: try #require(kept as? NSDictionary))
            outcome.printed = [
                try steps(of: lived.json),
                masked(try ground.practise("show", "--json").output, of: ground),
            ]
            for customer in customers {
                let given = try ground.practise("restore", "--customer", customer, "--json").json
                outcome.add(given)
                try submit(given, of: customer, to: ground, &client)
            }
            for customer in customers {
                outcome.answers += try answers(about: customer, by: ground, &client)
            }
            return outcome
        }

        /// Returns the customers' steps. Leaves out deliveries, which are compared with the state,
        /// because the store may make the first one before the lives run.
        private func steps(of lived: JSON) throws -> String {
            let events = try #require(lived["events"]?.array).compactMap(\.string)
            return events.filter { !$0.contains(": ") }.joined(separator: "\n")
        }

        /// Registers the customers' tokens with Deed when the lives begin. Returns the customers.
        private func tell(
            _ ground: PracticeGround, _ client: inout APIClient
        ) throws -> [String] {
            let moved = try client.send(
                "PUT", "\(ground.service.url)/v1/test/clock",
                body: (["now": .string(SeededLives.start)] as JSON).text)
            try #require(moved.status == 200, "\(moved.text)")
            let lives = try JSON.read(String(contentsOfFile: file, encoding: .utf8))["lives"]
            return try (lives?.array ?? []).map { life in
                let customer = try #require(life["customer"]?.string)
                let token = try #require(life["steps"]?.array?.first?["token"]?.string)
                let told = try client.send(
                    "PUT", "\(ground.service.url)/v1/customers/\(customer)/account_token",
                    body: (["token": .string(token), "environment": "sandbox"] as JSON).text)
                try #require(told.status == 200, "\(told.text)")
                return customer
            }
        }

        /// Returns the text without Deed's port, which differs in each run.
        private func masked(_ text: String, of ground: PracticeGround) -> String {
            text.replacing(":\(ground.service.port)", with: "")
        }

        private func submit(
            _ given: JSON, of customer: String, to ground: PracticeGround,
            _ client: inout APIClient
        ) throws {
            let body: JSON = [
                "signed_transactions": given["signed_transactions"] ?? .null,
                "receipt": given["receipt"] ?? .null, "environment": "sandbox",
            ]
            let answer = try client.send(
                "POST", "\(ground.service.url)/v1/customers/\(customer)/receipts", body: body.text)
            try #require(answer.status == 200, "\(answer.text)")
        }

        private func answers(
            about customer: String, by ground: PracticeGround, _ client: inout APIClient
        ) throws -> [String] {
            let path = "\(ground.service.url)/v1/customers/\(customer)"
            let whole = try ["", "/entitlements", "/balances"].map {
                try client.read("\(path)\($0)?environment=sandbox").text
                    .replacing(/"position":"[0-9:]+"/, with: "")
            }
            let page = try client.read("\(path)/events?limit=1000&environment=sandbox")
            return whole
                + (page["events"]?.array ?? []).map { event in
                    ["version", "type", "occurred_at", "recorded_at", "data"].map {
                        event[$0]?.text ?? ""
                    }.joined(separator: " ")
                }
        }
    }
}

extension ProgramTests.SeededLives.Outcome {
    fileprivate mutating func add(_ given: JSON) {
        let signed = (given["signed_transactions"]?.array ?? []).compactMap(\.string)
        let app = given["app_transaction"]?.string
        for text in signed + [app].compactMap(\.self) {
            let end = text.lastIndex(of: ".") ?? text.endIndex
            statements.append(String(text[..<end]))
            signatures.insert(String(text[end...]))
        }
        // Receipts with the same content have the same RSA signature.
        statements.append(given["receipt"]?.string ?? "")
    }
}
