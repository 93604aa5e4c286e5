import Core
import Crypto
import Foundation
import Histories
import JSON
import Testing

@testable import Ledger

/// Tests that programs that know the same number of the log's format can read all of it and make
/// the same decisions. `formats.txt` contains digests of each number's types, members, words and
/// answers.
@Suite("What each number of the log's format stands for")
struct FormatNumberTests {
    private static let samples =
        EventCodingTests.payloads + EventCodingTests.furtherPayloads
        + EventCodingTests.mergePayloads

    /// Members that contain freely chosen names.
    private static let named: Set<String> = [
        "balances", "credit_limits", "support_limits", "steps", "credits",
    ]

    private static let path = "Tests/DeedTests/Fixtures/formats.txt"

    private static let numbers = Array(LogFormat.first.number...LogFormat.own.number)

    @Test("A type, a member or a word comes with a new number, and so does a rule")
    func numbers() throws {
        if ProcessInfo.processInfo.environment["DEED_RECORD_FORMATS"] != nil { try Self.record() }
        let recorded = try Self.recorded()
        #expect(recorded.count == Self.numbers.count, "\(Self.path) has a line for each number")
        for (number, line) in zip(Self.numbers, recorded) {
            let now = try Self.line(number)
            // For an earlier number, only its contents can still be compared.
            let known = number == LogFormat.own.number ? 8 : 4
            for (was, now) in zip(line.prefix(known), now.prefix(known)) where was != now {
                Issue.record(
                    """
                    The format \(number) of the log held something else (\(was) is now \(now)). A type, a member, a \
                    form, a word or a rule was added or changed, and a program that knows \(number) reads or decides \
                    it in another way. Add a number to LogFormat, make it LogFormat.own, say what came with it in \
                    EventDescription.since or EventContent.newestMember, let a changed rule ask \
                    Situation.format, and record \(Self.path) with DEED_RECORD_FORMATS=1. If no release has the format \(number), or only the histories of the \
                    tests changed, record it with the number that is there.
                    """)
            }
        }
    }

    private static func record() throws {
        let recorded = try self.recorded()
        let lines = try numbers.map { number in
            let line = try line(number)
            let earlier = recorded.first { $0[1] == line[1] }
            return (number == LogFormat.own.number ? line : earlier ?? Array(line.prefix(4)))
                .joined(separator: " ")
        }
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../\(path)")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
    }

    private static func recorded() throws -> [[String]] {
        let text = (try? EventPage.file(path)) ?? ""
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    private static func line(_ number: Int) throws -> [String] {
        [
            "format", String(number), "holds", digest(try contents(through: LogFormat(number))),
            "words", digest(try words()), "answers", digest(answers()),
        ]
    }

    private static func digest(_ lines: [String]) -> String {
        String(SHA256.digest(Array(lines.joined(separator: "\n").utf8)).hex.prefix(32))
    }

    /// Returns the types and the members of their payloads, each with the number that introduced it.
    private static func contents(through last: LogFormat) throws -> [String] {
        var since: [String: LogFormat] = [:]
        func note(_ place: String, _ format: LogFormat) {
            since[place] = min(since[place] ?? format, format)
        }
        for sample in samples {
            let event = try Event(
                type: sample.type, format: sample.format, payload: sample.payload)
            guard let content = Mirror(reflecting: event).children.first?.value else { continue }
            let shape = "\(type(of: content))"
            note("type \(event.type.name) \(shape)", event.type.since)
            for member in members(of: try JSON.read(sample.payload)) {
                note("\(shape)\(member)", event.format)
            }
        }
        return since.filter { $0.value <= last }.map { "\($0.value.number) \($0.key)" }.sorted()
    }

    private static func members(of json: JSON, isNamed: Bool = false) -> Set<String> {
        var found: Set<String> = []
        for part in json.array ?? [] { found.formUnion(members(of: part).map { "[]\($0)" }) }
        for (name, value) in json.object?.members.map({ ($0.name, $0.value) }) ?? [] {
            let place = isNamed ? ".*" : ".\(name)"
            found.insert(place)
            // A catalog contains freely chosen names.
            let isChosen =
                named.contains(name)
                || json["products"] != nil && ["entitlements", "currencies"].contains(name)
            found.formUnion(members(of: value, isNamed: isChosen).map { "\(place)\($0)" })
        }
        return found
    }

    /// Returns the possible words of each member that has a fixed set of them.
    private static func words() throws -> [String] {
        try EventPage().sections.flatMap { section in
            section.members.compactMap { member in
                guard case .words(let words, _) = member.kind.innermost else { return nil }
                return "\(section.title) \(member.name) \(words)"
            }
        }.sorted()
    }

    /// Returns what the rules make of random lives: the states, and the answers at several instants.
    private static func answers() -> [String] {
        var lines: [String] = []
        for seed in 0..<100 as Range<UInt64> {
            var state = CustomerState()
            for event in RandomStream(seed: seed, count: 60).events { state.apply(event) }
            lines.append(SHA256.digest(KeptState.content(of: state)).hex)
            let life = CustomerState(
                recording: RandomHistory(seed: seed).facts.map { AnyFact.facts([$0]) })
            let played = CustomerState(
                recording: PlayLife(seed: seed).readings.map { facts([$0]) }, catalog: playShop)
            for (state, catalog) in [(life, shop), (played, playShop)] {
                for day in stride(from: 0, through: 400, by: 25) as StrideThrough<Int64> {
                    lines += answers(of: state, at: at(day), by: catalog)
                }
            }
        }
        return lines
    }

    private static func answers(
        of state: CustomerState, at instant: Instant, by catalog: Catalog
    ) -> [String] {
        state.entitlements(at: instant, catalog: catalog).all.map { entitlement in
            let notice = AccessNotice(
                entitlement: entitlement.id, at: instant, answer: AccessAnswer(entitlement))
            return Event.accessStarted(notice).payload.text
        }
    }
}
