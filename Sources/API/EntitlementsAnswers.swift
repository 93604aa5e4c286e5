import Core
import HTTPServer
package import JSON
package import Service

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
        var places = ReadyAnswer.Places()
        places.entitlements.reserveCapacity(entitlements.all.count + 1)
        let room = 160 + 450 * entitlements.all.count
        let answer = WrittenObject.bytes(room: room) { object in
            appendHead(
                to: &object, instant: { places.instant = $0.count },
                position: { places.position = $0.count })
            object.append(.entitlements) { (members: inout WrittenObject) in
                for entitlement in entitlements.all {
                    places.entitlements.append(members.next)
                    members.append(named: entitlement.id.text) { object in
                        entitlement.append(to: &object, in: stream)
                    }
                }
                places.entitlements.append(members.end)
            }
        }
        let tag = tag(of: answer)
        return ReadyAnswer(self, as: answer, places, tag: tag)
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
        preconditionFailure("letters and digits are no UTF-8")
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

extension ReadyAnswer {
    /// The whole answer.
    func body(at instant: Instant, _ position: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(length + 48)
        append(to: &body, at: instant, position)
        return body
    }

    func append(to body: inout [UInt8], at instant: Instant, _ position: String) {
        append(before: length, to: &body, at: instant, position)
    }

    /// The answer about one entitlement: one that was never held reads as not active.
    func body(
        of entitlement: EntitlementID, at instant: Instant, _ position: String
    ) -> [UInt8] {
        var name: [UInt8] = []
        JSON.write(entitlement.text, to: &name)
        var body: [UInt8] = []
        body.reserveCapacity(600)
        // Before the first entitlement stands `,"entitlements":{`.
        let places = entitlementPlaces
        let head = places[0] - ",\"entitlements\":{".utf8.count
        append(before: head, to: &body, at: instant, position)
        body.append(text: ",\"entitlement\":")
        body += name
        body.append(UInt8(ascii: ","))
        if let members = members(ofName: name, places) {
            body += members
        } else {
            body += JSON.object(Entitlement.neverHeld(in: stream)).bytes.dropFirst()
        }
        return body
    }

    /// The members of the entitlement whose name, as JSON, that is: without the opening brace, with
    /// the closing one.
    private func members(ofName name: [UInt8], _ places: [Int]) -> ArraySlice<UInt8>? {
        let bytes = bytes(in: 0..<length)
        for (index, start) in places.dropLast().enumerated() {
            let isLast = index + 2 == places.count
            // A comma follows all but the last one.
            let end = places[index + 1] - (isLast ? 0 : 1)
            if bytes[start..<end].starts(with: name), bytes[start + name.count] == 0x3A {
                return bytes[(start + name.count + 2)..<end]
            }
        }
        return nil
    }
}

extension FilledAnswer {
    /// The whole answer.
    func response() -> Response {
        let text = position.description
        return Response(
            status: 200, headers: headers(text), body: ready.body(at: at, text))
    }

    /// The answer that `body` makes of it, or that the reader has it already.
    func response(to call: Call, body: (_ position: String) -> [UInt8]) -> Response {
        let text = position.description
        var headers = headers(text)
        if let known = call.knownTags, known.names(ready.tag) {
            headers.removeFirst()
            return Response(status: 304, headers: headers)
        }
        return Response(status: 200, headers: headers, body: body(text))
    }

    private func headers(_ position: String) -> [Header] {
        var headers = [
            Header("Content-Type", "application/json"), Response.askAgain,
            Header("ETag", ready.tag), Header("Deed-Position", position),
        ]
        if let staleness { headers.append(Header("Deed-Stale", String(staleness))) }
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
