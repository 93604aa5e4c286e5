import Core
import Foundation
import Glibc
import JSON
import Minting
import Outbound
import TestSupport

/// A service with a clock that stands still, and the other things that a part of the transcript needs.
final class TranscriptStage {
    private let database: ScratchDatabase
    private let deed: Installation
    private let folder: EvidenceFolder
    private let service: RunningService
    private var client: HTTPClient
    private var names: Names

    /// Creates the stage of the first part, which begins with a new database.
    convenience init() throws {
        let start = Instant(milliseconds: 1_795_202_460_000)
        let database = try ScratchDatabase()
        try database.run(
            "insert into deed.test_clock (stands_at, marked_at) "
                + "values (\(start.milliseconds), \(start.milliseconds))")
        try self.init(database, Names())
        addEvidence(at: start)
        names.set("unknown", "deed_admin_\(String(repeating: "0", count: 40))")
        names.set("malformed", "deed", isHidden: false)
        names.set("long", String(repeating: "x", count: 257))
        names.set(
            "many limits",
            (0...1000).map { "\"c\($0)\":{\"per_call\":1,\"per_day\":1}" }
                .joined(separator: ","))
        names.set(
            "many customers", (0...1000).map { "\"u\($0)\"" }.joined(separator: ","))
        names.set("huge", String(repeating: "x", count: 70_000))
    }

    init(_ database: ScratchDatabase, _ names: Names) throws {
        self.database = database
        self.names = names
        deed = try Installation(database)
        folder = try EvidenceFolder()
        service = try deed.serve("--test-clock", "--extra-roots", "\(folder.path)/roots")
        client = try HTTPClient()
        self.names.set("url", service.url)
        self.names.set("port", String(service.port))
        self.names.set("database", database.name)
        self.names.set("folder", folder.path)
    }

    /// Ends the part. Returns its database and names.
    func end() throws -> (database: ScratchDatabase, names: Names) {
        service.process.signal(SIGTERM)
        guard service.process.wait(milliseconds: 30_000) == 0 else {
            throw Installation.Failed(description: "the service did not end: \(service.log)")
        }
        return (database, names)
    }

    private func addEvidence(at now: Instant) {
        func days(_ count: Int64) -> Instant {
            now.advanced(byMilliseconds: count * 86_400_000)
        }
        var store = MintedStore(environment: "Sandbox")
        store.appleID = 1_234_567_890
        var foreign = store
        foreign.bundleID = "com.example.other"
        let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
        let level = Sale("20", "level2", .nonConsumable, at: days(-1))
        let coins = Sale("10", "coins.100", .consumable, at: days(-1))
        let month = Sale("30", "pro.month", .autoRenewable, at: days(-1), until: days(29))
        var grace = RenewalPlan(of: "30", "pro.month", signed: days(30))
        (grace.isInRetry, grace.graceUntil) = (true, days(45))
        let orphan = Sale("40", "level2", .nonConsumable, at: days(-2))
        let signed = [
            "level": store.transaction(level), "coins": store.transaction(coins),
            "month": store.transaction(month),
            "coins again": store.transaction(Sale("11", "coins.100", .consumable, at: days(-1))),
            "forgotten": store.transaction(Sale("66", "level2", .nonConsumable, at: days(-1))),
            "moved": store.transaction(Sale("67", "level2", .nonConsumable, at: days(-1))),
            "tokened": store.transaction(
                Sale("21", "level2", .nonConsumable, at: days(-1)).with { $0.token = token }),
            "unknown product": store.transaction(
                Sale("50", "nothing", .nonConsumable, at: days(-1))),
            "refunded": store.transaction(
                level.with {
                    $0.refunded = now; $0.signedAt = now
                }),
            "foreign": foreign.transaction(level),
            "production": MintedStore().transaction(level),
            "receipt": store.receipt([level, coins], at: now),
            "other receipt": store.receipt(
                [Sale("60", "season", .nonRenewing, at: now)], at: now),
            "unjudged receipt": store.receipt(
                [Sale("70", "season", .nonRenewing, at: days(-1))], at: now),
            "installation": store.appTransaction(originalVersion: "1.4", at: days(-9)),
            "orphan news": store.signedNotification(
                "ONE_TIME_CHARGE", id: "n1", at: days(-1), transaction: store.transaction(orphan)),
            "second orphan news": store.signedNotification(
                "ONE_TIME_CHARGE", id: "n2", at: days(-1),
                transaction: store.transaction(
                    Sale("41", "coins.100", .consumable, at: days(-2)))),
            "grace news": store.signedNotification(
                "DID_FAIL_TO_RENEW", id: "n5", at: days(30), transaction: store.transaction(month),
                renewal: store.renewal(grace)),
            "test news": store.signedNotification("TEST", id: "n3", at: days(-1)),
            "foreign news": foreign.signedNotification(
                "ONE_TIME_CHARGE", id: "n4", at: days(-1),
                transaction: foreign.transaction(orphan)),
        ]
        for (name, text) in signed { names.set(name, text) }
        names.set("token", token)
    }

    /// Returns the same text with current answers.
    func perform(_ transcript: Transcript) throws -> String {
        var lines: [String] = []
        for (text, step) in transcript.parts {
            lines.append(text)
            guard let step else { continue }
            do {
                lines += try perform(step)
            } catch {
                throw Transcript.Unreadable(description: "line \(step.line): \(error)")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func perform(_ step: Transcript.Step) throws -> [String] {
        switch step.deed {
        case .file(let name, let content):
            try folder.write(Array(names.filled(content).utf8), name)
            return []
        case .statement(let text):
            try database.run(text)
            return []
        case .bytes(let text):
            guard let bytes = try JSON.read(text).string else { return [] }
            let raw = try RawClient(port: service.port)
            raw.send(bytes.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
            let reply = raw.reply()
            let head = (reply?.head ?? "").split(separator: "\r\n").dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (
                    String(parts[0]), parts.count > 1 ? String(parts[1].dropFirst()) : ""
                )
            }
            return shown(reply?.status ?? 0, head, reply?.body ?? "")
        case .call(let actor, let method, let target, let lines):
            let answer = try send(actor, method, names.filled(target), lines.map(names.filled))
            let body = String(decoding: answer.body, as: UTF8.self)
            for (name, place) in step.captures {
                try capture(name, place, of: body, answer.headers)
            }
            return shown(answer.status, answer.headers, abridged(body, of: target))
        case .command(let line):
            let words = line.split(separator: " ").map { names.filled(String($0)) }
            let finished = try deed.run(words, variables: ["DEED_TEST_CLOCK": "1"])
            for (name, place) in step.captures { try capture(name, place, of: finished.output, []) }
            return marked("|", finished.output) + marked("!", finished.errors)
                + ["= \(finished.code)"]
        }
    }

    private func send(
        _ actor: String, _ method: String, _ target: String, _ lines: [String]
    ) throws -> OutboundResponse {
        var headers: [(String, String)] = []
        if actor != "anyone" {
            headers.append(("Authorization", "Bearer \(names[actor] ?? actor)"))
        }
        var body = ""
        for line in lines {
            if let header = line.wholeMatch(of: /([A-Z][A-Za-z-]+): (.*)/) {
                headers.append((String(header.output.1), String(header.output.2)))
            } else {
                body = line
            }
        }
        let answer = try client.send(
            OutboundRequest(
                method, service.url + target, headers: headers, body: Array(body.utf8)))
        ReceivedAnswer(
            method, target, status: answer.status,
            headers: answer.headers.map { (name: $0.0, value: $0.1) },
            body: String(decoding: answer.body, as: UTF8.self)
        ).expectAsDocumented()
        return answer
    }

    private func capture(
        _ name: String, _ place: String, of body: String, _ headers: [(String, String)]
    ) throws {
        if let header = headers.first(where: { $0.0 == place }) {
            return names.set(name, header.1, isHidden: false)
        }
        let json = try place.split(separator: ".").reduce(try JSON.read(body)) { json, part in
            guard let found = Int(part).map({ json.array?[$0] }) ?? json[String(part)] else {
                throw Transcript.Unreadable(description: "there is no \(place) in \(body)")
            }
            return found
        }
        names.set(name, json.string ?? json.text)
    }

    /// Returns the body without parts that are too long to show. Other tests cover these parts.
    private func abridged(_ body: String, of target: String) -> String {
        switch target {
        case "/openapi.json": return "(the document)"
        case "/metrics":
            return body.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }.sorted()
                .joined(separator: "\n")
        default: return body
        }
    }

    private static let passed: Set<String> = [
        "date", "connection", "content-length", "deed-test-clock", "keep-alive",
    ]

    private func shown(_ status: Int, _ headers: [(String, String)], _ body: String) -> [String] {
        let heads = headers.filter { !TranscriptStage.passed.contains($0.0.lowercased()) }
            .map { name, value in
                // A reconciliation may have ended meanwhile.
                if name == "Deed-Lag", value != "0" { return "< \(name): {lag}" }
                let isTag = name.lowercased() == "etag"
                let value =
                    isTag
                    ? names.shown(tag: value, of: body.isEmpty ? nil : body) : names.hidden(value)
                return "< \(name): \(value)"
            }
        return ["< \(status)"] + heads.sorted() + marked("<", body)
    }

    private func marked(_ mark: String, _ text: String) -> [String] {
        if text.isEmpty { return [] }
        var lines = names.hidden(text).components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        return lines.map { "\(mark) \($0)" }
    }
}
