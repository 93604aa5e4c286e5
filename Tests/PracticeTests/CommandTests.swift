import Core
import Foundation
import JSON
import Practice
import TestSupport
import Testing

@Suite("The program deed-practice", .timeLimit(.minutes(20)))
struct CommandTests {
    private func call(
        _ program: PracticeProgram, _ words: String...
    ) throws -> (code: Int32, text: String) {
        try run(practiceProgram.path, words, variables: ["DEED_PRACTICE_URL": program.url])
    }

    private func json(_ program: PracticeProgram, _ words: String...) throws -> JSON {
        let finished = try run(
            practiceProgram.path, words + ["--json"],
            variables: ["DEED_PRACTICE_URL": program.url])
        #expect(finished.code == 0, "\(finished.text)")
        return try JSON.read(Array(finished.text.utf8))
    }

    @Test("Each step prints what an app would hand over, ready to paste and as JSON")
    func steps() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(
                in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z"])
            let bought = try json(program, "buy", "--customer", "u1", "--product", "pro.month")
            #expect(bought["signed_transaction"]?.string?.hasPrefix("eyJ") == true)
            #expect(bought["receipt"]?.string?.isEmpty == false)
            #expect(bought["transaction"]?.string?.isEmpty == false)
            let text = try call(program, "cancel", "--customer", "u1").text
            #expect(text.contains("curl -H"))
            #expect(text.contains(" http://127.0.0.1:8080/v1/customers/u1/receipts"))
            #expect(try call(program, "show").text.contains("does not renew"))
            let advanced = try call(program, "advance", "40d").text
            #expect(advanced.contains("2026-02-01") && advanced.contains("pro.month is ended"))
            let state = try json(program, "show", "--customer", "u1")
            #expect(
                state["customers"]?.array?.first?["purchases"]?.array?.first?["state"] == "ended")
            #expect(try call(program, "fail-billing", "--customer", "u1").code == 0)
            let restored = try json(program, "restore", "--customer", "u1")
            #expect(restored["signed_transactions"]?.array?.count == 1)
        }
    }

    @Test("The printed commands lead to the service that is notified")
    func paste() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(
                in: folder.file("store"),
                [
                    "--clock", "2026-01-01T00:00:00Z", "--notify",
                    "http://127.0.0.1:1/v1/stores/apple/notifications",
                ])
            for words in [
                ["buy", "--customer", "u1", "--product", "level2"],
                ["restore", "--customer", "u1"],
            ] {
                let text = try run(
                    practiceProgram.path, words, variables: ["DEED_PRACTICE_URL": program.url]
                ).text
                #expect(text.contains(" http://127.0.0.1:1/v1/customers/u1/receipts"), "\(text)")
            }
        }
    }

    @Test("The store's own steps print what it sent, and nothing to hand over")
    func told() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let address = "http://127.0.0.1:1/v1/stores/apple/notifications"
            let program = try PracticeProgram(
                in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z", "--notify", address])
            let bought = try call(program, "buy", "--customer", "u1", "--product", "pro.month").text
            #expect(bought.contains("SUBSCRIBED INITIAL_BUY u1: NO_RESPONSE"), "\(bought)")
            #expect(bought.contains("curl -H"))
            let refunded = try call(program, "refund", "--customer", "u1").text
            #expect(
                refunded.contains("the store notifies \(address): REFUND u1: NO_RESPONSE"),
                "\(refunded)")
            #expect(!refunded.contains("curl"))
            let asJSON = try json(program, "reverse", "--customer", "u1")
            let told = asJSON["notifications"]?.array ?? []
            #expect(told.map { $0["type"] } == ["REFUND_REVERSED"])
            #expect(told.first?["result"] == "NO_RESPONSE")
        }
    }

    @Test("An impossible step is refused in a sentence, with its own exit code")
    func refusals() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(in: folder.file("store"))
            let cases: [([String], Int32, String)] = [
                ([], 2, "a command is missing"), (["fly"], 2, "no command \"fly\""),
                (["buy", "--customer", "u1", "--product", "moon"], 2, "moon; it sells pro.month"),
                (
                    ["buy", "--customer", "u1", "--product", "pro.mnoth"], 2,
                    "no product pro.mnoth; the nearest is pro.month"
                ),
                (["withdraw", "--product", "leve2"], 2, "the nearest is level2"),
                (["buy", "--customer", "u1"], 2, "needs a product"),
                (["buy", "--product", "pro.month"], 2, "needs a customer"),
                (["buy", "--customer", "u1", "--size", "3"], 2, "--size is not known"),
                (["buy", "--customer", "u1", "--quantity", "x"], 2, "whole number"),
                (["cancel", "--customer", "u1"], 1, "has no subscription"),
                (["cancel", "--customer", "u1", "--transaction", "1"], 1, "no transaction 1"),
                (["cancel", "--customer", "u1", "--offer", "trial"], 2, "--offer is not known"),
                (
                    ["buy", "--customer", "u1", "--product", "pro.month", "--token", "ada"], 2,
                    "token is \"ada\"; write a UUID"
                ),
                (
                    ["buy", "--customer", "u1", "--product", "coins.100", "--offer", "trial"], 2,
                    "coins.100 is not a subscription, so the offer trial does not apply to it"
                ),
                (
                    ["buy", "--customer", "u1", "--product", "level2", "--quantity", "2"], 2,
                    "level2 is not a consumable"
                ),
                (["advance", "9000y"], 2, "by is \"9000y\", which is after the year 9999"),
                (["advance", "40days"], 2, "by is \"40days\"; write a length like 40d"),
                (["advance", "2026-02-30T00:00:00Z"], 2, "to is \"2026-02-30T00:00:00Z\""),
                (
                    ["serve", "--data-dir", folder.file("new"), "--notify", "nonsense"], 2,
                    "--notify is \"nonsense\"; give the address for Deed's notifications"
                ),
                (
                    ["serve", "--data-dir", folder.file("new"), "--notify", "ftp://deed/x"], 2,
                    "--notify is \"ftp://deed/x\""
                ),
                (["refund", "--customer", "u1"], 1, "has bought no"),
                (["advance"], 2, "LENGTH is missing"), (["advance", "soon"], 2, "length like 40d"),
                (["advance", "2001-01-01T00:00:00Z"], 1, "only moves forward"),
                (["lives", "run", "/nowhere.json"], 1, "cannot be read"),
                (["trouble", "{\"drop\":2}"], 2, "from 0 to 1"),
                (["serve"], 2, "--data-dir is missing"),
                (["show", "u1"], 2, "unexpected argument"),
                (["roots", "here"], 2, "unexpected argument"),
                (["advance", "1d", "2d"], 2, "unexpected argument"),
                (["show", "--url", "http://127.0.0.1:1"], 3, "does not answer"),
                (
                    ["serve", "--data-dir", folder.file("new"), "--listen", "0.0.0.0:0"], 2,
                    "127.0.0.1"
                ),
            ]
            for (words, code, sentence) in cases {
                let ended = try run(
                    practiceProgram.path, words, variables: ["DEED_PRACTICE_URL": program.url])
                #expect(ended.code == code, "\(words): \(ended.text)")
                #expect(ended.text.contains(sentence), "\(words): \(ended.text)")
            }
        }
    }

    @Test("Each command lists its flags with --help, and does nothing")
    func help() async throws {
        try await aside {
            let general = try run(practiceProgram.path, ["--help"])
            #expect(general.code == 0 && general.text.contains("deed-practice <command> --help"))
            #expect(try run(practiceProgram.path, ["help"]).text == general.text)
            let commands = ["serve", "roots", "advance", "show", "restore", "lives run", "trouble"]
            let steps = Step.Act.allCases.map { $0.rawValue.replacing("_", with: "-") }
            for command in commands + steps {
                let words = command.split(separator: " ").map(String.init)
                let shown = try run(practiceProgram.path, words + ["--help"])
                #expect(shown.code == 0, "\(shown.text)")
                #expect(shown.text.contains("usage: deed-practice \(command)"), "\(shown.text)")
                #expect(shown.text.contains("example: deed-practice \(command)"), "\(shown.text)")
                #expect(general.text.contains("  deed-practice \(command) "))
                #expect(try run(practiceProgram.path, ["help"] + words).text == shown.text)
            }
            let buying = try run(practiceProgram.path, ["buy", "--help"]).text
            for flag in ["--product ID", "--offer ID", "--quantity N", "--token UUID", "--ask"] {
                #expect(buying.contains(flag), "\(buying)")
            }
            #expect(!buying.contains("--percent"))
        }
    }

    @Test("If no Deed's clock follows, moving the store's clock says so")
    func alone() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(
                in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z"])
            #expect(
                try call(program, "advance", "1d").text.contains("Deed's clock does not follow"))
            #expect(
                try json(program, "advance", "1d")["note"]?.string?.contains("--service-url")
                    == true)
        }
    }

    @Test("A killed store continues where it was, under the same roots")
    func restart() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let path = folder.file("store")
            let first = try PracticeProgram(in: path, ["--clock", "2026-01-01T00:00:00Z"])
            _ = try call(first, "buy", "--customer", "u1", "--product", "pro.month")
            _ = try call(first, "advance", "40d")
            let (before, root) = (
                try json(first, "show"),
                try String(contentsOfFile: "\(path)/roots/receipts.pem", encoding: .utf8)
            )
            first.kill()
            let second = try PracticeProgram(in: path)
            #expect(try json(second, "show") == before)
            #expect(second.keyID == first.keyID)
            #expect(
                try String(contentsOfFile: "\(path)/roots/receipts.pem", encoding: .utf8) == root)
            #expect(try call(second, "advance", "20d").text.contains("2026-02-28"))
            #expect(second.stop() == 0)
        }
    }

    @Test("The command that started a store starts it again, and only one serves a folder")
    func again() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let path = folder.file("store")
            let start = ["--clock", "2026-01-01T00:00:00Z"]
            let first = try PracticeProgram(in: path, start)
            _ = try call(first, "buy", "--customer", "u1", "--product", "pro.month")
            let beside = try run(
                practiceProgram.path, ["serve", "--data-dir", path, "--listen", "127.0.0.1:0"])
            #expect(beside.code == 1 && beside.text.contains("another deed-practice serves"))
            first.kill()
            let second = try PracticeProgram(in: path, start)
            #expect(try json(second, "show")["now"]?.string?.hasPrefix("2026-01-01") == true)
            #expect(second.stop() == 0)
            let later = try PracticeProgram(in: path, ["--clock", "2026-02-15T00:00:00Z"])
            let state = try json(later, "show")
            #expect(state["now"]?.string?.hasPrefix("2026-02-15") == true)
            // The store performed everything that became due in the meantime.
            #expect(state["customers"]?.array?.first?["transactions"]?.array?.count == 2)
        }
    }

    @Test("Only their owner can read the keys, and Deed finds the roots")
    func folderRights() throws {
        let folder = try ScratchFolder()
        let program = try PracticeProgram(in: folder.file("store"))
        let manager = FileManager.default
        for name in ["private/receipts.pem", "keys/AuthKey_\(program.keyID).p8", "state.json"] {
            let path = "\(program.folder)/\(name)"
            if name == "state.json" { _ = try call(program, "install", "--customer", "u1") }
            let mode = try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        let roots = try manager.contentsOfDirectory(atPath: "\(program.folder)/roots").sorted()
        #expect(roots == ["receipts.pem", "transactions.pem"])
    }

    @Test("At the sandbox's speed a month passes by itself, by the machine's clock")
    func pace() async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(in: folder.file("store"), ["--pace", "2s"])
            _ = try call(program, "buy", "--customer", "u1", "--product", "pro.month")
            try waitUntil {
                let state = try? json(program, "show")
                return (state?["notifications"]?.array?.count ?? 0) >= 3
            }
            let text = try json(program, "show")["now"]?.string ?? ""
            let now = try #require(Instant(text: text))
            #expect(abs(now.milliseconds - machineInstant().milliseconds) < 5000)
        }
    }

    @Test("The program runs scenarios", arguments: ["trial.json", "trouble.json"])
    func lives(_ file: String) async throws {
        try await aside {
            let folder = try ScratchFolder()
            let program = try PracticeProgram(
                in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z"])
            let ended = try call(program, "lives", "run", "\(exampleFolder)/\(file)")
            #expect(ended.code == 0, "\(ended.text)")
            #expect(ended.text.contains("now 2026"))
        }
    }
}
