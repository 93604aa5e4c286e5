package import Answers
package import Core
import HTTPServer
package import JSON

extension EntitlementsAnswer {
    /// `GET /v1/customers/{c}/entitlements`
    package var json: JSON {
        var object = JSONObject()
        appendHead(
            to: &object, instant: { entitlements.at.append(to: &$0) },
            position: { $0.append(text: position.description) })
        var members = JSONObject()
        for entitlement in entitlements.all {
            members.append(entitlement.id.text, .object(entitlement.members(of: stream)))
        }
        object.append("entitlements", .object(members))
        return .object(object)
    }

    /// What stands before the entitlements.
    private func appendHead(
        to object: inout some JSONMembers, instant: (inout [UInt8]) -> Void,
        position: (inout [UInt8]) -> Void
    ) {
        object.append(.customer, stream.customer.text)
        object.append(.environment, stream.environment.rawValue)
        object.append(.at, writing: instant)
        object.append(.position, writing: position)
        object.append(.nextChange, entitlements.nextChange)
    }

    /// The same as ready bytes, without the instant and the position.
    package var ready: ReadyAnswer {
        var body = AnswerBody()
        body.parts.reserveCapacity(entitlements.all.count)
        let room = 160 + 450 * entitlements.all.count
        body.bytes = WrittenObject.bytes(room: room) { object in
            appendHead(
                to: &object, instant: { body.instant = $0.count },
                position: { body.position = $0.count })
            body.entitlements = object.end
            object.append(.entitlements) { (members: inout WrittenObject) in
                for entitlement in entitlements.all {
                    var start = 0
                    members.append(named: entitlement.id.text) { object in
                        start = object.end
                        entitlement.append(to: &object, in: stream)
                    }
                    body.parts.append(AnswerBody.Part(entitlement.id, start..<members.end))
                }
            }
        }
        return ReadyAnswer(self, as: body, tag: tag(of: body.bytes))
    }
}

/// What tells the answer from others, as HTTP writes it: weak, because the instant and the position are
/// not part of it.
private func tag(of answer: [UInt8]) -> String {
    var text = InlineArray<15, UInt8>(repeating: UInt8(ascii: "\""))
    text[0] = UInt8(ascii: "W")
    text[1] = UInt8(ascii: "/")
    var rest = mark(of: answer)
    for place in 3..<14 {
        let digit = UInt8(rest % 32)
        text[place] = (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + digit
        rest /= 32
    }
    guard let text = try? UTF8Span(validating: text.span) else {
        preconditionFailure("letters and digits are not UTF-8")
    }
    return String(copying: text)
}

/// Two answers about one customer that follow each other should differ in it. FNV-1a, but for eight
/// bytes at a time: byte by byte it would take longer than to write them.
private func mark(of bytes: [UInt8]) -> UInt64 {
    unsafe bytes.withUnsafeBytes { bytes in
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) {
            // A product tells little of the factors' upper bits in its lower ones.
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var place = 0
        while place + 8 <= bytes.count {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            add(UInt64(littleEndian: word))
            place += 8
        }
        while place < bytes.count {
            add(UInt64(unsafe bytes[place]))
            place += 1
        }
        return hash
    }
}

/// What a reader wants to know of a customer.
struct WantedAnswer: Sendable {
    /// `nil` for all.
    let entitlement: EntitlementID?
    /// The tags of answers that the reader has, as `If-None-Match` lists them.
    let knownTags: String?

    init(_ entitlement: EntitlementID?, knownTags: String?) {
        self.entitlement = entitlement
        self.knownTags = knownTags
    }
}

extension FilledAnswer {
    /// The whole answer.
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

    /// The answer about one entitlement: one that was never held reads as not active.
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
            bytes += JSON.object(Entitlement.neverHeld(in: ready.stream)).bytes.dropFirst()
        }
        return bytes
    }

    /// The answer, or that the reader has it already.
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
    /// Whether this value of `If-None-Match` names the tag, compared weakly.
    fileprivate func names(_ tag: String) -> Bool {
        if self == tag || self == "*" { return true }
        let strong = tag.dropFirst(2)
        return split(separator: ",").contains { part in
            let text = part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            return String(text) == tag || String(text) == strong
        }
    }
}
