import Core
import Histories
import JSON
import Service
import TestSupport
import Testing

/// Creates two instances on one database, a key for both, and customers who buy the products of the random histories.
func makeBazaar(customers: Int) throws -> ([TestService], NewKey, [Core.Stream]) {
    let first = try TestService()
    let services = [first, try TestService(beside: first)]
    let key = try first.key(.admin)
    try first.openBazaar()
    return (services, key, try (0..<customers).map { try Stream.test("customer \($0)") })
}

/// Compares two instances' answers, from memory and from the database, with the naive model.
struct AnswerComparison {
    private let services: [TestService]
    private let key: NewKey

    init(_ services: [TestService], key: NewKey) {
        self.services = services
        self.key = key
    }

    func path(of stream: Core.Stream) -> String {
        "/v1/customers/\(stream.customer.text.replacing(" ", with: "%20"))/entitlements"
    }

    /// Expects these answers at the clock's instant. The SQL function covers only one environment,
    /// so its answer is compared separately.
    func expect(
        _ naive: [String: NaiveModel.Answer], inSQL plain: [String: NaiveModel.Answer],
        of stream: Core.Stream, _ context: String
    ) throws {
        let path = path(of: stream)
        // Asks first for the stored answer, because a strong read would replace it.
        let kept = services[0].send("GET", path, key: key)
        let strong = services[0].send("GET", path + "?consistency=strong", key: key)
        let remembered = services[0].send("GET", path, key: key)
        #expect(remembered.isImmediate)
        #expect(kept.text == strong.text, "\(context)")
        #expect(remembered.text == strong.text, "\(context)")
        try expectOtherInstance(
            naive, after: #require(strong.header("Deed-Position")), of: stream, context)
        try #require(try answers(strong) == naive, "\(context)")
        for name in Set(naive.keys).union(plain.keys) {
            let isEntitled = try services[0].database.number(
                """
                select deed.entitled('default', '\(stream.customer)', '\(name)',
                    deed.instant(\(services[0].clock.now.milliseconds)))::integer::bigint
                """)
            #expect((isEntitled == 1) == (plain[name]?.isActive ?? false), "\(context) \(name)")
        }
    }

    /// Expects these answers from each instance if the read requires this position.
    func expect(
        _ naive: [String: NaiveModel.Answer], after position: Position, of stream: Core.Stream,
        _ context: String
    ) throws {
        for service in services {
            let reply = service.send(
                "GET", path(of: stream), key: key,
                headers: [("Deed-After", position.description)])
            try #require(try answers(reply) == naive, "\(context), after \(position)")
        }
    }

    /// Expects these answers from the other instance, although it may have stored an answer without an end.
    private func expectOtherInstance(
        _ naive: [String: NaiveModel.Answer], after position: String, of stream: Core.Stream,
        _ context: String
    ) throws {
        let other = services[1].send(
            "GET", path(of: stream), key: key, headers: [("Deed-After", position)])
        try #require(try answers(other) == naive, "\(context)")
    }

    private func answers(_ reply: TestSupport.Reply) throws -> [String: NaiveModel.Answer] {
        let entitlements = try #require(try reply.json["entitlements"]?.object, "\(reply.text)")
        let answers = try entitlements.members.map { ($0.name, try NaiveModel.Answer($0.value)) }
        return Dictionary(uniqueKeysWithValues: answers)
    }
}

extension NaiveModel.Answer {
    fileprivate init(_ json: JSON) throws {
        self.init(
            isActive: json["active"] == true,
            since: try #require(json["since"]?.string.flatMap { Instant(text: $0) }).milliseconds,
            until: json["until"]?.string.flatMap { Instant(text: $0) }?.milliseconds,
            state: try #require(json["state"]?.string), product: json["product"]?.string,
            willRenew: json["will_renew"] == true)
    }
}

extension TestService {
    /// Puts the products of the random histories on sale, on the day before the histories begin.
    func openBazaar() throws {
        clock.advance(byMilliseconds: at(-1).milliseconds - clock.now.milliseconds)
        try changeProject("bazaar") { state, project throws(Refusal) in
            try state.change(to: bazaar, of: project)
        }
    }

    /// Commits a decision about the project. Returns its position in the log.
    @discardableResult
    func changeProject(
        _ key: String,
        _ decide: @escaping @Sendable (ProjectState, ProjectID) throws(Refusal) -> [Event]
    ) throws -> Position {
        let project = try ProjectID("default")
        return try ledger.append(
            .project(
                project, actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { state, _ throws(Refusal) in try decide(state, project) }
        ).position
    }
}
