package import Answers
package import Core
package import JSON

extension Entitlements {
    func json(of stream: Stream) -> JSON {
        .object(each: all) { ($0.id.text, .object(Optional($0).members(of: stream))) }
    }
}

extension EntitlementsAnswer {
    /// The answer to `GET /v1/customers/{c}/entitlements`.
    package var json: JSON {
        var object = JSONObject()
        appendHead(
            to: &object, instant: { entitlements.at.append(to: &$0) },
            position: { $0.append(text: position.description) })
        object.append("entitlements", entitlements.json(of: stream))
        return .object(object)
    }

    /// Appends everything that precedes the entitlements.
    private func appendHead(
        to object: inout some JSONMembers, instant: (inout [UInt8]) -> Void,
        position: (inout [UInt8]) -> Void
    ) {
        object.append(.customer, stream.customer.text)
        object.append(.environment, stream.environment.rawValue)
        object.append(.at, writing: instant)
        object.append(.position, writing: position)
        object.append(.nextChange, entitlements.nextChange)
        if let mergedInto { object.append(.mergedInto, mergedInto.text) }
    }

    /// The answer as prepared bytes, without the instant and the position.
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
                        Optional(entitlement).append(to: &object, in: stream)
                    }
                    body.parts.append(AnswerBody.Part(entitlement.id, start..<members.end))
                }
            }
        }
        return ReadyAnswer(self, as: body, tag: tag(of: body.bytes))
    }
}

/// Returns the answer's entity tag. The tag is weak because it does not cover the instant and the
/// position.
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

/// Returns a hash that differs between consecutive answers about a customer, with high probability. It is FNV-1a over
/// eight bytes at a time, because hashing single bytes would take longer than writing the answer.
private func mark(of bytes: [UInt8]) -> UInt64 {
    unsafe bytes.withUnsafeBytes { bytes in
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) {
            // Mixes the upper bits into the lower ones, because the lower bits of a product hardly
            // depend on the upper bits of its factors.
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
