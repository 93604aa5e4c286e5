import Answers
import Core
import HTTPServer
import JSON
import Service

/// Calls that ask what a customer may use. They are the most frequent calls.
struct EntitlementsRoutes: Sendable {
    let customers: Customers
    let reads: CustomerReads

    var routes: [Route] {
        let pattern = "/customers/{customer}/entitlements"
        return [
            Route(
                "GET", pattern, parameters: ReadQuestion.names, headers: [.after, .knownTags],
                .read, .memory, entitlements),
            Route(
                "GET", "\(pattern)/{entitlement}", parameters: ReadQuestion.names,
                headers: [.after, .knownTags], .read, .memory, entitlement),
        ]
    }

    private func entitlements(_ call: Call) throws(Problem) -> Reaction { try read(call, nil) }

    private func entitlement(_ call: Call) throws(Problem) -> Reaction {
        try read(call, try EntitlementID(member: "entitlement", call.arguments[1]))
    }

    private func read(_ call: Call, _ entitlement: EntitlementID?) throws(Problem) -> Reaction {
        let question = try ReadQuestion(call.query)
        let stream = try call.stream()
        // Copied, so that a waiting closure does not keep the whole call in memory.
        let after = call.after
        let wanted = WantedAnswer(entitlement: entitlement, knownTags: call.knownTags)
        guard question.isOfNow else {
            return .waiting { () throws(Problem) in
                try derive(stream, question, after).response(to: wanted).reaction
            }
        }
        if !question.isStrong, let answer = reads.remembered(stream, after: after) {
            return .answered(.success(answer.response(to: wanted)))
        }
        // The position is in another shard, so the database may have to be queried.
        if let after, after.shard != stream.shard {
            return .waiting { () throws(Problem) in
                if question.isStrong { try customers.reading.certain() }
                try reads.demand(after, within: nil)
                return reading(stream, after: nil, question, wanted)
            }
        }
        if question.isStrong {
            return .waiting { () throws(Problem) in
                try customers.reading.certain()
                return reading(stream, after: after, question, wanted)
            }
        }
        return reading(stream, after: after, question, wanted)
    }

    private func reading(
        _ stream: Stream, after: Position?, _ question: ReadQuestion, _ wanted: WantedAnswer
    ) -> Reaction {
        .asking { [reads] give in
            reads.read(stream, after: after, isStrong: question.isStrong) {
                give($0.map { $0.response(to: wanted) }.mapError { Problem($0) })
            }
        }
    }

    /// Returns the answer for another instant, or for what was known at another instant.
    private func derive(
        _ stream: Stream, _ question: ReadQuestion, _ after: Position?
    ) throws(Problem) -> FilledAnswer {
        try customers.reading.certain()
        let answer = try ask(
            customers.entitlements(of: stream, at: question.at, known: question.known))
        try reads.demand(after, within: answer.position)
        return FilledAnswer(answer.ready, at: answer.entitlements.at, answer.position)
    }
}

/// A reader's question, without the customer.
struct ReadQuestion {
    static let names = ["at", "known", "environment", "consistency"]

    let at: Instant?
    let known: Instant?
    let isStrong: Bool

    init(_ query: QueryParameters) throws(Problem) {
        let consistency = query["consistency"]
        if let consistency, consistency != "strong" {
            throw .invalid("consistency", "The parameter \"consistency\" must be \"strong\".")
        }
        isStrong = consistency != nil
        at = try query.instant("at")
        known = try query.instant("known")
    }

    var isOfNow: Bool { at == nil && known == nil }
}

/// The part of the answer that a reader wants.
struct WantedAnswer: Sendable {
    /// `nil` for all entitlements.
    let entitlement: EntitlementID?
    /// Tags of answers that the reader already has, from `If-None-Match`.
    let knownTags: String?
}

extension FilledAnswer {
    /// Appends the complete answer.
    func append(to bytes: inout [UInt8], _ position: String) {
        let body = ready.body
        body.append(before: body.bytes.count, to: &bytes, at: at, position)
    }

    private func whole(_ position: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ready.body.bytes.count + 48)
        append(to: &bytes, position)
        return bytes
    }

    /// Returns the answer about one entitlement. An entitlement that was never held appears as inactive.
    private func one(_ entitlement: EntitlementID, _ position: String) -> [UInt8] {
        let body = ready.body
        var bytes: [UInt8] = []
        bytes.reserveCapacity(600)
        body.append(before: body.entitlements, to: &bytes, at: at, position)
        bytes.append(text: ",\"entitlement\":")
        JSON.write(entitlement.text, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        if let part = body.parts.first(where: { $0.entitlement == entitlement }) {
            bytes += body.bytes[part.members]
        } else {
            let neverHeld = (nil as Entitlement?).members(of: ready.stream)
            bytes += JSON.object(neverHeld).bytes.dropFirst()
        }
        return bytes
    }

    /// Returns the answer, or `304` if the reader already has it.
    func response(to wanted: WantedAnswer) -> Response {
        let text = position.description
        var headers = headers(text)
        if let known = wanted.knownTags, known.names(ready.tag) {
            headers.removeFirst()
            return Response(status: 304, headers: headers)
        }
        let body = wanted.entitlement.map { one($0, text) } ?? whole(text)
        return Response(status: 200, headers: headers, body: body)
    }

    private func headers(_ position: String) -> [Header] {
        var headers = [
            Header(.contentType, "application/json"), Response.askAgain,
            Header(.tag, ready.tag), Header(.position, position),
        ]
        if let staleness { headers.append(Header(.staleness, String(staleness))) }
        return headers
    }
}

extension String {
    /// Returns whether this value of `If-None-Match` contains the tag, by weak comparison.
    fileprivate func names(_ tag: String) -> Bool {
        if self == tag || self == "*" { return true }
        let strong = tag.dropFirst(2)
        return split(separator: ",").contains { part in
            let text = part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            return String(text) == tag || String(text) == strong
        }
    }
}
