import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The examples of back ends", .timeLimit(.minutes(20)))
    struct Examples {
        private let ground: PracticeGround

        init() throws {
            ground = try PracticeGround(ScratchDatabase())
        }

        /// Takes a step at the store. Returns what the client app has afterwards.
        private func step(_ members: JSON) throws -> JSON {
            let (status, json) = try ground.store.ask("POST", "/practice/steps", members)
            try #require(status == 200, "\(json)")
            return json
        }

        /// Runs a program that fails early. Returns its exit code and its error output.
        private func end(
            _ program: String, _ arguments: [String], _ variables: [String: String] = [:]
        ) throws -> (code: Int32?, words: String) {
            let folder = try ScratchFolder()
            var environment = variables
            environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
            let process = try ChildProcess(
                program, arguments, environment: environment, output: folder.file("out"),
                errors: folder.file("err"))
            let code = process.wait(milliseconds: 60_000)
            return (code, try String(contentsOfFile: folder.file("err"), encoding: .utf8))
        }

        private func rights(_ backEnd: ServingProgram, _ player: String) throws -> [String] {
            let json = try backEnd.ask("GET", "/players/\(player)/rights").json
            return (json["rights"]?.array ?? []).compactMap(\.string)
        }

        @Test(
            "A game buys, reads, spends, restores and follows a refund",
            arguments: [("python3", "backend.py"), ("node", "backend.mjs")])
        func wholeLife(program: String, file: String) throws {
            let backEnd = try ground.backEnd(program, file)
            let token = try #require(
                try backEnd.ask("GET", "/players/u1/token").json["token"]?.string)
            // Both languages follow RFC 9562, so a player keeps the token if the back end changes its language.
            #expect(token == "1ddace34-dcdc-5434-8a25-3836771c7b2c")
            let bought = try step([
                "do": "buy", "customer": "u1", "product": "pro.month", "token": .string(token),
            ])
            let submitted = try backEnd.ask(
                "POST", "/players/u1/purchases",
                ["signed_transactions": [bought["signed_transaction"] ?? .null]])
            #expect(submitted.status == 200, "\(submitted.json)")
            #expect(submitted.json["finish"]?.array == [bought["transaction"] ?? .null])
            #expect(submitted.json["rights"]?.array == ["pro"])

            // Deed answers the second read with 304.
            let first = try backEnd.ask("GET", "/players/u1/rights").json
            #expect(first["rights"]?.array == ["pro"])
            #expect(first["unchanged"]?.bool == false)
            #expect(try backEnd.ask("GET", "/players/u1/rights").json["unchanged"]?.bool == true)

            let coins = try step(["do": "buy", "customer": "u1", "product": "coins.100"])
            let credited = try backEnd.ask(
                "POST", "/players/u1/purchases",
                ["signed_transactions": [coins["signed_transaction"] ?? .null]])
            #expect(credited.json["balances"]?["coins"]?.integer == 100)
            let wish: JSON = ["order": "o1", "amount": 30, "what": "sword"]
            for _ in 1...2 {
                let spent = try backEnd.ask("POST", "/players/u1/spend", wish)
                #expect(spent.json["balance"]?.integer == 70)
            }
            let tooMuch = try backEnd.ask(
                "POST", "/players/u1/spend", ["order": "o2", "amount": 71, "what": "shield"])
            #expect(tooMuch.status == 409)
            #expect(tooMuch.json["code"]?.string == "insufficient_balance")

            let handed = try ground.store.ask("GET", "/practice/handover?customer=u1").json
            let restored = try backEnd.ask(
                "POST", "/players/u1/restore",
                [
                    "signed_transactions": handed["signed_transactions"] ?? .null,
                    "receipt": handed["receipt"] ?? .null,
                ])
            let finish = restored.json["finish"]?.array?.compactMap(\.string) ?? []
            #expect(Set(finish).count == finish.count && finish.count == 2, "\(finish)")
            #expect(restored.json["rights"]?.array == ["pro"])
            #expect(restored.json["told"]?.array == [])
            let stolen = try backEnd.ask(
                "POST", "/players/u2/restore",
                ["signed_transactions": [bought["signed_transaction"] ?? .null]])
            #expect(stolen.json["finish"]?.array == [])
            #expect(stolen.json["told"]?.array?.count == 1)
            #expect(stolen.json["rights"]?.array == [])

            let before = try backEnd.ask("GET", "/players/u1/news").json
            let after = try #require(before["after"]?.integer)
            #expect(before["news"]?.array?.last?["version"]?.integer == after)
            _ = try step([
                "do": "refund", "customer": "u1", "transaction": bought["transaction"] ?? .null,
            ])
            #expect(try eventually(within: 10_000) { try rights(backEnd, "u1") == [] })
            let told = try backEnd.ask("GET", "/players/u1/news?after=\(after)").json
            let types = told["news"]?.array?.compactMap { $0["type"]?.string }
            #expect(
                types?.contains("purchase.refunded") == true
                    && types?.contains("purchase.made") == false)
            // The same position gives the same news again. A later position does not.
            #expect(try backEnd.ask("GET", "/players/u1/news?after=\(after)").json == told)
            let latest = try #require(told["after"]?.integer)
            let none = try backEnd.ask("GET", "/players/u1/news?after=\(latest)").json
            #expect(none["news"]?.array == [] && none["after"]?.integer == latest)
            #expect(try backEnd.ask("GET", "/players/u1/news?after=x").status == 400)
        }

        @Test(
            "A wrong setting or a port in use is named at the start, in one sentence",
            arguments: [("python3", "backend.py"), ("node", "backend.mjs")])
        func settings(program: String, file: String) throws {
            let taken = ground.service.url.split(separator: ":").last.map(String.init) ?? ""
            let cases: [([String: String], String)] = [
                (["DEED_KEY": ""], "DEED_KEY is missing"),
                (["DEED_KEY": "deed_reader_x"], "begins with deed_backend_"),
                (["DEED_URL": "127.0.0.1:8080"], "DEED_URL must be"),
                (["DEED_ENVIRONMENT": "test"], "DEED_ENVIRONMENT must be production or sandbox"),
                (["PORT": "http"], "PORT must be a number"),
                (["PORT": "70000"], "PORT must be a number"),
                (["PORT": taken], "port \(taken) cannot be listened on"),
            ]
            for (wrong, sentence) in cases {
                let variables = ["DEED_KEY": "deed_backend_x"].merging(wrong) { $1 }
                let ended = try end(
                    "/usr/bin/env", [program, PracticeGround.example(file)], variables)
                #expect(ended.code == 1, "\(wrong): \(ended.words)")
                #expect(ended.words.contains(sentence), "\(wrong): \(ended.words)")
                #expect(ended.words.split(separator: "\n").count == 1, "\(ended.words)")
            }
        }

        @Test("A Deed that is mistaken for a practice store is called one")
        func mistaken() throws {
            let (code, words) = try end(
                Installation.practice, ["show", "--url", ground.service.url])
            #expect(code == 2)
            #expect(words.contains("is a Deed, not a practice store"), "\(words)")
        }

        @Test("Each of many purchases counts at once, although the clock stands still")
        func several() throws {
            var client = try APIClient(key: ground.adminKey)
            for number in 1...5 {
                let bought = try step([
                    "do": "buy", "customer": "c\(number)", "product": "pro.month",
                ])
                let body: JSON = [
                    "signed_transactions": [bought["signed_transaction"] ?? .null],
                    "environment": "sandbox",
                ]
                let answer = try client.send(
                    "POST", "\(ground.service.url)/v1/customers/c\(number)/receipts",
                    body: body.text)
                let right = try JSON.read(answer.text)["entitlements"]?["pro"]
                #expect(right?["active"]?.bool == true, "\(answer.text)")
            }
        }

        @Test("Deed's clock follows the practice store's, with a stop at everything due")
        func advanced() throws {
            let bought = try step(["do": "buy", "customer": "u1", "product": "pro.month"])
            var client = try APIClient(key: ground.adminKey)
            let path = "\(ground.service.url)/v1/customers/u1"
            let body: JSON = ["signed_transactions": [bought["signed_transaction"] ?? .null]]
            let submitted = try client.send("POST", path + "/receipts", body: body.text)
            #expect(submitted.status == 200)
            func entitlement() throws -> JSON? {
                try client.read(path + "/entitlements")["entitlements"]?["pro"]
            }
            #expect(try entitlement()?["active"]?.bool == true)
            _ = try step(["do": "fail_billing", "customer": "u1"])
            // After 40 days, a few days of grace are left: the period has 28 to 31 days, and the grace period has 16.
            let advanced = try ground.store.ask("POST", "/practice/advance", ["by": "40d"])
            let now = try #require(advanced.json["now"]?.string)
            #expect(advanced.json["note"] == nil)
            #expect(try client.read("\(ground.service.url)/v1/test/clock")["now"]?.string == now)
            #expect(try entitlement()?["state"]?.string == "grace")
            _ = try ground.store.ask("POST", "/practice/advance", ["by": "10d"])
            #expect(try entitlement()?["active"]?.bool == false)
            #expect(try entitlement()?["state"]?.string == "retry")
            let moves = ground.service.log.split(separator: "\n").count {
                $0.contains("\"event\":\"test_clock_moved\"")
            }
            #expect(moves >= 50)
        }

        @Test("Twenty days at once run Deed's jobs like twenty single days")
        func jobsKeepUp() throws {
            var client = try APIClient(key: ground.adminKey)
            _ = try client.send(
                "PUT", "\(ground.service.url)/v1/apps/com.example.game",
                body: #"{"apple_id":1234567890,"sandbox_access":"all","receipts":"store"}"#)
            func tries(of customer: String, steps: [String]) throws -> Int64 {
                let bought = try step([
                    "do": "buy", "customer": .string(customer), "product": "level2",
                ])
                let receipt: JSON = ["receipt": bought["receipt"] ?? .null]
                let queued = try client.send(
                    "POST", "\(ground.service.url)/v1/customers/\(customer)/receipts",
                    body: receipt.text)
                let item = try #require(
                    try JSON.read(queued.text)["items"]?.array?.first?["intake"]?.string)
                for wait in steps {
                    let moved = try ground.store.ask(
                        "POST", "/practice/advance", ["by": .string(wait)])
                    try #require(moved.status == 200, "\(moved.json)")
                    let clock = try client.read("\(ground.service.url)/v1/test/clock")
                    #expect(clock["caught_up"]?.bool == true)
                }
                return try client.read("\(ground.service.url)/v1/intake/\(item)")["tries"]?.integer
                    ?? 0
            }
            let atOnce = try tries(of: "u1", steps: ["20d"])
            let byDay = try tries(of: "u2", steps: Array(repeating: "1d", count: 20))
            // Pauses between attempts vary by a tenth.
            #expect(byDay > 40)
            #expect(abs(atOnce - byDay) <= byDay / 5, "\(atOnce) at once, \(byDay) by day")
        }

        @Test("The store does not move on without Deed, and says so")
        func leftAlone() throws {
            _ = try step(["do": "buy", "customer": "u1", "product": "pro.month"])
            let before = try ground.store.ask("GET", "/practice/state").json["now"]
            ground.service.process.signal(SIGKILL)
            _ = ground.service.process.wait(milliseconds: 10_000)
            let advanced = try ground.store.ask("POST", "/practice/advance", ["by": "40d"])
            #expect(advanced.status == 500)
            #expect(
                advanced.json["detail"]?.string?.contains("Deed's clock did not follow") == true)
            #expect(try ground.store.ask("GET", "/practice/state").json["now"] == before)
        }

        @Test("Queued evidence is tried again only when the test clock has moved")
        func queued() throws {
            var client = try APIClient(key: ground.adminKey)
            let body: JSON = ["customer": "u1", "product": "level2", "do": "buy"]
            let bought = try step(body)
            let set = try client.send(
                "PUT", "\(ground.service.url)/v1/apps/com.example.game",
                body: #"{"apple_id":1234567890,"sandbox_access":"all","receipts":"store"}"#)
            try #require(set.status == 200, "\(set.text)")
            let receipt: JSON = ["receipt": bought["receipt"] ?? .null]
            let queued = try client.send(
                "POST", "\(ground.service.url)/v1/customers/u1/receipts", body: receipt.text)
            try #require(queued.status == 202, "\(queued.text)")
            let item = try #require(
                try JSON.read(queued.text)["items"]?.array?.first?["intake"]?.string)
            func tries() throws -> Int64? {
                try client.read("\(ground.service.url)/v1/intake/\(item)")["tries"]?.integer
            }
            #expect(try eventually(within: 5000) { try tries() == 1 })
            #expect(try eventually(within: 1500) { try tries() != 1 } == false)
            let clock = try client.read("\(ground.service.url)/v1/test/clock")
            #expect(clock["next_due"]?.string != nil)
            _ = try ground.store.ask("POST", "/practice/advance", ["by": "1h"])
            #expect(try eventually(within: 5000) { try tries() != 1 })
        }
    }
}
