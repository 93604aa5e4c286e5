import Core
import HTTPServer
package import JSON
package import Service

extension EntitlementsAnswer {
    /// `GET /v1/customers/{c}/entitlements`
    package var json: JSON {
        var object = header
        var members = JSONObject()
        for entitlement in entitlements.all {
            members.append(entitlement.id.text, .object(entitlement.members(of: stream)))
        }
        object.append("entitlements", .object(members))
        return .object(object)
    }

    private var header: JSONObject {
        var object = JSONObject()
        object.append("customer", .string(stream.customer.text))
        object.append("environment", .string(stream.environment.rawValue))
        object.append("at", .instant(entitlements.at))
        object.append("position", .string(position.description))
        object.append("next_change", .instant(entitlements.nextChange))
        return object
    }

    /// The same as ready bytes, without the instant and the position.
    package var ready: ReadyAnswer {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160 + 400 * entitlements.all.count)
        bytes.append(text: "{\"customer\":")
        JSON.write(stream.customer.text, to: &bytes)
        bytes.append(text: ",\"environment\":\"\(stream.environment.rawValue)\",\"at\":\"")
        let instantPlace = bytes.count
        bytes.append(text: "\",\"position\":\"")
        let positionPlace = bytes.count
        bytes.append(text: "\",\"next_change\":")
        JSON.instant(entitlements.nextChange).write(to: &bytes)
        bytes.append(text: ",\"entitlements\":{")
        var places: [UInt32] = []
        places.reserveCapacity(entitlements.all.count + 1)
        for entitlement in entitlements.all {
            if !places.isEmpty { bytes.append(UInt8(ascii: ",")) }
            places.append(UInt32(bytes.count))
            JSON.write(entitlement.id.text, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            var object = WrittenObject(after: consume bytes)
            entitlement.append(to: &object, in: stream)
            bytes = object.finished()
        }
        places.append(UInt32(bytes.count))
        bytes.append(text: "}}")
        return ReadyAnswer(
            bytes: Array(bytes), instantPlace: instantPlace, positionPlace: positionPlace,
            entitlementPlaces: places, tag: tag(of: bytes))
    }
}

/// FNV-1a: two answers about one customer that follow each other should differ in it. Weak, because
/// the instant and the position are not part of it. So short that a string holds it without memory of
/// its own.
private func tag(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = Array("0123456789abcdefghijklmnopqrstuv".utf8)
    var text = Array("W/\"".utf8)
    for _ in 0..<11 {
        text.append(digits[Int(hash % 32)])
        hash /= 32
    }
    return String(decoding: text + [UInt8(ascii: "\"")], as: UTF8.self)
}

extension ReadyAnswer {
    /// The whole answer.
    func body(at instant: Instant, _ position: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(bytes.count + 48)
        append(to: &body, at: instant, position)
        return body
    }

    func append(to body: inout [UInt8], at instant: Instant, _ position: String) {
        appendHead(to: &body, at: instant, position, until: bytes.count)
    }

    private func appendHead(
        to body: inout [UInt8], at instant: Instant, _ position: String, until end: Int
    ) {
        body.append(contentsOf: bytes[..<instantPlace])
        instant.append(to: &body)
        body.append(contentsOf: bytes[instantPlace..<positionPlace])
        body.append(text: position)
        body.append(contentsOf: bytes[positionPlace..<end])
    }

    /// The answer about one entitlement: one that was never held reads as not active.
    func body(
        of entitlement: EntitlementID, in stream: Stream, at instant: Instant, _ position: String
    ) -> [UInt8] {
        var name: [UInt8] = []
        JSON.write(entitlement.text, to: &name)
        var body: [UInt8] = []
        body.reserveCapacity(600)
        // Before the first entitlement stands `,"entitlements":{`.
        let head = Int(entitlementPlaces[0]) - ",\"entitlements\":{".utf8.count
        appendHead(to: &body, at: instant, position, until: head)
        body.append(text: ",\"entitlement\":")
        body += name
        body.append(UInt8(ascii: ","))
        if let members = members(ofName: name) {
            body += members
        } else {
            body += JSON.object(Entitlement.neverHeld(in: stream)).bytes.dropFirst()
        }
        return body
    }

    /// The members of the entitlement whose name, as JSON, that is: without the opening brace, with
    /// the closing one.
    private func members(ofName name: [UInt8]) -> ArraySlice<UInt8>? {
        for (index, start) in entitlementPlaces.dropLast().enumerated() {
            let start = Int(start)
            let isLast = index + 2 == entitlementPlaces.count
            // A comma follows all but the last one.
            let end = Int(entitlementPlaces[index + 1]) - (isLast ? 0 : 1)
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

    private func headers(_ position: String) -> [(String, String)] {
        var headers = [
            ("Content-Type", "application/json"), Response.askAgain, ("ETag", ready.tag),
            ("Deed-Position", position),
        ]
        if let staleness { headers.append(("Deed-Stale", String(staleness))) }
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
