import Core
import Foundation
import JSON
import Practice
import TestSupport
import Testing

@Suite("deed-practice in Google Play", .timeLimit(.minutes(20)))
struct PlayCommandTests {
    private func call(
        _ program: PracticeProgram, _ words: String...
    ) throws -> (code: Int32, text: String) {
        try run(practiceProgram.path, words, variables: ["DEED_PRACTICE_URL": program.url])
    }

    @Test("Each step prints its token and what the store would tell")
    func steps() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(
                in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z"])
            let bought = try call(
                program, "buy", "--store", "google", "--customer", "u1", "--product",
                "pro:prepaid-month", "--json")
            let json = try JSON.read(Array(bought.text.utf8))
            let token = try #require(json["transaction"]?.string)
            #expect(json["google"]?.array?.first?["token"]?.string == token)
            #expect(json["google"]?.array?.first?["package"] == "com.example.game")
            #expect(json["receipt"] == nil)
            let topped = try call(program, "top-up", "--customer", "u1").text
            #expect(topped.contains("purchase token ") && !topped.contains(token))
            #expect(topped.contains("the store would send: SUBSCRIPTION_PURCHASED"))
            #expect(!topped.contains("curl"))
            #expect(try call(program, "finish", "--store", "google", "--customer", "u1").code == 0)
            let restored = try call(program, "restore", "--customer", "u1", "--json").text
            let handed = try JSON.read(Array(restored.utf8))["google"]?.array
            #expect(handed?.count == 1 && handed?.first?["product"] == "pro")
            #expect(try call(program, "advance", "70d").text.contains("pro is ended"))
            let shown = try call(program, "show").text
            #expect(shown.contains("pro   replaced") && shown.contains("pro   ended"))
            #expect(shown.contains("SUBSCRIPTION_EXPIRED u1"))
            #expect(program.stop() == 0)
        }
    }

    @Test("An impossible step is refused in a sentence, and former names are")
    func refusals() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(in: folder.file("store"))
            let google = ["--store", "google", "--customer", "u1"]
            let cases: [([String], Int32, String)] = [
                (["pause", "--customer", "u1"], 1, "has no subscription in Google Play"),
                (["share"] + google, 2, "Google Play has no share"),
                (
                    ["pause", "--customer", "u1", "--store", "apple"], 2,
                    "the App Store has no pause"
                ),
                (["buy", "--product", "pro:mnthly"] + google, 2, "the nearest is pro:monthly"),
                (
                    ["buy", "--product", "level2", "--store", "http://127.0.0.1:1"], 2,
                    "--url sets the store's address"
                ),
                (["show", "--store", program.url], 2, "--store is now called --url"),
                (
                    ["change", "--when", "soon", "--product", "pro"] + google, 2,
                    "when has an unknown value"
                ),
            ]
            for (words, code, sentence) in cases {
                let finished = try run(
                    practiceProgram.path, words, variables: ["DEED_PRACTICE_URL": program.url])
                #expect(finished.code == code, "\(words): \(finished.text)")
                #expect(finished.text.contains(sentence), "\(words): \(finished.text)")
            }
            let former = try run(
                practiceProgram.path, ["show"], variables: ["DEED_PRACTICE_STORE": program.url])
            #expect(former.code == 2)
            #expect(former.text.contains("DEED_PRACTICE_STORE is now called DEED_PRACTICE_URL"))
        }
    }

    @Test("A shop that makes no sense is refused by what is wrong with it")
    func shop() throws {
        func mistake(_ change: (inout PlayShop) throws -> Void) throws -> String {
            var shop = Shop.example
            var google = try #require(shop.google)
            try change(&google)
            shop.google = google
            let error = #expect(throws: PracticeError.self) { try Shop(Array(shop.text.utf8)) }
            return error?.description ?? ""
        }
        let rows: [(String, (inout PlayShop) throws -> Void)] = [
            ("google.package is \"game\"", { $0.packageName = "game" }),
            ("pro is listed twice", { $0.products[0].id = "pro" }),
            ("pro has no base plan", { $0.subscriptions[0].basePlans = [] }),
            ("pro:monthly has the price -1", { $0.subscriptions[0].basePlans[0].price = -1 }),
            ("Google allows 30 days", { $0.subscriptions[0].basePlans[0].grace = Wait("31d") }),
            ("Google allows 60 days", { $0.subscriptions[0].basePlans[0].hold = Wait("61d") }),
            ("has no payments", { $0.subscriptions[0].basePlans[3].payments = nil }),
            ("is not an instalment plan", { $0.subscriptions[0].basePlans[0].payments = 3 }),
            (
                "an offer of 0 payments",
                { $0.subscriptions[0].basePlans[0].offers?[0].phases[0].payments = 0 }
            ),
            ("film has the price", { $0.products[2].price = -5 }),
        ]
        for (words, change) in rows { #expect(try mistake(change).contains(words), "\(words)") }
        #expect(try Shop(Array(Shop.example.text.utf8)) == Shop.example)
    }
}
