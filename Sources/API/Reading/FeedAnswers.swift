import Core
package import Feed
import HTTPServer
import JSON

extension FeedPage {
    /// Returns the answer to `GET /v1/events`.
    func response(to question: FeedQuestion, hidesPrices: Bool) -> Response {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(200 + items.count * (question.tellsAccess ? 1500 : 700))
        bytes.append(text: "{\"events\":[")
        for (place, item) in items.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += item.json(tellingAccess: question.tellsAccess, hidesPrices: hidesPrices)
        }
        bytes.append(text: "],\"next\":")
        JSON.write(next.text(for: question.project), to: &bytes)
        bytes.append(text: ",\"more\":\(isMore)}")
        return Response(
            status: 200,
            headers: [
                Header(.contentType, "application/json"), Response.askAgain,
                Header(.lag, String(lag)),
            ], body: bytes)
    }
}

extension FeedItem {
    /// Returns an event as one line of JSON. A message about one of the event's changes also includes that change.
    package func json(
        tellingAccess: Bool, change: Int? = nil, hidesPrices: Bool = false
    ) -> [UInt8] {
        let room = 500 + payload.utf8.count + access.count * FeedItem.changeSize
        return WrittenObject.bytes(room: room) { object in
            object.append(.id, id)
            object.append(.customer, stream.customer.text)
            object.append(.environment, stream.environment.rawValue)
            object.append(.version, version)
            object.append(.position, writing: { $0.append(text: position.description) })
            object.append(.type, type)
            object.append(.occurredAt, record.occurredAt)
            object.append(.recordedAt, record.recordedAt)
            object.append(.actor, record.actor.text)
            object.append(.actorName, actorName)
            object.append(.cause, record.cause)
            object.append(.catalogVersion, record.catalogVersion)
            object.append(.data, value: hidesPrices ? appendPayloadWithoutPrices : appendPayload)
            if payload.isEmpty { object.append(.erased, true) }
            guard tellingAccess else { return }
            object.append(.access, value: appendAccess)
            if isAccessUnknown { object.append(.accessUnknown, true) }
            guard let change else { return }
            object.append(.change) { (members: inout WrittenObject) in
                append(access[change], to: &members)
            }
        }
    }

    /// Appends the payload as Deed wrote it. Writes a payload that was damaged in the database as text in an object.
    private func appendPayload(to bytes: inout [UInt8]) {
        if payload.isEmpty {
            bytes.append(text: "null")
        } else if (try? JSON.read(payload)) != nil {
            bytes.append(text: payload)
        } else {
            let damaged: JSON = ["damaged": .string(payload)]
            bytes.append(text: damaged.text)
        }
    }

    private func appendPayloadWithoutPrices(to bytes: inout [UInt8]) {
        if payload.isEmpty { return appendPayload(to: &bytes) }
        let data = JSON.payloadWithoutPrices(payload) ?? ["damaged": ""]
        bytes.append(text: data.text)
    }

    private func appendAccess(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (place, change) in access.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += WrittenObject.bytes(room: 1000) { append(change, to: &$0) }
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private func append(_ change: AnswerChange, to object: inout WrittenObject) {
        object.append(.entitlement, change.entitlement.text)
        object.append(.change, change.kind.rawValue)
        append(.before, change.before, to: &object)
        append(.after, change.after, to: &object)
    }

    private func append(
        _ name: JSONName, _ answer: Entitlement?, to object: inout WrittenObject
    ) {
        guard let answer else { return object.append(name, nil as String?) }
        object.append(name) { (members: inout WrittenObject) in
            Optional(answer).append(to: &members, in: stream)
        }
    }
}

/// The members of an item.
extension JSONName {
    fileprivate static let id = JSONName("id")
    fileprivate static let version = JSONName("version")
    fileprivate static let type = JSONName("type")
    fileprivate static let occurredAt = JSONName("occurred_at")
    fileprivate static let recordedAt = JSONName("recorded_at")
    fileprivate static let actor = JSONName("actor")
    fileprivate static let actorName = JSONName("actor_name")
    fileprivate static let cause = JSONName("cause")
    fileprivate static let catalogVersion = JSONName("catalog_version")
    fileprivate static let data = JSONName("data")
    fileprivate static let erased = JSONName("erased")
    fileprivate static let access = JSONName("access")
    fileprivate static let accessUnknown = JSONName("access_unknown")
    fileprivate static let entitlement = JSONName("entitlement")
    fileprivate static let change = JSONName("change")
    fileprivate static let before = JSONName("before")
    fileprivate static let after = JSONName("after")
}
